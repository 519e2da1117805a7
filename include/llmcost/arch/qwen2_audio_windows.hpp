// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/reader.hpp>
#include <llmcost/reading/sound_files.hpp>
#include <llmcost/walks/sound.hpp>

// What becomes of a recording in front of Whisper's encoder: windows, the last one filled up with silence.
namespace llmcost::arch {

namespace qwen2_audio_detail {

enum own : std::uint8_t { mels, places };
inline constexpr own_key keys[]{{"num_mel_bins", 128}, {"max_source_positions", 1500}};

/// What a processor makes of one: windows of so many frames, and frames that sound fills.
struct recording {
    std::int64_t windows = 1;
    std::int64_t each = 0;
    std::int64_t frames = 0;

    /// States of two frames each that an encoder makes of the frames with sound.
    [[nodiscard]] constexpr std::int64_t states() const noexcept { return (frames + 1) / 2; }
};

/// The recording of a workload, cut off behind whole windows; without one a whole window, which declares a tower.
///
/// Source: transformers/models/audioflamingo3/processing_audioflamingo3.py, `_process_audio`.
constexpr recording recording_of(const sound_settings& s, const workload& load) {
    const std::int64_t window = s.filled(), each = filled_frames(s, window);
    if (load.audio_milliseconds == 0) return {1, each, each};
    const std::int64_t given = s.samples_of(load.audio_milliseconds), most = s.most / window * window;
    const std::int64_t samples = given < most ? given : most, rest = samples % window, begun = s.begun_frames(rest);
    return {(samples + window - 1) / window, each, samples / window * each + (begun < each ? begun : each)};
}
[[nodiscard]] constexpr media_shapes shown_as(const model& m, const recording& r, std::int64_t tokens) {
    if (tokens < 1) report_description("the recording is too short: no token stands for it");
    const std::int64_t frames = r.windows * r.each;
    return {.audio = {.tokens = tokens, .samples = frames * m.sound.hop, .frames = frames}};
}
/// Positions of a tower that hears are those of a whole window.
constexpr void check_window(const model& m, const recording& r, const workload& load) {
    if (load.audio_milliseconds > 0 && 2 * m.beside[0].dims.own[places] != r.each)
        report_description("audio_config.max_source_positions: recordings are cut into windows of another length");
}
/// Two states are pooled to a token.
constexpr media_shapes show_pooled(const model& m, const workload& load) {
    const recording r = recording_of(m.sound, load);
    check_window(m, r, load);
    return shown_as(m, r, r.states() / 2);
}
/// Voxtral: recordings are filled up to 30 seconds, whatever `chunk_length` says, and silence is heard, too.
///
/// Source: transformers/models/voxtral/processing_voxtral.py, `_retrieve_input_features`, `audio_kwargs`.
constexpr recording filled_recording_of(const sound_settings& s, const workload& load) {
    constexpr std::int64_t filled = 480000, each = 3000;
    const std::int64_t given = s.samples_of(load.audio_milliseconds), samples = (given + filled - 1) / filled * filled;
    const std::int64_t frames = load.audio_milliseconds == 0 ? each : filled_frames(s, samples);
    if (frames % each != 0) report_description("the recording's frames do not fill windows of 3000");
    return {frames / each, each, frames};
}
constexpr media_shapes show_windows(const model& m, const workload& load) {
    const recording r = filled_recording_of(m.sound, load);
    check_window(m, r, load);
    const sizes& audio = m.beside[0].dims;
    return shown_as(m, r, r.frames / 2 * audio.hidden_size / audio.intermediate_size);
}

/// What Whisper's extractor is told, by a Processor class that asks for 16000 samples a second.
constexpr maybe<config_view> read_extractor(config_view config, model& m, std::int64_t bands) {
    const auto told = extractor_told(config);
    if (told) {
        expect_extractor(*told, "WhisperFeatureExtractor");
        expect_bands(*told, {"feature_size"}, bands);
        expect_rate(*told, m.sound.rate, sixteen_thousand);
        read_filled(*told, m.sound);
    }
    return told;
}
/// One window, to which a longer recording is cut; nobody asks for a rate.
constexpr void read_sound(config_view config, model& m) {
    const sizes& audio = m.beside[0].dims;
    const auto told = extractor_told(config);
    if (!told) return;
    expect_extractor(*told, "WhisperFeatureExtractor");
    expect_bands(*told, {"feature_size"}, audio.own[mels]);
    read_filled(*told, m.sound);
    m.sound.most = m.sound.filled();
    expect_window(*told, m.sound, audio.own[places]);
}
/// Whole windows, of so many seconds at most.
constexpr void read_windows(config_view config, model& m) {
    const sizes& audio = m.beside[0].dims;
    const auto told = read_extractor(config, m, audio.own[mels]);
    if (told) expect_window(*told, m.sound, audio.own[places]);
    read_most_seconds(config, m.sound);
}
constexpr void read_filled_windows(config_view config, model& m) {
    (void)read_extractor(config, m, m.beside[0].dims.own[mels]);
}

}  // namespace qwen2_audio_detail

}  // namespace llmcost::arch
