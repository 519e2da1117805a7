// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/feature_extractor.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/acoustic_tokenizer.hpp>
#include <llmcost/forward/audio.hpp>

namespace llmcost::arch {

namespace vibevoice_acoustic_tokenizer_detail {

using acoustic_tokenizer::depths, acoustic_tokenizer::encode_samples, acoustic_tokenizer::expansion,
    acoustic_tokenizer::filters, acoustic_tokenizer::max_stages, acoustic_tokenizer::rates, acoustic_tokenizer::stages;

inline constexpr family_key family_keys[]{
    {"channels", 1},
    {"kernel_size", 7},
    {"num_filters", 32},
    {"ffn_expansion", 4},
    {.default_value = 6, .type = family_key_type::computed},
};

/// Numbers of a list, or of the default, into neighbouring places; how many there are.
constexpr std::int64_t parse_list(config_view json, literal key, model_config& config, std::size_t first,
                                  std::size_t maximum, std::initializer_list<std::int64_t> defaults) {
    std::size_t n = 0;
    const auto append = [&](std::int64_t number) {
        if (n == maximum) throw_unsupported(json, key, "unsupported number of stages");
        config.family[first + n++] = number;
    };
    if (const auto list = json.optional_array(key))
        for (const config_view entry : *list) append(entry.as_positive());
    else
        for (const std::int64_t number : defaults) append(number);
    return static_cast<std::int64_t>(n);
}

constexpr void parse_encoder_config(config_view json, model_config& config) {
    config.family[stages] = parse_list(json, "downsampling_ratios", config, rates, max_stages, {2, 2, 4, 5, 5, 8});
    if (parse_list(json, "depths", config, depths, max_stages + 1, {3, 3, 3, 3, 3, 3, 8}) <= config.family[stages])
        throw_invalid_value(json, "depths", "a list with one number more than downsampling_ratios");
    (void)checked_size(json, "num_filters", config.family[filters] << config.family[stages], config.family[expansion]);
    set_single_mask(json, config);
}

constexpr tensor forward_standalone(const layer_context& ctx, trace& t) {
    return encode_samples({ctx, true}, t, t.input({1, 1, 1}));
}

}  // namespace vibevoice_acoustic_tokenizer_detail

// transformers/models/vibevoice_acoustic_tokenizer, VibeVoiceAcousticTokenizerEncoderConfig
inline constexpr submodel_spec vibevoice_acoustic_tokenizer_encoder{
    .model_type = "vibevoice_acoustic_tokenizer_encoder",
    .class_prefix = "VibeVoiceAcousticTokenizer",
    .base_model = vibevoice_acoustic_tokenizer_detail::forward_standalone,
    .parse_config = vibevoice_acoustic_tokenizer_detail::parse_encoder_config,
    .family_keys = vibevoice_acoustic_tokenizer_detail::family_keys,
    .rotary = rotary_style::none,
    .names = {.model_class = "EncoderModel"},
    .defaults = {.hidden_size = 64, .num_hidden_layers = 1, .hidden_act = activation::gelu},
};

}  // namespace llmcost::arch
