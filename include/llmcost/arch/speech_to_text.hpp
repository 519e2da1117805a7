// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bart.hpp>
#include <llmcost/config/feature_extractor.hpp>
#include <llmcost/forward/audio.hpp>
#include <llmcost/forward/sinusoidal_positions.hpp>

// Filter banks through gated convolutions, and the stacks of BART.
namespace llmcost::arch {

namespace speech_to_text_detail {

inline constexpr std::int64_t max_convolutions = 8;

enum family_config_index : std::uint8_t {
    channels = stack_config::count,
    mels,
    groups_of_mels,
    convolutions,
    first_kernel,
    max_frames = first_kernel + max_convolutions
};
inline constexpr family_key family_keys[]{
    {"decoder_layers", 6},
    {"decoder_attention_heads", 4},
    {"decoder_ffn_dim", 2048},
    {"encoder_ffn_dim", 2048},
    {"conv_channels", 1024},
    {"input_feat_per_channel", 80},
    {"input_channels", 1},
    {.default_value = 2, .type = family_key_type::computed},
    {.default_value = 5, .type = family_key_type::computed},
    {.default_value = 5, .type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {"max_source_positions", 6000},
};

[[nodiscard]] constexpr std::int64_t kernel_of(const model_config& config, std::int64_t i) {
    return config.family[static_cast<std::size_t>(first_kernel + i)];
}

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    const std::int64_t samples = num_audio_samples(m.audio_preprocessing, load);
    return {.audio = {.num_samples = samples, .num_frames = num_filter_bank_frames(m.audio_preprocessing, samples)}};
}

/// Source: transformers/models/speech_to_text/feature_extraction_speech_to_text.py.
constexpr void parse_audio_config(config_view json, model& m) {
    const auto nested_json = find_feature_extractor_config(json);
    if (!nested_json) return;
    expect_extractor(*nested_json, "Speech2TextFeatureExtractor");
    expect_bands(*nested_json, {"num_mel_bins"}, m.config.family[mels] * m.config.family[groups_of_mels]);
    expect_rate(*nested_json, 16000,
                "16000: at other rates frames are as many as whether torchaudio is installed makes of them");
}

/// States that the encoder makes of a recording: each convolution leaves about every second.
constexpr std::int64_t states_of(const model_config& config, std::int64_t frames) {
    for (std::int64_t i = 0; i < config.family[convolutions]; ++i) {
        const std::int64_t k = kernel_of(config, i), padded = frames + k / 2 * 2;
        if (padded < k) throw_description_error("the recording is shorter than a convolution kernel");
        frames = (padded - k) / 2 + 1;
    }
    return frames;
}

/// Sines, one row for each position of each sequence; a longer table is made once, which is no pass's work.
constexpr tensor positions(const layer_context& ctx, trace& t, std::int64_t length, bool decodes) {
    const std::int64_t rows = decodes ? ctx.config.max_position_embeddings : ctx.config.family[max_frames];
    const sinusoidal_positions table{rows + 2, ctx.config.hidden_size, ctx.class_of("SinusoidalPositionalEmbedding")};
    return t.call("embed_positions", table, t.load().batch, length);
}

constexpr tensor subsample(const layer_context& ctx, trace& t, const tensor& frames) {
    const family_config& family = ctx.config.family;
    const module_info sampler{.name = "conv", .class_of_module = {"", "Conv1dSubsampler"}};
    t.enter(sampler);
    tensor x = t.contiguous(frames.transpose(1, 2));
    const std::int64_t n = family[convolutions];
    for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t k = kernel_of(ctx.config, i),
                           out = i < n - 1 ? family[channels] : 2 * ctx.config.hidden_size;
        x = t.glu(t.call({"conv_layers", i}, convolution_1d{x.dim(1), out, k, 2, k / 2}, x), 1);
    }
    return t.leave(sampler, t.contiguous(x.transpose(1, 2)));
}

constexpr tensor encode(const layer_context& ctx, trace& t, const stack_style& style) {
    const family_config& family = ctx.config.family;
    const std::int64_t frames = compute_media_shapes(ctx.model, t.load()).audio.num_frames;
    tensor x =
        t.mul_scalar(subsample(ctx, t, t.input({t.load().batch, frames, family[mels] * family[groups_of_mels]})));
    x = functional_dropout(t, t.add(x, positions(ctx, t, x.dim(1), false)), dropout_position::hidden);
    const stack_sizes stack_config = encoder_stack_of(ctx);
    const attention_inputs no_inputs;
    for (loop layer = t.loop_modules(ctx.config.encoder.num_hidden_layers, x); layer.next();)
        x = t.call({"layers", layer.index()},
                   stack_layer{ctx.for_layer(layer, no_inputs), style, stack_config, nullptr}, x);
    return stack_norm(t, "layer_norm", x);
}

inline constexpr stack_style style{.norm_first = true,
                                   .norm_embedding = "",
                                   .norm_last = "layer_norm",
                                   .has_ones_mask = false,
                                   .uses_shared_embeddings = false,
                                   .logits_bias = false,
                                   .scale = embedding_scaling::stack,
                                   .positions = positions,
                                   .encoder = encode};

constexpr tensor forward_seq2seq(const layer_context& ctx, trace& t) {
    const tensor encoded = forward_encoder_module(ctx, t, style);
    return forward_decoder_module(ctx, t, style, &encoded, ctx.config.vocab_size);
}

constexpr tensor forward(const layer_context& ctx, trace& t) {
    workload load = t.load();
    load.encoder_sequence = states_of(ctx.config, compute_media_shapes(ctx.model, load).audio.num_frames);
    const recorder::workload_guard audio_workload{t, load};
    const class_name type = ctx.class_of("Model");
    if (ctx.config.head == head_kind::none)
        return forward_in_module({.class_of_module = type}, forward_seq2seq, ctx, t);
    const module_info model_info{.class_of_module = {ctx.spec.class_prefix, name_of(ctx.config.head)}};
    t.enter(model_info);
    const tensor x = forward_in_module({.name = "model", .class_of_module = type}, forward_seq2seq, ctx, t);
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    return t.leave(model_info, t.select_model_output(x, stack_lm_head_logits(ctx, t, x, ctx.config.vocab_size, false)));
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_stacks(json, config);
    config.max_position_embeddings = json.positive("max_target_positions", 1024);
    if (const auto kernels = json.optional_array("conv_kernel_sizes")) {
        const auto n = static_cast<std::int64_t>(kernels->size());
        if (n < 1 || n > max_convolutions)
            throw_unsupported(json, "conv_kernel_sizes", "unsupported number of convolutions");
        config.family[convolutions] = n;
        for (std::int64_t i = 0; i < n; ++i)
            config.family[static_cast<std::size_t>(first_kernel + i)] =
                (*kernels)[static_cast<std::size_t>(i)].as_positive();
    }
    if (json.positive("num_conv_layers", config.family[convolutions]) != config.family[convolutions])
        throw_invalid_value(json, "num_conv_layers", "as many as conv_kernel_sizes");
    if (config.family[channels] % 2 != 0) throw_invalid_value(json, "conv_channels", "an even number");
}

}  // namespace speech_to_text_detail

// transformers/models/speech_to_text
inline constexpr model_spec speech_to_text = [](model_spec spec) {
    spec.dropout_keys = {};
    spec.model_type = "speech_to_text";
    spec.has_eager_attention_only = true;
    spec.class_prefix = "Speech2Text";
    spec.forward = speech_to_text_detail::forward;
    spec.parse_config = speech_to_text_detail::parse_config;
    spec.family_keys = speech_to_text_detail::family_keys;
    spec.compute_media_shapes = speech_to_text_detail::compute_media_shapes;
    spec.parse_feature_extractor = speech_to_text_detail::parse_audio_config;
    spec.modalities.has_audio = true;
    spec.supported_heads = {head_kind::none, head_kind::conditional_generation};
    spec.defaults.vocab_size = 10000;
    spec.defaults.hidden_size = 256;
    spec.defaults.num_hidden_layers = 12;
    spec.defaults.num_attention_heads = 4;
    spec.defaults.hidden_act = activation::relu;
    spec.defaults.num_labels = 2;
    return spec;
}(bart);

}  // namespace llmcost::arch
