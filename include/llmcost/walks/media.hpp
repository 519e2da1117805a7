// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/walks/composite.hpp>

// What a text model reads beside words: states of images, videos and sound in the places that stand for them.
namespace llmcost {

/// Whether towers run: in a first pass that shows something.
[[nodiscard]] constexpr bool sees(const trace& t) noexcept {
    const workload& load = t.load();
    return load.past == 0 && (load.images > 0 || load.videos > 0);
}
[[nodiscard]] constexpr bool sees_images(const trace& t) noexcept { return t.load().past == 0 && t.load().images > 0; }
[[nodiscard]] constexpr bool sees_videos(const trace& t) noexcept { return t.load().past == 0 && t.load().videos > 0; }
[[nodiscard]] constexpr bool hears(const trace& t) noexcept {
    return t.load().past == 0 && t.load().audio_milliseconds > 0;
}

/// Images of the whole batch; as many as sequences where none is seen and a tower is declared only.
[[nodiscard]] constexpr std::int64_t images_in(const trace& t) noexcept {
    return t.load().batch * (t.load().images > 0 ? t.load().images : 1);
}

/// A workload of a tower: so many pictures of these sides, without a text.
[[nodiscard]] constexpr workload pictures(workload load, std::int64_t how_many, std::int64_t height, std::int64_t width) {
    load.batch = how_many, load.image_height = height, load.image_width = width;
    return load;
}

/// Features of all images in one tensor (rows, width), put into the words; that there are as many places for them is
/// counted among the words.
constexpr value scatter_counted(trace& t, const value& words, const value& features) {
    const value joined = t.cat({features}, 0);
    {
        const recorder::off_loss_guard unread{t};
        (void)t.gather(words, {joined.dim(0), joined.dim(1)});
    }
    return t.masked_scatter(words, joined);
}

/// Height and width of what is shown: as the workload says, else as large as the model's own images.
struct image_sides {
    std::int64_t height;
    std::int64_t width;
};
[[nodiscard]] constexpr image_sides sides_of_images(const workload& load, const vision_sizes& own) noexcept {
    if (load.image_height == 0) return {own.image_height, own.image_width};
    return {load.image_height, load.image_width};
}

/// Every image is made as large as a tower's own; each of its patches is a token.
[[nodiscard]] constexpr media_shapes patches_as_tokens(const model& m, const workload&) {
    const vision_sizes& image = m.beside[0].dims.vision;
    const std::int64_t tokens = (image.image_height / image.patch_size) * (image.image_width / image.patch_size);
    return {.image = {.tokens = tokens, .height = image.image_height, .width = image.image_width}};
}

/// The text model behind what a part makes of its embeddings: (B, S, hidden) -> the same, with media in it.
///
/// `words.masked_scatter(mask, features)` is one such part; the whole calls it, between two calls of the text model's modules.
template <class Place>
constexpr value describe_text_after(const site& here, trace& t, literal name, const Place& place) {
    const site text = here.text();
    const module_info m{.name = name, .type = text.type(text.row.names.model_type)};
    t.enter(m);
    value x = t.leave(m, text.row.embed(text, t));
    x = place(x);
    t.enter(m);
    const decoder_context shared = text.row.prepare(text, t);
    return t.leave(m, normed(text, t, text.row.names.norm, describe_layers(text, t, shared, x)));
}

/// The same where the whole makes the masks, behind what it puts into the embeddings (modeling_gemma3.py, `Gemma3Model`).
template <class Place>
constexpr value describe_masked_text_after(const site& here, trace& t, literal name, const Place& place) {
    const site text = here.text();
    const module_info m{.name = name, .type = text.type(text.row.names.model_type)};
    t.enter(m);
    value x = t.leave(m, text.row.embed(text, t));
    x = place(x);
    const decoder_context made = masks(text, t);
    t.enter(m);
    const decoder_context shared = with_tables(text, t, made);
    return t.leave(m, normed(text, t, text.row.names.norm, describe_layers(text, t, shared, x)));
}

}  // namespace llmcost
