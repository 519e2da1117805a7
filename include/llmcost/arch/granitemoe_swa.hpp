// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/granitemoeshared.hpp>
#include <llmcost/config/experts.hpp>
#include <llmcost/forward/sink_scaled_attention.hpp>

namespace llmcost::arch {

namespace granitemoe_swa_detail {

/// Maximum number of RoPE bases per model.
inline constexpr std::uint8_t max_bases = 8;

/// Traces the model with one rotary table per RoPE base of its layers.
constexpr tensor base(const layer_context& ctx, trace& t) {
    std::uint8_t bases = 0;
    for (int i = 0; i < ctx.config.layers.num_specs; ++i)
        if (ctx.config.layers.specs[i].family_tag > bases) bases = ctx.config.layers.specs[i].family_tag;
    t.register_buffer({2, ctx.config.rotary_dim / 2}, dtype::float32);  // `rotary_emb`, which is not called
    return forward_with_rotary_tables(ctx, t, bases, false);
}

/// Parses Granite MoE SWA. Without `layer_types`, every fourth layer has full attention.
constexpr void parse_config(config_view json, model_config& config) {
    parse_local_experts(json, config);
    config.moe.shared_intermediate_size = json.non_negative("shared_intermediate_size", 0);
    const bool listed = parse_layer_types(json, config);
    const layer_plan listed_layers = config.layers;
    const layer_rotary_bases bases(json, config, max_bases, "a list of at most 8 different numbers");
    set_layers(json, config, [&](std::int64_t i) {
        return layer_spec{listed ? listed_layers[i].token_mixer : default_swa_token_mixer(i), true,
                          bases.family_tag_of(i)};
    });
}

}  // namespace granitemoe_swa_detail

// Granite MoE SWA. Derived from Granite MoE Shared, with these differences:
//  - sliding windows;
//  - sinks that scale the attention output;
//  - a RoPE base per layer, or no RoPE.
//
// Source: transformers/models/granitemoe_swa
inline constexpr model_spec granitemoe_swa = [](model_spec spec) {
    spec.model_type = "granitemoe_swa";
    spec.class_prefix = "GraniteMoeSWA";
    spec.parse_config = granitemoe_swa_detail::parse_config;
    spec.base_model = granitemoe_swa_detail::base;
    spec.attention = sink_scaled_attention;
    spec.mask_policy = mask_kind::full_and_sliding;
    spec.supported_layers.max_family_tag = granitemoe_swa_detail::max_bases;
    spec.defaults.sliding_window = 128;
    return spec;
}(granitemoeshared);

}  // namespace llmcost::arch
