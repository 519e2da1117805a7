// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen3_vl.hpp>

namespace llmcost::arch {

// transformers/models/cosmos3_omni: Qwen3-VL by another name; what generates is left out of the reference
inline constexpr model_spec cosmos3_omni = [](model_spec spec) {
    spec.model_type = "cosmos3_omni";
    spec.class_prefix = "Cosmos3Omni";
    return spec;
}(qwen3_vl);

}  // namespace llmcost::arch
