// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

// transformers/models/granite: constants on embeddings, residuals and logits
inline constexpr architecture granite = [](architecture a) {
    a.heads = language_heads;
    a.model_type = "granite", a.prefix = "Granite";
    a.embed = embed_words_scaled, a.residual = add_scaled_residual, a.finish = divide_logits;
    return a;
}(llama);

}  // namespace llmcost::arch
