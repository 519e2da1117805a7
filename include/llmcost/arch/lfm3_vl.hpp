// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/lfm3.hpp>
#include <llmcost/reading/processor.hpp>
#include <llmcost/walks/native_patches.hpp>
#include <llmcost/walks/tower.hpp>

namespace llmcost::arch {

namespace lfm3_vl_detail {

enum tower_own : std::uint8_t { patch, frames, channels, merged, kernel };
inline constexpr own_key tower_keys[]{
    {"patch_size", 16}, {"temporal_patch_size", 2}, {"in_channels", 3}, {"spatial_merge_size", 2}, {"conv_kernel_size", 3},
};

/// The word of layers that convolve.
inline constexpr std::uint8_t convolves = 1;

struct attention {
    site here;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionAttention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t n = x.dim(0), width = here.dims.hidden_size, d = here.dims.head_dim;
        const std::int64_t heads = here.dims.num_attention_heads, groups = here.dims.num_key_value_heads;
        const auto split = [&](literal name, std::int64_t of) {
            return t.call(name, linear{width, of * d}, x).view({n, of, d});
        };
        const norm<norm_kind::rms> scale{d, here.type("VisionRMSNorm")};
        const auto turned = [&](const value& of) {
            const value wide = t.to(of, dtype::float32);
            return t.to(rotate<rotation::half>(t, wide, here.shared->cos, here.shared->sin), of.type);
        };
        const value q = t.call("q_norm", scale, split("q_proj", heads)), k = t.call("k_norm", scale, split("k_proj", groups));
        const value v = split("v_proj", groups), first = turned(q);
        const packed_runs each = packed_images(t.load(), here.dims.own[patch]).whole();
        return t.call("out_proj", linear{heads * d, width}, attend_packed(t, first, turned(k), v, each));
    }
};

/// Two gates around a convolution over the grid of each image by itself.
struct short_convolution {
    site here;

    static constexpr role what = role::mixer;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionShortConv"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, side = here.dims.own[merged], k = here.dims.own[kernel];
        const packed_pictures grid = packed_images(t.load(), here.dims.own[patch]);
        const value all = t.call("in_proj", linear{width, 3 * width}, x);
        const value part = t.slice(all, -1, width), gated = t.mul(part, part);
        const convolution_2d over_grid{width, width, k, 1, k / 2, width, false};
        const value image = gated.slice(0, grid.rows * grid.columns);
        value out = trace::buffer({1});
        out.type = x.type;
        for (repetition each = t.again(grid.frames, out); each.next();) {
            const value blocks = image.view({1, grid.rows / side, grid.columns / side, side, side, width});
            const value raster = t.reshape(blocks.permute({0, 5, 1, 3, 2, 4}), {1, width, grid.rows, grid.columns});
            const value h = t.call("spatial_conv", over_grid, raster);
            const value back = h.view({1, width, grid.rows / side, side, grid.columns / side, side});
            out = t.reshape(back.permute({0, 2, 4, 3, 5, 1}), {-1, width});
        }
        const value joined = t.cat({side_by_side(out, 0, grid.frames)}, 0);
        return t.call("out_proj", linear{width, width}, t.mul(part, joined));
    }
};

struct feed_forward {
    site here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionMLP"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
        const value h = t.silu(t.call("w1", linear{width, inner}, x));
        return t.call("w2", linear{inner, width}, t.mul(h, t.call("w3", linear{width, inner}, x)));
    }
};

struct layer {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const norm<norm_kind::rms> scale{here.dims.hidden_size, here.type("VisionRMSNorm")};
        const value even = t.call("operator_norm", scale, x);
        const value h = here.kind.own == convolves ? t.call("conv", short_convolution{here}, even)
                                                   : t.call("self_attn", attention{here}, even);
        const value middle = t.add(h, x);
        return t.add(middle, t.call("feed_forward", feed_forward{here}, t.call("ffn_norm", scale, middle)));
    }
};

/// Patches of two frames, layers that convolve or attend: (patches, width).
constexpr value tower_base(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    const std::int64_t width = here.dims.hidden_size, values = own[channels] * own[frames] * own[patch] * own[patch];
    const std::int64_t n = packed_images(t.load(), own[patch]).patches();
    value x = t.call("patch_embed", linear{values, width}, t.input({n, values}));
    x = t.call("embedding_norm", norm<norm_kind::rms>{width, here.type("VisionRMSNorm")}, x);
    shared_values made;
    const packed_table table{here.dims.head_dim, here.type("VisionRotaryEmbedding")};
    const two_values turns = t.call("rotary_pos_emb", table, n);
    made.cos = turns.first, made.sin = turns.second;
    for (repetition each = t.repeat(here.dims.num_hidden_layers, here.dims.layers, x); each.next();)
        x = t.call({"layers", each.index()}, layer{here.at(each, made)}, x);
    return x;
}

/// Convolutions, but attention in every second layer from the third on, or as a list says.
constexpr void read_tower(config_view config, sizes& s) {
    share_among_heads(config, s, {"num_attention_heads"});
    if (s.own[kernel] % 2 == 0) fail_value(config, "conv_kernel_size", "an odd number, which keeps the grid as it is");
    const auto listed = config.optional_array("layer_types");
    if (listed && static_cast<std::int64_t>(listed->size()) < s.num_hidden_layers)
        fail_value(config, "layer_types", "a list with one kind per layer");
    plan_layers(config, s, [&](std::int64_t i) {
        const bool attends = listed ? (*listed)[static_cast<std::size_t>(i)].as_string() != "conv" : i >= 2 && i % 2 == 0;
        return layer_kind{.own = attends ? std::uint8_t{} : convolves};
    });
}

inline constexpr architecture tower = [](architecture a) {
    a.model_type = "lfm3_vl_vision", a.prefix = "Lfm3Vl", a.base = tower_base, a.read = read_tower;
    a.own = tower_keys, a.heads = {}, a.rotated = rotation::none, a.kinds.own = convolves, a.names.model_type = "VisionModel";
    a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 2560, a.defaults.num_hidden_layers = 14;
    a.defaults.num_attention_heads = 16, a.defaults.num_key_value_heads = 8, a.defaults.head = head_kind::none;
    return a;
}(architecture{});

enum own : std::uint8_t { inner, has_bias, act, fewest_pixels, largest };
inline constexpr own_key keys[]{
    {"projector_hidden_size", 4096},
    {"projector_bias", 1, own_value::boolean},
    {.otherwise = static_cast<std::int64_t>(activation::gelu), .value = own_value::computed},
    {.otherwise = 56 * 56, .value = own_value::computed},
    {.otherwise = 28 * 28 * 1280, .value = own_value::computed},
};

/// Patches normed, squares of them through two projections.
struct merging_projector {
    site here;

    static constexpr role what = role::projector;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MultiModalProjector"); }
    constexpr value describe(trace& t, const value& x) const {
        const own_sizes& own = here.whole.own;
        const std::int64_t side = here.whole.beside[0].dims.own[merged], in = side * side * x.dim(-1);
        const bool bias = own[has_bias] != 0;
        const value even = t.reshape(t.call("layer_norm", norm<norm_kind::layer>{x.dim(-1)}, x), {-1, in});
        const value h = t.call("linear_1", linear{in, own[inner], bias}, even);
        const activation_module between{static_cast<activation>(own[act])};
        return t.call("linear_2", linear{own[inner], here.dims.hidden_size, bias}, t.call("act", between, h));
    }
};

constexpr media_shapes show(const model& m, const workload& load) {
    if (load.images == 0) return {};
    const own_sizes& own = m.beside[0].dims.own;
    return {.image = resized_to_patches(load, own[patch], own[merged], m.own[fewest_pixels], m.own[largest])};
}

constexpr void read_processor(config_view told, model& m) {
    expect_patches(told, m.beside[0].dims.own[patch], m.beside[0].dims.own[merged]);
    read_bounds_of_pixels(told, m.own, fewest_pixels, largest);
}

constexpr value base(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](const value& words) {
        const bool sees = sees_images(t);
        const recorder::idle_guard no_pixels{t, !sees};
        const own_sizes& own = here.whole.beside[0].dims.own;
        const media_shape each = sees ? show(here.whole, t.load()).image : media_shape{};
        const recorder::workload_guard shown{t, packed_workload(t, each, own[patch] * own[merged])};
        const value states = describe_tower(here, t, 0, "vision_tower", role::vision);
        return t.masked_scatter(words, t.cat({t.call("multi_modal_projector", merging_projector{here}, states)}, 0));
    });
}

constexpr void read(config_view config, model& m) {
    if (const auto name = config.optional_string("projector_hidden_act"))
        m.own[act] = static_cast<std::int64_t>(activation_named(config, "projector_hidden_act", *name));
}

}  // namespace lfm3_vl_detail

// transformers/models/lfm3_vl: a tower that convolves and attends in front of LFM3
inline constexpr architecture lfm3_vl = [](architecture a) {
    a.model_type = "lfm3_vl", a.prefix = "Lfm3Vl", a.base = lfm3_vl_detail::base, a.read_whole = lfm3_vl_detail::read;
    a.own = lfm3_vl_detail::keys, a.media = lfm3_vl_detail::show, a.read_processor = lfm3_vl_detail::read_processor,
    a.reads.images = true;
    a.text = {.key = "text_config", .otherwise = &lfm3, .always = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &lfm3_vl_detail::tower, .always = true};
    a.defaults.tie_word_embeddings = true;
    return a;
}(shared_composite);

}  // namespace llmcost::arch
