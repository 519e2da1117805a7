// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2.hpp>

namespace llmcost::arch {

// transformers/models/qwen3: norms of queries and keys per head
inline constexpr model_spec qwen3 = [](model_spec spec) {
    spec.model_type = "qwen3";
    spec.class_prefix = "Qwen3";
    spec.parse_config = parse_qwen_window;
    spec.qk_norm = qk_norm_kind::per_head;
    spec.defaults.head_dim = 128;
    return spec;
}(qwen2);

}  // namespace llmcost::arch
