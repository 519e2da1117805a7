// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/forward/composite.hpp>

// What a text model reads beside words: states of images, videos and sound in the places that stand for them.
namespace llmcost {

/// Whether towers run: in a first pass that shows something.
[[nodiscard]] constexpr bool has_vision_inputs(const trace& t) noexcept {
    const workload& load = t.load();
    return load.past == 0 && (load.images > 0 || load.videos > 0);
}
[[nodiscard]] constexpr bool has_images(const trace& t) noexcept { return t.load().past == 0 && t.load().images > 0; }
[[nodiscard]] constexpr bool has_videos(const trace& t) noexcept { return t.load().past == 0 && t.load().videos > 0; }
[[nodiscard]] constexpr bool has_audio(const trace& t) noexcept {
    return t.load().past == 0 && t.load().audio_milliseconds > 0;
}

/// Images of the whole batch; as many as sequences where none is seen and a tower is declared only.
[[nodiscard]] constexpr std::int64_t images_in(const trace& t) noexcept {
    return t.load().batch * (t.load().images > 0 ? t.load().images : 1);
}

/// A workload of a tower: so many pictures of these sides, without a text.
[[nodiscard]] constexpr workload image_workload(workload load, std::int64_t num_images, std::int64_t height,
                                                std::int64_t width) {
    load.batch = num_images;
    load.image_height = height;
    load.image_width = width;
    return load;
}

/// Features of all images in one tensor (rows, width), put into the words; that there are as many places for them is
/// counted among the words.
constexpr tensor scatter_features(trace& t, const tensor& token_embeddings, const tensor& features) {
    const tensor concatenated = t.cat({features}, 0);
    {
        const recorder::detach_guard unread{t};
        (void)t.gather(token_embeddings, {concatenated.dim(0), concatenated.dim(1)});
    }
    return t.masked_scatter(token_embeddings, concatenated);
}

/// Height and width of what is shown: as the workload says, else as large as the model's own images.
struct image_size {
    std::int64_t height;
    std::int64_t width;
};
[[nodiscard]] constexpr image_size image_size_of(const workload& load, const vision_config& config) noexcept {
    if (load.image_height == 0) return {config.image_height, config.image_width};
    return {load.image_height, load.image_width};
}

/// Every image is made as large as a tower's own; each of its patches is a token.
[[nodiscard]] constexpr media_shapes count_patch_tokens(const model& m, const workload&) {
    const vision_config& image = m.components[0].config.vision;
    const std::int64_t tokens = (image.image_height / image.patch_size) * (image.image_width / image.patch_size);
    return {.image = {.num_tokens = tokens, .height = image.image_height, .width = image.image_width}};
}

/// Embeddings that were placed before, as a row's part.
constexpr tensor embed_multimodal(const layer_context& ctx, trace&) { return ctx.inputs->family_tensors[0]; }

/// The text model behind what a part makes of its embeddings, `own[0]` of what it is handed: (B, S, hidden), media in
/// it.
///
/// Where nothing is shown, the part declares towers only, and the text model embeds its words itself.
template <class Place>
constexpr tensor forward_text_with_features(const layer_context& ctx, trace& t, literal name, const Place& place) {
    attention_inputs inputs;
    if (t.load().past > 0 || !t.load().has_multimodal_inputs()) {
        inputs.family_tensors[0] = trace::buffer({1, 1, ctx.config.hidden_size});
        place(inputs);
        return forward_text_model(ctx, t, name);
    }
    const layer_context text = ctx.text_model();
    const module_info m{.name = name, .class_of_module = text.class_of(text.spec.names.model_class)};
    t.enter(m);
    inputs.family_tensors[0] = t.leave(m, text.spec.embed_tokens(text, t));
    model_spec placed = text.spec;
    placed.embed_tokens = embed_multimodal;
    place(inputs);
    return forward_in_module(m, placed.base_model, {text.model, placed, text.config, &inputs}, t);
}

/// The same where nothing else than embeddings is handed on: the part takes and gives them.
template <class Place>
constexpr tensor forward_text_after_encoder(const layer_context& ctx, trace& t, literal name, const Place& place) {
    return forward_text_with_features(
        ctx, t, name, [&](attention_inputs& inputs) { inputs.family_tensors[0] = place(inputs.family_tensors[0]); });
}

/// Calls `look` for images, then for videos, the workload set to the pictures of all sequences; once for what it
/// declares where neither is seen.
template <class Look>
constexpr void encode_images(const layer_context& ctx, trace& t, const Look& encode) {
    const workload load = t.load();
    const bool images = has_images(t), videos = has_videos(t);
    const media_shapes shapes = images || videos ? ctx.spec.compute_media_shapes(ctx.model, load) : media_shapes{};
    const auto show = [&](const media_shape& shape, std::int64_t n) {
        const recorder::workload_guard pictured{
            t, image_workload(load, load.batch * n * shape.num_tiles, shape.height, shape.width)};
        encode();
    };
    if (images) show(shapes.image, load.images);
    if (videos) {
        const recorder::shared_parameters_guard shared_parameters{t, images};
        show(shapes.video, load.videos);
    }
    if (images || videos) return;
    const recorder::not_executed_guard quiet{t};
    const recorder::workload_guard pictured{t, image_workload(load, 1, 0, 0)};
    encode();
}

/// Features of images, then of videos, in the places of the words that stand for them: `tower` describes one call of
/// it.
template <class Tower>
constexpr tensor insert_image_features(const layer_context& ctx, trace& t, tensor token_embeddings,
                                       const Tower& tower) {
    encode_images(ctx, t, [&] {
        const tensor features = tower();
        if (has_vision_inputs(t)) token_embeddings = t.masked_scatter(token_embeddings, t.cat({features}, 0));
    });
    return token_embeddings;
}

/// The same where the whole makes the masks, behind what it puts into the embeddings (modeling_gemma3.py,
/// `Gemma3Model`).
template <class Place>
constexpr tensor forward_masked_text_after_encoder(const layer_context& ctx, trace& t, literal name,
                                                   const Place& place) {
    const layer_context text = ctx.text_model();
    const module_info m{.name = name, .class_of_module = text.class_of(text.spec.names.model_class)};
    t.enter(m);
    tensor x = t.leave(m, text.spec.embed_tokens(text, t));
    x = place(x);
    const decoder_inputs made = make_masks(text, t);
    t.enter(m);
    const decoder_inputs shared = add_rotary_embeddings(text, t, made);
    return t.leave(m, apply_norm(text, t, text.spec.names.norm, forward_layers(text, t, shared, x)));
}

}  // namespace llmcost
