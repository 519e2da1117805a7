// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/arch/cohere_asr.hpp>
#include <llmcost/config/feature_extractor.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/encoder_decoder.hpp>
#include <llmcost/forward/fast_conformer.hpp>
#include <llmcost/forward/transcription_decoder.hpp>
#include <llmcost/forward/vision_encoder.hpp>

namespace llmcost::arch {

namespace canary_detail {

using transcription_decoder::forward_encoder_and_decoder;

/// Sinusoidal position embeddings, divided by the square root of the width.
struct scaled_sines {
    std::int64_t places;
    std::int64_t width;
    class_name named;

    static constexpr role module_role = role::embedding;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, std::int64_t sequence) const {
        t.register_buffer({places, width}, dtype::float32);  // `positional_embedding`
        return t.div_scalar(t.gather(trace::buffer({places, width}), {sequence, width}));
    }
};

constexpr tensor sine_places(const layer_context& ctx, trace& t) {
    const scaled_sines table{ctx.config.max_position_embeddings, ctx.config.hidden_size,
                             ctx.class_of("PositionalEmbedding")};
    return t.call("pos_emb", table, t.load().sequence);
}

constexpr tensor canary_base(const layer_context& ctx, trace& t) {
    return forward_encoder_and_decoder(ctx, t, false, sine_places);
}

constexpr void check_canary(config_view json, model& m) {
    if (m.components[0].config.hidden_size != m.config.hidden_size)
        throw_invalid_value(json, "encoder_config", "a hidden_size equal to the decoder's");
}

inline constexpr submodel_spec canary_encoder = transcription_encoder_of(32, 1024, 4096);

}  // namespace canary_detail

// The decoder of Canary (`CanaryDecoderConfig`), available only as a component.
//
// Source: transformers/models/canary
inline constexpr submodel_spec canary_decoder = [](model_spec spec) {
    spec.model_type = "canary_decoder";
    spec.class_prefix = "Canary";
    spec.components[0] = {};
    spec.compute_media_shapes = nullptr;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.head_dim = 128;
    return spec;
}(cohere_asr);

// Canary. Derived from Cohere ASR, with sinusoidal positions and without a projection of the encoder's states.
//
// Source: transformers/models/canary
inline constexpr model_spec canary = [](model_spec spec) {
    spec.model_type = "canary";
    spec.class_prefix = "Canary";
    spec.base_model = canary_detail::canary_base;
    spec.parse_composite_config = canary_detail::check_canary;
    spec.compute_media_shapes = fast_conformer::compute_media_shapes;
    spec.parse_feature_extractor = fast_conformer::parse_audio_config;
    spec.audio_preprocessing = {.n_fft = 512};
    spec.text_model = {.key = "decoder_config", .default_spec = &canary_decoder};
    spec.components[0].default_spec = &canary_detail::canary_encoder;
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(cohere_asr);

}  // namespace llmcost::arch
