// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/walks/idle.hpp>
#include <llmcost/arch/qwen2_audio.hpp>

namespace llmcost::arch {

namespace vibevoice_detail {

/// Stages that an encoder may have behind its stem: as many as the table of sizes has room for.
constexpr std::size_t most_stages = 9;

// the rate of each stage, and the depths of the stem and each stage, stand behind the last of these
enum own : std::uint8_t { channels, kernel, filters, expansion, stages, rates, depths = rates + most_stages };
inline constexpr own_key keys[]{
    {"channels", 1},
    {"kernel_size", 7},
    {"num_filters", 32},
    {"ffn_expansion", 4},
    {.otherwise = 6, .value = own_value::computed},
};

/// Numbers of a list, or of the default, into neighbouring places; how many there are.
constexpr std::int64_t read_list(config_view config, literal key, sizes& s, std::size_t first, std::size_t most,
                                 std::initializer_list<std::int64_t> otherwise) {
    std::size_t n = 0;
    const auto put = [&](std::int64_t each) {
        if (n == most) fail_unsupported(config, key, "no row describes so many stages");
        s.own[first + n++] = each;
    };
    if (const auto list = config.optional_array(key))
        for (const config_view entry : *list) put(entry.as_positive());
    else
        for (const std::int64_t each : otherwise) put(each);
    return static_cast<std::int64_t>(n);
}

constexpr void read_encoder(config_view config, sizes& s) {
    s.own[stages] = read_list(config, "downsampling_ratios", s, rates, most_stages, {2, 2, 4, 5, 5, 8});
    if (read_list(config, "depths", s, depths, most_stages + 1, {3, 3, 3, 3, 3, 3, 8}) <= s.own[stages])
        fail_value(config, "depths", "a list with one number more than downsampling_ratios");
    (void)checked_width(config, "num_filters", s.own[filters] << s.own[stages], s.own[expansion]);
    plan_one_mask(config, s);
}

/// A convolution over the past, in a module of its own.
constexpr void describe_causal(const site& here, idle_modules& held, literal name, const extents& sizes) {
    held.within(name, here.type("CausalConv1d"), [&] { held.weighted("conv", {"", "Conv1d"}, sizes); });
}

constexpr void describe_stage(const site& here, idle_modules& held, std::int64_t depth, std::int64_t width) {
    const own_sizes& own = here.dims.own;
    held.list("stage", depth, here.type("ConvNext1dLayer"), [&] {
        held.tensor("gamma", {width});
        held.tensor("ffn_gamma", {width});
        held.norm("norm", width, here.type("RMSNorm"));
        held.norm("ffn_norm", width, here.type("RMSNorm"));
        held.within("ffn", here.type("FeedForward"), [&] {
            held.linear("linear1", width, own[expansion] * width);
            held.act("activation", here.dims.hidden_act);
            held.linear("linear2", own[expansion] * width, width);
        });
        describe_causal(here, held, "mixer", {width, 1, own[kernel]});
    });
}

/// A stem and stages that halve and widen, each with layers of convolutions per channel.
constexpr value hear(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    std::int64_t width = own[filters];
    idle_modules held{t};
    held.within("stem", here.type("EncoderStem"), [&] {
        describe_causal(here, held, "conv", {width, own[channels], own[kernel]});
        describe_stage(here, held, own[depths], width);
    });
    for (std::int64_t i = 0; i < own[stages]; ++i) {
        const auto place = static_cast<std::size_t>(i);
        held.within({"conv_layers", i}, here.type("EncoderLayer"), [&] {
            describe_causal(here, held, "conv", {2 * width, width, 2 * own[rates + place]});
            describe_stage(here, held, own[depths + place + 1], 2 * width);
        });
        width *= 2;
    }
    describe_causal(here, held, "head", {here.dims.hidden_size, width, own[kernel]});
    return {};
}

/// Two encoders, whose states are added behind two projections each.
constexpr value base(const site& here, trace& t) {
    (void)describe_tower(here, t, 0, "acoustic_tokenizer_encoder", role::audio);
    (void)describe_tower(here, t, 1, "semantic_tokenizer_encoder", role::audio);
    {
        const std::int64_t out = here.dims.hidden_size;
        idle_modules held{t};
        held.within("multi_modal_projector", here.type("MultiModalProjector"), [&] {
            held.linear("acoustic_linear_1", here.component(0).dims.hidden_size, out);
            held.norm("acoustic_norm", out, here.type("RMSNorm"));
            held.linear("acoustic_linear_2", out, out);
            held.linear("semantic_linear_1", here.component(1).dims.hidden_size, out);
            held.norm("semantic_norm", out, here.type("RMSNorm"));
            held.linear("semantic_linear_2", out, out);
        });
    }
    return describe_text(here, t, "language_model");
}

}  // namespace vibevoice_detail

// transformers/models/vibevoice_acoustic_tokenizer, VibeVoiceAcousticTokenizerEncoderConfig
inline constexpr architecture vibevoice_acoustic_tokenizer_encoder{
    .model_type = "vibevoice_acoustic_tokenizer_encoder",
    .prefix = "VibeVoiceAcousticTokenizer",
    .base = vibevoice_detail::hear,
    .read = vibevoice_detail::read_encoder,
    .own = vibevoice_detail::keys,
    .rotated = rotation::none,
    .names = {.model_type = "EncoderModel"},
    .defaults = {.hidden_size = 64, .num_hidden_layers = 1, .hidden_act = activation::gelu},
};
inline constexpr architecture vibevoice_semantic_tokenizer_encoder = [](architecture a) {
    a.defaults.hidden_size = 128;
    return a;
}(vibevoice_acoustic_tokenizer_encoder);

// transformers/models/vibevoice_asr
inline constexpr architecture vibevoice_asr = [](architecture a) {
    a.model_type = "vibevoice_asr", a.prefix = "VibeVoiceAsr", a.base = vibevoice_detail::base;
    a.text = {.key = "text_config", .otherwise = &qwen2};
    a.beside[0] = {.key = "acoustic_tokenizer_encoder_config", .otherwise = &vibevoice_acoustic_tokenizer_encoder};
    a.beside[1] = {.key = "semantic_tokenizer_encoder_config",
                   .otherwise = &vibevoice_acoustic_tokenizer_encoder,
                   .missing = &vibevoice_semantic_tokenizer_encoder};
    a.read_whole = qwen2_audio_detail::tie_nothing;
    return a;
}(shared_composite);

}  // namespace llmcost::arch
