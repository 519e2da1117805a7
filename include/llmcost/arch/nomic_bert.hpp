// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/encoder.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/encoder_model.hpp>

namespace llmcost::arch {

namespace nomic_bert_detail {

constexpr tensor sum_embeddings(const layer_context& ctx, trace& t) {
    const tensor token_embeddings = word_embeddings(ctx, t);
    if (ctx.config.type_vocab_size == 0) return norm_embeddings(ctx, t, token_embeddings);
    return norm_embeddings(ctx, t, t.add(token_embeddings, segment_embeddings(ctx, t)));
}
constexpr tensor embed(const layer_context& ctx, trace& t) {
    register_position_buffers(ctx, t);
    return embed_in_module(ctx, t, sum_embeddings);
}
constexpr tensor base(const layer_context& ctx, trace& t) {
    const tensor x = ctx.spec.embed_tokens(ctx, t);
    const decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    return forward_layers(ctx, t, shared, x);
}

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    return output_projection(ctx, t, local_attention(ctx, t, project_qkv(ctx, t, x), false));
}

/// Decoder layer with a norm after each residual sum.
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const norm_module norms{norm_kind::layer, ctx.config.hidden_size};
    tensor h = dropout(t, "post_attention_dropout", attention_token_mixer(ctx, t, x));
    const tensor middle = t.call("post_attention_layernorm", norms, t.add(x, h));
    h = dropout(t, "post_mlp_dropout", ctx.spec.mlp(ctx, t, middle));
    return t.call("post_mlp_layernorm", norms, t.add(middle, h));
}

constexpr tensor score_in_cls(const layer_context& ctx, trace& t, const tensor_pair& out) {
    const module_info cls{.name = "cls", .class_of_module = ctx.class_of("OnlyMLMHead"), .module_role = role::head};
    t.enter(cls);
    return t.leave(cls, transform_and_score(ctx, t, out.first, "layer_norm"));
}
constexpr tensor score(const layer_context& ctx, trace& t, const tensor_pair& out) {
    return forward_encoder_head(ctx, t, out, score_in_cls);
}
constexpr tensor forward(const layer_context& ctx, trace& t) {
    return forward_encoder_model(ctx, t, {.score = score, .pooled = {head_kind::sequence_classification}});
}

/// Heads may be of any width; biases are not the configuration's.
constexpr void parse_config(config_view json, model_config& config) {
    parse_encoder_heads(json, config);
    config.rotary_dim = config.head_dim;
}

}  // namespace nomic_bert_detail

inline constexpr dropout_key nomic_bert_dropout[]{{dropout_position::hidden, "hidden_dropout_prob"},
                                                  {dropout_position::attention, "attention_probs_dropout_prob"},
                                                  {dropout_position::classifier, "classifier_dropout", same_as_hidden}};

// transformers/models/nomic_bert: BERT with rotated heads and a gated feed-forward block
inline constexpr model_spec nomic_bert = [](model_spec spec) {
    spec.model_type = "nomic_bert";
    spec.class_prefix = "NomicBert";
    spec.forward = nomic_bert_detail::forward;
    spec.parse_config = nomic_bert_detail::parse_config;
    spec.base_model = nomic_bert_detail::base;
    spec.embed_tokens = nomic_bert_detail::embed;
    spec.prepare_inputs = bidirectional_with_rotary;
    spec.decoder_layer = nomic_bert_detail::decoder_layer;
    spec.token_mixer = attention_token_mixer;
    spec.attention = nomic_bert_detail::attention;
    spec.mlp = default_mlp;
    spec.rotary = rotary_style::rotate_half;
    spec.supported_heads = {head_kind::none, head_kind::masked_lm, head_kind::sequence_classification,
                            head_kind::token_classification};
    spec.names.base_model = "nomic_bert";
    spec.names.layers = "layers";
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.defaults.vocab_size = 30528;
    spec.defaults.hidden_size = 768;
    spec.defaults.intermediate_size = 3072;
    spec.defaults.num_hidden_layers = spec.defaults.num_attention_heads = 12;
    spec.defaults.max_position_embeddings = 2048;
    spec.defaults.type_vocab_size = 2;
    spec.defaults.head = head_kind::masked_lm;
    spec.defaults.tie_word_embeddings = true;
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.dropout_keys = nomic_bert_dropout;
    return spec;
}(shared_encoder);

}  // namespace llmcost::arch
