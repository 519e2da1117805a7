// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/feature_extractor.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/audio.hpp>
#include <llmcost/forward/vision_encoder.hpp>

// Parakeet: FastConformer, a conformer after eightfold subsampling (arXiv 2305.05084).
namespace llmcost::fast_conformer {

enum family_config_index : std::uint8_t { mels, channels, kernel, step_kernel, step, factor, biased };

inline constexpr family_key family_keys[]{
    {"num_mel_bins", 80},
    {"subsampling_conv_channels", 256},
    {"conv_kernel_size", 9},
    {"subsampling_conv_kernel_size", 3},
    {"subsampling_conv_stride", 2},
    {"subsampling_factor", 8},
    {"convolution_bias", 1, family_key_type::boolean},
};

/// Returns the frames of a recording, including one that starts after its end; and those that the mask leaves.
[[nodiscard]] constexpr std::int64_t frames_of(const audio_preprocessing_config& sound, const workload& load) {
    return sound.num_centered_frames(num_audio_samples(sound, load));
}

[[nodiscard]] constexpr std::int64_t steps_of(const model_config& config) noexcept {
    std::int64_t n = 0;
    for (std::int64_t left = config.family[factor]; left > 1; left /= 2) ++n;
    return n;
}

/// What the convolutions leave of so many frames.
[[nodiscard]] constexpr std::int64_t states_of(const model_config& config, std::int64_t frames) {
    const std::int64_t k = config.family[step_kernel];
    for (std::int64_t i = steps_of(config); i > 0; --i)
        frames = (frames + (k - 1) / 2 * 2 - k) / config.family[step] + 1;
    return frames;
}

[[nodiscard]] constexpr std::int64_t states_of(const model_config& config, const audio_preprocessing_config& sound,
                                               const workload& load) {
    return states_of(config, frames_of(sound, load));
}

/// Whether the last states are hidden from who reads them.
[[nodiscard]] constexpr bool hides_last(const model_config& config, const audio_preprocessing_config& sound,
                                        const workload& load) {
    const std::int64_t frames = frames_of(sound, load);
    return states_of(config, frames - 1) < states_of(config, frames);
}

struct encoder_feed_forward {
    const layer_context& ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("EncoderFeedForward"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
        const bool bias = ctx.config.attention_bias;
        const tensor h = t.call("activation", activation_module{ctx.config.hidden_act},
                                t.call("linear1", linear{width, inner, bias}, x));
        return t.call("linear2", linear{inner, width, bias}, functional_dropout(t, h, dropout_position::mlp));
    }
};

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    return {.audio = {.num_samples = num_audio_samples(m.audio_preprocessing, load),
                      .num_frames = frames_of(m.audio_preprocessing, load)}};
}

/// Sizes of the tower, which may be a part.
[[nodiscard]] constexpr const model_config& tower_of(const model& m) noexcept {
    return m.components[0].spec != nullptr ? m.components[0].config : m.config;
}

constexpr maybe<config_view> parse_spectrum(config_view json, model& m, literal named, std::int64_t bands) {
    const auto nested_json = find_feature_extractor_config(json);
    if (!nested_json) return {};
    expect_extractor(*nested_json, named);
    expect_bands(*nested_json, {"feature_size"}, bands);
    expect_rate(*nested_json, m.audio_preprocessing.sampling_rate, sixteen_thousand);
    parse_frames(*nested_json, m.audio_preprocessing);
    return nested_json;
}

/// Source: transformers/models/parakeet/feature_extraction_parakeet.py.
constexpr void parse_audio_config(config_view json, model& m) {
    (void)parse_spectrum(json, m, "ParakeetFeatureExtractor", tower_of(m).family[mels]);
}

}  // namespace llmcost::fast_conformer
