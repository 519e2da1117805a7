// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/olmo2.hpp>
#include <llmcost/config/experts.hpp>

// FlexOlmo. Derived from OLMo 2, with OLMoE's experts.
//
// Source: transformers/models/flex_olmo

namespace llmcost::arch {

constexpr void parse_flex_olmo(config_view json, model_config& config) {
    parse_experts(json, config, json.contains("num_local_experts") ? "num_local_experts" : "num_experts");
    parse_load_balancing(json, config);
    validate_experts(json, config);
    config.moe.intermediate_size = config.intermediate_size;
    set_single_mask(json, config);
    config.layers.fill({config.layers[0].token_mixer, true});
}

inline constexpr model_spec flex_olmo = [](model_spec spec) {
    spec.model_type = "flex_olmo";
    spec.class_prefix = "FlexOlmo";
    spec.parse_config = parse_flex_olmo;
    spec.supported_heads = language_heads;
    spec.router = router_kind::softmax_top_k;
    spec.defaults.vocab_size = 100352;
    spec.defaults.max_position_embeddings = 4096;
    spec.defaults.moe.num_experts = 7;
    spec.defaults.moe.num_experts_per_tok = 5;
    return spec;
}(olmo2);

}  // namespace llmcost::arch
