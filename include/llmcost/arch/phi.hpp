// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/decoder.hpp>

namespace llmcost::arch {

namespace phi_detail {

/// Self-attention with optional QK-norm per head after the transposition.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    return attention_with_transposed_norm(ctx, t, project_qkv(ctx, t, x));
}

/// Attention and feed-forward block side by side, summed before the residual; one dropout serves both.
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor h = apply_norm(ctx, t, "input_layernorm", x);
    const tensor a = dropout(t, "resid_dropout", mix_tokens(ctx, t, h));
    const tensor f = dropout(t, "resid_dropout", ctx.spec.mlp(ctx, t, h));
    return t.add(t.add(a, f), x);
}

constexpr tensor embed(const layer_context& ctx, trace& t) {
    return dropout(t, "embed_dropout", embed_tokens(ctx, t), dropout_position::embeddings);
}

constexpr void parse_config(config_view json, model_config& config) {
    config.attention_bias = config.output_bias = config.mlp_bias = config.head_bias = true;
    config.qk_norm = json.boolean("qk_layernorm", false);
    if (config.qk_norm && config.head_dim != config.hidden_size / config.num_attention_heads)
        throw_invalid_value(json, "head_dim",
                            "hidden_size / num_attention_heads, as norms of queries and keys are that wide");
    config.rotary_dim = static_cast<std::int64_t>(static_cast<double>(config.head_dim) *
                                                  detail::parse_partial_rotary_factor(json, 0.5));
    set_single_mask(json, config);
}

inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "resid_pdrop"},
                                             {dropout_position::embeddings, "embd_pdrop"},
                                             {dropout_position::attention, "attention_dropout"},
                                             {dropout_position::classifier, "classifier_dropout", 0.1}};

}  // namespace phi_detail

// transformers/models/phi: configuration_phi.py, modeling_phi.py; blocks side by side, a part of each head rotated
inline constexpr model_spec phi = [](model_spec spec) {
    spec.model_type = "phi";
    spec.class_prefix = "Phi";
    spec.parse_config = phi_detail::parse_config;
    spec.supported_heads = decoder_heads;
    spec.embed_tokens = phi_detail::embed;
    spec.decoder_layer = phi_detail::decoder_layer;
    spec.attention = phi_detail::attention;
    spec.norm = norm_kind::layer;
    spec.dense_mlp = mlp_kind::plain;
    spec.has_partial_rotary = true;
    spec.names.norm = "final_layernorm";
    spec.names.o_proj = "dense";
    spec.names.q_norm = "q_layernorm";
    spec.names.k_norm = "k_layernorm";
    spec.names.mlp_modules = {.up = "fc1", .down = "fc2", .act = "activation_fn"};
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.defaults.vocab_size = 51200;
    spec.defaults.hidden_size = 2048;
    spec.defaults.intermediate_size = 8192;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 32;
    spec.defaults.max_position_embeddings = 2048;
    spec.defaults.hidden_act = activation::gelu_new;
    spec.dropout_keys = phi_detail::dropout_rates;
    return spec;
}(default_decoder);

}  // namespace llmcost::arch
