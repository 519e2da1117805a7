// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/multihead_attention.hpp>
#include <llmcost/reading/image.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/tower.hpp>

namespace llmcost::arch {

namespace siglip_detail {

enum own : std::uint8_t { uses_head, num_patches };
inline constexpr own_key keys[]{
    {"vision_use_head", 1, own_value::boolean},        // a learned query pools the patches
    {.otherwise = 256, .value = own_value::computed},  // SigLIP 2: positions, which are resized to an image's patches
};

/// A learned query attends to all patches (`SiglipMultiheadAttentionPoolingHead`).
struct pooling_head {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MultiheadAttentionPoolingHead"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size;
        const value probe = t.param("probe", {1, 1, width});
        const value queries = t.copy(probe.expand({x.dim(0), 1, width}));
        const value h = t.call("attention", multihead_attention{width, here.dims.num_attention_heads}, queries, x);
        const value normed = t.call("layernorm", norm<norm_kind::layer>{width}, h);
        return t.select(t.add(h, t.call("mlp", tower_layer::feed_forward_of(here), normed)), 1);
    }
};

/// From embedded patches on: layers, a norm, and the pool beside them.
constexpr value finish(const site& here, trace& t, const value& embedded) {
    const value x = t.call("post_layernorm", norm<norm_kind::layer>{here.dims.hidden_size}, encode(here, t, embedded));
    if (here.dims.own[uses_head] == 0) return x;
    const recorder::off_loss_guard unread{t};
    (void)t.call("head", pooling_head{here}, x);
    return x;
}

/// Patches with learned positions, without a class token.
constexpr value base(const site& here, trace& t) {
    const value pixels = pixels_of(here, t);
    const module_info embeddings{.name = "embeddings", .type = here.type("VisionEmbeddings"), .what = role::embedding};
    t.enter(embeddings);
    const value patches = embed_patches(here, t, "patch_embedding", true, pixels);
    const value places = learned_positions(t, "position_embedding", patches_of(here.dims.vision), here.dims.hidden_size);
    return finish(here, t, t.leave(embeddings, t.add(patches, places)));
}

/// The same where patches come cut out of images of any shape: (batch, patches, channels · side²).
constexpr value base_of_patches(const site& here, trace& t) {
    const vision_sizes& image = here.dims.vision;
    const std::int64_t width = here.dims.hidden_size, n = here.dims.own[num_patches];
    const std::int64_t values = image.num_channels * image.patch_size * image.patch_size;
    const value pixels = t.input({t.load().batch, n, values});
    const module_info embeddings{.name = "embeddings", .type = here.type("VisionEmbeddings"), .what = role::embedding};
    t.enter(embeddings);
    const value patches = t.call("patch_embedding", linear{values, width, true}, pixels);
    const value places = learned_positions(t, "position_embedding", n, width);
    return finish(here, t, t.leave(embeddings, t.add(patches, places)));
}

constexpr void read(config_view config, sizes& s) {
    read_square_image(config, s, 224, 16);
    share_among_heads(config, s, {"num_attention_heads"});
}
constexpr void read_patches(config_view config, sizes& s) {
    s.vision.patch_size = config.positive("patch_size", 16), s.vision.num_channels = config.positive("num_channels", 3);
    s.own[num_patches] = config.positive("num_patches", 256);
    share_among_heads(config, s, {"num_attention_heads"});
}

}  // namespace siglip_detail

// transformers/models/siglip: `SiglipVisionModel`, the images' half
inline constexpr architecture siglip_vision_model = [](architecture a) {
    a.model_type = "siglip_vision_model", a.prefix = "Siglip", a.base = siglip_detail::base, a.read = siglip_detail::read;
    a.own = siglip_detail::keys, a.defaults.hidden_act = activation::gelu_pytorch_tanh;
    return a;
}(shared_tower);

// transformers/models/siglip2: the same over patches of images of any shape, to which positions are resized; that is not
// described, so that it stands in other models only
inline constexpr architecture siglip2_vision_model = [](architecture a) {
    a.model_type = "siglip2_vision_model", a.prefix = "Siglip2", a.base = siglip_detail::base_of_patches;
    a.read = siglip_detail::read_patches, a.heads = {};
    return a;
}(siglip_vision_model);

}  // namespace llmcost::arch
