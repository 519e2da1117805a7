// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

// Granite. Derived from Llama, with multipliers for embeddings, residuals and logits.
//
// Source: transformers/models/granite
inline constexpr model_spec granite = [](model_spec spec) {
    spec.supported_heads = language_heads;
    spec.model_type = "granite";
    spec.class_prefix = "Granite";
    spec.embed_tokens = embed_tokens_scaled;
    spec.add_residual = add_scaled_residual;
    spec.process_logits = divide_logits_by_scale;
    return spec;
}(llama);

}  // namespace llmcost::arch
