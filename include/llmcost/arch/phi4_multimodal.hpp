// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/phi3.hpp>
#include <llmcost/arch/phi4_multimodal_audio.hpp>
#include <llmcost/arch/phi4_multimodal_vision.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/composite.hpp>
#include <llmcost/forward/not_executed.hpp>

namespace llmcost::arch {

namespace phi4_multimodal_detail {

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    return {.image = load.images > 0 ? compute_image_shape(m, load) : media_shape{},
            .audio = compute_audio_shape(m, load)};
}

constexpr void parse_processor_config(config_view json, model& m) {
    const model_config& vision = m.components[0].config;
    expect_side(json, "size", vision.family[crop], "the crop_size of the configuration's tower");
    expect_side(json, "patch_size", vision.vision.patch_size, "the patch_size of the configuration's tower");
    m.family[max_crops] = json.positive("dynamic_hd", m.family[max_crops]);
}

/// Embeds images and audio. With both, a product with boolean masks selects each token from one of the two
/// (`Phi4MultimodalFeatureEmbedding`).
constexpr tensor extend(const layer_context& ctx, trace& t, const tensor& token_embeddings) {
    const module_info m{.name = "embed_tokens_extend", .class_of_module = ctx.class_of("FeatureEmbedding")};
    t.enter(m);
    const tensor features = place_images(ctx, t, token_embeddings),
                 audio_features = place_sound(ctx, t, token_embeddings);
    if (!has_images(t) || !has_audio(t)) return t.leave(m, has_images(t) ? features : audio_features);
    tensor places = trace::buffer({token_embeddings.dim(0), token_embeddings.dim(1), 1});
    places.type = token_embeddings.type;
    const tensor masked_features = t.mul(features, places);
    return t.leave(m, t.add(masked_features, t.mul(audio_features, places)));
}

/// Runs the text model as the base model. The encoders are submodules next to its layers, and extend its embeddings.
constexpr tensor base(const layer_context& ctx, trace& t) {
    const layer_context text = ctx.text_model();
    model_spec placed = text.spec;
    placed.embed_tokens = embed_multimodal;
    attention_inputs inputs;
    inputs.family_tensors[0] = extend(ctx, t, text.spec.embed_tokens(text, t));
    const tensor x = placed.base_model({text.model, placed, text.config, &inputs}, t);
    not_executed_modules{t}.module_without_parameters("embed_dropout", {"", "Dropout"});
    return x;
}

}  // namespace phi4_multimodal_detail

// transformers/models/phi4_multimodal, Phi4MultimodalConfig: its text model is Phi-3
inline constexpr submodel_spec phi4_multimodal_text = [](model_spec spec) {
    spec.model_type = "phi4_multimodal";
    spec.class_prefix = "Phi4Multimodal";
    spec.defaults.vocab_size = 200064;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.max_position_embeddings = 131072;
    return spec;
}(phi3);

// transformers/models/phi4_multimodal: the text model's keys are at the root
inline constexpr model_spec phi4_multimodal = [](model_spec spec) {
    spec.model_type = "phi4_multimodal";
    spec.class_prefix = "Phi4Multimodal";
    spec.base_model = phi4_multimodal_detail::base;
    spec.supported_heads = language_heads;
    spec.defaults.head = head_kind::causal_lm;
    spec.compute_media_shapes = phi4_multimodal_detail::compute_media_shapes;
    spec.family_keys = phi4_multimodal_detail::family_keys;
    spec.parse_image_processor = phi4_multimodal_detail::parse_processor_config;
    spec.modalities.has_images = spec.modalities.has_audio = true;
    spec.parse_feature_extractor = phi4_multimodal_detail::parse_audio_config;
    spec.audio_preprocessing.n_fft = 512;
    spec.text_model = {
        .key = "text_config", .default_spec = &phi4_multimodal_text, .ignores_model_type = true, .is_flat = true};
    spec.components[0] = {.key = "vision_config", .default_spec = &phi4_multimodal_vision, .ignores_model_type = true};
    spec.components[1] = {.key = "audio_config", .default_spec = &phi4_multimodal_audio, .ignores_model_type = true};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
