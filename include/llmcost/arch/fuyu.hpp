// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/persimmon.hpp>
#include <llmcost/reading/processor.hpp>
#include <llmcost/walks/composite.hpp>
#include <llmcost/walks/media.hpp>

namespace llmcost::arch {

namespace fuyu_detail {

enum own : std::uint8_t { patch_size, num_channels, largest_height, largest_width };
inline constexpr own_key keys[]{
    {"patch_size", 30},
    {"num_channels", 3},
    {.otherwise = 1080, .value = own_value::computed},
    {.otherwise = 1920, .value = own_value::computed},
};

/// Images that are larger than the file says, 1920 by 1080 without one, shrink, both sides alike, cut off; what is left of a
/// last patch is filled up.
///
/// Source: transformers/models/fuyu/image_processing_fuyu.py, `resize`, `preprocess_with_tokenizer_info`.
constexpr media_shapes show(const model& m, const workload& load) {
    const std::int64_t most_high = m.own[largest_height], most_wide = m.own[largest_width];
    std::int64_t height = load.image_height, width = load.image_width;
    if (height == 0) height = most_high, width = most_wide;
    if (height > most_high || width > most_wide) {
        const double rows = static_cast<double>(most_high) / static_cast<double>(height);
        const double columns = static_cast<double>(most_wide) / static_cast<double>(width);
        const double factor = rows < columns ? rows : columns;
        height = static_cast<std::int64_t>(static_cast<double>(height) * factor);
        width = static_cast<std::int64_t>(static_cast<double>(width) * factor);
    }
    const std::int64_t side = m.own[patch_size], rows = (height + side - 1) / side, columns = (width + side - 1) / side;
    return {.image = {.tokens = rows * columns, .height = rows * side, .width = columns * side}};
}

constexpr void read_processor(config_view told, model& m) {
    expect_resized(told), expect_side(told, "patch_size", m.own[patch_size], "the patch_size of the configuration");
    const auto size = told.optional_object("size");
    if (!size) return;
    m.own[largest_height] = size->positive("height"), m.own[largest_width] = size->positive("width");
    if (m.own[largest_height] % m.own[patch_size] != 0 || m.own[largest_width] % m.own[patch_size] != 0)
        fail_value(told, "size", "sides that are multiples of patch_size");
}

/// Patches are projected as they are, without a tower.
constexpr value base(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](const value& words) {
        const recorder::idle_guard no_pixels{t, !sees_images(t)};
        const std::int64_t side = here.whole.own[patch_size], values = side * side * here.whole.own[num_channels];
        const value patches = t.input({images_in(t), show(here.whole, t.load()).image.tokens, values});
        const value features = t.call("vision_embed_tokens", linear{values, here.dims.hidden_size, true}, patches);
        return t.masked_scatter(words, features);
    });
}

/// A flat file hands on the keys of `init_kwargs` and a rotated half of each head, whatever it says of that.
constexpr void read(config_view config, model& m) {
    (void)checked_width(config, "patch_size", m.own[patch_size] * m.own[patch_size], m.own[num_channels]);
    if (config.optional_object("text_config")) return;
    if (const auto rope = config.find("rope_parameters"); rope && !rope->is_null())
        fail_unsupported(config, "rope_parameters", "the reference hands it on in text_config only");
    m.dims.rotary_dim = m.dims.head_dim / 2;
}

}  // namespace fuyu_detail

// transformers/models/fuyu: Persimmon with patches as tokens
inline constexpr architecture fuyu = [](architecture a) {
    a.model_type = "fuyu", a.prefix = "Fuyu", a.base = fuyu_detail::base, a.read_whole = fuyu_detail::read;
    a.media = fuyu_detail::show, a.read_processor = fuyu_detail::read_processor, a.reads.images = true;
    a.own = fuyu_detail::keys, a.heads = language_heads, a.defaults.head = head_kind::causal_lm;
    a.text = {.key = "text_config", .otherwise = &persimmon, .flat = true};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
