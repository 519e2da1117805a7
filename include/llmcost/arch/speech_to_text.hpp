// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bart.hpp>
#include <llmcost/arch/xglm.hpp>
#include <llmcost/reading/sound_files.hpp>
#include <llmcost/walks/sound.hpp>

// Filter banks through gated convolutions, and the stacks of BART.
namespace llmcost::arch {

namespace speech_to_text_detail {

inline constexpr std::int64_t most_convolutions = 8;

enum own : std::uint8_t { channels = stack_own::count, mels, groups_of_mels, convolutions, first_kernel };
inline constexpr own_key keys[]{
    {"decoder_layers", 6},
    {"decoder_attention_heads", 4},
    {"decoder_ffn_dim", 2048},
    {"encoder_ffn_dim", 2048},
    {"conv_channels", 1024},
    {"input_feat_per_channel", 80},
    {"input_channels", 1},
    {.otherwise = 2, .value = own_value::computed},
    {.otherwise = 5, .value = own_value::computed},
    {.otherwise = 5, .value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
};

[[nodiscard]] constexpr std::int64_t kernel_of(const sizes& dims, std::int64_t i) {
    return dims.own[static_cast<std::size_t>(first_kernel + i)];
}

constexpr media_shapes show(const model& m, const workload& load) {
    const std::int64_t samples = samples_of(m.sound, load);
    return {.audio = {.samples = samples, .frames = filter_bank_frames(m.sound, samples)}};
}

/// Source: transformers/models/speech_to_text/feature_extraction_speech_to_text.py.
constexpr void read_sound(config_view config, model& m) {
    const auto told = extractor_told(config);
    if (!told) return;
    expect_extractor(*told, "Speech2TextFeatureExtractor");
    expect_bands(*told, {"num_mel_bins"}, m.dims.own[mels] * m.dims.own[groups_of_mels]);
    expect_rate(*told, 16000, "16000: at other rates frames are as many as whether torchaudio is installed makes of them");
}

/// States that the encoder makes of a recording: each convolution leaves about every second.
constexpr std::int64_t states_of(const sizes& dims, std::int64_t frames) {
    for (std::int64_t i = 0; i < dims.own[convolutions]; ++i) {
        const std::int64_t k = kernel_of(dims, i), padded = frames + k / 2 * 2;
        if (padded < k) report_description("the recording is shorter than a kernel that it meets");
        frames = (padded - k) / 2 + 1;
    }
    return frames;
}

/// Sines, one row for each position of each sequence; a longer table is made once, which is no pass's work.
constexpr value positions(const site& here, trace& t, std::int64_t length, bool) {
    const xglm_detail::sinusoids table{here.dims.max_position_embeddings + 2, here.dims.hidden_size,
                                       here.type("SinusoidalPositionalEmbedding")};
    return t.call("embed_positions", table, t.load().batch, length);
}

constexpr value subsample(const site& here, trace& t, const value& frames) {
    const own_sizes& own = here.dims.own;
    const module_info sampler{.name = "conv", .type = {"", "Conv1dSubsampler"}};
    t.enter(sampler);
    value x = t.contiguous(frames.transpose(1, 2));
    const std::int64_t n = own[convolutions];
    for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t k = kernel_of(here.dims, i), out = i < n - 1 ? own[channels] : 2 * here.dims.hidden_size;
        x = t.glu(t.call({"conv_layers", i}, convolution_1d{x.dim(1), out, k, 2, k / 2}, x), 1);
    }
    return t.leave(sampler, t.contiguous(x.transpose(1, 2)));
}

constexpr value encode(const site& here, trace& t, const stack_style& style) {
    const own_sizes& own = here.dims.own;
    const std::int64_t frames = show(here.whole, t.load()).audio.frames;
    value x = t.mul(subsample(here, t, t.input({t.load().batch, frames, own[mels] * own[groups_of_mels]})));
    x = drop(t, t.add(x, positions(here, t, x.dim(1), false)), dropout_of::hidden);
    const stack_sizes dims = encoder_stack_of(here);
    const shared_values nothing;
    for (repetition layer = t.repeat(here.dims.encoder.num_hidden_layers, x); layer.next();)
        x = t.call({"layers", layer.index()}, stack_layer{here.at(layer, nothing), style, dims, nullptr}, x);
    return stack_norm(t, "layer_norm", x);
}

inline constexpr stack_style style{.norm_first = true,
                                   .norm_embedding = "",
                                   .norm_last = "layer_norm",
                                   .own_mask = false,
                                   .shares_words = false,
                                   .logits_bias = false,
                                   .scale = word_scale::stack,
                                   .positions = positions,
                                   .encoder = encode};

constexpr value both(const site& here, trace& t) {
    const value encoded = describe_encoder_module(here, t, style);
    return describe_decoder_module(here, t, style, &encoded, here.dims.vocab_size);
}

constexpr value describe(const site& here, trace& t) {
    workload load = t.load();
    load.encoder_sequence = states_of(here.dims, show(here.whole, load).audio.frames);
    const recorder::workload_guard heard{t, load};
    const class_name type = here.type("Model");
    if (here.dims.head == head_kind::none) return describe_within({.type = type}, both, here, t);
    const module_info whole{.type = {here.row.prefix, name_of(here.dims.head)}};
    t.enter(whole);
    const value x = describe_within({.name = "model", .type = type}, both, here, t);
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    return t.leave(whole, t.returns(x, describe_word_scores(here, t, x, here.dims.vocab_size, false)));
}

constexpr void read(config_view config, sizes& s) {
    read_stacks(config, s);
    s.max_position_embeddings = config.positive("max_target_positions", 1024);
    if (const auto kernels = config.optional_array("conv_kernel_sizes")) {
        const auto n = static_cast<std::int64_t>(kernels->size());
        if (n < 1 || n > most_convolutions)
            fail_unsupported(config, "conv_kernel_sizes", "no row describes so many convolutions, or none");
        s.own[convolutions] = n;
        for (std::int64_t i = 0; i < n; ++i)
            s.own[static_cast<std::size_t>(first_kernel + i)] = (*kernels)[static_cast<std::size_t>(i)].as_positive();
    }
    if (config.positive("num_conv_layers", s.own[convolutions]) != s.own[convolutions])
        fail_value(config, "num_conv_layers", "as many as conv_kernel_sizes");
    if (s.own[channels] % 2 != 0) fail_value(config, "conv_channels", "an even number");
}

}  // namespace speech_to_text_detail

// transformers/models/speech_to_text
inline constexpr architecture speech_to_text = [](architecture a) {
    a.drops = {}, a.model_type = "speech_to_text", a.prefix = "Speech2Text", a.describe = speech_to_text_detail::describe;
    a.read = speech_to_text_detail::read, a.own = speech_to_text_detail::keys;
    a.media = speech_to_text_detail::show, a.read_sound = speech_to_text_detail::read_sound, a.reads.audio = true;
    a.heads = {head_kind::none, head_kind::conditional_generation};
    a.defaults.vocab_size = 10000, a.defaults.hidden_size = 256, a.defaults.num_hidden_layers = 12;
    a.defaults.num_attention_heads = 4, a.defaults.hidden_act = activation::relu, a.defaults.num_labels = 2;
    return a;
}(bart);

}  // namespace llmcost::arch
