// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/reader.hpp>

// What configurations of BART and its relatives say of both stacks.
namespace llmcost {

/// What `own` begins with in these families: a table of their own has these keys first, with their defaults.
namespace stack_config {
enum family_config_index : std::uint8_t { decoder_layers, decoder_heads, decoder_inner, encoder_inner, count };
}

/// Sizes of both stacks, after a table that begins as `stack_config` does.
constexpr void parse_stacks(config_view json, model_config& config) {
    config.encoder = {config.num_hidden_layers, config.num_attention_heads, config.family[stack_config::encoder_inner]};
    config.num_hidden_layers =
        config.family[stack_config::decoder_layers];  // of none, the cache would forget how much it has seen
    config.num_attention_heads = config.num_key_value_heads = config.family[stack_config::decoder_heads];
    config.intermediate_size = config.family[stack_config::decoder_inner];
    reject_sliding_window(json);
    config.attention_bias = true;
    // `attribute_map` makes num_hidden_layers, which the cache of a decoder by itself reads, those of the encoder
    if (config.head == head_kind::causal_lm && config.num_hidden_layers > config.encoder.num_hidden_layers)
        throw_unsupported(json, "decoder_layers", "the cache of this class has as many layers as the encoder, too few");
    for (const std::int64_t heads : {config.encoder.num_attention_heads, config.num_attention_heads})
        if (config.hidden_size % heads != 0)
            throw_invalid_value(json, "d_model", "a multiple of the number of attention heads");
    if (config.head == head_kind::question_answering) config.num_labels = 2;
}

}  // namespace llmcost
