// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2.hpp>
#include <llmcost/arch/vibevoice_acoustic_tokenizer.hpp>
#include <llmcost/forward/acoustic_tokenizer.hpp>
#include <llmcost/forward/audio_language.hpp>
#include <llmcost/forward/not_executed.hpp>

namespace llmcost::arch {

namespace vibevoice_asr_detail {

using acoustic_tokenizer::channels, acoustic_tokenizer::encode_samples, acoustic_tokenizer::rates,
    acoustic_tokenizer::stages;

// of the complete model
enum model_config_index : std::uint8_t { chunk };

inline constexpr family_key model_keys[]{{"acoustic_tokenizer_chunk_size", 1440000}};

/// Returns the number of samples per state.
[[nodiscard]] constexpr std::int64_t samples_of_state(const model_config& encoder) {
    std::int64_t all = 1;
    for (std::int64_t i = 0; i < encoder.family[stages]; ++i)
        all *= encoder.family[rates + static_cast<std::size_t>(i)];
    return all;
}

/// One part of samples by one encoder, under its name.
constexpr tensor encode_chunk(const layer_context& ctx, trace& t, std::size_t component_index, literal name,
                              std::int64_t samples, bool first) {
    const layer_context tower = ctx.component(component_index);
    const module_info m{
        .name = name, .class_of_module = tower.class_of(tower.spec.names.model_class), .module_role = role::audio};
    const recorder::shared_parameters_guard shared_parameters{t, !first};
    t.enter(m);
    return t.leave(
        m, encode_samples({tower, first}, t, t.input({t.load().batch, tower.config.family[channels], samples})));
}

/// Returns the states of samples padded to complete states; one state without audio, which declares the encoders.
[[nodiscard]] constexpr std::int64_t states_of(const model_config& encoder, const audio_preprocessing_config& sound,
                                               const workload& load) {
    const std::int64_t number = samples_of_state(encoder);
    return load.audio_milliseconds == 0
               ? 1
               : (sound.samples_from_milliseconds(load.audio_milliseconds) + number - 1) / number;
}

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    const model_config& encoder = m.components[0].config;
    const std::int64_t states = states_of(encoder, m.audio_preprocessing, load);
    return {.audio = {.num_tokens = states, .num_samples = states * samples_of_state(encoder)}};
}

/// Parses the audio configuration. The Processor class sets the samples per token, whatever its feature extractor
/// contains (`pad_to_multiple_of`).
///
/// Source: transformers/models/vibevoice_asr/processing_vibevoice_asr.py, `audio_kwargs`.
constexpr void parse_audio_config(config_view json, model& m) {
    const auto nested_json = find_feature_extractor_config(json);
    if (!nested_json) return;
    expect_extractor(*nested_json, "VibeVoiceAcousticTokenizerFeatureExtractor");
    expect_rate(*nested_json, m.audio_preprocessing.sampling_rate,
                "24000, which the Processor class of this model type requires");
}

/// Runs both encoders chunk by chunk, with noise on the output of the first one. Two projections of each are added.
///
/// Source: transformers/models/vibevoice_asr/modeling_vibevoice_asr.py, `get_audio_features`.
constexpr tensor encode_audio(const layer_context& ctx, trace& t) {
    const model_config &sounds = ctx.component(0).config, &meanings = ctx.component(1).config;
    const std::int64_t batch = t.load().batch, out = ctx.config.hidden_size;
    const std::int64_t number = samples_of_state(sounds),
                       states = states_of(sounds, ctx.model.audio_preprocessing, t.load());
    tensor acoustic, semantic;
    {
        const recorder::no_grad_guard constants{t};
        const std::int64_t maximum = ctx.model.family[chunk];
        for (std::int64_t done = 0; done < states * number; done += maximum) {
            const std::int64_t samples = states * number - done < maximum ? states * number - done : maximum;
            acoustic = encode_chunk(ctx, t, 0, "acoustic_tokenizer_encoder", samples, done == 0);
            semantic = encode_chunk(ctx, t, 1, "semantic_tokenizer_encoder", samples, done == 0);
        }
        // as large as the latents of all parts together
        acoustic = t.cat({trace::buffer({batch, states, sounds.hidden_size})}, 1);
        semantic = t.cat({trace::buffer({batch, states, meanings.hidden_size})}, 1);
        const tensor scale = t.mul_scalar(t.full({batch}, t.activation_type()));
        const tensor noise = t.full({batch, states, sounds.hidden_size}, t.activation_type());
        acoustic = t.add(acoustic, t.mul(scale.view({batch, 1, 1}), noise));
    }
    const module_info projector_info{.name = "multi_modal_projector",
                                     .class_of_module = ctx.class_of("MultiModalProjector"),
                                     .module_role = role::projector};
    const norm_module normed{norm_kind::rms, out, ctx.class_of("RMSNorm")};
    t.enter(projector_info);
    tensor a =
        t.call("acoustic_norm", normed, t.call("acoustic_linear_1", linear{sounds.hidden_size, out, true}, acoustic));
    a = t.call("acoustic_linear_2", linear{out, out, true}, a);
    tensor b =
        t.call("semantic_norm", normed, t.call("semantic_linear_1", linear{meanings.hidden_size, out, true}, semantic));
    b = t.call("semantic_linear_2", linear{out, out, true}, b);
    return t.leave(projector_info, t.add(a, b));
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    return audio_language::forward_text_with_audio(ctx, t, true, false, [&] { return encode_audio(ctx, t); });
}

constexpr void parse_config(config_view json, model& m) {
    audio_language::untie_embeddings(json, m);
    if (samples_of_state(m.components[0].config) != samples_of_state(m.components[1].config))
        throw_unsupported(json, "downsampling_ratios",
                          "different downsampling ratios of the two encoders are not supported");
    if (m.family[chunk] % samples_of_state(m.components[0].config) != 0)
        throw_invalid_value(json, "acoustic_tokenizer_chunk_size", "a multiple of the samples of a state");
}

}  // namespace vibevoice_asr_detail

inline constexpr submodel_spec vibevoice_semantic_tokenizer_encoder = [](model_spec spec) {
    spec.defaults.hidden_size = 128;
    return spec;
}(vibevoice_acoustic_tokenizer_encoder);

// transformers/models/vibevoice_asr
inline constexpr model_spec vibevoice_asr = [](model_spec spec) {
    spec.model_type = "vibevoice_asr";
    spec.class_prefix = "VibeVoiceAsr";
    spec.base_model = vibevoice_asr_detail::base;
    spec.text_model = {.key = "text_config", .default_spec = &qwen2};
    spec.components[0] = {.key = "acoustic_tokenizer_encoder_config",
                          .default_spec = &vibevoice_acoustic_tokenizer_encoder};
    spec.components[1] = {.key = "semantic_tokenizer_encoder_config",
                          .default_spec = &vibevoice_acoustic_tokenizer_encoder,
                          .spec_if_absent = &vibevoice_semantic_tokenizer_encoder};
    spec.parse_composite_config = vibevoice_asr_detail::parse_config;
    spec.family_keys = vibevoice_asr_detail::model_keys;
    spec.compute_media_shapes = vibevoice_asr_detail::compute_media_shapes;
    spec.parse_feature_extractor = vibevoice_asr_detail::parse_audio_config;
    spec.modalities.has_audio = true;
    spec.audio_preprocessing.sampling_rate = 24000;
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
