// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

// modeling_aquila.py of BAAI/Aquila-7B: Llama's layers under another type
inline constexpr architecture aquila = [](architecture a) {
    a.model_type = "aquila", a.prefix = "Aquila", a.remote_code = true, a.heads = classifying_decoder_heads, a.drops = {};
    a.keys[0] = no_attention_bias, a.keys[1] = no_mlp_bias;
    a.defaults.vocab_size = 100008;
    return a;
}(llama);

}  // namespace llmcost::arch
