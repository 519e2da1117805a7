// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

// modeling_yi.py of the first files of 01-ai/Yi-6B: Llama with other names of norms
inline constexpr architecture yi = [](architecture a) {
    a.model_type = "Yi", a.prefix = "Yi", a.remote_code = true, a.heads = classifying_decoder_heads, a.drops = {};
    a.names.norm_before_attention = "ln1", a.names.norm_before_feed_forward = "ln2";
    a.keys[0] = no_attention_bias, a.keys[1] = no_mlp_bias;
    a.defaults.vocab_size = 64000, a.defaults.num_key_value_heads = 4, a.defaults.max_position_embeddings = 4096;
    return a;
}(llama);

}  // namespace llmcost::arch
