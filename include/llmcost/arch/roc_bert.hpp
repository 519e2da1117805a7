// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>
#include <llmcost/forward/encoder_model.hpp>

namespace llmcost::arch {

namespace roc_bert_detail {

enum family_config_index : std::uint8_t {
    sounds,
    shapes,
    sound_width,
    sound_rows,
    shape_width,
    shape_rows,
    concatenates
};

inline constexpr family_key family_keys[]{
    {"enable_pronunciation", 1, family_key_type::boolean},
    {"enable_shape", 1, family_key_type::boolean},
    {"pronunciation_embed_dim", 768},
    {"pronunciation_vocab_size", 910},
    {"shape_embed_dim", 512},
    {"shape_vocab_size", 24858},
    {"concat_input", 1, family_key_type::boolean},
};

/// Embeds an additional feature. An unused table is not looked up, because the workload has no indices for it.
constexpr tensor embed_feature(const layer_context& ctx, trace& t, literal name, family_config_index rows,
                               family_config_index width, bool is_used) {
    const recorder::not_executed_guard unused{t, !is_used};
    const embedding table{ctx.config.family[rows], ctx.config.family[width]};
    return t.call(name, table, shape{t.load().batch, t.load().sequence});
}

/// Words with the shapes and the sounds of characters.
constexpr tensor sum_embeddings(const layer_context& ctx, trace& t) {
    const family_config& o = ctx.config.family;
    const std::int64_t width = ctx.config.hidden_size;
    const bool joins = o[concatenates] != 0, shaped = joins && o[shapes] != 0, sounding = joins && o[sounds] != 0;
    register_position_buffers(ctx, t);
    const tensor token_embeddings = word_embeddings(ctx, t);
    const tensor shape = embed_feature(ctx, t, "shape_embed", shape_rows, shape_width, shaped);
    const tensor sound = embed_feature(ctx, t, "pronunciation_embed", sound_rows, sound_width, sounding);
    if (!joins) {
        const tensor x = t.add(token_embeddings, segment_embeddings(ctx, t));
        tensor out = t.clone(norm_embeddings(ctx, t, t.add(x, position_embeddings(ctx, t))));
        t.div_(out);
        return out;
    }
    tensor x = t.clone(token_embeddings);
    if (shaped) x = t.cat({x, shape}, -1);
    if (sounding) x = t.cat({x, sound}, -1);
    x = t.call("map_inputs_layer", linear{x.dim(-1), width, true}, x);
    t.add_(x, segment_embeddings(ctx, t));
    t.add_(x, position_embeddings(ctx, t));
    return norm_embeddings(ctx, t, x);
}

constexpr tensor embed(const layer_context& ctx, trace& t) { return embed_in_module(ctx, t, sum_embeddings); }

constexpr tensor score(const layer_context& ctx, trace& t, const tensor_pair& out) {
    return forward_encoder_head(ctx, t, out, score_in_mlm_cls, false);
}

constexpr tensor forward(const layer_context& ctx, trace& t) {
    return forward_encoder_model(ctx, t, {score, bert_heads.pooled});
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_decoding_encoder(json, config);
    const family_config& o = config.family;
    (void)checked_size(json, "shape_embed_dim", 1, config.hidden_size + o[shape_width] + o[sound_width]);
}

}  // namespace roc_bert_detail

// transformers/models/roc_bert: BERT with embeddings of characters' shapes and sounds
inline constexpr model_spec roc_bert = [](model_spec spec) {
    spec.model_type = "roc_bert";
    spec.class_prefix = "RoCBert";
    spec.forward = roc_bert_detail::forward;
    spec.parse_config = roc_bert_detail::parse_config;
    spec.family_keys = roc_bert_detail::family_keys;
    spec.embed_tokens = roc_bert_detail::embed;
    spec.supported_heads = {head_kind::none,
                            head_kind::causal_lm,
                            head_kind::masked_lm,
                            head_kind::pretraining,
                            head_kind::sequence_classification,
                            head_kind::token_classification,
                            head_kind::question_answering,
                            head_kind::multiple_choice};
    spec.names.base_model = "roc_bert";
    spec.names.causal_lm_class = "ForCausalLM";
    return spec;
}(bert);

}  // namespace llmcost::arch
