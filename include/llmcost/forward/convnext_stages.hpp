// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/image_stages.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/layers/norm.hpp>

// ConvNeXt: stages of depthwise convolutions with inverted bottlenecks (arXiv 2201.03545).
namespace llmcost::convnext_stages {

enum family_config_index : std::uint8_t {
    normalizes_responses,  ///< 1 = response norm between the linear layers of a block
    scales,                ///< 1 = one scale per channel for the output of a block
    drops,
    stages,
    widths,
    depths = widths + max_stages
};

inline constexpr family_key family_keys[]{{.type = family_key_type::computed},
                                          {.type = family_key_type::computed},
                                          {.type = family_key_type::computed},
                                          {.type = family_key_type::computed}};

/// Layer norm over channels in channels-first layout. It transposes to channels-last and back.
struct channel_norm : norm_module {
    literal prefix;

    constexpr channel_norm(std::int64_t width, literal class_prefix)
        : norm_module{norm_kind::layer, width}, prefix(class_prefix) {}
    [[nodiscard]] constexpr class_name type_name() const { return {prefix, "LayerNorm"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        return norm_module::forward(t, x.permute({0, 2, 3, 1})).permute({0, 3, 1, 2});
    }
};

/// Layer norm over channels in channels-last layout.
struct last_norm : norm_module {
    literal prefix;

    constexpr last_norm(std::int64_t width, literal class_prefix)
        : norm_module{norm_kind::layer, width}, prefix(class_prefix) {}
    [[nodiscard]] constexpr class_name type_name() const { return {prefix, "LayerNorm"}; }
};

}  // namespace llmcost::convnext_stages
