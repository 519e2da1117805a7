// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/layers/state_space_dual.hpp>

// Bamba. Derived from Llama, with these differences:
//  - Mamba-2 layers, and attention only in selected layers;
//  - RoPE on half of each head.
//
// Source: transformers/models/bamba: configuration_bamba.py, modeling_bamba.py

namespace llmcost::arch {

namespace bamba_detail {

/// Parses the Mamba-2 keys of IBM's hybrid models. The heads have `mamba_expand` times the hidden size together.
constexpr void parse_mixers(config_view json, model_config& config) {
    state_space_config& m = config.ssm;
    m.state_size = json.positive("mamba_d_state", 256);
    m.conv_kernel = json.positive("mamba_d_conv", 4);
    m.intermediate_size = checked_size(json, "mamba_expand", json.positive("mamba_expand", 2), config.hidden_size);
    m.num_heads = json.positive("mamba_n_heads", 128);
    m.n_groups = json.positive("mamba_n_groups", 1);
    m.chunk_size = json.positive("mamba_chunk_size", 256);
    m.use_bias = json.boolean("mamba_proj_bias", false);
    m.use_conv_bias = json.boolean("mamba_conv_bias", true);
    if (m.intermediate_size % m.num_heads != 0)
        throw_invalid_value(json, "mamba_n_heads", "a divisor of mamba_expand * hidden_size");
    m.head_dim = m.intermediate_size / m.num_heads;
    const auto width = json.find("mamba_d_head");
    if (width && !(width->is_string() && width->as_string() == "auto") && width->as_positive() != m.head_dim)
        throw_invalid_value(json, "mamba_d_head", "mamba_expand * hidden_size / mamba_n_heads, or \"auto\"");
    if (m.num_heads % m.n_groups != 0) throw_invalid_value(json, "mamba_n_groups", "a divisor of mamba_n_heads");
    (void)checked_size(json, "mamba_d_state", m.n_groups, m.state_size);
}

/// Parses `config.json`. Layers in `attn_layer_indices` have attention. By default, RoPE applies to half of each head.
constexpr void parse_config(config_view json, model_config& config) {
    parse_mixers(json, config);
    config.sliding_window = 0;
    const auto rope = detail::rope_parameters(json);
    const double part =
        rope && rope->contains("partial_rotary_factor") ? detail::parse_partial_rotary_factor(json, 0.5) : 0.5;
    config.rotary_dim = round_rotary_dim(config.head_dim, part);
    for (const literal key : {"layer_types", "layers_block_type"})
        if (json.contains(key))
            throw_unsupported(json, key, "not supported by this model type; use attn_layer_indices");
    const auto listed = json.optional_array("attn_layer_indices");
    const layer_set attends = listed ? layer_set(*listed) : layer_set{};
    set_layers(json, config, [&](std::int64_t i) {
        return layer_spec{attends.has(i) ? token_mixer_kind::full_attention : token_mixer_kind::recurrent};
    });
}

constexpr tensor recurrent_block(const layer_context& ctx, trace& t, const tensor& x) {
    const dual_state_space layer{ctx.config.hidden_size, ctx.config.ssm, ctx.config.hidden_act, ctx.class_of("Mixer"),
                                 ctx.class_of("RMSNormGated")};
    return t.call(ctx.spec.names.recurrent_block, layer, x);
}

}  // namespace bamba_detail

inline constexpr model_spec bamba = [](model_spec spec) {
    spec.model_type = "bamba";
    spec.class_prefix = "Bamba";
    spec.parse_config = bamba_detail::parse_config;
    spec.supported_heads = language_heads;
    spec.recurrent_block = bamba_detail::recurrent_block;
    spec.supported_layers = attention_layers | token_mixer_kind::recurrent;
    spec.mask_policy = mask_kind::full_and_present;
    spec.has_partial_rotary = true;
    spec.names.norm = "final_layernorm";
    spec.names.pre_mlp_norm = "pre_ff_layernorm";
    spec.names.recurrent_block = "mamba";
    spec.names.mlp = "feed_forward";
    spec.defaults.vocab_size = 128000;
    spec.defaults.intermediate_size = 14336;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.max_position_embeddings = 262144;
    return spec;
}(llama);

}  // namespace llmcost::arch
