// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/forward/encoder_model.hpp>

// Prediction heads that follow the keys of a ModernBERT configuration.
namespace llmcost::modernbert_heads {

enum family_config_index : std::uint8_t {
    norm_bias,
    classifier_bias,
    decoder_bias,
    classifier_act,
    pools_mean,
    drops_attention
};

inline constexpr family_key family_keys[]{
    {"norm_bias", 0, family_key_type::boolean},
    {"classifier_bias", 0, family_key_type::boolean},
    {"decoder_bias", 1, family_key_type::boolean},
    {.default_value = static_cast<std::int64_t>(activation::gelu), .type = family_key_type::computed},
    {.type = family_key_type::computed},  // `classifier_pooling`
    {.type = family_key_type::computed},  // dropout after attention, otherwise nothing
};

/// A dense layer, an activation and a norm before a head: (…, width) -> (…, width).
constexpr tensor transform_with(const layer_context& ctx, trace& t, literal name, const tensor& x, bool dense_bias,
                                activation act, bool has_norm_bias) {
    const module_info head{.name = name, .class_of_module = ctx.class_of("PredictionHead"), .module_role = role::head};
    const std::int64_t width = ctx.config.hidden_size;
    t.enter(head);
    const tensor h = t.call("act", activation_module{act}, t.call("dense", linear{width, width, dense_bias}, x));
    return t.leave(head, call_norm(t, "norm", norm_kind::layer, width, {}, h, has_norm_bias));
}

/// The transform whose biases and activation are family keys of the text model.
constexpr tensor transform(const layer_context& ctx, trace& t, literal name, const tensor& x) {
    const family_config& family = ctx.config.family;
    return transform_with(ctx, t, name, x, family[classifier_bias] != 0,
                          static_cast<activation>(family[classifier_act]), family[norm_bias] != 0);
}

/// The first state of a text, or the mean of all by a mask of ones: (batch, sequence, width) -> (batch, width).
constexpr tensor pool(trace& t, const tensor& x, bool takes_mean) {
    if (!takes_mean) return t.select(x, 1);
    return t.div(t.sum(t.mul(x, empty_tensor({x.dim(0), x.dim(1), 1}, x.type)), 1),
                 empty_tensor({x.dim(0), 1}, x.type));
}

inline constexpr dropout_key dropout_rates[]{{dropout_position::embeddings, "embedding_dropout"},
                                             {dropout_position::mlp, "mlp_dropout"},
                                             {dropout_position::attention, "attention_dropout"},
                                             {dropout_position::classifier, "classifier_dropout"}};

}  // namespace llmcost::modernbert_heads

namespace llmcost::ultrabert_heads {

enum family_config_index : std::uint8_t { head_width, pools_mean };
inline constexpr family_key family_keys[]{
    {"prediction_head_size", 768}, {.type = family_key_type::computed},  // `classifier_pooling`
};

/// Two projections through a bottleneck: (…, width) -> (…, width).
constexpr tensor transform(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.family[head_width];
    const activation_module act{activation::gelu_pytorch_tanh};
    const tensor h = t.call("act_fn", act, t.call("linear1", linear{width, inner}, x));
    return t.call("act_fn", act, t.call("linear2", linear{inner, width}, h));
}

}  // namespace llmcost::ultrabert_heads
