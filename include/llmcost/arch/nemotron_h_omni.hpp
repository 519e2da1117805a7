// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/nemotron_h.hpp>
#include <llmcost/arch/radio.hpp>
#include <llmcost/reading/processor.hpp>

namespace llmcost::arch {

namespace nemotron_h_omni_detail {

enum own : std::uint8_t { inner, seen_width, merged, normed, fewest_patches, most_patches };
inline constexpr own_key keys[]{
    {"projector_hidden_size", 4096},
    {"vision_hidden_size", 1280},
    {.otherwise = 2, .value = own_value::computed},  // patches along a side that become one
    {.value = own_value::computed},                  // a norm behind the tower, where the text model predicts further tokens
    {.otherwise = 1024, .value = own_value::computed},
    {.otherwise = 13312, .value = own_value::computed},
};

/// A grid of whole squares of patches near the image's own, of so many patches.
///
/// Source: transformers/models/nemotron_h_omni/image_processing_nemotron_h_omni.py, `get_patch_grid_size`.
[[nodiscard]] constexpr image_sides grid_of(image_sides shown, std::int64_t patch, std::int64_t merge, std::int64_t least,
                                            std::int64_t most) {
    const auto real = [](std::int64_t n) { return static_cast<double>(n); };
    const auto nearest = [&](std::int64_t side) {  // Python's round: halves to even
        const double wanted = real(side) / real(patch) + 0.5;
        const auto below = static_cast<std::int64_t>(wanted);
        const double above = wanted - real(below);
        return above > 0.5 || (above == 0.5 && below % 2 != 0) ? below + 1 : below;
    };
    std::int64_t rows = nearest(shown.height), columns = nearest(shown.width);
    if (rows < 1 || columns < 1) report_description("an image of these sides has no patch");
    const double shrink = __builtin_sqrt(real(most) / real(rows * columns)), factor = shrink < 1 ? shrink : 1.0;
    rows = static_cast<std::int64_t>(factor * real(rows)), columns = static_cast<std::int64_t>(factor * real(columns));
    if (rows < 1 || columns < 1) report_description("an image is too long and narrow to have patches");
    if (most > least && rows * columns < least) {
        const double grow = __builtin_sqrt(real(least) / real(rows * columns));
        const auto up = [&](std::int64_t n) {
            const auto whole = static_cast<std::int64_t>(grow * real(n));
            return real(whole) < grow * real(n) ? whole + 1 : whole;
        };
        rows = up(rows), columns = up(columns);
    }
    const auto whole = [&](std::int64_t& side, std::int64_t other) {
        const std::int64_t rest = side % merge;
        if (rest == 0) return;
        if ((side + merge - rest) * other <= most)
            side += merge - rest;
        else
            side = side - rest > merge ? side - rest : merge;
    };
    whole(rows, columns), whole(columns, rows);
    return {rows * patch, columns * patch};
}

/// A norm, two projections with a squared ReLU between them.
struct projector {
    site here;

    static constexpr role what = role::projector;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MultiModalProjector"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t wide = here.whole.own[inner], in = x.dim(-1);
        const norm<norm_kind::rms_float_weight> scale{in, {"NemotronH_Omni_", "RMSNorm"}};
        const value h = t.call("linear_1", linear{in, wide}, t.call("layer_norm", scale, x));
        return t.call("linear_2", linear{wide, here.dims.hidden_size}, t.call("act", activation_module{activation::relu2}, h));
    }
};

/// Squares of patches of one image side by side, by two copies: (patches, width) -> (squares, side² · width).
constexpr value shuffled(trace& t, const value& x, std::int64_t rows, std::int64_t columns, std::int64_t side) {
    const std::int64_t width = x.dim(-1);
    const value halves = x.view({1, rows, columns / side, width * side});
    const value turned = t.contiguous(halves.transpose(1, 2)).view({1, columns / side, rows / side, width * side * side});
    return t.contiguous(turned.transpose(1, 2)).view({-1, width * side * side});
}

constexpr media_shapes show(const model& m, const workload& load) {
    if (load.images == 0) return {};
    if (load.image_height == 0) report_description("this model reads images of any size: say --image WIDTHxHEIGHT");
    const std::int64_t patch = m.beside[0].dims.vision.patch_size, side = m.own[merged];
    if (side != 2) report_description("images are cut up for squares of two patches along a side");
    const image_sides to =
        grid_of({load.image_height, load.image_width}, patch, side, m.own[fewest_patches], m.own[most_patches]);
    const std::int64_t step = patch * side;
    return {.image = {.tokens = (to.height / step) * (to.width / step), .height = to.height, .width = to.width}};
}

/// As many patches as fit into the length of a text, within bounds (`_preprocess`).
constexpr void read_processor(config_view told, model& m) {
    const std::int64_t side = m.own[merged];
    expect_side(told, "patch_size", m.beside[0].dims.vision.patch_size, "the patch_size of the configuration's tower");
    if (told.real("downsample_ratio", 0.5) * static_cast<double>(side) != 1)
        fail_value(told, "downsample_ratio", "the downsample_ratio of the configuration");
    m.own[fewest_patches] = told.positive("min_num_patches", m.own[fewest_patches]);
    const auto most = told.find("max_num_patches");
    if (most && (most->is_null() || most->as_non_negative() == 0))
        fail_unsupported(told, "max_num_patches", "no row describes bounds that depend on the number of images");
    const std::int64_t within = told.positive("max_num_patches", 13312);
    std::int64_t text = (told.positive("max_model_len", 16384) - 4) * side * side;
    text = text > m.own[fewest_patches] ? text : m.own[fewest_patches];
    text = text < within ? text : within;
    m.own[most_patches] = text > m.own[fewest_patches] ? text : m.own[fewest_patches];
}

/// What all images become: (tokens, width of the text).
constexpr value features(const site& here, trace& t) {
    const bool sees = sees_images(t);
    const recorder::idle_guard no_pixels{t, !sees};
    const std::int64_t patch = here.whole.beside[0].dims.vision.patch_size, side = here.whole.own[merged];
    const media_shape each = sees ? show(here.whole, t.load()).image : media_shape{};
    const recorder::workload_guard shown{t, packed_workload(t, each, patch * side)};
    value x = describe_tower(here, t, 0, "vision_model", role::vision);
    if (here.whole.own[normed] != 0)
        x = t.call("vision_final_layernorm", norm<norm_kind::layer>{here.whole.own[seen_width]}, x);
    const packed_pictures grid = packed_images(t.load(), patch);
    const value image = x.slice(0, grid.rows * grid.columns);
    value squares = trace::buffer({1});
    squares.type = x.type;
    for (repetition one = t.steps(grid.frames, squares); one.next();)
        squares = shuffled(t, image, grid.rows, grid.columns, side);
    return t.cat({t.call("multi_modal_projector", projector{here}, t.cat({side_by_side(squares, 0, grid.frames)}, 0))}, 0);
}

/// The text model under its own head, which this class holds as it is; its words are embedded first where images are shown.
constexpr value describe(const site& here, trace& t) {
    const site text = here.text();
    const module_info whole{.type = here.type("")};
    const module_info head{.name = "language_model", .type = text.type(text.row.names.causal_lm_type)};
    const module_info inner{.name = text.row.names.base, .type = text.type(text.row.names.model_type)};
    architecture placed = text.row;
    shared_values made;
    t.enter(whole);
    if (sees_images(t)) {
        t.enter(head), t.enter(inner);
        made.own[0] = text.row.embed(text, t);
        t.leave(inner), t.leave(head);
        placed.embed = embed_placed;
        made.own[0] = t.masked_scatter(made.own[0], features(here, t));
    } else {
        (void)features(here, t);
    }
    t.enter(head);
    const value x = describe_within(inner, placed.base, {text.whole, placed, text.dims, &made}, t);
    const value out = t.leave(head, t.returns(x, describe_head(text, t, x)));
    return t.leave(whole, out);
}

constexpr void read(config_view config, model& m) {
    for (const literal older : {"llm_config", "sound_config", "vit_hidden_size"})
        if (config.contains(older)) fail_unsupported(config, older, "no row reads this older name of a part");
    if (const auto sound = config.find("audio_config"); sound && !sound->is_null())
        fail_unsupported(config, "audio_config", "no row describes a tower for sound inside of this type");
    const double ratio = config.real("downsample_ratio", 0.5);
    if (!(ratio > 0 && ratio <= 1)) fail_value(config, "downsample_ratio", "a part of a side above 0 and up to 1");
    m.own[merged] = static_cast<std::int64_t>(1 / ratio);
    if (m.own[seen_width] != m.beside[0].dims.hidden_size)
        fail_value(config, "vision_hidden_size", "the tower's hidden_size");
    (void)checked_width(config, "vision_hidden_size", checked_product(m.own[seen_width], m.own[merged]), m.own[merged]);
    const std::int64_t pairs = config.positive("video_temporal_patch_size", 2);
    if (m.beside[0].dims.own[radio_detail::frames] != pairs)
        fail_value(config, "video_temporal_patch_size", "the tower's video_temporal_patch_size");
    if (const auto text = config.optional_object("text_config"))
        m.own[normed] = text->non_negative("num_nextn_predict_layers", 0) > 0 ? 1 : 0;
}

/// The tower reads pairs of frames where it says nothing of them.
inline constexpr architecture tower = [](architecture a) {
    a.own = radio_detail::keys_of_pairs;
    return a;
}(radio);

}  // namespace nemotron_h_omni_detail

// transformers/models/nemotron_h_omni: RADIO in front of Nemotron-H under its head
inline constexpr architecture nemotron_h_omni = [](architecture a) {
    a.model_type = "nemotron_h_omni", a.prefix = "NemotronH_Omni_Reasoning_V3", a.own = nemotron_h_omni_detail::keys;
    a.describe = nemotron_h_omni_detail::describe, a.read_whole = nemotron_h_omni_detail::read;
    a.media = nemotron_h_omni_detail::show, a.read_processor = nemotron_h_omni_detail::read_processor, a.reads.images = true,
    a.names.causal_lm_type = "";
    a.heads = {head_kind::causal_lm}, a.defaults.head = head_kind::causal_lm;
    a.text = {.key = "text_config", .otherwise = &nemotron_h, .always = true, .ties = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &nemotron_h_omni_detail::tower, .always = true};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
