// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/deepseek_v3.hpp>

namespace llmcost::arch {

// modeling_deepseek.py of moonshotai/Kimi-K2-Instruct: DeepSeek V3
inline constexpr model_spec kimi_k2 = [](model_spec spec) {
    spec.model_type = "kimi_k2";
    spec.is_remote_code = true;
    spec.dropout_keys = {};
    spec.defaults.vocab_size = 163840;
    spec.defaults.num_attention_heads = 64;
    spec.defaults.num_key_value_heads = 64;
    spec.defaults.moe.num_experts = 384;
    spec.defaults.moe.n_group = 1;
    spec.defaults.moe.topk_group = 1;
    return spec;
}(deepseek_v3);

}  // namespace llmcost::arch
