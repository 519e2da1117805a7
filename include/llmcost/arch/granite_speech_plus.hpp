// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/arch/granite_speech.hpp>
#include <llmcost/config/feature_extractor.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/audio.hpp>
#include <llmcost/forward/granite_speech_config.hpp>
#include <llmcost/layers/einsum.hpp>

namespace llmcost::arch {

namespace granite_speech_plus_detail {

using granite_speech_config::num_cat_hidden_layers, granite_speech_config::parse_speech_encoder;

/// Parses the encoder and the layers whose states are concatenated with the last ones.
constexpr void parse_plus_encoder(config_view json, model_config& config) {
    parse_speech_encoder(json, config);
    const auto layers = json.optional_array("cat_hidden_layers");
    if (!layers) return;
    if (layers->size() + 1 > trace::max_cat_inputs)
        throw_unsupported(json, "cat_hidden_layers", "unsupported number of concatenated layers");
    config.family[num_cat_hidden_layers] = static_cast<std::int64_t>(layers->size());
    for (const config_view layer : *layers)
        if (layer.as_non_negative() >= config.num_hidden_layers) throw_invalid_value(layer, "a layer below num_layers");
}

}  // namespace granite_speech_plus_detail

// Granite Speech Plus. Derived from Granite Speech; the projector reads states of several encoder layers.
//
// Source: transformers/models/granite_speech_plus
inline constexpr submodel_spec granite_speech_plus_encoder = [](model_spec spec) {
    spec.model_type = "granite_speech_plus_encoder";
    spec.class_prefix = "GraniteSpeechPlus";
    spec.parse_config = granite_speech_plus_detail::parse_plus_encoder;
    return spec;
}(granite_speech_encoder);

inline constexpr model_spec granite_speech_plus = [](model_spec spec) {
    spec.model_type = "granite_speech_plus";
    spec.class_prefix = "GraniteSpeechPlus";
    spec.components[0].default_spec = &granite_speech_plus_encoder;
    return spec;
}(granite_speech);

}  // namespace llmcost::arch
