// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2.hpp>
#include <llmcost/forward/multi_token_prediction.hpp>

namespace llmcost::arch {

// modeling_mimo.py of XiaomiMiMo/MiMo-7B-Base: Qwen2
inline constexpr model_spec mimo = [](model_spec spec) {
    spec.model_type = "mimo";
    spec.class_prefix = "MiMo";
    spec.is_remote_code = true;
    spec.supported_heads = language_heads;
    spec.dropout_keys = {};
    spec.multi_token_prediction = mtp_with_last_layer_spec;
    return spec;
}(qwen2);

}  // namespace llmcost::arch
