// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/cohere.hpp>

namespace llmcost::arch {

namespace cohere2_detail {

/// Self-attention of Cohere 2: only sliding-window layers apply RoPE.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    return attention_with_optional_rotary(ctx, t, x, ctx.layer.token_mixer == token_mixer_kind::sliding_attention);
}

}  // namespace cohere2_detail

/// Parses Cohere 2. By default, every `sliding_window_pattern`-th layer has full attention.
constexpr void parse_cohere2(config_view json, model_config& config) {
    require_sliding_window(json);
    if (parse_layer_types(json, config)) return;
    const std::int64_t pattern = json.positive("sliding_window_pattern", 4);
    set_layers(json, config, [&](std::int64_t i) {
        return layer_spec{(i + 1) % pattern != 0 ? token_mixer_kind::sliding_attention
                                                 : token_mixer_kind::full_attention};
    });
}

// Cohere 2. Derived from Cohere. Three sliding-window layers precede each full-attention layer, which has no RoPE.
//
// Source: transformers/models/cohere2
inline constexpr model_spec cohere2 = [](model_spec spec) {
    spec.model_type = "cohere2";
    spec.class_prefix = "Cohere2";
    spec.parse_config = parse_cohere2;
    spec.mask_policy = mask_kind::full_and_sliding;
    spec.attention = cohere2_detail::attention;
    spec.defaults.sliding_window = 4096;
    return spec;
}(cohere);

}  // namespace llmcost::arch
