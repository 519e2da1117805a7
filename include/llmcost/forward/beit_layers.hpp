// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/image_stages.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/vision_transformer.hpp>

// BEiT: relative positions of patches, and embeddings with mask tokens (arXiv 2106.08254).
namespace llmcost::beit_layers {

enum family_config_index : std::uint8_t { mask_token, absolute, biased, shared, mean_pooling, scaled, drops };

/// Relative position biases for all pairs of patches, and three biases for the class token: (1, H, tokens, tokens).
///
/// The reference interpolates the table to the image size, even if the sizes are equal.
struct relative_bias {
    const layer_context& ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("RelativePositionBias"); }
    constexpr tensor forward(trace& t) const {
        const vision_config& image = ctx.config.vision;
        const std::int64_t heads = ctx.config.num_attention_heads;
        const std::int64_t high = image.image_height / image.patch_size,
                           expanded_width = image.image_width / image.patch_size;
        const shape grid = patch_grid(ctx, t);
        const std::int64_t old_rows = 2 * high - 1, old_columns = 2 * expanded_width - 1,
                           tokens = grid.size[0] * grid.size[1] + 1;
        const std::int64_t rows = 2 * grid.size[0] - 1, columns = 2 * grid.size[1] - 1, old = old_rows * old_columns;
        const tensor table = t.param("relative_position_bias_table", {old + 3, heads});
        const tensor places = t.slice(table, 0, old).view({1, old_columns, old_rows, heads}).permute({0, 3, 1, 2});
        const tensor resampled =
            t.reshape(t.bilinear(places, rows, columns).permute({0, 2, 3, 1}), {rows * columns, heads});
        const tensor all = t.cat({resampled, t.slice(table, 0, 3)}, 0);
        const tensor picked = t.gather(all, {tokens * tokens, heads}).view({tokens, tokens, heads});
        return t.contiguous(picked.permute({2, 0, 1})).unsqueeze(0);
    }
};

constexpr tensor embed(const layer_context& ctx, trace& t) {
    return embed_with_class_token(ctx, t, ctx.config.family[mask_token] != 0, ctx.config.family[absolute] != 0);
}

}  // namespace llmcost::beit_layers
