// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen3_vl.hpp>

// Cosmos 3 Omni. Qwen3-VL under another model type. The reference omits the generation modules.
//
// Source: transformers/models/cosmos3_omni

namespace llmcost::arch {

inline constexpr model_spec cosmos3_omni = [](model_spec spec) {
    spec.model_type = "cosmos3_omni";
    spec.class_prefix = "Cosmos3Omni";
    return spec;
}(qwen3_vl);

}  // namespace llmcost::arch
