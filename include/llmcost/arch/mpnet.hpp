// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/roberta.hpp>
#include <llmcost/forward/encoder_decoder.hpp>

namespace llmcost::arch {

namespace mpnet_detail {

enum family_config_index : std::uint8_t { buckets };
inline constexpr family_key family_keys[]{{"relative_attention_num_buckets", 32}};

constexpr tensor sum_embeddings(const layer_context& ctx, trace& t) {
    register_position_ids(ctx, t);
    const tensor token_embeddings = word_embeddings(ctx, t);
    return norm_embeddings(ctx, t, t.add(token_embeddings, position_embeddings(ctx, t, t.load().batch)));
}
constexpr tensor embed(const layer_context& ctx, trace& t) { return embed_in_module(ctx, t, sum_embeddings); }

/// Biases of distances are made in the encoder, once for all layers and copied for each sequence.
constexpr tensor encode(const layer_context& ctx, trace& t) {
    const std::int64_t batch = t.load().batch, sequence = t.load().sequence, heads = ctx.config.num_attention_heads;
    tensor x = ctx.spec.embed_tokens(ctx, t);
    decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    t.enter(encoder);
    const tensor bias = relative_bias(t, ctx.config.family[buckets], heads, sequence, sequence);
    shared.full.family_tensors[0] = t.contiguous(bias.expand({batch, heads, sequence, sequence}));
    return t.leave(encoder, forward_layers(ctx, t, shared, x));
}

/// The module inside of attention, with the output projection.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size;
    const module_info attn{.name = "attn", .class_of_module = ctx.class_of("SelfAttention")};
    t.enter(attn);
    tensor q, k, v;
    project_to_heads(t, x, width, ctx.config.num_attention_heads, {"q", "k", "v"}, q, k, v);
    const tensor mixed =
        divided_score_attention(t, q, k, v, bert_layers::bidirectional_pattern_of(ctx), &ctx.inputs->family_tensors[0]);
    const tensor out = t.leave(attn, t.call("o", linear{width, width, true}, mixed));
    return t.call("LayerNorm", norm_module{norm_kind::layer, width}, t.add(dropout(t, "dropout", out), x));
}
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    return bert_mlp(ctx, t, attention_token_mixer(ctx, t, x));
}

/// Parses `config.json`. Positions start after the padding index, which is always 1.
constexpr void parse_config(config_view json, model_config& config) {
    parse_encoder_only(json, config);
    config.position_offset = 2;
    if (config.max_position_embeddings <= 2) throw_invalid_value(json, "max_position_embeddings", "more than 2");
}

}  // namespace mpnet_detail

// transformers/models/mpnet: RoBERTa with biases of distances, without segments
inline constexpr model_spec mpnet = [](model_spec spec) {
    spec.model_type = "mpnet";
    spec.class_prefix = "MPNet";
    spec.parse_config = mpnet_detail::parse_config;
    spec.family_keys = mpnet_detail::family_keys;
    spec.base_model = mpnet_detail::encode;
    spec.embed_tokens = mpnet_detail::embed;
    spec.decoder_layer = mpnet_detail::decoder_layer;
    spec.attention = mpnet_detail::attention;
    spec.token_mixer = attention_token_mixer;
    spec.supported_heads = {head_kind::none,
                            head_kind::masked_lm,
                            head_kind::sequence_classification,
                            head_kind::token_classification,
                            head_kind::question_answering,
                            head_kind::multiple_choice};
    spec.names.base_model = "mpnet";
    spec.names.attention = "attention";
    spec.defaults.vocab_size = 30527;
    spec.defaults.type_vocab_size = 0;
    spec.defaults.head = head_kind::masked_lm;
    spec.dropout_keys = headless_encoder_dropout;
    return spec;
}(roberta);

}  // namespace llmcost::arch
