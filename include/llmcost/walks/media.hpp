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

/// Embeddings that were placed before, as a row's part.
constexpr value embed_placed(const site& here, trace&) { return here.shared->own[0]; }

/// The text model behind what a part makes of its embeddings, `own[0]` of what it is handed: (B, S, hidden), media in it.
///
/// Where nothing is shown, the part declares towers only, and the text model embeds its words itself.
template <class Place>
constexpr value describe_text_with(const site& here, trace& t, literal name, const Place& place) {
    shared_values made;
    if (t.load().past > 0 || !t.load().has_media()) {
        made.own[0] = trace::buffer({1, 1, here.dims.hidden_size});
        place(made);
        return describe_text(here, t, name);
    }
    const site text = here.text();
    const module_info m{.name = name, .type = text.type(text.row.names.model_type)};
    t.enter(m);
    made.own[0] = t.leave(m, text.row.embed(text, t));
    architecture placed = text.row;
    placed.embed = embed_placed;
    place(made);
    return describe_within(m, placed.base, {text.whole, placed, text.dims, &made}, t);
}

/// The same where nothing else than embeddings is handed on: the part takes and gives them.
template <class Place>
constexpr value describe_text_after(const site& here, trace& t, literal name, const Place& place) {
    return describe_text_with(here, t, name, [&](shared_values& made) { made.own[0] = place(made.own[0]); });
}

/// Calls `look` for images, then for videos, the workload set to the pictures of all sequences; once for what it declares
/// where neither is seen.
template <class Look>
constexpr void look_at_pictures(const site& here, trace& t, const Look& look) {
    const workload load = t.load();
    const bool images = sees_images(t), videos = sees_videos(t);
    const media_shapes shown = images || videos ? here.row.media(here.whole, load) : media_shapes{};
    const auto show = [&](const media_shape& each, std::int64_t n) {
        const recorder::workload_guard pictured{t, pictures(load, load.batch * n * each.tiles, each.height, each.width)};
        look();
    };
    if (images) show(shown.image, load.images);
    if (videos) {
        const recorder::called_again_guard again{t, images};
        show(shown.video, load.videos);
    }
    if (images || videos) return;
    const recorder::idle_guard quiet{t};
    const recorder::workload_guard pictured{t, pictures(load, 1, 0, 0)};
    look();
}

/// Features of images, then of videos, in the places of the words that stand for them: `tower` describes one call of it.
template <class Tower>
constexpr value place_pictures(const site& here, trace& t, value words, const Tower& tower) {
    look_at_pictures(here, t, [&] {
        const value features = tower();
        if (sees(t)) words = t.masked_scatter(words, t.cat({features}, 0));
    });
    return words;
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
