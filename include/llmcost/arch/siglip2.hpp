// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/arch/siglip.hpp>
#include <llmcost/config/image.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/dual_encoder.hpp>
#include <llmcost/forward/siglip_heads.hpp>

namespace llmcost::arch {

namespace siglip2_detail {

using siglip_heads::num_patches, siglip_heads::process_logits;

/// Runs the model on pre-cut patches of images of any shape, padded to a length. Positions are resized for each image.
///
/// Pixels are (batch, patches, channels · side²). Source: modeling_siglip2.py, `resize_positional_embeddings`.
constexpr tensor_pair states_of_patches(const layer_context& ctx, trace& t, std::int64_t rows, std::int64_t columns,
                                        std::int64_t length, bool reads_pool) {
    const vision_config& image = ctx.config.vision;
    const std::int64_t width = ctx.config.hidden_size, n = ctx.config.family[num_patches], batch = t.load().batch;
    const std::int64_t values = image.num_channels * image.patch_size * image.patch_size;
    const std::int64_t side = image.image_height / image.patch_size;
    const tensor pixels = t.input({batch, length, values});
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("VisionEmbeddings"), .module_role = role::embedding};
    const embedding places{n, width};
    t.enter(embeddings);
    const tensor patches = t.call("patch_embedding", linear{values, width, true}, pixels);
    const module_info table{.name = "position_embedding",
                            .class_of_module = places.type_name(),
                            .module_role = role::embedding,
                            .is_leaf = true};
    t.enter(table);
    const tensor weight = t.param("weight", {n, width});
    t.leave(table);
    const tensor grid = weight.view({side, side, width}).permute({2, 0, 1}).unsqueeze(0);
    tensor resized = t.full({batch, length, width});
    t.copy_(resized, t.bilinear(grid.expand({batch, width, side, side}), rows, columns));
    const tensor x = t.leave(embeddings, t.add(patches, resized));
    return process_logits(ctx, t, x, reads_pool, rows * columns < length);
}

/// Returns the patches of the workload's images, padded to the number of positions.
constexpr tensor_pair states_of_images(const layer_context& ctx, trace& t, bool reads_pool) {
    const shape grid = patch_grid(ctx, t);
    const std::int64_t rows = grid.size[0], columns = grid.size[1];
    if (rows < 1 || columns < 1) throw_description_error("the image is too small for one patch");
    const std::int64_t n = rows * columns, minimum = ctx.config.family[num_patches];
    return states_of_patches(ctx, t, rows, columns, n < minimum ? minimum : n, reads_pool);
}

constexpr tensor base_of_patches(const layer_context& ctx, trace& t) { return states_of_images(ctx, t, false).first; }

constexpr void parse_patches(config_view json, model_config& config) {
    const std::int64_t patch = json.positive("patch_size", 16), n = json.positive("num_patches", 256);
    std::int64_t side = 1;
    while ((side + 1) * (side + 1) <= n) ++side;
    if (side * side != n) throw_invalid_value(json, "num_patches", "a square number");
    const std::int64_t pixels = checked_size(json, "patch_size", side, patch);
    config.vision = {pixels, pixels, patch, json.positive("num_channels", 3)};
    config.family[num_patches] = n;
    divide_by_heads(json, config, {"num_attention_heads"});
}

/// Returns a side after scaling, rounded up to complete patches.
[[nodiscard]] constexpr std::int64_t scaled_side(double scale, std::int64_t size, std::int64_t patch) noexcept {
    const double exact = static_cast<double>(size) * scale / static_cast<double>(patch);
    const std::int64_t truncated = static_cast<std::int64_t>(exact);
    const std::int64_t sides = (static_cast<double>(truncated) < exact ? truncated + 1 : truncated) * patch;
    return sides < patch ? patch : sides;
}

/// Returns the image size for a maximum number of patches (default 256), with the aspect ratio preserved.
///
/// Source: image_processing_siglip2.py, `get_image_size_for_max_num_patches`.
constexpr media_shapes compute_patch_shapes(const model& m, const workload& load) {
    constexpr std::int64_t maximum = 256;
    const vision_config& image = m.components[0].config.vision;
    const std::int64_t height = load.image_height > 0 ? load.image_height : image.image_height,
                       width = load.image_width > 0 ? load.image_width : image.image_width, patch = image.patch_size;
    const double eps = 1e-5;
    double minimum = eps / 10, greatest = 100.0;
    while (greatest - minimum >= eps) {
        const double scale = (minimum + greatest) / 2;
        const double rows = static_cast<double>(scaled_side(scale, height, patch)) / static_cast<double>(patch),
                     columns = static_cast<double>(scaled_side(scale, width, patch)) / static_cast<double>(patch);
        if (rows * columns <= static_cast<double>(maximum))
            minimum = scale;
        else
            greatest = scale;
    }
    return {.image = {.height = scaled_side(minimum, height, patch), .width = scaled_side(minimum, width, patch)}};
}

/// The images of a pair, as its processor hands them on.
constexpr tensor_pair states_as_processed(const layer_context& ctx, trace& t, bool reads_pool) {
    const media_shape image = compute_patch_shapes(ctx.model, t.load()).image;
    const std::int64_t patch = ctx.config.vision.patch_size, rows = image.height / patch, columns = image.width / patch;
    return states_of_patches(ctx, t, rows, columns, 256, reads_pool);
}

/// Classifies the mean of the unpadded states, with an integer mask.
constexpr tensor classify_masked_mean(const layer_context& ctx, trace& t, const tensor& x) {
    return classify_linear(ctx, t, t.div_scalar(t.sum(t.mul_scalar(x), 1)));
}

}  // namespace siglip2_detail

// transformers/models/siglip2: the same over patches of images of any shape, to which positions are resized
inline constexpr model_spec siglip2_vision_model = [](model_spec spec) {
    spec.model_type = "siglip2_vision_model";
    spec.class_prefix = "Siglip2";
    spec.base_model = siglip2_detail::base_of_patches;
    spec.parse_config = siglip2_detail::parse_patches;
    spec.accepts_any_image_size = true;
    spec.attention = text_attention;
    spec.dropout_keys = {};
    return spec;
}(siglip_vision_model);

// transformers/models/siglip2: `Siglip2TextModel`, the texts' half
inline constexpr submodel_spec siglip2_text_model = [](model_spec spec) {
    spec.model_type = "siglip2_text_model";
    spec.class_prefix = "Siglip2";
    return spec;
}(siglip_text_model);

// transformers/models/siglip2: modeling_siglip2.py
inline constexpr model_spec siglip2 = [](model_spec spec) {
    spec.model_type = "siglip2";
    spec.class_prefix = "Siglip2";
    spec.compute_media_shapes = siglip2_detail::compute_patch_shapes;
    spec.accepts_any_image_size = true;
    spec.forward = [](const layer_context& ctx, trace& t) {
        return siglip_heads::forward_dual_encoder(ctx, t, siglip2_detail::states_as_processed,
                                                  siglip2_detail::classify_masked_mean);
    };
    spec.text_model.default_spec = &siglip2_text_model;
    spec.components[0].default_spec = &siglip2_vision_model;
    return spec;
}(siglip);

}  // namespace llmcost::arch
