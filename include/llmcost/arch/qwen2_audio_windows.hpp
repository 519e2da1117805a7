// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/feature_extractor.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/audio.hpp>

// What becomes of a recording before Whisper's encoder: windows, the last one filled up with silence.
namespace llmcost::arch {

namespace qwen2_audio_detail {

enum family_config_index : std::uint8_t { mels, places };
inline constexpr family_key family_keys[]{{"num_mel_bins", 128}, {"max_source_positions", 1500}};

/// What a processor makes of one: windows of so many frames, and frames that sound fills.
struct recording {
    std::int64_t windows = 1;
    std::int64_t frames_per_window = 0;
    std::int64_t frames = 0;

    /// States of two frames each that an encoder makes of the frames with sound.
    [[nodiscard]] constexpr std::int64_t states() const noexcept { return (frames + 1) / 2; }
};

/// Returns the recording of a workload, cut to complete windows. Without audio, one complete window declares the
/// encoder.
///
/// Source: transformers/models/audioflamingo3/processing_audioflamingo3.py, `_process_audio`.
constexpr recording recording_of(const audio_preprocessing_config& s, const workload& load) {
    const std::int64_t window = s.padded_samples(), frames_per_window = filled_frames(s, window);
    if (load.audio_milliseconds == 0) return {1, frames_per_window, frames_per_window};
    const std::int64_t input_samples = s.samples_from_milliseconds(load.audio_milliseconds),
                       maximum = s.max_samples / window * window;
    const std::int64_t samples = input_samples < maximum ? input_samples : maximum, rest = samples % window,
                       started_frames = s.num_started_frames(rest);
    return {(samples + window - 1) / window, frames_per_window,
            samples / window * frames_per_window +
                (started_frames < frames_per_window ? started_frames : frames_per_window)};
}
[[nodiscard]] constexpr media_shapes make_audio_shapes(const model& m, const recording& r, std::int64_t tokens) {
    if (tokens < 1) throw_description_error("the recording is too short: it has no audio token");
    const std::int64_t frames = r.windows * r.frames_per_window;
    return {.audio = {
                .num_tokens = tokens, .num_samples = frames * m.audio_preprocessing.hop_length, .num_frames = frames}};
}
/// Checks that an executed audio encoder has as many positions as a complete window requires.
constexpr void check_window(const model& m, const recording& r, const workload& load) {
    if (load.audio_milliseconds > 0 && 2 * m.components[0].config.family[places] != r.frames_per_window)
        throw_description_error("audio_config.max_source_positions: differs from the window length of recordings");
}
/// Two states are pooled to a token.
constexpr media_shapes show_pooled(const model& m, const workload& load) {
    const recording r = recording_of(m.audio_preprocessing, load);
    check_window(m, r, load);
    return make_audio_shapes(m, r, r.states() / 2);
}
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
constexpr media_shapes show_windows(const model& m, const workload& load) {
    const recording r = filled_recording_of(m.audio_preprocessing, load);
    check_window(m, r, load);
    const model_config& audio = m.components[0].config;
    return make_audio_shapes(m, r, r.frames / 2 * audio.hidden_size / audio.intermediate_size);
}

/// Parses the feature extractor settings of Whisper, for a Processor class that requires 16000 samples per second.
constexpr maybe<config_view> parse_extractor(config_view json, model& m, std::int64_t bands) {
    const auto nested_json = find_feature_extractor_config(json);
    if (nested_json) {
        expect_extractor(*nested_json, "WhisperFeatureExtractor");
        expect_bands(*nested_json, {"feature_size"}, bands);
        expect_rate(*nested_json, m.audio_preprocessing.sampling_rate, sixteen_thousand);
        parse_filled(*nested_json, m.audio_preprocessing);
    }
    return nested_json;
}
/// Parses the audio configuration: a longer recording is cut to one window, and no sampling rate is required.
constexpr void parse_audio_config(config_view json, model& m) {
    const model_config& audio = m.components[0].config;
    const auto nested_json = find_feature_extractor_config(json);
    if (!nested_json) return;
    expect_extractor(*nested_json, "WhisperFeatureExtractor");
    expect_bands(*nested_json, {"feature_size"}, audio.family[mels]);
    parse_filled(*nested_json, m.audio_preprocessing);
    m.audio_preprocessing.max_samples = m.audio_preprocessing.padded_samples();
    expect_window(*nested_json, m.audio_preprocessing, audio.family[places]);
}
/// Whole windows, of so many seconds at most.
constexpr void parse_windows(config_view json, model& m) {
    const model_config& audio = m.components[0].config;
    const auto nested_json = parse_extractor(json, m, audio.family[mels]);
    if (nested_json) expect_window(*nested_json, m.audio_preprocessing, audio.family[places]);
    parse_most_seconds(json, m.audio_preprocessing);
}
constexpr void parse_filled_windows(config_view json, model& m) {
    (void)parse_extractor(json, m, m.components[0].config.family[mels]);
}

}  // namespace qwen2_audio_detail

}  // namespace llmcost::arch
