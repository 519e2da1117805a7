// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/clip.hpp>
#include <llmcost/arch/deepseek_ocr2.hpp>
#include <llmcost/reading/processor.hpp>

namespace llmcost::arch {

namespace unlimited_ocr_detail {

inline constexpr own_key sam_keys[]{sam_detail::keys[0],
                                    sam_detail::keys[1],
                                    sam_detail::keys[2],
                                    sam_detail::keys[3],
                                    sam_detail::keys[4],
                                    {.otherwise = 512, .value = own_value::computed},
                                    {.otherwise = 1024, .value = own_value::computed}};

inline constexpr architecture sam = [](architecture a) {
    a.prefix = "UnlimitedOcrSam", a.own = sam_keys;
    return a;
}(deepseek_ocr2_detail::sam);

// CLIP without patches of its own and without a norm behind its layers
inline constexpr architecture encoder = [](architecture a) {
    a.prefix = "UnlimitedOcr";
    a.read = [](config_view config, sizes& s) {
        read_square_image(config, s, 224, 14);
        share_among_heads(config, s, {"num_attention_heads"});
    };
    return a;
}(clip_of_llava);

/// Places of a class token and of patches: the table as it is where it fits, resampled where the picture is another.
constexpr value places_of(const site& here, trace& t, std::int64_t rows, std::int64_t columns) {
    const std::int64_t width = here.dims.hidden_size, all = patches_of(here.dims.vision);
    const std::int64_t side = here.dims.vision.image_height / here.dims.vision.patch_size;
    if (rows == columns && rows * columns == all) return learned_positions(t, "position_embedding", all + 1, width);
    const module_info learned{.name = "position_embedding", .type = {"", "Embedding"}, .leaf = true};
    t.enter(learned);
    const value table = t.param("weight", {all + 1, width}).unsqueeze(0);
    t.leave(learned);
    const value square = table.slice(1, all).view({1, side, side, width}).permute({0, 3, 1, 2});
    const value resampled = t.to(t.resample(op::bicubic, t.to(square, dtype::float32), {rows, columns}), table.type);
    const value wide = resampled.permute({0, 2, 3, 1});
    return t.cat({table.slice(1, 1), t.reshape(wide, {1, rows * columns, width})}, 1);
}

/// Layers over what SAM left of a picture, (B, width, rows, columns) -> (B, 1 + patches, width).
constexpr value read_patches(const site& here, trace& t, const value& map) {
    const std::int64_t width = here.dims.hidden_size;
    const module_info encoder{.name = "vision_encoder", .type = here.type("VisionEncoder")};
    const module_info embeddings{.name = "embeddings", .type = here.type("VisionEmbeddings"), .what = role::embedding};
    t.enter(encoder), t.enter(embeddings);
    const value token = t.param("class_embedding", {width}).view({1, 1, width}).expand({map.dim(0), 1, width});
    const value with = t.cat({token, as_tokens(map)}, 1);
    const value x = t.leave(embeddings, t.add(with, places_of(here, t, map.dim(2), map.dim(3))));
    return t.leave(encoder, encode(here, t, t.call("pre_layrnorm", norm<norm_kind::layer>{width}, x)));
}

/// What SAM left of a picture beside what CLIP's layers made of it: (B, patches, both widths).
constexpr value describe_pictures(const site& here, trace& t) {
    const module_info tower{.name = "vision_tower", .type = here.type("VisionModel"), .what = role::vision};
    t.enter(tower);
    const value map = describe_tower(here, t, 0, "sam_encoder", role::none);
    const value states = read_patches(here.component(1), t, map);
    return t.leave(tower, t.cat({t.slice(states, 1, states.dim(1) - 1), as_tokens(map)}, -1));
}

enum own : std::uint8_t { whole_side, tile_side, fewest_tiles, most_tiles };
inline constexpr own_key keys[]{
    {.otherwise = 1024, .value = own_value::computed},
    {.otherwise = 640, .value = own_value::computed},
    {.otherwise = 2, .value = own_value::computed},
    {.otherwise = 32, .value = own_value::computed},  // 0: images are not cut
};
[[nodiscard]] constexpr deepseek_ocr2_detail::cut_rule rule_of(const model& m) {
    return {.whole = m.own[whole_side], .tile = m.own[tile_side], .least = m.own[fewest_tiles], .most = m.own[most_tiles]};
}

/// Rows of a picture end with a token, and an image with one more.
constexpr media_shapes show(const model& m, const workload& load) {
    if (load.images == 0) return {};
    if (load.image_height == 0) report_description("this model reads images of any size: say --image WIDTHxHEIGHT");
    const std::int64_t patch = m.beside[0].dims.vision.patch_size;
    const deepseek_ocr2_detail::cut_rule rule = rule_of(m);
    media_shape image = deepseek_ocr2_detail::cut({load.image_height, load.image_width}, rule);
    const std::int64_t whole = deepseek_ocr2_detail::left_of(rule.whole, patch);
    const std::int64_t part = deepseek_ocr2_detail::left_of(rule.tile, patch);
    image.tokens = whole * (whole + 1) + 1;
    if (image.tiles > 0) image.tokens += image.rows * part * (image.columns * part + 1);
    return {.image = image};
}

constexpr void read_processor(config_view told, model& m) {
    expect_resized(told);
    if (const auto size = told.optional_object("size")) {
        m.own[whole_side] = size->positive("height");
        expect_side(told, "size", m.own[whole_side], "a height as large as the width");
    }
    m.own[tile_side] = told.positive("tile_size", m.own[tile_side]);
    read_bounds_of_tiles(told, m.own, fewest_tiles, most_tiles);
    if (!told.boolean("crop_to_patches", true)) m.own[most_tiles] = 0;
}

constexpr value base(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](const value& words) {
        const bool sees = sees_images(t);
        const recorder::idle_guard no_pixels{t, !sees};
        const std::int64_t in = here.whole.beside[0].dims.own[deepseek_ocr2_detail::last_channels] +
                                here.whole.beside[1].dims.hidden_size;
        const std::int64_t width = here.dims.hidden_size;
        const value separator = t.param("view_separator", {width}), newline = t.param("image_newline", {width});
        const auto see = [&] {
            return t.call("multi_modal_projector", deepseek_ocr2_detail::projector{{in, width, true}},
                          describe_pictures(here, t));
        };
        const media_shape each = sees ? show(here.whole, t.load()).image : media_shape{.tiles = 0};
        const auto ended = [&](const value& grid) {
            const value with = t.cat({grid, newline.view({1, 1, width}).expand({grid.dim(0), 1, width})}, 1);
            return with.view({-1, width});
        };
        const std::int64_t patch = here.whole.beside[0].dims.vision.patch_size;
        const auto join = [&](const value& whole, const value& parts) {
            const std::int64_t side = deepseek_ocr2_detail::left_of(here.whole.own[whole_side], patch);
            const value last = separator.unsqueeze(0), global = ended(whole.view({side, side, width}));
            if (parts.rank == 0) return t.cat({global, last}, 0);
            const std::int64_t part = deepseek_ocr2_detail::left_of(here.whole.own[tile_side], patch);
            const value tiles = parts.view({each.rows, each.columns, part, part, width}).transpose(1, 2);
            const value local = ended(t.reshape(tiles, {each.rows * part, each.columns * part, width}));
            return t.cat({local, global, last}, 0);
        };
        return deepseek_ocr2_detail::place_cut_images(t, words, each, here.whole.own[tile_side], see, join);
    });
}

constexpr void read(config_view config, model& m) {
    deepseek_ocr2_detail::read_towers(config, m, sam, "encoder_config", encoder);
}

// ---- text

/// Keys or values behind those of the prompt, which stay whatever the window is; the new ones come into a cache of their
/// own first.
///
/// Source: transformers/models/unlimited_ocr/modeling_unlimited_ocr.py, `UnlimitedOcrDynamicReferenceSlidingWindowLayer`.
constexpr value keep_prompt(trace& t, const value& fresh, const context& c) {
    if (t.training() || c.past == 0) return update_cache(t, fresh, c);
    return update_cache(t, t.cat({fresh}, 2), c);
}

constexpr value attend(const site& here, trace& t, const value& x) {
    qkv of = project_qkv(here, t, x);
    split_heads(here, of), heads_first(of);
    turn(here, t, of);
    of.k = keep_prompt(t, of.k, here.shared->where);
    of.v = keep_prompt(t, of.v, here.shared->where);
    return join(here, t, look_up(here, t, of));
}

/// All tokens in front of a run count as its prompt, so the window of those behind it reaches none of them.
constexpr void read_text(config_view config, sizes& s) {
    if (config.non_negative("sliding_window", 128) < 2) fail_value(config, "sliding_window", "at least 2 tokens");
    s.sliding_window = 0;
    if (const auto types = config.optional_array("layer_types"))
        for (const config_view one : *types)
            if (one.as_string() != "reference_sliding_attention")
                fail_unsupported(config, "layer_types", "no layer of this type is of one of these kinds");
    deepseek_ocr2_detail::read_text(config, s, config.non_negative("first_k_dense_replace", 1));
}

}  // namespace unlimited_ocr_detail

// transformers/models/unlimited_ocr: DeepSeek-OCR 2's text over a cache that keeps the prompt and a window behind it
inline constexpr architecture unlimited_ocr_text = [](architecture a) {
    a.drops = {}, a.model_type = "unlimited_ocr_text", a.prefix = "UnlimitedOcr", a.read = unlimited_ocr_detail::read_text;
    a.attend = unlimited_ocr_detail::attend, a.masks = mask_rule::full_and_sliding;
    a.defaults.vocab_size = 129280, a.defaults.hidden_size = 1280, a.defaults.intermediate_size = 6848;
    a.defaults.num_hidden_layers = 12, a.defaults.num_attention_heads = a.defaults.num_key_value_heads = 10;
    a.defaults.max_position_embeddings = 32768;
    a.defaults.moe = {.num_experts = 64, .num_experts_per_tok = 6, .intermediate_size = 896};
    return a;
}(deepseek_ocr2_text);

// transformers/models/unlimited_ocr: SAM, CLIP's layers behind it, and pictures of an image as rows
inline constexpr architecture unlimited_ocr = [](architecture a) {
    a.model_type = "unlimited_ocr", a.prefix = "UnlimitedOcr", a.base = unlimited_ocr_detail::base;
    a.read_whole = unlimited_ocr_detail::read, a.media = unlimited_ocr_detail::show;
    a.own = unlimited_ocr_detail::keys, a.read_processor = unlimited_ocr_detail::read_processor;
    a.text = {.key = "text_config", .otherwise = &unlimited_ocr_text, .always = true};
    return a;
}(deepseek_ocr2);

}  // namespace llmcost::arch
