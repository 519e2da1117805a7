// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/deepseek.hpp>
#include <llmcost/walks/composite.hpp>
#include <llmcost/walks/tower.hpp>

namespace llmcost::arch {

namespace kimi_k25_detail {

enum own : std::uint8_t { normed_width };
inline constexpr own_key keys[]{{"projection_hidden_size", 1152}};

enum tower_own : std::uint8_t { table_rows, table_columns, merged_rows, merged_columns };
inline constexpr own_key tower_keys[]{
    {"pos_emb_height", 64},
    {"pos_emb_width", 64},
    {.otherwise = 2, .value = own_value::computed},
    {.otherwise = 2, .value = own_value::computed},
};

/// Images of any shape come as patches; this many stand for one.
inline constexpr std::int64_t nominal_patches = 16;

/// A layer of the tower: norms, attention whose queries and keys are turned, two projections.
struct layer {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionEncoderLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const norm<norm_kind::layer> layer_norm{here.dims.hidden_size};
        const value middle = t.add(x, t.call("attn", attention_module{here}, t.call("norm1", layer_norm, x)));
        const mlp<mlp_kind::plain> block{here.dims.hidden_size,
                                         here.dims.intermediate_size,
                                         here.dims.hidden_act,
                                         here.type("VisionMLP"),
                                         true,
                                         {.up = "fc1", .down = "fc2", .act = "act"}};
        return t.add(middle, t.call("mlp", block, t.call("norm2", layer_norm, middle)));
    }
};

/// Patches with positions that are resized from a table; layers; a norm.
constexpr value tower_base(const site& here, trace& t) {
    const vision_sizes& image = here.dims.vision;
    const std::int64_t n = nominal_patches * t.load().batch, width = here.dims.hidden_size;
    const own_sizes& own = here.dims.own;
    const module_info patch_embed{.name = "patch_embed", .type = here.type("VisionPatchEmbed"), .what = role::embedding};
    const module_info positions{.name = "pos_emb", .type = here.type("VisionPositionEmbeddings")};
    const convolution_2d patches{3, width, image.patch_size, image.patch_size};
    t.enter(patch_embed);
    const value pixels = t.input({n, 3, image.patch_size, image.patch_size});
    value x = t.call("proj", patches, pixels).view({1, n, width});
    t.enter(positions);
    (void)t.param("position_embeddings", {own[table_rows], own[table_columns], width});
    x = t.leave(positions, t.add(x, t.constant({1, n, width}, x.type)));
    x = t.leave(patch_embed, x);
    shared_values made;
    made.where = {.sequence = n, .causal = false};
    const two_values tables = t.call("rotary_emb", axial_table{here.dims.head_dim, here.type("VisionRotaryEmbedding")}, n);
    made.cos = tables.first, made.sin = tables.second;
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layers", each.index()}, layer{here.at(each, made)}, x);
    return t.call("final_layernorm", norm<norm_kind::layer>{width}, x);
}

constexpr void read_tower(config_view config, sizes& s) {
    s.vision.patch_size = config.positive("patch_size", 14);
    share_among_heads(config, s, {"num_attention_heads"});
    const auto merged = config.optional_array("merge_kernel_size");
    if (!merged) return;
    if (merged->size() != 2) fail_value(config, "merge_kernel_size", "rows and columns of patches that become one");
    s.own[merged_rows] = (*merged)[0].as_positive(), s.own[merged_columns] = (*merged)[1].as_positive();
}

inline constexpr architecture tower = [](architecture a) {
    a.prefix = "Kimi_K25", a.base = tower_base, a.read = read_tower, a.own = tower_keys, a.heads = {};
    a.rotated = rotation::half, a.attend = attend_turned_patches;
    a.names.attention_type = "VisionAttention", a.names.o = "proj";
    a.defaults.hidden_size = 1152, a.defaults.intermediate_size = 4304, a.defaults.num_hidden_layers = 27;
    a.defaults.num_attention_heads = 16, a.defaults.hidden_act = activation::gelu_pytorch_tanh;
    return a;
}(shared_tower);

/// Patches normed, some side by side, through two projections.
struct merging_projector {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MultimodalProjection"); }
    constexpr value describe(trace& t, const value& x) const {
        const sizes& vision = here.whole.beside[0].dims;
        const std::int64_t square = vision.own[merged_rows] * vision.own[merged_columns], in = square * vision.hidden_size;
        const value states = t.constant({x.dim(1), here.whole.own[normed_width]}, x.type);
        (void)t.call("pre_norm", norm<norm_kind::layer>{here.whole.own[normed_width]}, states);
        value h = t.call("in_proj", linear{in, in, true}, t.constant({1, (x.dim(1) + square - 1) / square, in}, x.type));
        h = t.call("act", gelu_module{}, h);
        return t.call("out_proj", linear{in, here.dims.hidden_size, true}, h);
    }
};

constexpr value base(const site& here, trace& t) {
    {
        const recorder::idle_guard no_pixels{t};
        (void)t.call("mm_projector", merging_projector{here}, describe_tower(here, t, 0, "vision_tower", role::vision));
    }
    return describe_text(here, t, "language_model");
}

}  // namespace kimi_k25_detail

// transformers/models/kimi_k25: patches of images and videos in front of DeepSeek-V3
inline constexpr architecture kimi_k25 = [](architecture a) {
    a.model_type = "kimi_k25", a.prefix = "Kimi_K25", a.base = kimi_k25_detail::base, a.own = kimi_k25_detail::keys;
    a.text = {.key = "text_config", .otherwise = &deepseek_v3, .also = "kimi_k2"};
    a.beside[0] = {.key = "vision_config", .otherwise = &kimi_k25_detail::tower, .always = true};
    a.defaults.tie_word_embeddings = true;
    return a;
}(shared_composite);

}  // namespace llmcost::arch
