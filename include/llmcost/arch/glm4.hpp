// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/glm.hpp>

namespace llmcost::arch {

// GLM-4. Derived from GLM, with norms before and after each block.
//
// Source: transformers/models/glm4
inline constexpr model_spec glm4 = [](model_spec spec) {
    spec.model_type = "glm4";
    spec.class_prefix = "Glm4";
    spec.decoder_layer = sandwich_norm_layer;
    spec.names.post_attention_norm = "post_self_attn_layernorm";
    spec.names.post_mlp_norm = "post_mlp_layernorm";
    return spec;
}(glm);

}  // namespace llmcost::arch
