// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/nomic_bert.hpp>

// GTE. Derived from Nomic BERT, with biases and a separate language-modeling head.
//
// Source: transformers/models/gte

namespace llmcost::arch {

namespace gte_detail {

constexpr tensor embed(const layer_context& ctx, trace& t) {
    return embed_in_module(ctx, t, nomic_bert_detail::sum_embeddings);
}

/// Gated MLP with dropout before the last projection, which has a bias.
constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
    const module_info mlp{.name = "mlp", .class_of_module = ctx.class_of("MLP"), .module_role = role::mlp};
    t.enter(mlp);
    const tensor gate =
        t.call("act_fn", activation_module{ctx.config.hidden_act}, t.call("gate_proj", linear{width, inner}, x));
    const tensor h = dropout(t, "dropout", t.mul(gate, t.call("up_proj", linear{width, inner}, x)));
    return t.leave(mlp, t.call("down_proj", linear{inner, width, true}, h));
}

constexpr tensor lm_head_logits(const layer_context& ctx, trace& t, const tensor_pair& out) {
    const module_info lm_head{.name = "lm_head", .class_of_module = ctx.class_of("LMHead"), .module_role = role::head};
    const std::int64_t width = ctx.config.hidden_size;
    t.enter(lm_head);
    tensor h = t.unary(torch_function::stored_gelu, op::gelu, t.call("dense", linear{width, width, true}, out.first));
    h = t.call("layer_norm", norm_module{norm_kind::layer, width}, h);
    return t.leave(lm_head,
                   t.call("decoder", linear{width, ctx.config.vocab_size, true, ctx.config.tie_word_embeddings}, h));
}
constexpr tensor score(const layer_context& ctx, trace& t, const tensor_pair& out) {
    return forward_encoder_head(ctx, t, out, lm_head_logits);
}
constexpr tensor forward(const layer_context& ctx, trace& t) {
    return forward_encoder_model(ctx, t, {.score = score, .pooled = {head_kind::sequence_classification}});
}

/// Parses `config.json`. Segment embeddings are optional.
constexpr void parse_config(config_view json, model_config& config) {
    const std::int64_t segments = json.non_negative("type_vocab_size", config.type_vocab_size);
    config.type_vocab_size = 0;
    nomic_bert.parse_config(json, config);
    config.type_vocab_size = segments;
}

}  // namespace gte_detail

inline constexpr dropout_key gte_dropout[]{{dropout_position::hidden, "hidden_dropout_prob", 0.1},
                                           {dropout_position::attention, "attention_probs_dropout_prob"},
                                           {dropout_position::classifier, "classifier_dropout", same_as_hidden}};

inline constexpr model_spec gte = [](model_spec spec) {
    spec.model_type = "gte";
    spec.class_prefix = "Gte";
    spec.forward = gte_detail::forward;
    spec.mlp = gte_detail::mlp;
    spec.parse_config = gte_detail::parse_config;
    spec.names.base_model = "gte";
    spec.defaults.vocab_size = 250048;
    spec.defaults.max_position_embeddings = 8192;
    spec.defaults.type_vocab_size = 1;
    spec.defaults.hidden_act = activation::gelu;
    spec.defaults.attention_bias = spec.defaults.output_bias = true;
    spec.dropout_keys = gte_dropout;
    spec.embed_tokens = gte_detail::embed;
    return spec;
}(nomic_bert);

}  // namespace llmcost::arch
