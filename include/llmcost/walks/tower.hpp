// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/convolution.hpp>
#include <llmcost/layers/mlp.hpp>
#include <llmcost/layers/norm.hpp>
#include <llmcost/walks/attention.hpp>
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
    const convolution_2d patches{image.num_channels, here.dims.hidden_size, image.patch_size, image.patch_size, 0, 1, bias};
    return as_tokens(t.call(name, patches, pixels));
}

/// Learned positions, one for each patch, looked up once for all images.
constexpr value learned_positions(trace& t, literal name, std::int64_t positions, std::int64_t width) {
    return t.call(name, embedding{positions, width}, extents{1, positions});
}

/// Attention over all patches with an output projection: (B, S, width) -> the same.
constexpr value attend_patches(const site& here, trace& t, const value& x) {
    const decoder_names& n = here.row.names;
    const std::int64_t width = here.dims.hidden_size;
    const value mixed = attend_within(t, x, width, here.dims.num_attention_heads, here.dims.attention_bias, {n.q, n.k, n.v},
                                      true, all_positions(x.dim(1)));
    return t.call(n.o, linear{width, width, here.dims.output_bias}, mixed);
}

/// The same with queries and keys turned by where patches stand.
constexpr value attend_turned_patches(const site& here, trace& t, const value& x) {
    qkv of = project_qkv(here, t, x);
    split_heads(here, of), heads_first(of);
    turn(here, t, of);
    const shared_values& made = *here.shared;
    const value mixed =
        eager_attention(t, of.q, of.k, of.v, made.where, {.mask = made.mask.rank > 0 ? &made.mask : nullptr});
    return join(here, t, t.contiguous(t.reshape(mixed, {mixed.dim(0), mixed.dim(1), -1})));
}

/// Angles of rows and columns, each for half of a head: (1, patches, head) twice.
///
/// Source: transformers/models/pixtral/modeling_pixtral.py, `PixtralVisionRotaryEmbedding`.
struct axial_table {
    std::int64_t head_dim;
    class_name named;

    static constexpr role what = role::rotary;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr two_values describe(trace& t, std::int64_t patches) const {
        const recorder::no_grad_guard constants{t};
        const std::int64_t half = head_dim / 2;
        const value angles = t.mul(t.constant({patches, 2, 1}), trace::buffer({half}));
        const auto table = [&](const value& x) {
            const value both = t.cat({x.select(1).slice(-1, half / 2), x.select(1).slice(-1, half - half / 2)}, -1);
            return t.to(t.cat({both, both}, -1), t.activation_type()).view({1, patches, 2 * both.dim(-1)});
        };
        const value cos = t.mul(t.unary(op::cos, angles)), sin = t.mul(t.unary(op::sin, angles));
        return {table(cos), table(sin)};
    }
};

struct states_read {
    static constexpr int most = 40;

    std::uint64_t behind = 0;  ///< a bit for each number of layers in front of states
    value states[most]{};      ///< in this order; none of a tower that does not tell them apart
    int count = 0;

    [[nodiscard]] constexpr bool is_behind(std::int64_t layers) const noexcept {
        return layers < 64 && (behind >> layers & 1) != 0;
    }
};

/// Whether states behind some layers are read, and not the last ones that a tower hands out.
[[nodiscard]] constexpr bool reads_layers(const site& here) noexcept {
    return here.shared != nullptr && here.shared->read != nullptr;
}

/// Norm, attention, residual; norm, two projections, residual.
struct tower_layer {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type(here.row.names.layer_type); }
    constexpr value describe(trace& t, const value& x) const {
        const decoder_names& n = here.row.names;
        const norm<norm_kind::layer> layer_norm{here.dims.hidden_size};
        const value middle = t.add(x, t.call(n.attention, attention_module{here}, t.call("layer_norm1", layer_norm, x)));
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

/// The layers of such a tower in a module of their own, each with what turns its queries and keys; behind those whose states
/// are read alone, no loss reads any.
constexpr value encode(const site& here, trace& t, value x, literal type = "Encoder",
                       const shared_values& made = shared_values{}) {
    const module_info encoder{.name = "encoder", .type = here.type(type)};
    const std::int64_t layers = here.dims.num_hidden_layers;
    std::int64_t done = 0;
    const auto run_to = [&](std::int64_t end) {
        for (repetition each = t.repeat(end - done, x, done); each.next();)
            x = t.call({"layers", each.index()}, tower_layer{here.at(each, made)}, x);
        done = end;
    };
    t.enter(encoder);
    if (reads_layers(here)) {
        states_read& read = *here.shared->read;
        for (std::int64_t i = 0; i <= layers; ++i)
            if (read.is_behind(i)) run_to(i), read.states[read.count++] = x;
    }
    const recorder::off_loss_guard unread{t, reads_layers(here)};
    run_to(layers);
    return t.leave(encoder, x);
}

/// A tower by itself: a model without a head.
constexpr value describe_bare(const site& here, trace& t) {
    return describe_within({.type = here.type(here.row.names.model_type)}, here.row.base, here, t);
}

/// What such a tower drops.
inline constexpr dropout_key tower_dropout[]{{dropout_of::attention, "attention_dropout"}};

/// Where rows of such towers begin.
inline constexpr architecture shared_tower = [](architecture a) {
    a.describe = describe_bare, a.rotated = rotation::none, a.heads = {head_kind::none};
    a.names.model_type = "VisionModel", a.names.layer_type = "EncoderLayer", a.names.o = "out_proj";
    a.defaults.head = head_kind::none, a.defaults.hidden_size = 768, a.defaults.intermediate_size = 3072;
    a.defaults.num_hidden_layers = a.defaults.num_attention_heads = 12;
    a.attend = attend_patches, a.defaults.attention_bias = true, a.keys[2] = {"attention_bias", "", key_rule::absent};
    a.keys[0] = {"num_key_value_heads", "", key_rule::absent}, a.keys[1] = {"head_dim", "", key_rule::absent};
    return a;
}(architecture{});

}  // namespace llmcost
