// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2.hpp>
#include <llmcost/config/feature_extractor.hpp>
#include <llmcost/forward/audio.hpp>
#include <llmcost/forward/audio_language.hpp>
#include <llmcost/forward/not_executed.hpp>

// Text models with Whisper's encoder as their audio encoder.
namespace llmcost::arch {

namespace qwen2_audio_detail {

using audio_language::encode_in_tower, audio_language::encode_windows, audio_language::forward_text_with_audio,
    audio_language::mels, audio_language::places, audio_language::recording, audio_language::recording_of,
    audio_language::silence_mask;

inline constexpr family_key family_keys[]{{"num_mel_bins", 128}, {"max_source_positions", 1500}};

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

// ---- a tower

/// Runs the audio encoder, one projection, and the text model.
///
/// The mask is built before the encoder, from a column of zeros as long as its states.
constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_text_with_audio(ctx, t, true, false, [&] {
        const recording r = recording_of(ctx.model.audio_preprocessing, t.load());
        const std::int64_t states = ctx.component(0).config.family[places];
        (void)t.full({t.load().batch, states, 1}, t.activation_type());
        const tensor mask = silence_mask(t, r, states);
        const tensor x = encode_in_tower(ctx, t, r, [&](const layer_context& tower) {
            return encode_windows(tower, t, mask.rank > 0 ? &mask : nullptr, true);
        });
        const module_info projection{.name = "multi_modal_projector",
                                     .class_of_module = ctx.class_of("MultiModalProjector"),
                                     .module_role = role::projector};
        t.enter(projection);
        return t.leave(projection, t.call("linear", linear{x.dim(-1), ctx.config.hidden_size, true}, x));
    });
}

/// Windows have a fixed number of places, and heads share the width.
constexpr void parse_encoder_config(config_view json, model_config& config) {
    if (config.hidden_size % config.num_attention_heads != 0)
        throw_invalid_value(json, "encoder_attention_heads", "a divisor of d_model");
}

}  // namespace qwen2_audio_detail

// transformers/models/qwen2_audio, Qwen2AudioEncoderConfig
inline constexpr submodel_spec qwen2_audio_encoder{
    .model_type = "qwen2_audio_encoder",
    .class_prefix = "Qwen2Audio",
    .base_model = audio_language::encode_audio,
    .parse_config = qwen2_audio_detail::parse_encoder_config,
    .family_keys = qwen2_audio_detail::family_keys,
    .rotary = rotary_style::none,
    .names = {.model_class = "Encoder"},
    .config_keys = {{"num_hidden_layers", "encoder_layers", key_rule::standard_name_first},
                    {"hidden_size", "d_model", key_rule::standard_name_first},
                    {"intermediate_size", "encoder_ffn_dim", key_rule::standard_name_first},
                    {"hidden_act", "activation_function", key_rule::family_name_only},
                    {"num_attention_heads", "encoder_attention_heads", key_rule::standard_name_first},
                    {"num_key_value_heads", "", key_rule::absent},
                    {"head_dim", "", key_rule::absent}},
    .defaults = {.hidden_size = 1280,
                 .intermediate_size = 5120,
                 .num_hidden_layers = 32,
                 .num_attention_heads = 20,
                 .hidden_act = activation::gelu},
};

// transformers/models/qwen2_audio
inline constexpr model_spec qwen2_audio = [](model_spec spec) {
    spec.model_type = "qwen2_audio";
    spec.class_prefix = "Qwen2Audio";
    spec.base_model = qwen2_audio_detail::base;
    spec.text_model = {.key = "text_config", .default_spec = &qwen2};
    spec.components[0] = {.key = "audio_config", .default_spec = &qwen2_audio_encoder};
    spec.parse_composite_config = audio_language::untie_embeddings;
    spec.compute_media_shapes = audio_language::compute_pooled_shapes;
    spec.parse_feature_extractor = qwen2_audio_detail::parse_audio_config;
    spec.modalities.has_audio = true;
    spec.audio_preprocessing.max_samples = 30 * 16000;
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
