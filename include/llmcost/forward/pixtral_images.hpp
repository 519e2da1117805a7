// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/image.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/vision_encoder.hpp>

// Pixtral: images whose longest edge is limited, in their own aspect ratio.
namespace llmcost::pixtral_images {

/// Returns the image size: the longest side is limited to `longest`, and both sides are rounded up to multiples of
/// `step`.
///
/// Source: transformers/models/pixtral/image_processing_pixtral.py, `get_resize_output_image_size`.
[[nodiscard]] constexpr image_size resized(image_size image, std::int64_t longest, std::int64_t step) {
    const auto share = [](std::int64_t side, std::int64_t maximum) {
        return static_cast<double>(side) / static_cast<double>(maximum);
    };
    const double by_height = share(image.height, longest), by_width = share(image.width, longest);
    const double ratio = by_height > by_width ? by_height : by_width;
    const auto round_to_patch = [&](std::int64_t side) {
        const auto scaled = ratio > 1 ? static_cast<std::int64_t>(static_cast<double>(side) / ratio) : side;
        if (scaled < 1)
            throw_description_error("the aspect ratio of the image is too large: a side is rounded to zero");
        return (scaled - 1) / step * step + step;
    };
    return {round_to_patch(image.height), round_to_patch(image.width)};
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_square_image(json, config, 1024, 16);
    divide_by_heads(json, config, {"num_attention_heads"});
    config.attention_bias = config.output_bias = false;
    config.rotary_dim = config.head_dim;
}

}  // namespace llmcost::pixtral_images
