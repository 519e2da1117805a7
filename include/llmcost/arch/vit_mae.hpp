// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/vit.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/vision_transformer.hpp>
#include <llmcost/layers/convolution.hpp>

namespace llmcost::arch {

namespace vit_mae_detail {

enum family_config_index : std::uint8_t { num_visible_patches };
inline constexpr family_key family_keys[]{{.type = family_key_type::computed}};  // patches that no mask hides

/// Embeds patches with fixed positions, selects a random subset, and prepends a class token.
///
/// Source: modeling_vit_mae.py, `random_masking`; drawing and sorting cost nothing.
constexpr tensor embed(const layer_context& ctx, trace& t) {
    const vision_config& image = ctx.config.vision;
    const std::int64_t width = ctx.config.hidden_size, num_visible = ctx.config.family[num_visible_patches];
    const tensor pixels = image_input(ctx, t);
    const std::int64_t batch = pixels.dim(0);
    const std::int64_t patches = (image.image_height / image.patch_size) * (image.image_width / image.patch_size);
    const tensor token = t.param("cls_token", {1, 1, width});
    const tensor places = t.frozen_parameter("position_embeddings", {1, patches + 1, width});
    const module_info patch_embeddings{.name = "patch_embeddings", .class_of_module = ctx.class_of("PatchEmbeddings")};
    t.enter(patch_embeddings);
    const tensor tokens =
        t.leave(patch_embeddings, as_tokens(t.call("projection", patch_convolution{image, width}, pixels)));
    const tensor x = t.add(tokens, places.slice(1, patches));
    const tensor noise = t.full({batch, patches});
    (void)t.copy(noise);  // in the order of its values
    const tensor visible = t.gather_with_saved_source(x, {batch, num_visible, width});
    (void)t.gather(t.full({batch, patches}), {batch, patches});  // mask of the selected patches, in patch order
    const tensor first = t.add(token, places.slice(1, 1));
    return t.cat({first.expand({batch, 1, width}), visible}, 1);
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("Embeddings"), .module_role = role::embedding};
    t.enter(embeddings);
    const tensor x = t.leave(embeddings, embed(ctx, t));
    return forward_vit_layers(ctx, t, x);
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_vit(json, config);
    const vision_config& image = config.vision;
    const std::int64_t patches = (image.image_height / image.patch_size) * (image.image_width / image.patch_size);
    const double ratio = json.real("mask_ratio", 0.75);
    if (!(ratio >= 0.0 && ratio <= 1.0)) throw_invalid_value(json, "mask_ratio", "a share from 0 to 1");
    config.family[num_visible_patches] = static_cast<std::int64_t>(static_cast<double>(patches) * (1 - ratio));
}

}  // namespace vit_mae_detail

// transformers/models/vit_mae: configuration_vit_mae.py, modeling_vit_mae.py, a vision transformer of a few patches
inline constexpr model_spec vit_mae = [](model_spec spec) {
    spec.model_type = "vit_mae";
    spec.class_prefix = "ViTMAE";
    spec.parse_config = vit_mae_detail::parse_config;
    spec.family_keys = vit_mae_detail::family_keys;
    spec.forward = [](const layer_context& ctx, trace& t) {
        return forward_image_model(ctx, t, "", vit_mae_detail::base, nullptr);
    };
    spec.supported_heads = {head_kind::none};
    spec.defaults.head = head_kind::none;
    return spec;
}(vit);

}  // namespace llmcost::arch
