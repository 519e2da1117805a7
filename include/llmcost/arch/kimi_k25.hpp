// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/deepseek.hpp>
#include <llmcost/reading/processor.hpp>
#include <llmcost/walks/native_patches.hpp>
#include <llmcost/walks/tower.hpp>

namespace llmcost::arch {

namespace kimi_k25_detail {

enum own : std::uint8_t { normed_width, most_patches, longest };
inline constexpr own_key keys[]{
    {"projection_hidden_size", 1152},
    {.otherwise = 16384, .value = own_value::computed},  // of an image
    {.otherwise = 512, .value = own_value::computed},    // along a side
};

enum tower_own : std::uint8_t { table_rows, table_columns, merged_rows, merged_columns };
inline constexpr own_key tower_keys[]{
    {"pos_emb_height", 64},
    {"pos_emb_width", 64},
    {.otherwise = 2, .value = own_value::computed},
    {.otherwise = 2, .value = own_value::computed},
};

/// Sides of at most so many patches, and so many in all, padded to whole squares of patches that become one.
///
/// Source: transformers/models/kimi_k25/image_processing_kimi_k25.py, `navit_resize`.
[[nodiscard]] inline image_sides padded(image_sides shown, std::int64_t patch, std::int64_t merged, std::int64_t most,
                                        std::int64_t along) {
    const auto real = [](std::int64_t n) { return static_cast<double>(n); };
    const auto count_along = [&](std::int64_t side) { return side < patch ? 1 : side / patch; };
    const double found = real(count_along(shown.height) * count_along(shown.width));
    double scale = 1.0;
    for (const double other : {__builtin_sqrt(real(most) / found), real(along * patch) / real(shown.height),
                               real(along * patch) / real(shown.width)})
        scale = other < scale ? other : scale;
    const std::int64_t step = merged * patch;
    const auto whole = [&](std::int64_t side) {
        auto to = static_cast<std::int64_t>(real(side) * scale);
        to = to < 1 ? 1 : to > along * patch ? along * patch : to;
        return (to + step - 1) / step * step;
    };
    return {whole(shown.height), whole(shown.width)};
}

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

/// Angles of columns and rows side by side for each frequency, in float32: (patches, head) twice.
struct rotary {
    site here;
    std::int64_t patches;

    static constexpr role what = role::rotary;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionRotaryEmbedding"); }
    constexpr two_values describe(trace& t) const {
        const recorder::no_grad_guard constants{t};
        const std::int64_t frequencies = (here.dims.head_dim / 2 + 1) / 2;
        const value angles = t.mul(t.constant({patches, 2, 1}), trace::buffer({frequencies}));
        const value cos = t.mul(t.unary(op::cos, angles)), sin = t.mul(t.unary(op::sin, angles));
        const auto table = [&](const value& x) {
            const value side_by_side = t.reshape(t.clone(x.transpose(1, 2)), {patches, -1});  // `flip` copies
            return t.cat({side_by_side, side_by_side}, -1);
        };
        const value first = table(cos);
        return {first, table(sin)};
    }
};

/// Queries and keys turned in float32 before heads and patches change places: (patches, width) -> the same.
constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t n = x.dim(0), width = here.dims.hidden_size, heads = here.dims.num_attention_heads, d = width / heads;
    const auto split = [&](literal name) { return t.call(name, linear{width, width, true}, x).view({n, heads, d}); };
    const value q = split("q_proj"), k = split("k_proj"), v = split("v_proj");
    const auto turned = [&](const value& from) {
        const value wide = t.to(from, dtype::float32);
        return t.to(rotate<rotation::half>(t, wide, here.shared->cos, here.shared->sin), from.type);
    };
    const value first = turned(q);
    const packed_runs each = packed_images(t.load(), here.dims.vision.patch_size).whole();
    return t.call("proj", linear{width, width, true}, attend_packed(t, first, turned(k), v, each));
}

/// Patches with places that are resampled from a table; layers; a norm; squares side by side: (squares, side², width).
constexpr value tower_base(const site& here, trace& t) {
    const vision_sizes& image = here.dims.vision;
    const std::int64_t n = packed_images(t.load(), image.patch_size).patches(), width = here.dims.hidden_size;
    const own_sizes& own = here.dims.own;
    const module_info patch_embed{.name = "patch_embed", .type = here.type("VisionPatchEmbed"), .what = role::embedding};
    const module_info positions{.name = "pos_emb", .type = here.type("VisionPositionEmbeddings"), .leaf = true};
    const convolution_2d patches{3, width, image.patch_size, image.patch_size};
    t.enter(patch_embed);
    const value pixels = t.input({n, 3, image.patch_size, image.patch_size});
    value x = t.call("proj", patches, pixels).view({n, width});
    t.enter(positions);
    const value table = t.param("position_embeddings", {own[table_rows], own[table_columns], width});
    const value places = resampled_places(t, table.view({-1, width}), n, place_taps::four, false);
    const value moments = t.gather(trace::buffer({1, width}), {n, width});  // a still image's is zero, and added
    x = t.leave(positions, t.add(x, t.to(t.add(places, moments), x.type)));
    x = t.leave(patch_embed, x);
    shared_values made;
    const two_values tables = t.call("rotary_emb", rotary{here, n});
    made.cos = tables.first, made.sin = tables.second;
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layers", each.index()}, layer{here.at(each, made)}, x);
    x = t.call("final_layernorm", norm<norm_kind::layer>{width}, x);
    const std::int64_t square = own[merged_rows] * own[merged_columns];
    return t.mean(t.gather(x, {n / square, 1, square, width}), 1);  // over frames
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
    a.attend = attend;
    a.names.attention_type = "VisionAttention", a.names.o = "proj";
    a.defaults.hidden_size = 1152, a.defaults.intermediate_size = 4304, a.defaults.num_hidden_layers = 27;
    a.defaults.num_attention_heads = 16, a.defaults.hidden_act = activation::gelu_pytorch_tanh;
    return a;
}(shared_tower);

/// Patches normed, some side by side, through two projections.
struct merging_projector {
    site here;

    static constexpr role what = role::projector;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MultimodalProjection"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t in = x.dim(1) * x.dim(2);
        const value even = t.call("pre_norm", norm<norm_kind::layer>{here.whole.own[normed_width]}, x);
        const value h = t.call("in_proj", linear{in, in, true}, even.view({x.dim(0), -1, in}));
        return t.call("out_proj", linear{in, here.dims.hidden_size, true}, t.call("act", gelu_module{}, h));
    }
};

constexpr media_shapes show(const model& m, const workload& load) {
    if (load.images == 0) return {};
    if (load.image_height == 0) report_description("this model reads images of any size: say --image WIDTHxHEIGHT");
    const own_sizes& own = m.beside[0].dims.own;
    const std::int64_t merged = own[merged_rows], patch = m.beside[0].dims.vision.patch_size;
    if (merged != own[merged_columns]) report_description("patches become one in squares only");
    const image_sides to = padded({load.image_height, load.image_width}, patch, merged, m.own[most_patches], m.own[longest]);
    const std::int64_t step = merged * patch;
    return {.image = {.tokens = (to.height / step) * (to.width / step), .height = to.height, .width = to.width}};
}

constexpr void read_processor(config_view told, model& m) {
    expect_patches(told, m.beside[0].dims.vision.patch_size, m.beside[0].dims.own[merged_rows]);
    m.own[most_patches] = told.positive("max_patches", m.own[most_patches]);
    if (const auto size = told.optional_object("size")) m.own[longest] = size->positive("max_height");
}

constexpr value base(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](const value& words) {
        const bool sees = sees_images(t);
        const recorder::idle_guard no_pixels{t, !sees};
        const sizes& vision = here.whole.beside[0].dims;
        const media_shape each = sees ? show(here.whole, t.load()).image : media_shape{};
        const std::int64_t step = vision.own[merged_rows] * vision.own[merged_columns] * vision.vision.patch_size;
        const recorder::workload_guard shown{t, packed_workload(t, each, step)};
        const value states = describe_tower(here, t, 0, "vision_tower", role::vision);
        const value features = t.call("mm_projector", merging_projector{here}, states).squeeze(1);
        return t.masked_scatter(words, t.cat({features}, 0));
    });
}

}  // namespace kimi_k25_detail

// transformers/models/kimi_k25: patches of images and videos in front of DeepSeek-V3
inline constexpr architecture kimi_k25 = [](architecture a) {
    a.model_type = "kimi_k25", a.prefix = "Kimi_K25", a.base = kimi_k25_detail::base, a.own = kimi_k25_detail::keys;
    a.media = kimi_k25_detail::show, a.read_processor = kimi_k25_detail::read_processor, a.reads.images = true;
    a.text = {.key = "text_config", .otherwise = &deepseek_v3, .also = "kimi_k2"};
    a.beside[0] = {.key = "vision_config", .otherwise = &kimi_k25_detail::tower, .always = true};
    a.defaults.tie_word_embeddings = true;
    return a;
}(shared_composite);

}  // namespace llmcost::arch
