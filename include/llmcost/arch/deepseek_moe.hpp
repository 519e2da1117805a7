// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/deepseek.hpp>

namespace llmcost::arch {

/// Experts in every `moe_layer_freq`-th layer behind the first dense ones; none at all where a file names no number of them.
constexpr void read_deepseek_moe(config_view config, sizes& s) {
    plan_one_mask(config, s);
    const auto number = config.find("n_routed_experts");
    if (!number || number->is_null()) return;
    read_experts(config, s, "n_routed_experts");
    const auto shared = config.find("n_shared_experts");
    if (shared && !shared->is_null())
        s.moe.shared_intermediate_size =
            checked_width(config, "n_shared_experts", config.positive("n_shared_experts"), s.moe.intermediate_size);
    const std::int64_t dense = config.non_negative("first_k_dense_replace", 0), step = config.positive("moe_layer_freq", 1);
    const mixer_kind mixer = s.layers[0].mixer;
    plan_layers(config, s, [&](std::int64_t i) { return layer_kind{mixer, i >= dense && i % step == 0}; });
}

// modeling_deepseek.py of deepseek-ai/deepseek-moe-16b-base: Llama's attention, DeepSeek V2's experts by a plain softmax
inline constexpr architecture deepseek_moe = [](architecture a) {
    a.model_type = "deepseek", a.prefix = "Deepseek", a.remote_code = true, a.read = read_deepseek_moe, a.drops = {};
    a.heads = classifying_decoder_heads;
    a.router = router_kind::softmax_top_k, a.shared_experts = shared_expert_kind::added;
    a.names.moe_type = "MoE", a.names.router_type = "MoEGate";
    a.keys[0] = no_mlp_bias;
    a.defaults.vocab_size = 102400, a.defaults.moe.intermediate_size = 1407;
    return a;
}(llama);

}  // namespace llmcost::arch
