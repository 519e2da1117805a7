// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/parakeet.hpp>
#include <llmcost/forward/encoder_decoder.hpp>
#include <llmcost/forward/fast_conformer.hpp>
#include <llmcost/forward/transcription_decoder.hpp>

// Cohere ASR and Canary: a Fast Conformer encoder and a text decoder.
namespace llmcost::arch {

namespace cohere_asr_detail {

using transcription_decoder::forward_encoder_and_decoder;

/// Learned position embeddings of the new tokens.
constexpr tensor learned_places(const layer_context& ctx, trace& t) {
    const embedding table{ctx.config.max_position_embeddings, ctx.config.hidden_size};
    return t.call("pos_emb", table, shape{t.load().sequence});
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_encoder_and_decoder(ctx, t, true, learned_places);
}

constexpr tensor forward(const layer_context& ctx, trace& t) {
    return forward_with_logits(ctx, t, [&](const tensor& x) {
        const tensor head_input = t.load().head == logits::last ? t.slice(x, 1, 1) : x;
        const linear head{ctx.config.hidden_size, ctx.config.vocab_size, true, ctx.config.tie_word_embeddings};
        return t.call("proj_out", head_linear{head}, head_input);
    });
}

constexpr void parse_config(config_view, model_config&) {}

/// Returns the audio shapes.
///
/// Throws: `description_error` for recordings that the feature extractor splits at quiet positions, which depend on the
/// samples.
constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    if (num_audio_samples(m.audio_preprocessing, load) > m.audio_preprocessing.max_samples)
        throw_description_error(
            "audio longer than max_audio_clip_s is not supported: the processor splits it at quiet positions");
    return fast_conformer::compute_media_shapes(m, load);
}

/// Parses the feature extractor's configuration.
///
/// Source: transformers/models/cohere_asr/feature_extraction_cohere_asr.py, `_split_audio_chunks_energy`.
constexpr void parse_audio_config(config_view json, model& m) {
    const model_config& tower = m.components[0].config;
    const auto nested_json =
        fast_conformer::parse_spectrum(json, m, "CohereAsrFeatureExtractor", tower.family[fast_conformer::mels]);
    if (nested_json)
        m.audio_preprocessing.max_samples = rounded_product(*nested_json, "max_audio_clip_s", 35,
                                                            static_cast<double>(m.audio_preprocessing.sampling_rate));
}

/// The configuration keys of the encoder, with 128 mel bins by default.
struct encoder_table {
    family_key family_keys[7];

    constexpr encoder_table() {
        for (std::size_t i = 0; i < 7; ++i) family_keys[i] = fast_conformer::family_keys[i];
        family_keys[fast_conformer::mels].default_value = 128;
    }
};

inline constexpr encoder_table encoder_keys{};

}  // namespace cohere_asr_detail

constexpr model_spec transcription_encoder_of(std::int64_t layers, std::int64_t width, std::int64_t inner) {
    model_spec spec = parakeet_encoder;
    spec.family_keys = cohere_asr_detail::encoder_keys.family_keys;
    spec.defaults.num_hidden_layers = layers;
    spec.defaults.hidden_size = width;
    spec.defaults.intermediate_size = inner;
    return spec;
}

namespace cohere_asr_detail {

inline constexpr submodel_spec cohere_encoder = transcription_encoder_of(48, 1280, 5120);

}  // namespace cohere_asr_detail

// Source: transformers/models/cohere_asr
inline constexpr model_spec cohere_asr = [](model_spec spec) {
    spec.model_type = "cohere_asr";
    spec.class_prefix = "CohereAsr";
    spec.forward = cohere_asr_detail::forward;
    spec.base_model = cohere_asr_detail::base;
    spec.attention = attention;
    spec.parse_config = cohere_asr_detail::parse_config;
    spec.components[0] = {.key = "encoder_config", .default_spec = &cohere_asr_detail::cohere_encoder};
    spec.compute_media_shapes = cohere_asr_detail::compute_media_shapes;
    spec.parse_feature_extractor = cohere_asr_detail::parse_audio_config;
    spec.modalities.has_audio = true;
    spec.audio_preprocessing = {.n_fft = 512, .max_samples = 35 * 16000};
    spec.rotary = rotary_style::none;
    spec.supported_heads = composite_heads;
    spec.names.attention_class = "SelfAttention";
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.defaults.head = head_kind::conditional_generation;
    spec.defaults.vocab_size = 16384;
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 4096;
    spec.defaults.num_hidden_layers = spec.defaults.num_attention_heads = 8;
    spec.defaults.max_position_embeddings = 1024;
    spec.defaults.hidden_act = activation::relu;
    spec.defaults.attention_bias = true;
    return spec;
}(model_spec{});

}  // namespace llmcost::arch
