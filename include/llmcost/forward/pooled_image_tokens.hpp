// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/image.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/siglip_heads.hpp>

// Gemma 3: patches pooled to a fixed number of tokens for each image.
namespace llmcost::pooled_image_tokens {

enum family_config_index : std::uint8_t { tokens_per_image };

/// Projector: averages patches to fewer tokens, normalizes and projects them to the text width.
struct projector_of_pools {
    layer_context ctx;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MultiModalProjector"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const model_config& tower = ctx.model.components[0].config;
        const std::int64_t side = tower.vision.image_height / tower.vision.patch_size, width = tower.hidden_size;
        const tensor weight = t.param("mm_input_projection_weight", {width, ctx.config.hidden_size});
        const tensor grid = t.contiguous(x.transpose(1, 2)).view({x.dim(0), width, side, side});
        const std::int64_t tokens = root(ctx.model.family[tokens_per_image]);
        if (tokens > side && !t.is_not_executed()) throw_description_error("the image has fewer patches than tokens");
        const std::int64_t kernel = tokens > side ? 1 : side / tokens;
        const tensor pooled = as_tokens(t.call("avg_pool", average_pool_2d{kernel, kernel}, grid));
        const norm_module scale{norm_kind::rms_plus_one, width, ctx.class_of("RMSNorm")};
        return t.matmul(t.call("mm_soft_emb_norm", scale, pooled), weight);
    }
    /// Side of the largest square with at most `tokens` elements.
    [[nodiscard]] static constexpr std::int64_t root(std::int64_t tokens) {
        std::int64_t n = 1;
        while ((n + 1) * (n + 1) <= tokens) ++n;
        return n;
    }
};

/// Image shapes: images are resized to the encoder's size; the number of tokens is fixed.
constexpr media_shapes compute_media_shapes(const model& m, const workload&) {
    const vision_config& image = m.components[0].config.vision;
    const std::int64_t wanted = projector_of_pools::root(m.family[tokens_per_image]),
                       side = image.image_height / image.patch_size;
    const std::int64_t tokens = wanted > side ? wanted : side / (side / wanted);
    return {.image = {.num_tokens = tokens * tokens, .height = image.image_height, .width = image.image_width}};
}

/// Parses the processor configuration. `Gemma3Processor` does not crop images, independent of this file.
constexpr void parse_processor_config(config_view json, model& m) {
    expect_resized(json);
    expect_picture(json, m.components[0].config.vision.image_height);
}

}  // namespace llmcost::pooled_image_tokens
