// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2.hpp>
#include <llmcost/walks/further_tokens.hpp>

namespace llmcost::arch {

// modeling_mimo.py of XiaomiMiMo/MiMo-7B-Base: Qwen2
inline constexpr architecture mimo = [](architecture a) {
    a.model_type = "mimo", a.prefix = "MiMo", a.remote_code = true, a.heads = language_heads, a.drops = {};
    a.predict = predict_by_last_layer;
    return a;
}(qwen2);

}  // namespace llmcost::arch
