// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/reader.hpp>

// Configuration of encoder and decoder stacks (BART).
namespace llmcost {

/// The first family keys of these families. A family's table begins with these keys and their defaults.
namespace stack_config {
enum family_config_index : std::uint8_t { decoder_layers, decoder_heads, decoder_inner, encoder_inner, count };
}

/// Parses the sizes of both stacks. The family's table must begin with the keys of `stack_config`.
constexpr void parse_stacks(config_view json, model_config& config) {
    config.encoder = {config.num_hidden_layers, config.num_attention_heads, config.family[stack_config::encoder_inner]};
    config.num_hidden_layers =
        // Not zero: the cache of a decoder without layers has no length.
        config.family[stack_config::decoder_layers];
    config.num_attention_heads = config.num_key_value_heads = config.family[stack_config::decoder_heads];
    config.intermediate_size = config.family[stack_config::decoder_inner];
    reject_sliding_window(json);
    config.attention_bias = true;
    // `attribute_map` sets num_hidden_layers, the number of cached layers, to that of the encoder.
    if (config.head == head_kind::causal_lm && config.num_hidden_layers > config.encoder.num_hidden_layers)
        throw_unsupported(json, "decoder_layers",
                          "more decoder layers than encoder layers are not supported for this class");
    for (const std::int64_t heads : {config.encoder.num_attention_heads, config.num_attention_heads})
        if (config.hidden_size % heads != 0)
            throw_invalid_value(json, "d_model", "a multiple of the number of attention heads");
    if (config.head == head_kind::question_answering) config.num_labels = 2;
}

}  // namespace llmcost
