// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/glm4v.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost::arch {

// GLM-4.6V. The text configuration determines the class of the text model.
//
// Source: transformers/models/glm46v
inline constexpr model_spec glm46v = [](model_spec spec) {
    spec.model_type = "glm46v";
    spec.class_prefix = "Glm46V";
    spec.text_model.ignores_model_type = spec.text_model.ties_embeddings = spec.components[0].ignores_model_type =
        false;
    return spec;
}(glm4v);

}  // namespace llmcost::arch
