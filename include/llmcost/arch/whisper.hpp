// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bart.hpp>
#include <llmcost/config/feature_extractor.hpp>
#include <llmcost/forward/audio.hpp>
#include <llmcost/forward/whisper_layers.hpp>

namespace llmcost::arch {

namespace whisper_detail {

using whisper_layers::style;

enum family_config_index : std::uint8_t { mels = stack_config::count, source_positions, summary_width, weighs_layers };

inline constexpr family_key family_keys[]{
    {"decoder_layers", 4},         {"decoder_attention_heads", 6},
    {"decoder_ffn_dim", 1536},     {"encoder_ffn_dim", 1536},
    {"num_mel_bins", 80},          {"max_source_positions", 1500},
    {"classifier_proj_size", 256}, {"use_weighted_layer_sum", 0, family_key_type::boolean}};

/// Positions of the encoder, (length, width), which are not trained (`WhisperEncoder.__init__`).
constexpr tensor frozen_positions(trace& t, std::int64_t length, std::int64_t width) {
    const embedding table{.num_embeddings = length, .embedding_dim = width, .is_frozen = true};
    return t.call("embed_positions", table, shape{length});
}

/// What a feature extractor makes of any recording: it is cut, or filled up with silence, to 30 seconds.
///
/// Source: transformers/models/whisper/feature_extraction_whisper.py.
constexpr media_shapes compute_media_shapes(const model& m, const workload&) {
    const std::int64_t frames = 2 * m.config.family[source_positions];
    return {.audio = {.num_samples = frames * m.audio_preprocessing.hop_length, .num_frames = frames}};
}

constexpr void parse_audio_config(config_view json, model& m) {
    const auto nested_json = find_feature_extractor_config(json);
    if (!nested_json) return;
    expect_extractor(*nested_json, "WhisperFeatureExtractor");
    expect_bands(*nested_json, {"feature_size"}, m.config.family[mels]);
    parse_filled(*nested_json, m.audio_preprocessing);
    expect_window(*nested_json, m.audio_preprocessing, m.config.family[source_positions]);
}

/// Two convolutions over 30 seconds of a spectrogram, whatever the decoder's length, and layers.
constexpr tensor encoder(const layer_context& ctx, trace& t) {
    const workload& load = t.load();
    const std::int64_t width = ctx.config.hidden_size, length = ctx.config.family[source_positions];
    {
        const recorder::not_executed_guard done{t, is_encoder_cached(load)};
        const module_info module{
            .name = "encoder", .class_of_module = ctx.class_of("Encoder"), .module_role = role::encoder};
        t.enter(module);
        const tensor sound = t.input({load.batch, ctx.config.family[mels], 2 * length});
        tensor x = t.gelu(t.call("conv1", convolution_1d{ctx.config.family[mels], width, 3, 1, 1}, sound));
        x = t.gelu(t.call("conv2", convolution_1d{width, width, 3, 2, 1}, x)).permute({0, 2, 1});
        x = functional_dropout(t, t.add(x, frozen_positions(t, length, width)), dropout_position::hidden);
        const stack_sizes stack_config = encoder_stack_of(ctx);
        const attention_inputs no_inputs;
        for (loop layer = t.loop_modules(ctx.config.encoder.num_hidden_layers, x); layer.next();)
            x = t.call({"layers", layer.index()},
                       stack_layer{ctx.for_layer(layer, no_inputs), style, stack_config, nullptr}, x);
        x = t.leave(module, stack_norm(t, "layer_norm", x));
        if (!is_encoder_cached(load)) return x;
    }
    return t.input({load.batch, length, width});
}

/// One state for each recording, the mean of the encoder's, and labels of it.
constexpr tensor classify(const layer_context& ctx, trace& t) {
    const module_info model_info{.class_of_module = {ctx.spec.class_prefix, name_of(ctx.config.head)}};
    t.enter(model_info);
    const tensor weights =
        ctx.config.family[weighs_layers] != 0 ? layer_weights(t, ctx.config.encoder.num_hidden_layers) : tensor{};
    const tensor x = encoder(ctx, t);
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    return t.leave(model_info, t.select_model_output(x, classify_states(ctx, t, weighted_layer_sum(t, x, weights),
                                                                        ctx.config.family[summary_width])));
}

constexpr tensor forward_seq2seq(const layer_context& ctx, trace& t) {
    const tensor encoded = encoder(ctx, t);
    return forward_decoder_module(ctx, t, style, &encoded, ctx.config.vocab_size);
}

constexpr tensor forward_decoder_only(const layer_context& ctx, trace& t) {
    return forward_decoder_module(ctx, t, style, nullptr, ctx.config.vocab_size);
}

}  // namespace whisper_detail

/// Speech to text: a spectrogram encoder and a text decoder.
///
/// Source: transformers/models/whisper/modeling_whisper.py.
constexpr tensor forward_whisper(const layer_context& ctx, trace& t) {
    const class_name type = ctx.class_of("Model");
    if (ctx.config.head == head_kind::audio_classification) return whisper_detail::classify(ctx, t);
    if (ctx.config.head == head_kind::none)
        return forward_in_module({.class_of_module = type}, whisper_detail::forward_seq2seq, ctx, t);
    const bool is_decoder_only = ctx.config.head == head_kind::causal_lm;
    const module_info model_info{.class_of_module = {ctx.spec.class_prefix, name_of(ctx.config.head)}};
    const module_info base{.name = "model", .class_of_module = is_decoder_only ? ctx.class_of("DecoderWrapper") : type};
    t.enter(model_info);
    const tensor x = forward_in_module(
        base, is_decoder_only ? whisper_detail::forward_decoder_only : whisper_detail::forward_seq2seq, ctx, t);
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    return t.leave(model_info,
                   t.select_model_output(x, stack_lm_head_logits(ctx, t, x, ctx.config.vocab_size, false, "proj_out")));
}

/// Parses `config.json`; the decoder cache has `decoder_layers` entries, independent of `num_hidden_layers`
/// (`WhisperDecoder.forward`).
constexpr void parse_whisper(config_view json, model_config& config) {
    const head_kind head = config.head;
    if (head == head_kind::causal_lm) config.head = head_kind::none;
    parse_stacks(json, config);
    config.head = head;
    config.max_position_embeddings = json.positive("max_target_positions", 448);
}

// transformers/models/whisper: configuration_whisper.py, modeling_whisper.py
inline constexpr model_spec whisper = [](model_spec spec) {
    spec.model_type = "whisper";
    spec.class_prefix = "Whisper";
    spec.forward = forward_whisper;
    spec.parse_config = parse_whisper;
    spec.family_keys = whisper_detail::family_keys;
    spec.supported_heads = {head_kind::none, head_kind::causal_lm, head_kind::conditional_generation,
                            head_kind::audio_classification};
    spec.compute_media_shapes = whisper_detail::compute_media_shapes;
    spec.parse_feature_extractor = whisper_detail::parse_audio_config;
    spec.modalities.has_audio = true;
    spec.defaults.vocab_size = 51865;
    spec.defaults.hidden_size = 384;
    spec.defaults.num_hidden_layers = 4;
    spec.defaults.num_attention_heads = 6;
    spec.defaults.num_labels = 2;
    return spec;
}(bart);

}  // namespace llmcost::arch
