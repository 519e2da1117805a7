// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/olmo.hpp>
#include <llmcost/reading/experts.hpp>

namespace llmcost::arch {

constexpr void read_flex_olmo(config_view config, sizes& s) {
    read_experts(config, s, config.contains("num_local_experts") ? "num_local_experts" : "num_experts");
    read_balance(config, s);
    check_experts(config, s);
    s.moe.intermediate_size = s.intermediate_size;
    plan_one_mask(config, s);
    s.layers.set_all({s.layers[0].mixer, true});
}

// transformers/models/flex_olmo: OLMo 2 with OLMoE's experts
inline constexpr architecture flex_olmo = [](architecture a) {
    a.model_type = "flex_olmo", a.prefix = "FlexOlmo", a.read = read_flex_olmo, a.heads = language_heads;
    a.router = router_kind::softmax_top_k;
    a.defaults.vocab_size = 100352, a.defaults.max_position_embeddings = 4096;
    a.defaults.moe.num_experts = 7, a.defaults.moe.num_experts_per_tok = 5;
    return a;
}(olmo2);

}  // namespace llmcost::arch
