// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/vit.hpp>
#include <llmcost/layers/convolution.hpp>
#include <llmcost/walks/images.hpp>

namespace llmcost::arch {

namespace vit_mae_detail {

enum own : std::uint8_t { kept };
inline constexpr own_key keys[]{{.value = own_value::computed}};  // patches that no mask hides

/// Patches at fixed positions, of which a random few are kept, behind a class token.
///
/// Source: modeling_vit_mae.py, `random_masking`; drawing and sorting cost nothing.
constexpr value embed(const site& here, trace& t) {
    const vision_sizes& image = here.dims.vision;
    const std::int64_t width = here.dims.hidden_size, few = here.dims.own[kept];
    const value pixels = images_of(here, t);
    const std::int64_t batch = pixels.dim(0);
    const std::int64_t patches = (image.image_height / image.patch_size) * (image.image_width / image.patch_size);
    const value token = t.param("cls_token", {1, 1, width});
    value places = t.param("position_embeddings", {1, patches + 1, width});
    places.requires_grad = false;
    const module_info patch_embeddings{.name = "patch_embeddings", .type = here.type("PatchEmbeddings")};
    t.enter(patch_embeddings);
    const value tokens = t.leave(patch_embeddings, as_tokens(t.call("projection", patch_convolution{image, width}, pixels)));
    const value x = t.add(tokens, places.slice(1, patches));
    const value noise = t.constant({batch, patches});
    (void)t.copy(noise);  // in the order of its values
    const value visible = t.gather_along(x, {batch, few, width});
    (void)t.gather(t.constant({batch, patches}), {batch, patches});  // which are kept, in the order of patches
    const value first = t.add(token, places.slice(1, 1));
    return t.cat({first.expand({batch, 1, width}), visible}, 1);
}

constexpr value base(const site& here, trace& t) {
    const module_info embeddings{.name = "embeddings", .type = here.type("Embeddings"), .what = role::embedding};
    t.enter(embeddings);
    const value x = t.leave(embeddings, embed(here, t));
    return describe_vit_layers(here, t, x);
}

constexpr void read(config_view config, sizes& s) {
    read_vit(config, s);
    const vision_sizes& image = s.vision;
    const std::int64_t patches = (image.image_height / image.patch_size) * (image.image_width / image.patch_size);
    const double ratio = config.real("mask_ratio", 0.75);
    if (!(ratio >= 0.0 && ratio <= 1.0)) fail_value(config, "mask_ratio", "a share from 0 to 1");
    s.own[kept] = static_cast<std::int64_t>(static_cast<double>(patches) * (1 - ratio));
}

}  // namespace vit_mae_detail

// transformers/models/vit_mae: configuration_vit_mae.py, modeling_vit_mae.py, a vision transformer of a few patches
inline constexpr architecture vit_mae = [](architecture a) {
    a.model_type = "vit_mae", a.prefix = "ViTMAE", a.read = vit_mae_detail::read, a.own = vit_mae_detail::keys;
    a.describe = [](const site& here, trace& t) { return describe_image_model(here, t, "", vit_mae_detail::base, nullptr); };
    a.heads = {head_kind::none}, a.defaults.head = head_kind::none;
    return a;
}(vit);

}  // namespace llmcost::arch
