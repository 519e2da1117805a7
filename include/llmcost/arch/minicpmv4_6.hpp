// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen3_5.hpp>
#include <llmcost/reading/image.hpp>
#include <llmcost/reading/processor.hpp>
#include <llmcost/walks/media.hpp>
#include <llmcost/walks/tiles.hpp>
#include <llmcost/walks/tower.hpp>

namespace llmcost::arch {

namespace minicpmv4_6_detail {

enum own : std::uint8_t { rounds, inserted_behind, fourfold, resolution, most_slices };
inline constexpr own_key keys[]{
    {"merger_times", 1},
    {.otherwise = 6, .value = own_value::computed},    // the tower's layer behind which windows of patches are merged
    {.value = own_value::computed},                    // they are not, so that an image has four times as many tokens
    {.otherwise = 448, .value = own_value::computed},  // what the processor sets (image_processing_minicpmv4_6.py)
    {.otherwise = 9, .value = own_value::computed},    // 0: images are not cut
};

enum tower_own : std::uint8_t { window };
inline constexpr own_key tower_keys[]{{.otherwise = 4, .value = own_value::computed}};  // patches of a window

/// Pictures of one size that are read one behind the other.
struct picture_group {
    std::int64_t how_many = 0;
    std::int64_t rows = 0;  ///< of patches
    std::int64_t columns = 0;

    [[nodiscard]] constexpr std::int64_t patches() const noexcept { return how_many * rows * columns; }
};
/// Whole images, and slices of them where they are large.
struct pictures_of {
    picture_group wholes{};
    picture_group slices{};

    [[nodiscard]] constexpr std::int64_t patches() const noexcept { return wholes.patches() + slices.patches(); }
    [[nodiscard]] constexpr pictures_of halved() const noexcept {
        return {{wholes.how_many, wholes.rows / 2, wholes.columns / 2}, {slices.how_many, slices.rows / 2, slices.columns / 2}};
    }
};

/// `ensure_divide`: `n` divisors, rounded as Python rounds, one at least.
[[nodiscard]] constexpr std::int64_t divided(double n, std::int64_t divisor) {
    const double times = n / static_cast<double>(divisor);
    std::int64_t whole = static_cast<std::int64_t>(times);
    const double rest = times - static_cast<double>(whole);
    if (rest > 0.5 || (rest == 0.5 && whole % 2 == 1)) ++whole;
    return (whole < 1 ? 1 : whole) * divisor;
}

/// Sides for an image of this shape, multiples of `unit`; a large one is scaled to the resolution's area
/// (`find_best_resize`).
[[nodiscard]] constexpr tile_grid resized(double height, double width, std::int64_t side, std::int64_t unit, bool grows) {
    const double whole = static_cast<double>(side);
    if (height * width > whole * whole || grows) {
        const double ratio = width / height;
        height = static_cast<double>(static_cast<std::int64_t>(whole / __builtin_sqrt(ratio)));
        width = static_cast<double>(static_cast<std::int64_t>(height * ratio));
    }
    return {divided(height, unit), divided(width, unit)};
}

/// The grid of slices whose shape is closest to a large image's, of about as many as its area asks for; none: 0
/// (`get_sliced_grid`).
[[nodiscard]] constexpr tile_grid sliced(std::int64_t height, std::int64_t width, std::int64_t side, std::int64_t most) {
    const std::int64_t area = height * width, of_slice = side * side;
    const std::int64_t asked = (area + of_slice - 1) / of_slice, multiple = asked < most ? asked : most;
    if (multiple <= 1) return {0, 0};
    const double shape = __builtin_log(static_cast<double>(width) / static_cast<double>(height));
    tile_grid best;
    double least = -1;  // none yet
    for (std::int64_t n = multiple - 1; n <= multiple + 1; ++n) {
        if (n == 1 || n > most) continue;
        for (std::int64_t rows = 1; rows <= n; ++rows) {
            if (n % rows != 0) continue;
            const double off = shape - __builtin_log(static_cast<double>(n / rows) / static_cast<double>(rows));
            const double error = off < 0 ? -off : off;
            if (least < 0 || error < least || (error == least && rows > best.rows)) best = {rows, n / rows}, least = error;
        }
    }
    return best;
}

/// What one image becomes.
[[nodiscard]] constexpr pictures_of cut(const model& m, const workload& load) {
    const std::int64_t height = load.image_height > 0 ? load.image_height : m.own[resolution];
    const std::int64_t width = load.image_width > 0 ? load.image_width : m.own[resolution];
    const std::int64_t patch = m.beside[0].dims.vision.patch_size, unit = patch * (m.own[fourfold] != 0 ? 2 : 4);
    const tile_grid grid = sliced(height, width, m.own[resolution], m.own[most_slices]);
    const std::int64_t side = m.own[resolution];
    const tile_grid whole = resized(static_cast<double>(height), static_cast<double>(width), side, unit, grid.rows == 0);
    pictures_of all{{1, whole.rows / patch, whole.columns / patch}, {}};
    if (grid.rows == 0) return all;
    const double high = static_cast<double>(divided(static_cast<double>(height), grid.rows)) / static_cast<double>(grid.rows);
    const double wide =
        static_cast<double>(divided(static_cast<double>(width), grid.columns)) / static_cast<double>(grid.columns);
    const tile_grid slice = resized(high, wide, side, unit, true);
    all.slices = {grid.tiles(), slice.rows / patch, slice.columns / patch};
    return all;
}

/// The same of so many images.
[[nodiscard]] constexpr pictures_of cut(const model& m, const workload& load, std::int64_t images) {
    pictures_of all = cut(m, load);
    all.wholes.how_many *= images, all.slices.how_many *= images;
    return all;
}

/// How many and how long what attends within itself is, in shapes that layers share.
constexpr shared_values lengths_of(const pictures_of& all) {
    shared_values made;
    made.own[0] = trace::buffer({all.wholes.how_many, all.wholes.rows * all.wholes.columns});
    made.own[1] = trace::buffer({all.slices.how_many, all.slices.rows * all.slices.columns});
    return made;
}

/// Attention within each picture, or within each window: (1, patches of all, width) -> the same.
constexpr value attend_within_each(const site& here, trace& t, const value& x) {
    const decoder_names& n = here.row.names;
    const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads, d = width / heads;
    value q = project(here, t, n.q, width, x), k = project(here, t, n.k, width, x), v = project(here, t, n.v, width, x);
    value found[2];
    int parts = 0;
    for (int i = 0; i < 2; ++i) {
        const value& lengths = here.shared->own[i];
        if (lengths.elements == 0) continue;
        const std::int64_t how_many = lengths.dim(0), length = lengths.dim(1);
        const auto one = [&](const value& all) {
            return all.slice(1, length).view({1, length, heads, d}).transpose(1, 2);
        };
        value mixed = trace::buffer({1, length, heads, d});
        for (repetition each = t.steps(how_many, mixed); each.next();)
            mixed = eager_attention(t, one(q), one(k), one(v), all_positions(length).where, {});
        found[parts] = trace::buffer({1, how_many * length, heads, d});  // all of them
        found[parts].storage = mixed.storage, found[parts++].requires_grad = mixed.requires_grad;
    }
    return t.call(n.o, linear{width, width, here.dims.output_bias}, t.cat(found, parts, 1).view({1, x.dim(1), width}));
}

/// Windows of patches attend within themselves and become one patch each (`MiniCPMV4_6ViTWindowAttentionMerger`).
struct window_merger {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("ViTWindowAttentionMerger"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, n = here.dims.own[window], inner = here.dims.intermediate_size * n;
        const std::int64_t windows = x.dim(1) / n > 0 ? x.dim(1) / n : 1, patches = windows * n;
        const value normed = t.call("layer_norm1", norm<norm_kind::layer>{width}, x);
        shared_values made;
        made.own[0] = trace::buffer({windows, n});
        made.own[1] = trace::buffer({0, 0});
        const value h = t.call("self_attn", attention_module{here_with(made)}, t.gather(normed, {1, patches, width}));
        const value of_windows = t.add(t.gather(x, {1, patches, width}), h).view({windows, n, width});
        const value mean = t.mean(of_windows, 1);
        value out = t.call("pre_norm", norm<norm_kind::layer>{n * width}, of_windows.view({windows, n * width}));
        out = t.call("linear_1", linear{n * width, inner, true}, out);
        out = t.call("act", activation_module{activation::gelu_pytorch_tanh}, out);
        return t.add(t.call("linear_2", linear{inner, width, true}, out), mean).unsqueeze(0);
    }
    [[nodiscard]] constexpr site here_with(const shared_values& made) const {
        site there = here;
        there.shared = &made;
        return there;
    }
};

/// Patches of all pictures in one row with learned positions, which are found by floats.
constexpr value embed(const site& here, trace& t, const pictures_of& all) {
    const vision_sizes& image = here.dims.vision;
    const std::int64_t width = here.dims.hidden_size, positions = patches_of(image), n = all.patches();
    const module_info embeddings{.name = "embeddings", .type = here.type("VisionEmbeddings"), .what = role::embedding};
    const value pixels = t.input({1, image.num_channels, image.patch_size, n * image.patch_size});
    t.enter(embeddings);
    const value patches = embed_patches(here, t, "patch_embedding", true, pixels);
    {
        const recorder::no_grad_guard constants{t};
        (void)t.constant({boundaries_between(image.image_height / image.patch_size)});
        for (const picture_group& each : {all.wholes, all.slices})
            (void)t.div(trace::buffer({each.how_many, each.rows + each.columns}));
    }
    const value places = t.call("position_embedding", embedding{positions, width}, extents{1, n});
    return t.leave(embeddings, t.add(patches, places));
}

/// Layers, windows of patches merged behind one of them, a norm.
constexpr value tower_base(const site& here, trace& t) {
    const own_sizes& own = here.whole.own;
    const std::int64_t layers = here.dims.num_hidden_layers, images = images_in(t);
    pictures_of all = cut(here.whole, t.load(), images);
    value x = embed(here, t, all);
    const bool merges = own[fourfold] == 0 && own[inserted_behind] >= 0;
    const std::int64_t first = merges && own[inserted_behind] < layers ? own[inserted_behind] + 1 : layers;
    const auto run = [&](std::int64_t from, std::int64_t to) {
        const module_info encoder{.name = "encoder", .type = here.type("VisionEncoder")};
        const shared_values made = lengths_of(all);
        t.enter(encoder);
        for (repetition each = t.repeat(to - from, x, from); each.next();)
            x = t.call({"layers", each.index()}, tower_layer{here.at(each, made)}, x);
        t.leave(encoder);
    };
    run(0, first);
    if (first < layers || (merges && own[inserted_behind] == layers - 1)) {
        if (here.dims.own[window] != 4 && sees_images(t)) report_description("windows of other than 2 by 2 are not described");
        x = t.call("vit_merger", window_merger{here}, x);
        all = all.halved();
        if (here.dims.own[window] != 4) x = trace::buffer({1, all.patches(), here.dims.hidden_size});
        run(first, layers);
    } else {
        const recorder::idle_guard not_called{t};
        (void)t.call("vit_merger", window_merger{here}, x);
    }
    return t.call("post_layernorm", norm<norm_kind::layer>{here.dims.hidden_size}, x);
}

constexpr void read_tower(config_view config, sizes& s) {
    read_square_image(config, s, 224, 16);
    share_among_heads(config, s, {"num_attention_heads"});
    const auto sides = config.optional_array("window_kernel_size");
    if (!sides) return;
    if (sides->size() != 2) fail_value(config, "window_kernel_size", "rows and columns of a window");
    const std::int64_t n = checked_width(config, "window_kernel_size", (*sides)[0].as_positive(), (*sides)[1].as_positive());
    (void)checked_width(config, "window_kernel_size", n, s.hidden_size);
    s.own[window] = n, (void)checked_width(config, "window_kernel_size", n, s.intermediate_size);
}

inline constexpr architecture tower = [](architecture a) {
    a.prefix = "MiniCPMV4_6", a.base = tower_base, a.read = read_tower, a.own = tower_keys, a.heads = {};
    a.attend = attend_within_each;
    a.names.layer_type = "VisionEncoderLayer", a.names.attention_type = "VisionAttention", a.names.mlp_type = "VisionMLP";
    a.defaults.hidden_act = activation::gelu_pytorch_tanh;
    return a;
}(shared_tower);

/// Four patches side by side through two projections.
struct downsampling {
    site here;
    std::int64_t width;
    std::int64_t out;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("DownsampleMLP"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t in = 4 * width;
        value h = t.call("pre_norm", norm<norm_kind::layer>{in}, x);
        h = t.call("act", gelu_module{}, t.call("linear_1", linear{in, in, true}, h));
        return t.call("linear_2", linear{in, out, true}, h);
    }
};

/// Rounds of it, the last one to the width of the text: whole images, then slices.
struct merger {
    site here;
    const pictures_of& all;

    static constexpr role what = role::projector;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Merger"); }
    constexpr two_values describe(trace& t, const value& x) const {
        const value wholes = merge(t, x, all.wholes);
        if (all.slices.how_many == 0) return {wholes, {}};
        const recorder::called_again_guard again{t};
        return {wholes, merge(t, x, all.slices)};
    }
    constexpr value merge(trace& t, const value& x, const picture_group& group) const {
        const std::int64_t width = x.dim(2), last = here.whole.own[rounds] - 1;
        std::int64_t rows = group.rows, columns = group.columns;
        value h = x.slice(1, group.patches());
        for (std::int64_t i = 0; i <= last; ++i) {
            const bool even = rows % 2 == 0 && columns % 2 == 0 && rows > 0 && columns > 0;
            if (!even && sees_images(t)) report_description("merger_times: patches along a side cannot be halved so often");
            if (!even) h = trace::buffer({group.how_many, 2, 2, width}), rows = columns = 2;
            const extents squares{group.how_many, rows / 2, 2, columns / 2, 2, width};
            rows /= 2, columns /= 2;
            h = t.reshape(h.view(squares).permute({0, 1, 3, 2, 4, 5}), {group.how_many * rows * columns, 4 * width});
            h = t.call({"mlp", i}, downsampling{here, width, i == last ? here.dims.hidden_size : width}, h);
        }
        return h;
    }
};

constexpr media_shapes show(const model& m, const workload& load) {
    const pictures_of image = cut(m, load);
    std::int64_t by = m.own[fourfold] != 0 || m.own[inserted_behind] < 0 ? 1 : 4;
    for (std::int64_t i = 0; i < m.own[rounds]; ++i) by *= 4;
    const std::int64_t patch = m.beside[0].dims.vision.patch_size, whole = image.wholes.patches() / by;
    return {.image = {.tokens = whole + image.slices.how_many * (image.slices.rows * image.slices.columns / by),
                      .tiles = image.slices.how_many + 1,
                      .height = image.wholes.rows * patch,
                      .width = image.wholes.columns * patch,
                      .rows = image.slices.rows,
                      .columns = image.slices.columns}};
}

/// How large slices are and how many; what becomes one token must be as the configuration has it.
constexpr void read_processor(config_view told, model& m) {
    expect_patches(told, m.beside[0].dims.vision.patch_size, 1);
    m.own[resolution] = told.positive("scale_resolution", m.own[resolution]);
    m.own[most_slices] = told.positive("max_slice_nums", m.own[most_slices]);
    if (m.own[most_slices] > most_tiles_of_image)
        fail_unsupported(told, "max_slice_nums", "no row describes so many tiles of an image");
    if (!told.boolean("slice_mode", true)) m.own[most_slices] = 0;
    const string_ref mode = m.own[fourfold] != 0 ? "4x" : "16x";
    if (told.string("downsample_mode", mode) != mode)
        fail_value(told, "downsample_mode", "the downsample_mode of the configuration");
    if (told.string("small_image_upsize", "always") != "always")
        fail_unsupported(told, "small_image_upsize", "no row describes images that keep their size");
}

constexpr value base(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](const value& words) {
        const recorder::idle_guard no_pixels{t, !sees_images(t)};
        const value states = describe_tower(here, t, 0, "vision_tower", role::vision);
        pictures_of all = cut(here.whole, t.load(), images_in(t));
        if (states.dim(1) < all.patches()) all = all.halved();
        const two_values made = t.call("merger", merger{here, all}, states);
        const value features = all.slices.how_many > 0 ? t.cat({made.first, made.second}, 0) : t.cat({made.first}, 0);
        (void)t.gather(words, {features.dim(0) * features.dim(1)});  // words in their places, counted
        return t.masked_scatter(words, features);
    });
}

constexpr void read(config_view config, model& m) {
    m.own[inserted_behind] = config.integer("insert_layer_id", 6);
    if (m.own[inserted_behind] > largest_input || m.own[inserted_behind] < 0)
        fail_value(config, "insert_layer_id", "a layer of the tower");
    m.own[fourfold] = config.string("downsample_mode", m.own[fourfold] != 0 ? "4x" : "16x") == "4x" ? 1 : 0;
}

}  // namespace minicpmv4_6_detail

// transformers/models/minicpmv4_6: SigLIP's layers with a merger among them in front of Qwen3.5
inline constexpr architecture minicpmv4_6 = [](architecture a) {
    a.model_type = "minicpmv4_6", a.prefix = "MiniCPMV4_6", a.base = minicpmv4_6_detail::base;
    a.own = minicpmv4_6_detail::keys, a.read_whole = minicpmv4_6_detail::read;
    a.media = minicpmv4_6_detail::show, a.read_processor = minicpmv4_6_detail::read_processor, a.reads.images = true;
    a.text = {.key = "text_config", .otherwise = &qwen3_5_text};
    a.beside[0] = {.key = "vision_config", .otherwise = &minicpmv4_6_detail::tower, .always = true};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
