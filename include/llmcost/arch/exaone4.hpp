// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

// EXAONE 4. Derived from Llama, with these differences:
//  - norms on the output of each block, and of queries and keys per head;
//  - full-attention layers without RoPE.
//
// Source: transformers/models/exaone4

namespace llmcost::arch {

namespace exaone4_detail {

/// `family_tag` of full-attention layers without RoPE.
inline constexpr std::uint8_t unrotated = 1;

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    return attention_with_optional_rotary(ctx, t, x, ctx.layer.family_tag != unrotated, true);
}

/// Parses `config.json`. With a sliding window, full-attention layers have no RoPE; by default, every fourth layer has
/// full attention.
constexpr void parse_config(config_view json, model_config& config) {
    const auto window = json.find("sliding_window");
    const bool has_window = !window || !window->is_null();
    const bool listed = parse_layer_types(json, config);
    if (!listed && !has_window) throw_missing_key(json, "layer_types", "a list with one kind per hidden layer");
    const std::int64_t pattern = listed ? 1 : json.positive("sliding_window_pattern", 4);
    const layer_plan listed_layers = config.layers;
    set_layers(json, config, [&](std::int64_t i) {
        const token_mixer_kind default_token_mixer =
            (i + 1) % pattern != 0 ? token_mixer_kind::sliding_attention : token_mixer_kind::full_attention;
        const token_mixer_kind mixer = listed ? listed_layers[i].token_mixer : default_token_mixer;
        const bool turns = !has_window || mixer == token_mixer_kind::sliding_attention;
        return layer_spec{.token_mixer = mixer, .family_tag = turns ? std::uint8_t{} : unrotated};
    });
}

}  // namespace exaone4_detail

inline constexpr model_spec exaone4 = [](model_spec spec) {
    spec.model_type = "exaone4";
    spec.class_prefix = "Exaone4";
    spec.parse_config = exaone4_detail::parse_config;
    spec.attention = exaone4_detail::attention;
    spec.decoder_layer = post_norm_layer;
    spec.mask_policy = mask_kind::full_and_present;
    spec.supported_layers.max_family_tag = exaone4_detail::unrotated;
    spec.defaults.vocab_size = 102400;
    spec.defaults.intermediate_size = 16384;
    spec.defaults.num_key_value_heads = 32;
    spec.defaults.sliding_window = 4096;
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    return spec;
}(llama);

}  // namespace llmcost::arch
