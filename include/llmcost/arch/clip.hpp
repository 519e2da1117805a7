// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/image.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/tower.hpp>

namespace llmcost::arch {

namespace clip_detail {

/// Patches behind a class token, with learned positions; layers; the class token behind a norm is what pools, beside them.
constexpr value base(const site& here, trace& t) {
    const std::int64_t width = here.dims.hidden_size;
    const value pixels = pixels_of(here, t);
    const module_info embeddings{.name = "embeddings", .type = here.type("VisionEmbeddings"), .what = role::embedding};
    t.enter(embeddings);
    const value token = t.param("class_embedding", {width});
    const value patches = embed_patches(here, t, "patch_embedding", false, pixels);
    const value with = t.cat({token.view({1, 1, width}).expand({pixels.dim(0), 1, width}), patches}, 1);
    const value places = learned_positions(t, "position_embedding", patches_of(here.dims.vision) + 1, width);
    value x = t.leave(embeddings, t.add(with, places));
    const norm<norm_kind::layer> layer_norm{width};
    x = encode(here, t, t.call("pre_layrnorm", layer_norm, x));
    const recorder::off_loss_guard unread{t};
    (void)t.call("post_layernorm", layer_norm, t.select(x, 1));
    return x;
}

constexpr void read(config_view config, sizes& s) {
    read_square_image(config, s, 224, 32);
    share_among_heads(config, s, {"num_attention_heads"});
}

}  // namespace clip_detail

// transformers/models/clip: `CLIPVisionModel`, the images' half
inline constexpr architecture clip_vision_model = [](architecture a) {
    a.model_type = "clip_vision_model", a.prefix = "CLIP", a.base = clip_detail::base, a.read = clip_detail::read;
    a.tokens_ahead = 1, a.defaults.hidden_act = activation::quick_gelu;
    return a;
}(shared_tower);

// `CLIPVisionModel` of ViT-L/14 at 336 pixels, which LLaVA and its relatives take where they name no tower
inline constexpr architecture clip_of_llava = [](architecture a) {
    a.read = [](config_view config, sizes& s) {
        read_square_image(config, s, 336, 14);
        share_among_heads(config, s, {"num_attention_heads"});
    };
    a.defaults.intermediate_size = 4096, a.defaults.hidden_size = 1024, a.defaults.num_hidden_layers = 24;
    a.defaults.num_attention_heads = 16;
    return a;
}(clip_vision_model);

}  // namespace llmcost::arch
