// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/forward/layers.hpp>
#include <llmcost/forward/multimodal.hpp>

// Gemma 4: images resized to a limited number of soft tokens, and the projection of their features.
namespace llmcost::soft_token_images {

/// Returns the largest image size with about the same aspect ratio and at most `tokens` complete tokens.
///
/// Source: transformers/models/gemma4/image_processing_gemma4.py, `get_aspect_ratio_preserving_size`.
[[nodiscard]] inline image_size within_tokens(image_size image, std::int64_t patch, std::int64_t pooled,
                                              std::int64_t tokens) {
    const std::int64_t step = patch * pooled, maximum = tokens * pooled * pooled * patch * patch;
    const auto real = [](std::int64_t n) { return static_cast<double>(n); };
    const double factor = __builtin_sqrt(real(maximum) / real(image.height * image.width));
    const auto steps = [&](std::int64_t side) { return static_cast<std::int64_t>(factor * real(side) / real(step)); };
    std::int64_t rows = steps(image.height), columns = steps(image.width);
    const auto clamp_aspect_ratio = [&](std::int64_t longer, std::int64_t shorter) {
        return longer / shorter < tokens ? longer / shorter : tokens;
    };
    if (rows == 0 && columns == 0) throw_description_error("the image is too small: it has fewer pixels than a token");
    if (rows == 0) {
        rows = 1;
        columns = clamp_aspect_ratio(image.width, image.height);
    } else if (columns == 0) {
        columns = 1;
        rows = clamp_aspect_ratio(image.height, image.width);
    }
    if (rows * columns > tokens) throw_description_error("the image expands to more tokens than the processor allows");
    return {rows * step, columns * step};
}

/// A norm without a weight and a projection to the text width.
struct media_embedder {
    layer_context ctx;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MultimodalEmbedder"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor even = norm_without_weight(ctx, t, "embedding_pre_projection_norm", x);
        return t.call("embedding_projection", linear{x.dim(-1), ctx.config.hidden_size}, even);
    }
};

}  // namespace llmcost::soft_token_images
