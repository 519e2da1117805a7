// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2.hpp>
#include <llmcost/arch/voxtral.hpp>
#include <llmcost/config/feature_extractor.hpp>
#include <llmcost/forward/audio_language.hpp>

namespace llmcost::arch {

namespace audioflamingo3_detail {

using audio_language::biased, audio_language::flamingo_tower, audio_language::forward_text_with_audio,
    audio_language::mels, audio_language::parse_extractor, audio_language::places, audio_language::project_twice;

/// Whole windows, of so many seconds at most.
constexpr void parse_windows(config_view json, model& m) {
    const model_config& audio = m.components[0].config;
    const auto nested_json = parse_extractor(json, m, audio.family[mels]);
    if (nested_json) expect_window(*nested_json, m.audio_preprocessing, audio.family[places]);
    parse_most_seconds(json, m.audio_preprocessing);
}

constexpr tensor flamingo_base(const layer_context& ctx, trace& t) {
    return forward_text_with_audio(ctx, t, true, true, [&] {
        return project_twice(ctx, t, flamingo_tower(ctx, t), ctx.config.hidden_size, ctx.model.family[biased] != 0);
    });
}

}  // namespace audioflamingo3_detail

// transformers/models/audioflamingo3
inline constexpr submodel_spec audioflamingo3_encoder = [](model_spec spec) {
    spec.model_type = "audioflamingo3_encoder";
    spec.class_prefix = "AudioFlamingo3";
    spec.base_model = audio_language::encode_audio;
    return spec;
}(voxtral_encoder);

inline constexpr model_spec audioflamingo3 = [](model_spec spec) {
    spec.model_type = "audioflamingo3";
    spec.class_prefix = "AudioFlamingo3";
    spec.base_model = audioflamingo3_detail::flamingo_base;
    spec.text_model.default_spec = &qwen2;
    spec.components[0].default_spec = &audioflamingo3_encoder;
    spec.compute_media_shapes = audio_language::compute_pooled_shapes;
    spec.parse_feature_extractor = audioflamingo3_detail::parse_windows;
    spec.audio_preprocessing.max_samples = 600 * 16000;
    return spec;
}(voxtral);

}  // namespace llmcost::arch
