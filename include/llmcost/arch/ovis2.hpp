// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2.hpp>
#include <llmcost/reading/image.hpp>
#include <llmcost/reading/processor.hpp>
#include <llmcost/walks/media.hpp>
#include <llmcost/walks/tiles.hpp>
#include <llmcost/walks/tower.hpp>

namespace llmcost::arch {

namespace ovis2_detail {

enum own : std::uint8_t { width, words, fewest_tiles, most_tiles, by_shape };
inline constexpr own_key keys[]{
    {"hidden_size", 1536},
    {"vocab_size", 151643},
    {.otherwise = 1, .value = own_value::computed},  // that an image becomes, beside the whole
    {.otherwise = 12, .value = own_value::computed},
    {.value = own_value::computed},  // grids are chosen by their shape alone
};

enum tower_own : std::uint8_t { hidden_stride, indicators, draws };
inline constexpr own_key tower_keys[]{
    {"hidden_stride", 1},  // patches along a side that become one visual word
    {"num_visual_indicator_tokens", 5, own_value::non_negative},
    {.value = own_value::computed},  // a function other than softmax makes mixtures of scores
};

/// Patches with learned positions, normed; Llama's layers without rotation; scores of visual words.
constexpr value tower_base(const site& here, trace& t) {
    const std::int64_t features = here.dims.hidden_size, stride = here.dims.own[hidden_stride];
    const module_info transformer{.name = "transformer", .type = here.type("VisionTransformer")};
    const module_info embeddings{.name = "embeddings", .type = here.type("VisionEmbeddings"), .what = role::embedding};
    t.enter(transformer), t.enter(embeddings);
    value patches = embed_patches(here, t, "patch_embedding", true, pixels_of(here, t));
    patches = normed(here, t, "rms_norm", patches);
    const value places = learned_positions(t, "position_embedding", patches_of(here.dims.vision), features);
    value x = t.leave(embeddings, t.add(patches, places));
    const module_info encoder{.name = "encoder", .type = here.type("VisionEncoder")};
    t.enter(encoder);
    x = t.leave(encoder, describe_layers(here, t, {}, x));
    x = t.leave(transformer, normed(here, t, "rms_norm", x));
    const std::int64_t visual = here.dims.vocab_size - here.dims.own[indicators], square = stride * stride;
    if (stride > 1) {
        const std::int64_t images = x.dim(0), side = here.dims.vision.image_height / here.dims.vision.patch_size;
        const std::int64_t squares = (side + stride - 1) / stride;
        if (side % stride != 0 && sees_images(t)) report_description("hidden_stride does not divide the patches along a side");
        value grid = trace::buffer({images, squares, stride, squares, stride, features});
        if (side % stride == 0) grid = t.copy(x).view({images, squares, stride, squares, stride, features});  // padded by none
        x = t.reshape(grid.permute({0, 1, 3, 2, 4, 5}), {images, squares * squares, features * square});
    }
    x = t.call("head_linear", linear{features * square, visual}, x);
    if (here.dims.own[draws] != 0 && sees_images(t)) report_description("tokenize_function: only softmax is described");
    return t.softmax(t.call("head_norm", norm<norm_kind::layer>{visual}, x));
}

constexpr void read_tower(config_view config, sizes& s) {
    read_square_image(config, s, 224, 14);
    share_among_heads(config, s, {"num_attention_heads"});
    s.attention_bias = s.output_bias = config.boolean("qkv_bias", false);
    s.own[draws] = config.string("tokenize_function", "softmax") == "softmax" ? 0 : 1;
    if (s.own[indicators] >= s.vocab_size) fail_value(config, "num_visual_indicator_tokens", "fewer than the visual words");
}

inline constexpr architecture tower = [](architecture a) {
    a.prefix = "Ovis2", a.base = tower_base, a.read = read_tower, a.own = tower_keys, a.heads = {};
    a.layer = layer_normed_before, a.mix = mix_by_attention, a.feed = feed_forward;
    a.residual = add_residual;
    a.names.layer_type = "VisionEncoderLayer", a.names.attention_type = "VisionAttention";
    a.names.attention = "attention", a.names.feed_forward = "ffn";
    a.names.norm_before_attention = "rms_norm1", a.names.norm_before_feed_forward = "rms_norm2";
    a.defaults.vocab_size = 16384, a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 2816;
    a.defaults.num_hidden_layers = 24, a.defaults.num_attention_heads = 8;
    return a;
}(shared_tower);

/// A table of visual words, which patches are mixtures of: a product; words that mark where an image begins and ends are
/// looked up.
struct visual_table {
    std::int64_t rows;
    std::int64_t width;
    class_name named;

    static constexpr role what = role::projector;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& mixtures, std::int64_t marks) const {
        const value weight = t.param("weight", {rows, width});
        const value words = t.matmul(mixtures, weight);
        t.returned(t.gather(weight, {marks, width}));
        return words;
    }
};

/// How much of a tile's area is kept where its longer side is cut down to `side` (`compute_patch_covering_area`).
[[nodiscard]] constexpr double kept_area(std::int64_t width, std::int64_t height, std::int64_t side) {
    const std::int64_t longer = width > height ? width : height, shorter = width > height ? height : width;
    if (longer <= side) return static_cast<double>(longer * shorter);
    const double scaled = static_cast<double>(shorter) / static_cast<double>(longer) * static_cast<double>(side);
    return static_cast<double>(side) * scaled;
}

/// The grid of fewest tiles that keeps more than nine tenths of an image's area, or the one that keeps most
/// (`get_min_tile_covering_grid`, whose rows become columns).
[[nodiscard]] constexpr tile_grid covering_grid(std::int64_t height, std::int64_t width, std::int64_t side, std::int64_t most) {
    tile_grid enough, best;
    std::int64_t fewest = 0;  // tiles of `enough`; none yet
    double most_of_enough = 0, most_of_all = -1;
    for (std::int64_t n = 1; n <= most; ++n)
        for (std::int64_t rows = 1; rows <= n; ++rows) {
            if (n % rows != 0) continue;
            const std::int64_t columns = n / rows, high = height / rows, wide = width / columns;
            double kept = 0;
            for (std::int64_t i = 0; i < n; ++i) {
                const std::int64_t row = i / columns, column = i % columns;
                const std::int64_t w = column == columns - 1 ? width - column * wide : wide;
                kept += kept_area(w, row == rows - 1 ? height - row * high : high, side);
            }
            const double share = kept / static_cast<double>(width * height);
            if (share > 0.9 && (fewest == 0 || (n == fewest && share > most_of_enough)))
                enough = {columns, rows}, fewest = n, most_of_enough = share;
            if (share > most_of_all) best = {columns, rows}, most_of_all = share;
        }
    return fewest > 0 ? enough : best;
}

constexpr media_shapes show(const model& m, const workload& load) {
    const vision_sizes& image = m.beside[0].dims.vision;
    const std::int64_t side = image.image_height, stride = m.beside[0].dims.own[hidden_stride];
    const std::int64_t height = load.image_height > 0 ? load.image_height : side;
    const std::int64_t width = load.image_width > 0 ? load.image_width : side;
    const tile_grid grid = m.own[by_shape] != 0 ? closest_grid(height, width, side, m.own[fewest_tiles], m.own[most_tiles])
                                                : covering_grid(height, width, side, m.own[most_tiles]);
    const std::int64_t tiles = with_whole(grid), squares = side / image.patch_size / stride;
    return {.image = {.tokens = tiles * squares * squares,
                      .tiles = tiles,
                      .height = side,
                      .width = side,
                      .rows = grid.rows,
                      .columns = grid.columns}};
}

/// A file that does not say that images are cut says that they are not.
constexpr void read_processor(config_view told, model& m) {
    expect_resized(told), expect_picture(told, m.beside[0].dims.vision.image_height);
    read_bounds_of_tiles(told, m.own, fewest_tiles, most_tiles);
    m.own[by_shape] = told.boolean("use_covering_area_grid", true) ? 0 : 1;
    if (!told.boolean("crop_to_patches", false) || m.own[most_tiles] == 1) m.own[fewest_tiles] = m.own[most_tiles] = 1;
}

constexpr value base(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](const value& words) {
        const recorder::idle_guard no_pixels{t, !sees_images(t)};
        const media_shape shape = show(here.whole, t.load()).image;
        const sizes& tower_dims = here.whole.beside[0].dims;
        const std::int64_t marks = tower_dims.own[indicators];
        const recorder::workload_guard shown{t, pictures(t.load(), images_in(t) * shape.tiles, 0, 0)};
        value mixtures = describe_tower(here, t, 0, "vision_tower", role::vision);
        mixtures = t.cat({mixtures, t.constant({mixtures.dim(0), mixtures.dim(1), marks})}, 2);
        const visual_table table{tower_dims.vocab_size, here.whole.own[width], here.type("VisualEmbeddingTable")};
        return t.masked_scatter(words, t.call("visual_embeddings_table", table, mixtures, marks));
    });
}

/// Its head counts words by a key of its own, unless it shares the text model's.
constexpr value describe(const site& here, trace& t) {
    sizes outer = here.dims;
    if (!outer.tie_word_embeddings) outer.vocab_size = here.whole.own[words];
    return describe_decoder({here.whole, here.row, outer}, t);
}

}  // namespace ovis2_detail

// transformers/models/ovis2: AIMv2 makes mixtures of visual words in front of Qwen2
inline constexpr architecture ovis2 = [](architecture a) {
    a.model_type = "ovis2", a.prefix = "Ovis2", a.describe = ovis2_detail::describe, a.base = ovis2_detail::base;
    a.own = ovis2_detail::keys, a.media = ovis2_detail::show, a.read_processor = ovis2_detail::read_processor,
    a.reads.images = true;
    a.text = {.key = "text_config", .otherwise = &qwen2};
    a.beside[0] = {.key = "vision_config", .otherwise = &ovis2_detail::tower, .always = true};
    a.defaults.tie_word_embeddings = true;
    return a;
}(shared_composite);

}  // namespace llmcost::arch
