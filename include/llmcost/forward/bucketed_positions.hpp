// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/image.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/tiles.hpp>
#include <llmcost/forward/vision_encoder.hpp>

// Idefics2, Idefics3: learned positions of a grid, by the fraction of the image (NaViT, arXiv 2307.06304).
namespace llmcost::bucketed_positions {

/// Computes position indices of patches from relative coordinates: fractions of the image sides, converted to integers.
constexpr void find_positions(const layer_context& ctx, trace& t, std::int64_t images, std::int64_t rows,
                              std::int64_t columns) {
    const vision_config& image = ctx.config.vision;
    const recorder::no_grad_guard constants{t};
    (void)t.full({num_boundaries(image.image_height / image.patch_size)});
    const tensor high = t.mul_scalar(t.div_scalar(trace::buffer({images}))),
                 width_shares = t.mul_scalar(t.div_scalar(trace::buffer({images})));
    const tensor down = t.full({rows}), vertical = t.full({columns});
    const tensor h = t.mul(down.view({1, rows}), high.view({images, 1}));
    const tensor w = t.mul(vertical.view({1, columns}), width_shares.view({images, 1}));
    (void)t.minimum_scalar(h);
    (void)t.minimum_scalar(w);
}

/// Embeds patches with learned positions, looked up per image by relative patch coordinates.
constexpr tensor embed(const layer_context& ctx, trace& t, const tensor& pixels) {
    const vision_config& image = ctx.config.vision;
    const std::int64_t width = ctx.config.hidden_size, images = pixels.dim(0);
    const std::int64_t rows = pixels.dim(2) / image.patch_size, columns = pixels.dim(3) / image.patch_size;
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("VisionEmbeddings"), .module_role = role::embedding};
    t.enter(embeddings);
    const tensor patches = embed_patches(ctx, t, "patch_embedding", true, pixels);
    find_positions(ctx, t, images, rows, columns);
    const tensor places =
        t.call("position_embedding", embedding{patches_of(image), width}, shape{images, rows * columns});
    return t.leave(embeddings, t.add(patches, places));
}

}  // namespace llmcost::bucketed_positions
