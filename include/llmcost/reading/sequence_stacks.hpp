// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/reading/reader.hpp>

// What configurations of BART and its relatives say of both stacks.
namespace llmcost {

/// What `own` begins with in these families: a table of their own has these keys first, with their defaults.
namespace stack_own {
enum own : std::uint8_t { decoder_layers, decoder_heads, decoder_inner, encoder_inner, count };
}

/// Sizes of both stacks, after a table that begins as `stack_own` does.
constexpr void read_stacks(config_view config, sizes& s) {
    s.encoder = {s.num_hidden_layers, s.num_attention_heads, s.own[stack_own::encoder_inner]};
    s.num_hidden_layers = s.own[stack_own::decoder_layers];  // of none, the cache would forget how much it has seen
    s.num_attention_heads = s.num_key_value_heads = s.own[stack_own::decoder_heads];
    s.intermediate_size = s.own[stack_own::decoder_inner];
    refuse_window(config);
    s.attention_bias = true;
    // `attribute_map` makes num_hidden_layers, which the cache of a decoder by itself reads, those of the encoder
    if (s.head == head_kind::causal_lm && s.num_hidden_layers > s.encoder.num_hidden_layers)
        fail_unsupported(config, "decoder_layers", "the cache of this class has as many layers as the encoder, too few");
    for (const std::int64_t heads : {s.encoder.num_attention_heads, s.num_attention_heads})
        if (s.hidden_size % heads != 0) fail_value(config, "d_model", "a multiple of the number of attention heads");
    if (s.head == head_kind::question_answering) s.num_labels = 2;
}

}  // namespace llmcost
