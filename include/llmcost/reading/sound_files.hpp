// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include <llmcost/model/architecture.hpp>
#include <llmcost/reading/processor.hpp>

// What files beside a configuration say of how recordings are made ready.
namespace llmcost {

/// What a feature extractor is told.
constexpr maybe<config_view> extractor_told(config_view config) {
    return told_beside(config, {"feature_extractor", "audio_processor"});
}

/// An extractor of another class makes something else of a recording.
constexpr void expect_extractor(config_view told, literal named) {
    const auto found = told.optional_string("feature_extractor_type");
    if (found && *found != string_ref(named)) fail_value(told, "feature_extractor_type", named);
}

/// A number that must be the configuration's, or the one that a Processor class asks for.
constexpr void expect_number(config_view told, literal key, std::int64_t wanted, literal expected) {
    if (const auto found = told.optional_positive(key); found && *found != wanted) fail_value(told, key, expected);
}

/// Bands of a spectrum are as many as a tower reads.
constexpr void expect_bands(config_view told, std::initializer_list<literal> keys, std::int64_t bands) {
    for (const literal key : keys) expect_number(told, key, bands, "as many as the mel bins of the configuration");
}

/// A rate that the type's Processor class hands to its extractor, which refuses another one.
constexpr void expect_rate(config_view told, std::int64_t rate, literal expected) {
    expect_number(told, "sampling_rate", rate, expected);
}
inline constexpr literal sixteen_thousand = "16000, which this type's Processor class asks for";

/// Of several keys the first one that is there: the one to name where they do not fit together.
constexpr literal first_said(config_view told, std::initializer_list<literal> keys) {
    for (const literal key : keys)
        if (told.contains(key)) return key;
    return *keys.begin();
}

/// Sizes of frames by their usual names.
constexpr void read_frames(config_view told, sound_settings& s) {
    s.hop = told.positive("hop_length", s.hop);
    s.transform = told.positive("n_fft", s.transform);
    s.window = told.positive("win_length", s.window);
    if (s.window > s.transform) fail_value(told, first_said(told, {"win_length", "n_fft"}), "a win_length of at most n_fft");
}

/// A number times another one, rounded to the nearest whole one, to the even one of two.
constexpr std::int64_t rounded_product(config_view told, literal key, double otherwise, double times) {
    const double exact = told.real(key, otherwise) * times;
    if (!(exact >= 1) || exact > static_cast<double>(largest_input)) fail_value(told, key, "so much that a sample is there");
    const auto below = static_cast<std::int64_t>(exact);
    const double rest = exact - static_cast<double>(below);
    return below + (rest > 0.5 || (rest == 0.5 && below % 2 == 1));
}

/// Filter banks of which several are read as one.
///
/// Source: transformers/models/seamless_m4t/feature_extraction_seamless_m4t.py.
constexpr void read_stacked_filter_banks(config_view config, model& m, std::int64_t features) {
    const auto told = extractor_told(config);
    if (!told) return;
    expect_extractor(*told, "SeamlessM4TFeatureExtractor");
    m.sound.rate = told->positive("sampling_rate", m.sound.rate), m.sound.joined = told->positive("stride", m.sound.joined);
    const std::int64_t bands = told->positive("num_mel_bins", features / m.sound.joined);
    if (bands > features || bands * m.sound.joined != features)
        fail_value(*told, first_said(*told, {"num_mel_bins", "stride"}),
                   "num_mel_bins times stride that are the configuration's feature_projection_input_dim");
}

/// Whisper's extractor, which fills recordings up to a number of seconds.
///
/// Source: transformers/models/whisper/feature_extraction_whisper.py, `__init__`.
constexpr void read_filled(config_view told, sound_settings& s) {
    s.rate = told.positive("sampling_rate", s.rate), s.hop = told.positive("hop_length", s.hop);
    s.transform = told.positive("n_fft", s.transform), s.seconds = told.positive("chunk_length", s.seconds);
    if (s.transform / 2 >= s.filled())
        fail_value(told, first_said(told, {"n_fft", "chunk_length"}), "less than chunk_length lasts");
}

/// Frames that it makes of a recording: one fewer than transforms.
[[nodiscard]] constexpr std::int64_t filled_frames(const sound_settings& s, std::int64_t samples) noexcept {
    return s.centred_frames(samples) - 1;
}

/// A window must be as long as a tower with learned positions reads.
constexpr void expect_window(config_view told, const sound_settings& s, std::int64_t positions) {
    if (filled_frames(s, s.filled()) != 2 * positions)
        fail_value(
            told, first_said(told, {"chunk_length", "hop_length", "sampling_rate", "n_fft"}),
            "chunk_length times sampling_rate over hop_length that is twice the configuration's max_source_positions");
}

/// Seconds of a recording that are kept, which stand beside the extractor.
constexpr void read_most_seconds(config_view config, sound_settings& s) {
    const auto whole = config.optional_object("processor_config");
    if (!whole) return;
    s.most = whole->positive("max_audio_len", s.most / s.rate) * s.rate;
    if (s.most < s.filled()) fail_value(*whole, "max_audio_len", "at least chunk_length");
}

/// Extractors that hand samples on as they are.
///
/// Source: transformers/models/wav2vec2/feature_extraction_wav2vec2.py.
template <literal const& Named>
constexpr void read_samples(config_view config, model& m) {
    const auto told = extractor_told(config);
    if (!told) return;
    expect_extractor(*told, Named);
    m.sound.rate = told->positive("sampling_rate", m.sound.rate);
}
inline constexpr literal of_wav2vec2 = "Wav2Vec2FeatureExtractor";

}  // namespace llmcost
