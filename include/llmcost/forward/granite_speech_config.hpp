// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/feature_extractor.hpp>
#include <llmcost/config/layer_types.hpp>
#include <llmcost/forward/audio.hpp>
#include <llmcost/layers/einsum.hpp>

// Granite Speech: configuration of its conformer encoder.
namespace llmcost::granite_speech_config {

enum family_config_index : std::uint8_t {
    mels,
    inner_times,
    labels,
    reach,
    kernel,
    conv_times,
    block,
    num_cat_hidden_layers
};

/// Parses the encoder. The alias of the number of mel bins takes precedence, as in `attribute_map`.
constexpr void parse_speech_encoder(config_view json, model_config& config) {
    config.family[mels] = json.positive("num_mel_bins", config.family[mels]);
    if (config.family[block] > config.family[reach]) throw_invalid_value(json, "context_size", "at most max_pos_emb");
    set_single_mask(json, config);
}

}  // namespace llmcost::granite_speech_config
