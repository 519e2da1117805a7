// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

namespace nanochat_detail {

/// Base model with one shared norm before and after the layers.
constexpr tensor base(const layer_context& ctx, trace& t) {
    const tensor token_embeddings = ctx.spec.embed_tokens(ctx, t);
    const decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    const tensor x = forward_layers(ctx, t, shared, apply_norm(ctx, t, "norm", token_embeddings));
    return apply_norm(ctx, t, "norm", x);
}

constexpr void parse_config(config_view json, model_config& config) {
    set_single_mask(json, config);
    const literal cap = "final_logit_softcapping";
    config.logits_soft_cap = !json.contains(cap) || json.optional_real(cap).has_value();
}

}  // namespace nanochat_detail

// transformers/models/nanochat: norms without weights, of rotated queries and keys, and before the layers
inline constexpr model_spec nanochat = [](model_spec spec) {
    spec.supported_heads = language_heads;
    spec.model_type = "nanochat";
    spec.class_prefix = "NanoChat";
    spec.parse_config = nanochat_detail::parse_config;
    spec.base_model = nanochat_detail::base;
    spec.attention = attention_with_norm_after_rotary;
    spec.norm = norm_kind::rms_weightless;
    spec.dense_mlp = mlp_kind::plain;
    spec.names.mlp_modules = {.up = "fc1", .down = "fc2", .act = "activation_fn"};
    spec.defaults.vocab_size = 50304;
    spec.defaults.hidden_size = 768;
    spec.defaults.intermediate_size = 8192;
    spec.defaults.num_hidden_layers = 12;
    spec.defaults.num_attention_heads = 6;
    spec.defaults.hidden_act = activation::relu2;
    spec.config_keys.add("mlp_bias", key_rule::absent);
    return spec;
}(llama);

}  // namespace llmcost::arch
