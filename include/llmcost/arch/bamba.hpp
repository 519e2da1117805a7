// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/state_space.hpp>
#include <llmcost/forward/state_space_model.hpp>

// Bamba. Derived from Llama, with these differences:
//  - Mamba-2 layers, and attention only in selected layers;
//  - RoPE on half of each head.
//
// Source: transformers/models/bamba: configuration_bamba.py, modeling_bamba.py

namespace llmcost::arch {

namespace bamba_detail {

/// Parses `config.json`. Layers in `attn_layer_indices` have attention. By default, RoPE applies to half of each head.
constexpr void parse_config(config_view json, model_config& config) {
    parse_mamba2_mixers(json, config);
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
    return mamba2_block(ctx, t, x, "Mixer");
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
