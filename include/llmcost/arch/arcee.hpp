// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

// Arcee. Derived from Llama, with an MLP without a gate.
//
// Source: transformers/models/arcee

namespace llmcost::arch {

inline constexpr model_spec arcee = [](model_spec spec) {
    spec.model_type = "arcee";
    spec.class_prefix = "Arcee";
    spec.dense_mlp = mlp_kind::plain;
    spec.defaults.hidden_size = 2560;
    spec.defaults.intermediate_size = 18432;
    spec.defaults.max_position_embeddings = 4096;
    spec.defaults.hidden_act = activation::relu2;
    return spec;
}(llama);

}  // namespace llmcost::arch
