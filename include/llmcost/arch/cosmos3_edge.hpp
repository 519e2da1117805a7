// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2_vl.hpp>
#include <llmcost/reading/processor.hpp>
#include <llmcost/walks/native_patches.hpp>
#include <llmcost/walks/tower.hpp>

namespace llmcost::arch {

namespace cosmos3_edge_detail {

enum tower_own : std::uint8_t { places, merged };
inline constexpr own_key tower_keys[]{{"num_patches", 256}, {"spatial_merge_size", 2}};

/// Attention within each image: (patches, width) -> the same.
constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t n = x.dim(0), width = here.dims.hidden_size, heads = here.dims.num_attention_heads;
    const auto split = [&](literal name) { return t.call(name, linear{width, width, true}, x).view({n, heads, width / heads}); };
    const value q = split("q_proj"), k = split("k_proj"), v = split("v_proj");
    const packed_runs each = packed_images(t.load(), here.dims.vision.patch_size).whole();
    return t.call("out_proj", linear{width, width, true}, attend_packed(t, q, k, v, each));
}

/// The side of the largest square of so many places.
[[nodiscard]] constexpr std::int64_t side_of(std::int64_t count) {
    std::int64_t n = 1;
    while ((n + 1) * (n + 1) <= count) ++n;
    return n;
}

/// Places of one image, resampled from a square, put into the order of squares of patches: (patches, width).
constexpr value places_of_image(const site& here, trace& t, const value& table, const packed_pictures& grid) {
    const std::int64_t width = here.dims.hidden_size, side = side_of(here.dims.own[places]), m = here.dims.own[merged];
    const value square = table.view({side, side, width}).permute({2, 0, 1}).unsqueeze(0);
    const value resized = t.bilinear(square, grid.rows, grid.columns).squeeze(0).permute({1, 2, 0});
    const value blocks = t.reshape(resized, {grid.rows / m, m, grid.columns / m, m, width}).transpose(1, 2);
    return t.copy(t.reshape(blocks, {grid.rows * grid.columns, width}));  // `repeat` for each frame
}

constexpr value tower_base(const site& here, trace& t) {
    const vision_sizes& image = here.dims.vision;
    const std::int64_t width = here.dims.hidden_size, values = image.num_channels * image.patch_size * image.patch_size;
    const packed_pictures grid = packed_images(t.load(), image.patch_size);
    const module_info embeddings{.name = "embeddings", .type = here.type("VisionEmbeddings"), .what = role::embedding};
    const module_info positions{.name = "position_embedding", .type = {"", "Embedding"}, .leaf = true};
    t.enter(embeddings);
    const value patches = t.call("patch_embedding", linear{values, width, true}, t.input({grid.patches(), values}));
    t.enter(positions);
    const value table = t.param("weight", {here.dims.own[places], width});
    t.leave(positions);
    value placed = trace::buffer({1});
    placed.type = table.type;
    for (repetition each = t.steps(grid.frames, placed); each.next();) placed = places_of_image(here, t, table, grid);
    value x = t.leave(embeddings, t.add(patches, t.cat({side_by_side(placed, 0, grid.frames)}, 0)));
    return t.call("post_layernorm", norm<norm_kind::layer>{width}, encode(here, t, x));
}

constexpr void read_tower(config_view config, sizes& s) {
    s.vision.patch_size = config.positive("patch_size", 16), s.vision.num_channels = config.positive("num_channels", 3);
    share_among_heads(config, s, {"num_attention_heads"});
    const std::int64_t side = side_of(s.own[places]);
    if (side * side != s.own[places]) fail_value(config, "num_patches", "the square of a number");
}

inline constexpr architecture tower = [](architecture a) {
    a.model_type = "cosmos3_edge_vision", a.prefix = "Cosmos3Edge", a.base = tower_base, a.read = read_tower;
    a.own = tower_keys, a.heads = {}, a.attend = attend;
    a.names.attention_type = "VisionAttention", a.names.layer_type = "VisionEncoderLayer";
    a.defaults.hidden_size = 1152, a.defaults.intermediate_size = 4304, a.defaults.num_hidden_layers = 27;
    a.defaults.num_attention_heads = 16, a.defaults.hidden_act = activation::gelu_pytorch_tanh;
    return a;
}(shared_tower);

enum own : std::uint8_t { inner, fewest_pixels, largest };
inline constexpr own_key keys[]{{"projector_hidden_size", 11520},
                                {.otherwise = 256 * 256, .value = own_value::computed},
                                {.otherwise = 4096 * 4096, .value = own_value::computed}};

/// Patches normed, squares of them through two projections.
struct patch_merger {
    site here;

    static constexpr role what = role::projector;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("PatchMerger"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t side = here.whole.beside[0].dims.own[merged], width = x.dim(-1), in = side * side * width;
        const std::int64_t wide = here.whole.own[inner];
        const value even = t.call("norm", norm<norm_kind::layer>{width}, x.view({-1, side * side, width})).view({-1, in});
        const value h = t.call("act_fn", gelu_module{}, t.call("linear_fc1", linear{in, wide, true}, even));
        return t.call("linear_fc2", linear{wide, here.dims.hidden_size, true}, h);
    }
};

/// Sides shorter than a square of patches grow first (image_processing_cosmos3_edge.py, `smart_resize`).
constexpr media_shapes show(const model& m, const workload& given) {
    if (given.images == 0) return {};
    const sizes& vision = m.beside[0].dims;
    const std::int64_t patch = vision.vision.patch_size, factor = patch * vision.own[merged];
    workload load = given;
    if (load.image_height > 0 && (load.image_height < factor || load.image_width < factor)) {
        const auto share = [&](std::int64_t side) { return static_cast<double>(factor) / static_cast<double>(side); };
        const double down = share(load.image_height), across = share(load.image_width), scale = down > across ? down : across;
        load.image_height = static_cast<std::int64_t>(static_cast<double>(load.image_height) * scale);
        load.image_width = static_cast<std::int64_t>(static_cast<double>(load.image_width) * scale);
    }
    return {.image = resized_to_patches(load, patch, vision.own[merged], m.own[fewest_pixels], m.own[largest])};
}

/// `min_pixels` and `max_pixels` are read by nobody here.
constexpr void read_processor(config_view told, model& m) {
    expect_patches(told, m.beside[0].dims.vision.patch_size, m.beside[0].dims.own[merged]);
    read_size_bounds(told, m.own, fewest_pixels, largest);
}

constexpr value base(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](value words) {
        {
            const bool sees = sees_images(t);
            const recorder::idle_guard no_pixels{t, !sees};
            const sizes& vision = here.whole.beside[0].dims;
            const media_shape each = sees ? show(here.whole, t.load()).image : media_shape{};
            const recorder::workload_guard shown{t, packed_workload(t, each, vision.vision.patch_size * vision.own[merged])};
            const value states = describe_tower(here, t, 0, "visual", role::vision);
            words = t.masked_scatter(words, t.cat({t.call("projector", patch_merger{here}, states)}, 0));
        }
        qwen2_vl_detail::place_in_time(here, t);
        return words;
    });
}

/// Of `mrope_section` the second and the third entry are looked up.
constexpr void read_text(config_view config, sizes& s) {
    if (read_sections(config, {3, 64}).axes < 3) fail_sections(config, "frequencies of three axes");
    plan_one_mask(config, s);
}

}  // namespace cosmos3_edge_detail

// transformers/models/cosmos3_edge: the text model, positions of three axes and blocks of two projections
inline constexpr architecture cosmos3_edge_text = [](architecture a) {
    a.drops = {}, a.model_type = "cosmos3_edge_text", a.prefix = "Cosmos3Edge", a.heads = {};
    a.read = cosmos3_edge_detail::read_text;
    a.axes = rotary_axes::interleaved, a.feed_forward = mlp_kind::plain;
    a.names.mlp = {.up = "fc1", .down = "fc2", .act = "activation_fn"};
    a.names.model_type = "TextModel", a.names.layer_type = "TextDecoderLayer", a.names.attention_type = "TextAttention";
    a.names.norm_type = "TextRMSNorm", a.names.mlp_type = "TextMLP", a.names.rotary_type = "TextRotaryEmbedding";
    a.defaults.vocab_size = 131072, a.defaults.hidden_size = 2048, a.defaults.intermediate_size = 9216;
    a.defaults.num_hidden_layers = 28, a.defaults.num_attention_heads = 16, a.defaults.num_key_value_heads = 8;
    a.defaults.head_dim = 128, a.defaults.max_position_embeddings = 131072, a.defaults.hidden_act = activation::relu2;
    return a;
}(llama);

// transformers/models/cosmos3_edge: SigLIP 2 over patches of images of any shape in front of it
inline constexpr architecture cosmos3_edge = [](architecture a) {
    a.model_type = "cosmos3_edge", a.prefix = "Cosmos3Edge", a.base = cosmos3_edge_detail::base;
    a.own = cosmos3_edge_detail::keys, a.media = cosmos3_edge_detail::show,
    a.read_processor = cosmos3_edge_detail::read_processor, a.reads.images = true;
    a.text = {.key = "text_config", .otherwise = &cosmos3_edge_text, .always = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &cosmos3_edge_detail::tower, .always = true};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
