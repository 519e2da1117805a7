// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

// modeling_skywork.py of Skywork/Skywork-13B-base: Llama's layers under another type
inline constexpr architecture skywork = [](architecture a) {
    a.model_type = "skywork", a.prefix = "Skywork", a.remote_code = true, a.heads = classifying_decoder_heads, a.drops = {};
    a.keys[0] = no_attention_bias, a.keys[1] = no_mlp_bias;
    return a;
}(llama);

}  // namespace llmcost::arch
