// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

// transformers/models/arcee: a feed-forward block without a gate
inline constexpr architecture arcee = [](architecture a) {
    a.model_type = "arcee", a.prefix = "Arcee", a.feed_forward = mlp_kind::plain;
    a.defaults.hidden_size = 2560, a.defaults.intermediate_size = 18432, a.defaults.max_position_embeddings = 4096;
    a.defaults.hidden_act = activation::relu2;
    return a;
}(llama);

}  // namespace llmcost::arch
