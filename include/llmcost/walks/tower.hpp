// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/convolution_2d.hpp>
#include <llmcost/layers/mlp.hpp>
#include <llmcost/layers/norm.hpp>
#include <llmcost/walks/encoder.hpp>

// Towers: encoders of images, as CLIP has them and most others copied them.
namespace llmcost {

/// Pixels of a square image, one for each sequence.
constexpr value pixels_of(const site& here, trace& t) {
    const vision_sizes& image = here.dims.vision;
    return t.input({t.load().batch, image.num_channels, image.image_height, image.image_width});
}

/// Patches of a whole image.
[[nodiscard]] constexpr std::int64_t patches_of(const vision_sizes& image) noexcept {
    return (image.image_height / image.patch_size) * (image.image_width / image.patch_size);
}

/// Patches as tokens, by a convolution under this name.
constexpr value embed_patches(const site& here, trace& t, literal name, bool bias, const value& pixels) {
    const vision_sizes& image = here.dims.vision;
    const convolution_2d patches{image.num_channels, here.dims.hidden_size, image.patch_size, image.patch_size, 0, bias};
    return as_tokens(t.call(name, patches, pixels));
}

/// Learned positions, one for each patch, looked up once for all images.
constexpr value learned_positions(trace& t, literal name, std::int64_t positions, std::int64_t width) {
    return t.call(name, embedding{positions, width}, extents{1, positions});
}

/// Attention over all patches with an output projection, biases everywhere.
struct tower_attention {
    site here;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type(here.row.names.attention_type); }
    constexpr value describe(trace& t, const value& x) const {
        const decoder_names& n = here.row.names;
        const std::int64_t width = here.dims.hidden_size;
        const value mixed =
            attend_within(t, x, width, here.dims.num_attention_heads, true, {n.q, n.k, n.v}, true, all_positions(x.dim(1)));
        return t.call(n.o, linear{width, width, true}, mixed);
    }
};

/// Norm, attention, residual; norm, two projections, residual.
struct tower_layer {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type(here.row.names.layer_type); }
    constexpr value describe(trace& t, const value& x) const {
        const decoder_names& n = here.row.names;
        const norm<norm_kind::layer> layer_norm{here.dims.hidden_size};
        const value middle = t.add(x, t.call(n.attention, tower_attention{here}, t.call("layer_norm1", layer_norm, x)));
        return t.add(middle, t.call("mlp", feed_forward_of(here), t.call("layer_norm2", layer_norm, middle)));
    }
    [[nodiscard]] static constexpr mlp<mlp_kind::plain> feed_forward_of(const site& here) {
        return {here.dims.hidden_size,
                here.dims.intermediate_size,
                here.dims.hidden_act,
                here.type(here.row.names.mlp_type),
                true,
                {.up = "fc1", .down = "fc2", .act = "activation_fn"}};
    }
};

/// The layers of such a tower in a module of their own.
constexpr value encode(const site& here, trace& t, value x) {
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    t.enter(encoder);
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layers", each.index()}, tower_layer{here}, x);
    return t.leave(encoder, x);
}

/// A tower by itself: a model without a head.
constexpr value describe_bare(const site& here, trace& t) {
    return describe_within({.type = here.type(here.row.names.model_type)}, here.row.base, here, t);
}

/// Where rows of such towers begin.
inline constexpr architecture shared_tower = [](architecture a) {
    a.describe = describe_bare, a.rotated = rotation::none, a.heads = {head_kind::none};
    a.names.model_type = "VisionModel", a.names.layer_type = "EncoderLayer", a.names.o = "out_proj";
    a.defaults.head = head_kind::none, a.defaults.hidden_size = 768, a.defaults.intermediate_size = 3072;
    a.defaults.num_hidden_layers = a.defaults.num_attention_heads = 12;
    a.keys[0] = {"num_key_value_heads", "", key_rule::absent}, a.keys[1] = {"head_dim", "", key_rule::absent};
    return a;
}(architecture{});

}  // namespace llmcost
