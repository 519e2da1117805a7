// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/mistral.hpp>
#include <llmcost/reading/experts.hpp>

namespace llmcost::arch {

/// Mixtral names its experts `num_local_experts`; they are as wide as `intermediate_size`.
constexpr void read_mixtral(config_view config, sizes& s) {
    read_experts(config, s, config.contains("num_experts") ? "num_experts" : "num_local_experts");
    read_balance(config, s);
    s.moe.intermediate_size = s.intermediate_size;
    s.moe.norm_topk_prob = true;
    check_experts(config, s);
    plan_one_mask(config, s);
    s.layers.set_all({s.layers[0].mixer, true});
}

// transformers/models/mixtral: softmax over all experts, the best k normed to one
inline constexpr architecture mixtral = [](architecture a) {
    a.model_type = "mixtral", a.prefix = "Mixtral", a.read = read_mixtral, a.router = router_kind::softmax_top_k_float;
    a.defaults.sliding_window = 0;
    a.defaults.moe = {.num_experts = 8, .num_experts_per_tok = 2};
    a.drops = noisy_router_dropout;
    return a;
}(mistral);

}  // namespace llmcost::arch
