// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include <llmcost/config/processor.hpp>
#include <llmcost/model/model_spec.hpp>

// What files beside a configuration say of how recordings are made ready.
namespace llmcost {

/// What a feature extractor is told.
constexpr maybe<config_view> find_feature_extractor_config(config_view json) {
    return find_processor_config(json, {"feature_extractor", "audio_processor"});
}

/// An extractor of another class makes something else of a recording.
constexpr void expect_extractor(config_view json, literal named) {
    const auto found = json.optional_string("feature_extractor_type");
    if (found && *found != string_ref(named)) throw_invalid_value(json, "feature_extractor_type", named);
}

/// A number that must be the configuration's, or the one that a Processor class asks for.
constexpr void expect_number(config_view json, literal key, std::int64_t wanted, literal expected) {
    if (const auto found = json.optional_positive(key); found && *found != wanted)
        throw_invalid_value(json, key, expected);
}

/// Bands of a spectrum are as many as a tower reads.
constexpr void expect_bands(config_view json, std::initializer_list<literal> keys, std::int64_t bands) {
    for (const literal key : keys) expect_number(json, key, bands, "as many as the mel bins of the configuration");
}

/// A rate that the type's Processor class hands to its extractor, which refuses another one.
constexpr void expect_rate(config_view json, std::int64_t rate, literal expected) {
    expect_number(json, "sampling_rate", rate, expected);
}
inline constexpr literal sixteen_thousand = "16000, which this type's Processor class asks for";

/// Of several keys the first one that is there: the one to name where they do not fit together.
constexpr literal first_present_key(config_view json, std::initializer_list<literal> keys) {
    for (const literal key : keys)
        if (json.contains(key)) return key;
    return *keys.begin();
}

/// Sizes of frames by their usual names.
constexpr void parse_frames(config_view json, audio_preprocessing_config& s) {
    s.hop_length = json.positive("hop_length", s.hop_length);
    s.n_fft = json.positive("n_fft", s.n_fft);
    s.win_length = json.positive("win_length", s.win_length);
    if (s.win_length > s.n_fft)
        throw_invalid_value(json, first_present_key(json, {"win_length", "n_fft"}), "a win_length of at most n_fft");
}

/// A number times another one, rounded to the nearest whole one, to the even one of two.
constexpr std::int64_t rounded_product(config_view json, literal key, double otherwise, double times) {
    const double exact = json.real(key, otherwise) * times;
    if (!(exact >= 1) || exact > static_cast<double>(max_input))
        throw_invalid_value(json, key, "so much that a sample is there");
    const auto below = static_cast<std::int64_t>(exact);
    const double rest = exact - static_cast<double>(below);
    return below + (rest > 0.5 || (rest == 0.5 && below % 2 == 1));
}

/// Filter banks of which several are read as one.
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
                            "num_mel_bins times stride that are the configuration's feature_projection_input_dim");
}

/// Whisper's extractor, which fills recordings up to a number of seconds.
///
/// Source: transformers/models/whisper/feature_extraction_whisper.py, `__init__`.
constexpr void parse_filled(config_view json, audio_preprocessing_config& s) {
    s.sampling_rate = json.positive("sampling_rate", s.sampling_rate);
    s.hop_length = json.positive("hop_length", s.hop_length);
    s.n_fft = json.positive("n_fft", s.n_fft);
    s.chunk_seconds = json.positive("chunk_length", s.chunk_seconds);
    if (s.n_fft / 2 >= s.padded_samples())
        throw_invalid_value(json, first_present_key(json, {"n_fft", "chunk_length"}), "less than chunk_length lasts");
}

/// Frames that it makes of a recording: one fewer than transforms.
[[nodiscard]] constexpr std::int64_t filled_frames(const audio_preprocessing_config& s, std::int64_t samples) noexcept {
    return s.num_centered_frames(samples) - 1;
}

/// A window must be as long as a tower with learned positions reads.
constexpr void expect_window(config_view json, const audio_preprocessing_config& s, std::int64_t positions) {
    if (filled_frames(s, s.padded_samples()) != 2 * positions)
        throw_invalid_value(
            json, first_present_key(json, {"chunk_length", "hop_length", "sampling_rate", "n_fft"}),
            "chunk_length times sampling_rate over hop_length that is twice the configuration's max_source_positions");
}

/// Seconds of a recording that are kept, which stand beside the extractor.
constexpr void parse_most_seconds(config_view json, audio_preprocessing_config& s) {
    const auto processor_json = json.optional_object("processor_config");
    if (!processor_json) return;
    s.max_samples = processor_json->positive("max_audio_len", s.max_samples / s.sampling_rate) * s.sampling_rate;
    if (s.max_samples < s.padded_samples())
        throw_invalid_value(*processor_json, "max_audio_len", "at least chunk_length");
}

/// Extractors that hand samples on as they are.
///
/// Source: transformers/models/wav2vec2/feature_extraction_wav2vec2.py.
template <literal const& Named>
constexpr void parse_samples(config_view json, model& m) {
    const auto nested_json = find_feature_extractor_config(json);
    if (!nested_json) return;
    expect_extractor(*nested_json, Named);
    m.audio_preprocessing.sampling_rate = nested_json->positive("sampling_rate", m.audio_preprocessing.sampling_rate);
}
inline constexpr literal of_wav2vec2 = "Wav2Vec2FeatureExtractor";

}  // namespace llmcost
