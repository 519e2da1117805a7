// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/xlm_roberta.hpp>

namespace llmcost::arch {

// transformers/models/camembert: XLM-RoBERTa under another type
inline constexpr model_spec camembert = [](model_spec spec) {
    spec.model_type = "camembert";
    spec.class_prefix = "Camembert";
    return spec;
}(xlm_roberta);

}  // namespace llmcost::arch
