// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include <llmcost/config/processor.hpp>
#include <llmcost/model/model_spec.hpp>

// Audio preprocessing parameters, from files next to the configuration.
namespace llmcost {

/// The configuration of the feature extractor, if there is one.
constexpr maybe<config_view> find_feature_extractor_config(config_view json) {
    return find_processor_config(json, {"feature_extractor", "audio_processor"});
}

/// Checks the class of the feature extractor, which determines the preprocessing.
constexpr void expect_extractor(config_view json, literal named) {
    const auto found = json.optional_string("feature_extractor_type");
    if (found && *found != string_ref(named)) throw_invalid_value(json, "feature_extractor_type", named);
}

/// Checks that a key has the value of the configuration, or the value that a Processor class requires.
constexpr void expect_number(config_view json, literal key, std::int64_t wanted, literal expected) {
    if (const auto found = json.optional_positive(key); found && *found != wanted)
        throw_invalid_value(json, key, expected);
}

/// Checks that the number of mel bins is that of the encoder.
constexpr void expect_bands(config_view json, std::initializer_list<literal> keys, std::int64_t bands) {
    for (const literal key : keys) expect_number(json, key, bands, "the number of mel bins of the configuration");
}

/// Checks the sampling rate. The Processor class passes it to the feature extractor, which rejects other rates.
constexpr void expect_rate(config_view json, std::int64_t rate, literal expected) {
    expect_number(json, "sampling_rate", rate, expected);
}
inline constexpr literal sixteen_thousand = "16000, required by the Processor class of this type";

/// The first key that is present, for error messages about several keys.
constexpr literal first_present_key(config_view json, std::initializer_list<literal> keys) {
    for (const literal key : keys)
        if (json.contains(key)) return key;
    return *keys.begin();
}

/// Parses frame sizes with their standard keys.
constexpr void parse_frames(config_view json, audio_preprocessing_config& s) {
    s.hop_length = json.positive("hop_length", s.hop_length);
    s.n_fft = json.positive("n_fft", s.n_fft);
    s.win_length = json.positive("win_length", s.win_length);
    if (s.win_length > s.n_fft)
        throw_invalid_value(json, first_present_key(json, {"win_length", "n_fft"}), "a win_length of at most n_fft");
}

/// The value of a key times `times`, rounded to the nearest integer, half to even.
constexpr std::int64_t rounded_product(config_view json, literal key, double default_value, double times) {
    const double exact = json.real(key, default_value) * times;
    if (!(exact >= 1) || exact > static_cast<double>(max_input))
        throw_invalid_value(json, key, "a duration of at least one sample");
    const auto below = static_cast<std::int64_t>(exact);
    const double rest = exact - static_cast<double>(below);
    return below + (rest > 0.5 || (rest == 0.5 && below % 2 == 1));
}

/// Parses filter bank parameters with stacked frames.
///
/// Source: transformers/models/seamless_m4t/feature_extraction_seamless_m4t.py.
constexpr void parse_stacked_filter_banks(config_view json, model& m, std::int64_t features) {
    const auto nested_json = find_feature_extractor_config(json);
    if (!nested_json) return;
    expect_extractor(*nested_json, "SeamlessM4TFeatureExtractor");
    m.audio_preprocessing.sampling_rate = nested_json->positive("sampling_rate", m.audio_preprocessing.sampling_rate);
    m.audio_preprocessing.stacked_frames = nested_json->positive("stride", m.audio_preprocessing.stacked_frames);
    const std::int64_t bands = nested_json->positive("num_mel_bins", features / m.audio_preprocessing.stacked_frames);
    if (bands > features || bands * m.audio_preprocessing.stacked_frames != features)
        throw_invalid_value(*nested_json, first_present_key(*nested_json, {"num_mel_bins", "stride"}),
                            "num_mel_bins · stride equal to feature_projection_input_dim");
}

/// Parses the parameters of Whisper's feature extractor, which pads audio to a number of seconds.
///
/// Source: transformers/models/whisper/feature_extraction_whisper.py, `__init__`.
constexpr void parse_filled(config_view json, audio_preprocessing_config& s) {
    s.sampling_rate = json.positive("sampling_rate", s.sampling_rate);
    s.hop_length = json.positive("hop_length", s.hop_length);
    s.n_fft = json.positive("n_fft", s.n_fft);
    s.chunk_seconds = json.positive("chunk_length", s.chunk_seconds);
    if (s.n_fft / 2 >= s.padded_samples())
        throw_invalid_value(json, first_present_key(json, {"n_fft", "chunk_length"}),
                            "a window shorter than chunk_length");
}

/// Number of frames of Whisper's feature extractor: one fewer than transforms.
[[nodiscard]] constexpr std::int64_t filled_frames(const audio_preprocessing_config& s, std::int64_t samples) noexcept {
    return s.num_centered_frames(samples) - 1;
}

/// Checks that the padded audio has the length of the encoder's learned positions.
constexpr void expect_window(config_view json, const audio_preprocessing_config& s, std::int64_t positions) {
    if (filled_frames(s, s.padded_samples()) != 2 * positions)
        throw_invalid_value(json, first_present_key(json, {"chunk_length", "hop_length", "sampling_rate", "n_fft"}),
                            "chunk_length · sampling_rate / hop_length equal to 2 · max_source_positions");
}

/// Parses the maximum audio length in seconds, from the processor configuration.
constexpr void parse_most_seconds(config_view json, audio_preprocessing_config& s) {
    const auto processor_json = json.optional_object("processor_config");
    if (!processor_json) return;
    s.max_samples = processor_json->positive("max_audio_len", s.max_samples / s.sampling_rate) * s.sampling_rate;
    if (s.max_samples < s.padded_samples())
        throw_invalid_value(*processor_json, "max_audio_len", "at least chunk_length");
}

/// Parses the sampling rate of a feature extractor that returns samples.
///
/// Source: transformers/models/wav2vec2/feature_extraction_wav2vec2.py.
template <literal const& Named>
constexpr void parse_samples(config_view json, model& m) {
    const auto nested_json = find_feature_extractor_config(json);
    if (!nested_json) return;
    expect_extractor(*nested_json, Named);
    m.audio_preprocessing.sampling_rate = nested_json->positive("sampling_rate", m.audio_preprocessing.sampling_rate);
}
inline constexpr literal wav2vec2_extractor = "Wav2Vec2FeatureExtractor";

}  // namespace llmcost
