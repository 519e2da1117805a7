// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/deepseek.hpp>

namespace llmcost::arch {

// modeling_deepseek.py of moonshotai/Kimi-K2-Instruct: DeepSeek V3
inline constexpr architecture kimi_k2 = [](architecture a) {
    a.model_type = "kimi_k2", a.remote_code = true, a.drops = {};
    a.defaults.vocab_size = 163840, a.defaults.num_attention_heads = 64, a.defaults.num_key_value_heads = 64;
    a.defaults.moe.num_experts = 384, a.defaults.moe.n_group = 1, a.defaults.moe.topk_group = 1;
    return a;
}(deepseek_v3);

}  // namespace llmcost::arch
