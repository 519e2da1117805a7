// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/forward/composite.hpp>

// Inputs of multimodal models: features of images, videos and audio at the positions of placeholder tokens.
//
// Shapes: B = batch, S = sequence.
namespace llmcost {

/// True if vision encoders are executed: in a prefill with images or videos.
[[nodiscard]] constexpr bool has_vision_inputs(const trace& t) noexcept {
    const workload& load = t.load();
    return load.past == 0 && (load.images > 0 || load.videos > 0);
}
[[nodiscard]] constexpr bool has_images(const trace& t) noexcept { return t.load().past == 0 && t.load().images > 0; }
[[nodiscard]] constexpr bool has_videos(const trace& t) noexcept { return t.load().past == 0 && t.load().videos > 0; }
[[nodiscard]] constexpr bool has_audio(const trace& t) noexcept {
    return t.load().past == 0 && t.load().audio_milliseconds > 0;
}

/// Number of images in the batch. Without images, one per sequence, for the declaration of the encoder.
[[nodiscard]] constexpr std::int64_t images_in(const trace& t) noexcept {
    return t.load().batch * (t.load().images > 0 ? t.load().images : 1);
}

/// The workload of an image encoder: `num_images` images of this size.
[[nodiscard]] constexpr workload image_workload(workload load, std::int64_t num_images, std::int64_t height,
                                                std::int64_t width) {
    load.batch = num_images;
    load.image_height = height;
    load.image_width = width;
    return load;
}

/// Writes image features to the positions of placeholder tokens: (B, S, hidden) -> (B, S, hidden).
///
/// The gather is a check of the number of placeholders.
constexpr tensor scatter_features(trace& t, const tensor& token_embeddings, const tensor& features) {
    const tensor concatenated = t.cat({features}, 0);
    {
        const recorder::detach_guard unread{t};
        (void)t.gather(token_embeddings, {concatenated.dim(0), concatenated.dim(1)});
    }
    return t.masked_scatter(token_embeddings, concatenated);
}

/// Height and width of the input images: those of the workload. Default: those of the configuration.
struct image_size {
    std::int64_t height;
    std::int64_t width;
};
[[nodiscard]] constexpr image_size image_size_of(const workload& load, const vision_config& config) noexcept {
    if (load.image_height == 0) return {config.image_height, config.image_width};
    return {load.image_height, load.image_width};
}

/// Resized image size and number of tokens: every image has the encoder's size, and one token per patch.
[[nodiscard]] constexpr media_shapes count_patch_tokens(const model& m, const workload&) {
    const vision_config& image = m.components[0].config.vision;
    const std::int64_t tokens = (image.image_height / image.patch_size) * (image.image_width / image.patch_size);
    return {.image = {.num_tokens = tokens, .height = image.image_height, .width = image.image_width}};
}

/// The `model_spec::embed_tokens` of a text model whose multimodal embeddings are precomputed.
constexpr tensor embed_multimodal(const layer_context& ctx, trace&) { return ctx.inputs->family_tensors[0]; }

/// The text model with features in its embeddings: (B, S, hidden).
///
/// `place` reads the embeddings from `family_tensors[0]` and replaces them. Without multimodal inputs, it declares the
/// encoders only, and the text model embeds its tokens itself.
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

/// The text model with features in its embeddings, where `place` maps embeddings to embeddings: (B, S, hidden).
template <class Place>
constexpr tensor forward_text_after_encoder(const layer_context& ctx, trace& t, literal name, const Place& place) {
    return forward_text_with_features(
        ctx, t, name, [&](attention_inputs& inputs) { inputs.family_tensors[0] = place(inputs.family_tensors[0]); });
}

/// Calls `encode` for images, then for videos, with a workload of all images or frames of the batch.
///
/// Without images and videos, one call declares the encoder without execution.
template <class Look>
constexpr void encode_images(const layer_context& ctx, trace& t, const Look& encode) {
    const workload load = t.load();
    const bool images = has_images(t), videos = has_videos(t);
    const media_shapes shapes = images || videos ? ctx.spec.compute_media_shapes(ctx.model, load) : media_shapes{};
    const auto add_media = [&](const media_shape& shape, std::int64_t n) {
        const recorder::workload_guard pictured{
            t, image_workload(load, load.batch * n * shape.num_tiles, shape.height, shape.width)};
        encode();
    };
    if (images) add_media(shapes.image, load.images);
    if (videos) {
        const recorder::shared_parameters_guard shared_parameters{t, images};
        add_media(shapes.video, load.videos);
    }
    if (images || videos) return;
    const recorder::not_executed_guard quiet{t};
    const recorder::workload_guard pictured{t, image_workload(load, 1, 0, 0)};
    encode();
}

/// Writes features of images, then of videos, to the positions of placeholder tokens. `tower` traces the encoder once.
template <class Tower>
constexpr tensor insert_image_features(const layer_context& ctx, trace& t, tensor token_embeddings,
                                       const Tower& tower) {
    encode_images(ctx, t, [&] {
        const tensor features = tower();
        if (has_vision_inputs(t)) token_embeddings = t.masked_scatter(token_embeddings, t.cat({features}, 0));
    });
    return token_embeddings;
}

/// The text model with features in its embeddings and masks created by the parent: (B, S, hidden).
///
/// Source: transformers/models/gemma3/modeling_gemma3.py, `Gemma3Model`.
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
