// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/granite.hpp>
#include <llmcost/forward/sink_scaled_attention.hpp>

namespace llmcost::arch {

namespace granite_swa_detail {

enum family_config_index : std::uint8_t { rotary_tables };

inline constexpr family_key family_keys[]{
    {.default_value = 1, .type = family_key_type::computed},  // number of different RoPE bases of the layers
};

constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_with_rotary_tables(ctx, t, ctx.config.family[rotary_tables], true);
}

/// Parses Granite SWA. The first and then every fourth layer has full attention. Each layer has its RoPE base; 0 means
/// no RoPE.
constexpr void parse_config(config_view json, model_config& config) {
    require_sliding_window(json);
    const layer_rotary_bases bases(json, config, max_rotary_tables, "at most 32 different numbers");
    config.family[rotary_tables] = bases.count();
    const bool listed = parse_layer_types(json, config);
    const layer_plan listed_layers = config.layers;
    set_layers(json, config, [&](std::int64_t i) {
        return layer_spec{.token_mixer = listed ? listed_layers[i].token_mixer : default_swa_token_mixer(i),
                          .family_tag = bases.family_tag_of(i)};
    });
}

}  // namespace granite_swa_detail

// Granite SWA. Derived from Granite, with these differences:
//  - one full-attention layer per three sliding-window layers;
//  - attention sinks, and a RoPE base per layer.
//
// Source: transformers/models/granite_swa
inline constexpr model_spec granite_swa = [](model_spec spec) {
    spec.model_type = "granite_swa";
    spec.class_prefix = "GraniteSWA";
    spec.parse_config = granite_swa_detail::parse_config;
    spec.family_keys = granite_swa_detail::family_keys;
    spec.base_model = granite_swa_detail::base;
    spec.attention = sink_scaled_attention;
    spec.mask_policy = mask_kind::full_and_sliding;
    spec.supported_layers.max_family_tag = max_rotary_tables;
    spec.defaults.vocab_size = 100352;
    spec.defaults.hidden_size = 2560;
    spec.defaults.intermediate_size = 8192;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 20;
    spec.defaults.num_key_value_heads = 4;
    spec.defaults.max_position_embeddings = 8192;
    spec.defaults.sliding_window = 128;
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(granite);

}  // namespace llmcost::arch
