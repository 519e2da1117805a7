// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/minimax_m3.hpp>
#include <llmcost/reading/image.hpp>
#include <llmcost/reading/processor.hpp>
#include <llmcost/walks/native_patches.hpp>
#include <llmcost/walks/tower.hpp>

namespace llmcost::arch {

namespace minimax_m3_vl_detail {

enum tower_own : std::uint8_t { frames, merged };
inline constexpr own_key tower_keys[]{{"temporal_patch_size", 2}, {"spatial_merge_size", 2}};

/// Angles of frame, row and column, a third of a head each: (patches, 6 · (head / 6)) twice.
struct rotary {
    site here;
    std::int64_t patches;

    static constexpr role what = role::rotary;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionRotaryEmbedding"); }
    constexpr two_values describe(trace& t) const {
        const recorder::no_grad_guard constants{t};
        const value angles = t.mul(t.constant({patches, 3, 1}), trace::buffer({here.dims.head_dim / 3 / 2}));
        const value cos = t.mul(t.unary(op::cos, angles)), sin = t.mul(t.unary(op::sin, angles));
        const auto table = [&](const value& x) {
            const value flat = x.view({patches, -1});
            return t.to(t.cat({flat, flat}, -1), t.activation_type());
        };
        const value first = table(cos);
        return {first, table(sin)};
    }
};

/// A part of each head turned, attention within images: (patches, width) -> the same.
constexpr value attend(const site& here, trace& t, const value& row) {
    const value x = row.squeeze(0);
    const std::int64_t n = x.dim(0), width = here.dims.hidden_size, heads = here.dims.num_attention_heads, d = width / heads;
    const auto split = [&](literal name) { return t.call(name, linear{width, width, true}, x).view({n, heads, d}); };
    const value q = split("q_proj"), k = split("k_proj"), v = split("v_proj");
    const value &cos = here.shared->cos, &sin = here.shared->sin;
    const auto turned = [&](const value& of) { return rotate_part(t, rotation::half, of, cos.dim(-1), cos, sin, true); };
    const value first = turned(q);
    const packed_runs each = packed_images(t.load(), here.dims.vision.patch_size).whole();
    return t.call("out_proj", linear{width, width, true}, attend_packed(t, first, turned(k), v, each));
}

/// Patches of two frames, a norm, CLIP's layers: (1, patches, width).
constexpr value tower_base(const site& here, trace& t) {
    const vision_sizes& image = here.dims.vision;
    const std::int64_t width = here.dims.hidden_size, deep = here.dims.own[frames];
    const std::int64_t n = packed_images(t.load(), image.patch_size).patches();
    const module_info embeddings{.name = "embeddings", .type = here.type("VisionEmbeddings"), .what = role::embedding};
    t.enter(embeddings);
    const extents kernel{deep, image.patch_size, image.patch_size};
    const value pixels = t.input({n, image.num_channels, deep, image.patch_size, image.patch_size});
    const value patches = t.call("proj", convolution_3d{image.num_channels, width, kernel, kernel, false}, pixels);
    const value embedded = t.leave(embeddings, patches.view({n, width}));
    shared_values made;
    const two_values tables = t.call("rotary_emb", rotary{here, n});
    made.cos = tables.first, made.sin = tables.second;
    value x = t.call("pre_layrnorm", norm<norm_kind::layer>{width}, embedded).unsqueeze(0);
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layers", each.index()}, tower_layer{here.at(each, made)}, x);
    return x;
}

constexpr void read_tower(config_view config, sizes& s) {
    read_square_image(config, s, 2016, 14);
    share_among_heads(config, s, {"num_attention_heads"});
}

inline constexpr architecture tower = [](architecture a) {
    a.model_type = "minimax_m3_vl_vision", a.prefix = "MiniMaxM3VL", a.base = tower_base, a.read = read_tower;
    a.own = tower_keys, a.heads = {}, a.attend = attend;
    a.names.attention_type = "VisionAttention", a.names.layer_type = "VisionEncoderLayer", a.names.mlp_type = "VisionMLP";
    a.defaults.hidden_size = 1280, a.defaults.intermediate_size = 5120, a.defaults.num_hidden_layers = 32;
    a.defaults.num_attention_heads = 16, a.defaults.hidden_act = activation::gelu;
    return a;
}(shared_tower);

enum own : std::uint8_t { inner, fewest_pixels, largest };
inline constexpr own_key keys[]{{"projector_hidden_size", 6144},
                                {.otherwise = 56 * 56, .value = own_value::computed},
                                {.otherwise = 451584, .value = own_value::computed}};

/// Two projections for each patch, two more for squares of them.
struct merging_projector {
    site here;

    static constexpr role what = role::projector;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {"MiniMaxM3VL", "MultiModalProjector"}; }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, wide = here.whole.own[inner];
        const std::int64_t side = here.whole.beside[0].dims.own[merged], square = side * side;
        const auto twice = [&](literal first, literal act, literal second, const value& from) {
            const value h = t.call(first, linear{from.dim(-1), wide, true}, from);
            return t.call(second, linear{wide, width, true}, t.call(act, activation_module{activation::gelu}, h));
        };
        const value each = twice("linear_1", "act", "linear_2", x);
        return twice("merge_linear_1", "merge_act", "merge_linear_2", t.reshape(each, {x.dim(0) / square, square * width}));
    }
};

constexpr media_shapes show(const model& m, const workload& load) {
    if (load.images == 0) return {};
    const sizes& vision = m.beside[0].dims;
    return {.image = resized_to_patches(load, vision.vision.patch_size, vision.own[merged], m.own[fewest_pixels],
                                        m.own[largest])};
}

/// A size of `[672, 672]`, as published, means nothing.
constexpr void read_processor(config_view told, model& m) {
    expect_patches(told, m.beside[0].dims.vision.patch_size, m.beside[0].dims.own[merged]);
    if (const auto size = told.find("size"); size && size->is_array()) {
        if (size->size() != 2 || (*size)[0].as_positive() != 672 || (*size)[1].as_positive() != 672)
            fail_value(told, "size", "an object with bounds of pixels, or [672, 672]");
        return read_older_bounds(told, m.own, fewest_pixels, largest);
    }
    read_bounds_of_pixels(told, m.own, fewest_pixels, largest);
}

constexpr value base(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](const value& words) {
        const bool sees = sees_images(t);
        const recorder::idle_guard no_pixels{t, !sees};
        const sizes& vision = here.whole.beside[0].dims;
        const media_shape each = sees ? show(here.whole, t.load()).image : media_shape{};
        const recorder::workload_guard shown{t, packed_workload(t, each, vision.vision.patch_size * vision.own[merged])};
        const value states = describe_tower(here, t, 0, "vision_tower", role::vision);
        const value features = t.call("multi_modal_projector", merging_projector{here}, states.squeeze(0));
        return scatter_counted(t, words, features);
    });
}

}  // namespace minimax_m3_vl_detail

// transformers/models/minimax_m3_vl: a tower of patches in front of MiniMax M3; its head's class is named after the text's
inline constexpr architecture minimax_m3_vl = [](architecture a) {
    a.model_type = "minimax_m3_vl", a.prefix = "MiniMaxM3", a.base = minimax_m3_vl_detail::base;
    a.own = minimax_m3_vl_detail::keys, a.media = minimax_m3_vl_detail::show,
    a.read_processor = minimax_m3_vl_detail::read_processor, a.reads.images = true;
    a.names.model_type = "VLModel", a.names.causal_lm_type = "SparseForConditionalGeneration";
    a.heads = {head_kind::none, head_kind::causal_lm}, a.defaults.head = head_kind::causal_lm;
    a.text = {.key = "text_config", .otherwise = &minimax_m3_vl_text, .always = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &minimax_m3_vl_detail::tower, .always = true};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
