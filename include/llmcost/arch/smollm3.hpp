// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

namespace smollm3_detail {

/// Layer flag: attention without positions.
inline constexpr std::uint8_t unrotated = 1;

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    return attention_with_optional_rotary(ctx, t, x, ctx.layer.family_tag != unrotated);
}

/// Parses `config.json`. Layers with a 0 in `no_rope_layers`, or one in every `no_rope_layer_interval`, have no RoPE.
/// These layers have a sliding window if it is enabled.
constexpr void parse_config(config_view json, model_config& config) {
    const std::int64_t interval = json.positive("no_rope_layer_interval", 4);
    const auto list = json.optional_array("no_rope_layers");
    if (list && static_cast<std::int64_t>(list->size()) < config.num_hidden_layers)
        throw_invalid_value(json, "no_rope_layers", "a list with one number per hidden layer");
    const bool windows = json.boolean("use_sliding_window", false) && config.sliding_window > 0;
    const bool listed = parse_layer_types(json, config);
    const layer_plan listed_layers = config.layers;
    set_layers(json, config, [&](std::int64_t i) {
        const bool turns = list ? (*list)[static_cast<std::size_t>(i)].as_integer() != 0 : (i + 1) % interval != 0;
        const token_mixer_kind default_token_mixer =
            windows && !turns ? token_mixer_kind::sliding_attention : token_mixer_kind::full_attention;
        return layer_spec{.token_mixer = listed ? listed_layers[i].token_mixer : default_token_mixer,
                          .family_tag = turns ? std::uint8_t{} : unrotated};
    });
}

}  // namespace smollm3_detail

// transformers/models/smollm3: layers without positions between the others
inline constexpr model_spec smollm3 = [](model_spec spec) {
    spec.model_type = "smollm3";
    spec.class_prefix = "SmolLM3";
    spec.parse_config = smollm3_detail::parse_config;
    spec.attention = smollm3_detail::attention;
    spec.mask_policy = mask_kind::full_and_present;
    spec.supported_layers.max_family_tag = smollm3_detail::unrotated;
    spec.defaults.vocab_size = 128256;
    spec.defaults.hidden_size = 2048;
    spec.defaults.num_hidden_layers = 36;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.num_key_value_heads = 4;
    spec.defaults.max_position_embeddings = 32768;
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(llama);

}  // namespace llmcost::arch
