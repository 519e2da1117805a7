// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/gemma3n.hpp>
#include <llmcost/arch/gemma3n_audio.hpp>
#include <llmcost/arch/gemma3n_vision.hpp>
#include <llmcost/config/feature_extractor.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/composite.hpp>
#include <llmcost/forward/layers.hpp>
#include <llmcost/forward/multimodal.hpp>

// The multimodal model: timm's MobileNetV5 and a conformer before Gemma 3n. Both have vocabularies of their own.
//
// Source: transformers/models/gemma3n

namespace llmcost::arch {

namespace gemma3n_media_detail {

enum family_config_index : std::uint8_t { image_tokens, sound_tokens };
inline constexpr family_key family_keys[]{{"vision_soft_tokens_per_image", 256}, {"audio_soft_tokens_per_image", 188}};

/// Media shapes: the number of tokens is fixed per image and per recording.
constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    media_shapes shapes{.image = {.num_tokens = m.family[image_tokens], .height = image_side, .width = image_side}};
    if (load.audio_milliseconds == 0) return shapes;
    shapes.audio = frames_of(m.audio_preprocessing, load.audio_milliseconds);
    shapes.audio.num_tokens = m.family[sound_tokens];
    return shapes;
}

/// Normalizes and projects an encoder's features, or embeddings of its vocabulary, to the text width.
struct embedder {
    layer_context text;
    const model_config& tower;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return text.class_of("MultimodalEmbedder"); }
    constexpr tensor forward(trace& t, const shape& ids) const {
        const std::int64_t in = tower.hidden_size;
        const tensor x =
            apply_norm(text, t, "hard_embedding_norm", in, t.call("embedding", embedding{tower.vocab_size, in}, ids));
        {
            const recorder::not_executed_guard unused{t};
            (void)apply_norm(text, t, "soft_embedding_norm", in, x);
        }
        return project(t, x);
    }
    /// Projects encoder features. This is the second call of the projection, after the embeddings.
    constexpr tensor forward(trace& t, const tensor& features) const {
        return project(t, apply_norm(text, t, "soft_embedding_norm", tower.hidden_size, features));
    }

private:
    constexpr tensor project(trace& t, const tensor& x) const {
        const tensor h = t.call("embedding_projection", linear{tower.hidden_size, text.config.hidden_size}, x);
        return norm_without_weight(text, t, "embedding_post_projection_norm", h);
    }
};

/// Traces the vision encoder. Each position becomes one token.
constexpr tensor encode_images(const layer_context& ctx, trace& t, const tensor& token_embeddings) {
    const recorder::not_executed_guard no_pixels{t, !has_images(t)};
    const recorder::workload_guard encoder_workload{t, image_workload(t.load(), images_in(t), 0, 0)};
    tensor x = forward_encoder_component(ctx, t, 0, "vision_tower", role::vision);
    if (const std::int64_t width = ctx.component(0).config.hidden_size; x.dim(1) != width) {
        if (has_images(t))
            throw_description_error("the vision encoder's features do not have the hidden_size of vision_config");
        x = t.input({x.dim(0), width, x.dim(2), x.dim(3)});  // text alone reads no features
    }
    x = t.reshape(x, {x.dim(0), x.dim(1), x.dim(2) * x.dim(3)}).permute({0, 2, 1});
    t.mul_(x);
    const recorder::shared_parameters_guard shared_parameters{t};
    return t.masked_scatter(token_embeddings,
                            t.call("embed_vision", embedder{ctx.text_model(), ctx.component(0).config}, x));
}

/// Traces the audio encoder. Its output is padded with one embedding to a fixed number of tokens.
constexpr tensor listen(const layer_context& ctx, trace& t, const tensor& token_embeddings) {
    const recorder::not_executed_guard no_sound{t, !has_audio(t)};
    const tensor x = forward_encoder_component(ctx, t, 1, "audio_tower", role::audio);
    const recorder::shared_parameters_guard shared_parameters{t};
    const embedder embeds{ctx.text_model(), ctx.component(1).config};
    const tensor audio_embeds = t.call("embed_audio", embeds, x), filler = t.call("embed_audio", embeds, shape{1, 1});
    const std::int64_t batch = audio_embeds.dim(0), num_fillers = ctx.model.family[sound_tokens] - audio_embeds.dim(1);
    if (has_audio(t) && num_fillers < 0)
        throw_description_error("the audio encoder returns more states than audio tokens");
    const tensor chosen = t.masked_fill(audio_embeds);
    return t.masked_scatter(
        token_embeddings,
        t.cat({chosen, filler.expand({batch, num_fillers > 0 ? num_fillers : 0, audio_embeds.dim(2)})}, 1));
}

/// Traces the model. Text tokens are also looked up in the vocabularies of both encoders, then replaced by text
/// embeddings.
///
/// Source: `Gemma3nModel.forward`.
constexpr tensor base(const layer_context& ctx, trace& t) {
    const layer_context text = ctx.text_model();
    const module_info m{.name = "language_model", .class_of_module = text.class_of(text.spec.names.model_class)};
    t.enter(m);
    tensor x = text.spec.embed_tokens(text, t);
    const tensor per_layer_inputs = gemma3n_detail::get_per_layer_inputs(text, t);
    t.leave(m);
    const shape ids{t.load().batch, t.load().sequence};
    x = t.where(t.call("embed_vision", embedder{text, ctx.component(0).config}, ids), x);
    x = t.where(t.call("embed_audio", embedder{text, ctx.component(1).config}, ids), x);
    x = listen(ctx, t, encode_images(ctx, t, x));
    t.enter(m);
    return t.leave(m, gemma3n_detail::forward_language_model(text, t, x, per_layer_inputs));
}

constexpr void parse_processor_config(config_view json, model&) {
    expect_resized(json);
    expect_picture(json, image_side);
}

/// Parses the feature extractor's configuration.
///
/// Source: transformers/models/gemma3n/feature_extraction_gemma3n.py; processing_gemma3n.py, `audio_seq_length`.
constexpr void parse_audio_config(config_view json, model& m) {
    if (const auto processor_json = json.optional_object("processor_config"))
        expect_number(*processor_json, "audio_seq_length", m.family[sound_tokens],
                      "audio_soft_tokens_per_image of the configuration");
    const auto nested_json = find_feature_extractor_config(json);
    if (!nested_json) return;
    expect_extractor(*nested_json, "Gemma3nAudioFeatureExtractor");
    expect_bands(*nested_json, {"feature_size"}, m.components[1].config.family[features]);
    parse_frames_by_time(*nested_json, m.audio_preprocessing);
}

/// Parses `config.json`. The soft cap of the logits is that of the text model.
constexpr void parse_config(config_view json, model& m) {
    const auto text = json.optional_object("text_config");
    m.config.logits_soft_cap = !text || gemma3n_detail::caps_logits(*text);
    if (m.family[image_tokens] != token_side * token_side)
        throw_invalid_value(json, "vision_soft_tokens_per_image", "256, the number of positions of the vision encoder");
}

}  // namespace gemma3n_media_detail

inline constexpr model_spec gemma3n = [](model_spec spec) {
    spec.model_type = "gemma3n";
    spec.class_prefix = "Gemma3n";
    spec.base_model = gemma3n_media_detail::base;
    spec.parse_composite_config = gemma3n_media_detail::parse_config;
    spec.family_keys = gemma3n_media_detail::family_keys;
    spec.compute_media_shapes = gemma3n_media_detail::compute_media_shapes;
    spec.parse_image_processor = gemma3n_media_detail::parse_processor_config;
    spec.modalities.has_images = spec.modalities.has_audio = true;
    spec.parse_feature_extractor = gemma3n_media_detail::parse_audio_config;
    spec.audio_preprocessing = gemma3n_media_detail::default_audio_config;
    spec.text_model = {.key = "text_config", .default_spec = &gemma3n_text, .ignores_model_type = true};
    spec.components[0] = {
        .key = "vision_config", .default_spec = &gemma3n_media_detail::vision, .ignores_model_type = true};
    spec.components[1] = {
        .key = "audio_config", .default_spec = &gemma3n_media_detail::audio, .ignores_model_type = true};
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
