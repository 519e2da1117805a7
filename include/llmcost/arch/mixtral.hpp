// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/mistral.hpp>
#include <llmcost/config/experts.hpp>

namespace llmcost::arch {

/// Mixtral names its experts `num_local_experts`; they are as wide as `intermediate_size`.
constexpr void parse_mixtral(config_view json, model_config& config) {
    parse_experts(json, config, json.contains("num_experts") ? "num_experts" : "num_local_experts");
    parse_load_balancing(json, config);
    config.moe.intermediate_size = config.intermediate_size;
    config.moe.norm_topk_prob = true;
    validate_experts(json, config);
    set_single_mask(json, config);
    config.layers.fill({config.layers[0].token_mixer, true});
}

// transformers/models/mixtral: softmax over all experts, the best k normed to one
inline constexpr model_spec mixtral = [](model_spec spec) {
    spec.model_type = "mixtral";
    spec.class_prefix = "Mixtral";
    spec.parse_config = parse_mixtral;
    spec.router = router_kind::softmax_top_k_float;
    spec.defaults.sliding_window = 0;
    spec.defaults.moe = {.num_experts = 8, .num_experts_per_tok = 2};
    spec.dropout_keys = router_jitter_dropout;
    return spec;
}(mistral);

}  // namespace llmcost::arch
