// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen3_vl.hpp>

namespace llmcost::arch {

// transformers/models/cosmos3_omni: Qwen3-VL by another name; what generates is left out of the reference
inline constexpr architecture cosmos3_omni = [](architecture a) {
    a.model_type = "cosmos3_omni", a.prefix = "Cosmos3Omni";
    return a;
}(qwen3_vl);

}  // namespace llmcost::arch
