// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>

namespace llmcost::arch {

namespace roformer_detail {

enum family_config_index : std::uint8_t { summary, rotates_values };
inline constexpr family_key family_keys[]{
    {.type = family_key_type::computed},  // `summary_form`
    {"rotary_value", 0, family_key_type::boolean},
};

/// Sines and cosines of positions, a table that gradients do not train; no embedding of tokens.
struct position_table {
    std::int64_t rows;
    std::int64_t width;
    class_name named;

    static constexpr role module_role = role::rotary;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const shape& places) const {
        return t.gather(t.frozen_parameter("weight", {rows, width}), {places.size[0], width});
    }
};

constexpr tensor sum_embeddings(const layer_context& ctx, trace& t) {
    const tensor token_embeddings = word_embeddings(ctx, t);
    return norm_embeddings(ctx, t, t.add(token_embeddings, segment_embeddings(ctx, t)));
}
constexpr tensor embed(const layer_context& ctx, trace& t) {
    return project_embeddings(ctx, t, embed_in_module(ctx, t, sum_embeddings));
}

/// The encoder looks up its positions once for all layers.
constexpr tensor encode(const layer_context& ctx, trace& t) {
    const std::int64_t sequence = t.load().sequence, past = ctx.config.is_causal ? t.load().past : 0;
    make_padding_mask(t);
    const tensor x = ctx.spec.embed_tokens(ctx, t);
    decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    t.enter(encoder);
    t.check_positions(ctx.config.max_position_embeddings, past + sequence);
    const position_table table{ctx.config.max_position_embeddings, ctx.config.head_dim,
                               ctx.class_of("SinusoidalPositionalEmbedding")};
    shared.full.family_tensors[0] = t.call("embed_positions", table, shape{sequence}).unsqueeze(0);
    return t.leave(encoder, forward_layers(ctx, t, shared, x));
}

/// Halves of the table, each number twice: (1, S, d).
constexpr tensor doubled(trace& t, const tensor& table) {
    const tensor half = table.slice(-1, table.dim(-1) / 2).unsqueeze(-1);
    return t.cat({half, half}, -1).view({1, table.dim(1), table.dim(2)});
}

/// Queries and keys, or values too, are turned by pairs.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const bidirectional_pattern reach = bert_layers::bidirectional_pattern_of(ctx);
    tensor q, k, v;
    project_to_heads(t, x, ctx.config.hidden_size, ctx.config.num_attention_heads, {}, q, k, v);
    const tensor sin = doubled(t, ctx.inputs->family_tensors[0]), cos = doubled(t, ctx.inputs->family_tensors[0]);
    q = rotate<rotary_style::interleaved>(t, q, cos, sin);
    k = rotate<rotary_style::interleaved>(t, k, cos, sin);
    if (ctx.config.family[rotates_values] != 0) v = rotate<rotary_style::interleaved>(t, v, cos, sin);
    if (reach.pattern.is_causal) {
        k = update_kv_cache(t, k, reach.pattern);
        v = update_kv_cache(t, v, reach.pattern);
    }
    return divided_score_attention(t, q, k, v, reach);
}
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    return bert_layer_with_norms(ctx, t, x, {}, "SelfAttention");
}

constexpr tensor score(const layer_context& ctx, trace& t, const tensor_pair& out) {
    if (ctx.config.head == head_kind::sequence_classification)
        return classify_first_state(ctx, t, out.first, ctx.config.hidden_act);
    if (ctx.config.head == head_kind::multiple_choice)
        return choose_by_summary(ctx, t, out.first, ctx.config.family[summary]);
    return forward_encoder_head(ctx, t, out, score_in_cls, false);
}
constexpr tensor forward(const layer_context& ctx, trace& t) { return forward_encoder_model(ctx, t, {.score = score}); }

constexpr void parse_config(config_view json, model_config& config) {
    parse_decoding_encoder(json, config);
    config.embedding_size = json.positive("embedding_size", config.hidden_size);
    if (config.head_dim % 2 != 0) throw_unsupported(json, "num_attention_heads", "an odd head size is not supported");
    config.family[summary] = parse_sequence_summary(json, {});
    validate_sequence_summary(json, config, config.family[summary]);
}

}  // namespace roformer_detail

// transformers/models/roformer: BERT with rotated heads, no pooler
inline constexpr model_spec roformer = [](model_spec spec) {
    spec.model_type = "roformer";
    spec.class_prefix = "RoFormer";
    spec.forward = roformer_detail::forward;
    spec.parse_config = roformer_detail::parse_config;
    spec.family_keys = roformer_detail::family_keys;
    spec.base_model = roformer_detail::encode;
    spec.embed_tokens = roformer_detail::embed;
    spec.decoder_layer = roformer_detail::decoder_layer;
    spec.attention = roformer_detail::attention;
    spec.supported_heads = {head_kind::none,
                            head_kind::causal_lm,
                            head_kind::masked_lm,
                            head_kind::sequence_classification,
                            head_kind::token_classification,
                            head_kind::question_answering,
                            head_kind::multiple_choice};
    spec.names.base_model = "roformer";
    spec.names.causal_lm_class = "ForCausalLM";
    spec.defaults.vocab_size = 50000;
    spec.defaults.max_position_embeddings = 1536;
    spec.dropout_keys = headless_encoder_dropout;
    return spec;
}(bert);

}  // namespace llmcost::arch
