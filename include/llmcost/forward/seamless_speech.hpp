// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/reader.hpp>

// Seamless M4T: keys and sizes of its speech encoder (arXiv 2308.11596).
namespace llmcost::seamless_speech {

enum speech_config_index : std::uint8_t {
    features,
    adapter_layers,
    adapter_kernel,
    adapter_stride,
    depth_kernel,
    learned_left,
    learned_right,
    position_kind,
    chunks,
    max_positions
};

enum places : std::uint8_t { relative, rotary, no_places, relative_key };

constexpr void parse_speech(config_view json, model_config& config) {
    if (!json.boolean("add_adapter", true))
        config.family[adapter_layers] = 0;
    else if (config.family[adapter_layers] == 0)
        throw_invalid_value(json, "num_adapter_layers", "at least 1 where there is an adapter");
    if (config.family[depth_kernel] % 2 == 0) throw_invalid_value(json, "conv_depthwise_kernel_size", "an odd number");
    if (config.family[adapter_layers] > 64)
        throw_unsupported(json, "num_adapter_layers", "more than 64 are not supported");
    const string_ref kind = json.string("position_embeddings_type", "relative");
    config.family[position_kind] = kind == "relative" ? relative : kind == "rotary" ? rotary : no_places;
}

}  // namespace llmcost::seamless_speech
