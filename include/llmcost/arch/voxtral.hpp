// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/arch/qwen2_audio.hpp>
#include <llmcost/config/feature_extractor.hpp>
#include <llmcost/forward/audio.hpp>
#include <llmcost/forward/audio_language.hpp>

namespace llmcost::arch {

namespace voxtral_detail {

using audio_language::check_window, audio_language::encode_in_tower, audio_language::encode_windows,
    audio_language::forward_text_with_audio, audio_language::make_audio_shapes, audio_language::mels,
    audio_language::parse_extractor, audio_language::project_twice, audio_language::recording;

/// Voxtral: pads recordings to 30 seconds, whatever `chunk_length` contains; the encoder also processes the silence.
///
/// Source: transformers/models/voxtral/processing_voxtral.py, `_retrieve_input_features`, `audio_kwargs`.
constexpr recording filled_recording_of(const audio_preprocessing_config& s, const workload& load) {
    constexpr std::int64_t filled = 480000, frames_per_window = 3000;
    const std::int64_t input_samples = s.samples_from_milliseconds(load.audio_milliseconds),
                       samples = (input_samples + filled - 1) / filled * filled;
    const std::int64_t frames = load.audio_milliseconds == 0 ? frames_per_window : filled_frames(s, samples);
    if (frames % frames_per_window != 0)
        throw_description_error("the frames of the recording are not a multiple of 3000");
    return {frames / frames_per_window, frames_per_window, frames};
}

constexpr media_shapes compute_window_shapes(const model& m, const workload& load) {
    const recording r = filled_recording_of(m.audio_preprocessing, load);
    check_window(m, r, load);
    const model_config& audio = m.components[0].config;
    return make_audio_shapes(m, r, r.frames / 2 * audio.hidden_size / audio.intermediate_size);
}

constexpr void parse_filled_windows(config_view json, model& m) {
    (void)parse_extractor(json, m, m.components[0].config.family[mels]);
}

/// Voxtral: several frames as one, as many as make the width of a feed-forward block. `from_pretrained` keeps the
/// positions in float32.
constexpr tensor voxtral_encode_audio(const layer_context& ctx, trace& t) {
    return encode_windows(ctx, t, nullptr, false, true);
}

constexpr tensor voxtral_base(const layer_context& ctx, trace& t) {
    return forward_text_with_audio(ctx, t, false, true, [&] {
        const recording r = filled_recording_of(ctx.model.audio_preprocessing, t.load());
        const tensor x =
            encode_in_tower(ctx, t, r, [&](const layer_context& tower) { return voxtral_encode_audio(tower, t); });
        const tensor grouped_frames = t.reshape(x, {-1, ctx.component(0).config.intermediate_size});
        return project_twice(ctx, t, grouped_frames, ctx.config.hidden_size, false);
    });
}

}  // namespace voxtral_detail

// transformers/models/voxtral, VoxtralEncoderConfig
inline constexpr submodel_spec voxtral_encoder = [](model_spec spec) {
    spec.model_type = "voxtral_encoder";
    spec.class_prefix = "Voxtral";
    spec.base_model = voxtral_detail::voxtral_encode_audio;
    for (key_name& k : spec.config_keys)
        if (k.rule == key_rule::standard_name_first) k.rule = key_rule::family_name_first;
    return spec;
}(qwen2_audio_encoder);

// transformers/models/voxtral, VoxtralConfig: what a Llama that it holds is without keys of its own
inline constexpr submodel_spec voxtral_text = [](model_spec spec) {
    spec.defaults.vocab_size = 131072;
    spec.defaults.hidden_size = 3072;
    spec.defaults.intermediate_size = 8192;
    spec.defaults.num_hidden_layers = 30;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.head_dim = 128;
    spec.defaults.max_position_embeddings = 131072;
    return spec;
}(llama);

// transformers/models/voxtral
inline constexpr model_spec voxtral = [](model_spec spec) {
    spec.model_type = "voxtral";
    spec.class_prefix = "Voxtral";
    spec.base_model = voxtral_detail::voxtral_base;
    spec.family_keys = audio_language::projector_keys;
    spec.parse_composite_config = audio_language::parse_projector;
    spec.text_model.default_spec = &voxtral_text;
    spec.components[0].default_spec = &voxtral_encoder;
    spec.compute_media_shapes = voxtral_detail::compute_window_shapes;
    spec.parse_feature_extractor = voxtral_detail::parse_filled_windows;
    return spec;
}(qwen2_audio);

}  // namespace llmcost::arch
