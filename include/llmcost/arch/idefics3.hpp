// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/reading/image.hpp>
#include <llmcost/walks/composite.hpp>
#include <llmcost/walks/tower.hpp>

namespace llmcost::arch {

namespace idefics3_detail {

enum own : std::uint8_t { scale_factor };
inline constexpr own_key keys[]{{"scale_factor", 2}};  // patches along a side that become one token

/// Patches with learned positions, which are looked up for each image by where its patches stand; layers, a norm.
constexpr value tower_base(const site& here, trace& t) {
    const value pixels = pixels_of(here, t);
    const std::int64_t width = here.dims.hidden_size, positions = patches_of(here.dims.vision);
    const module_info embeddings{.name = "embeddings", .type = here.type("VisionEmbeddings"), .what = role::embedding};
    t.enter(embeddings);
    const value patches = embed_patches(here, t, "patch_embedding", true, pixels);
    const value places = t.call("position_embedding", embedding{positions, width}, extents{pixels.dim(0), positions});
    const value x = encode(here, t, t.leave(embeddings, t.add(patches, places)));
    return t.call("post_layernorm", norm<norm_kind::layer>{width}, x);
}

constexpr void read_tower(config_view config, sizes& s) {
    read_square_image(config, s, 224, 32);
    share_among_heads(config, s, {"num_attention_heads"});
}

/// Squares of patches side by side, projected to the width of the text.
struct connector {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Connector"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t square = here.whole.own[scale_factor] * here.whole.own[scale_factor];
        const value squares = t.constant({x.dim(0), x.dim(1) / square, x.dim(2) * square}, x.type);
        const module_info projection{.name = "modality_projection", .type = here.type("SimpleMLP")};
        t.enter(projection);
        return t.leave(projection, t.call("proj", linear{x.dim(2) * square, here.dims.hidden_size}, squares));
    }
};

constexpr value base(const site& here, trace& t) {
    {
        const recorder::idle_guard no_pixels{t};
        (void)t.call("connector", connector{here}, describe_tower(here, t, 0, "vision_model", role::vision));
    }
    return describe_text(here, t, "text_model");
}

inline constexpr architecture tower = [](architecture a) {
    a.prefix = "Idefics3", a.base = tower_base, a.read = read_tower, a.heads = {};
    a.names.model_type = "VisionTransformer", a.names.attention_type = "VisionAttention", a.names.mlp_type = "VisionMLP";
    a.defaults.hidden_size = 1152, a.defaults.num_attention_heads = 16;
    a.defaults.hidden_act = activation::gelu_pytorch_tanh;
    return a;
}(shared_tower);
inline constexpr architecture smolvlm_tower = [](architecture a) {
    a.prefix = "SmolVLM";
    return a;
}(tower);

}  // namespace idefics3_detail

// transformers/models/idefics3: SigLIP's layers over images of any shape, squares of patches in front of a text model
inline constexpr architecture idefics3 = [](architecture a) {
    a.model_type = "idefics3", a.prefix = "Idefics3", a.base = idefics3_detail::base, a.own = idefics3_detail::keys;
    a.text = {.key = "text_config", .otherwise = &llama};
    a.beside[0] = {.key = "vision_config", .otherwise = &idefics3_detail::tower, .always = true};
    return a;
}(shared_composite);

// transformers/models/smolvlm: the same under another name
inline constexpr architecture smolvlm = [](architecture a) {
    a.model_type = "smolvlm", a.prefix = "SmolVLM", a.beside[0].otherwise = &idefics3_detail::smolvlm_tower;
    return a;
}(idefics3);

}  // namespace llmcost::arch
