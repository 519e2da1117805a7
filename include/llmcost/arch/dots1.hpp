// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/reading/experts.hpp>

namespace llmcost::arch {

/// Windows from `max_window_layers` on, wherever the file has one; experts behind the dense layers.
constexpr void read_dots1(config_view config, sizes& s) {
    const std::int64_t dense = config.non_negative("first_k_dense_replace", 0);
    if (dense < s.num_hidden_layers) read_grouped_experts(config, s, {});
    const std::int64_t first = config.non_negative("max_window_layers", 62);
    const bool listed = read_layer_types(config, s);
    const layer_plan given = s.layers;
    plan_layers(config, s, [&](std::int64_t i) {
        const bool slides = s.sliding_window > 0 && i >= first;
        const mixer_kind by_rule = slides ? mixer_kind::sliding_attention : mixer_kind::full_attention;
        return layer_kind{listed ? given[i].mixer : by_rule, i >= dense};
    });
}

// transformers/models/dots1: Qwen3's attention with DeepSeek V3's experts
inline constexpr architecture dots1 = [](architecture a) {
    a.model_type = "dots1", a.prefix = "Dots1", a.read = read_dots1, a.heads = language_heads;
    a.qk_norm = qk_norm_kind::per_head, a.masks = mask_rule::present;
    a.router = router_kind::sigmoid_grouped, a.shared_experts = shared_expert_kind::added;
    a.names.moe_type = "MoE", a.names.router_type = "TopkRouter";
    a.keys[0] = no_mlp_bias;
    a.defaults.vocab_size = 152064, a.defaults.hidden_size = 4608, a.defaults.intermediate_size = 10944;
    a.defaults.num_hidden_layers = 62, a.defaults.num_key_value_heads = 32, a.defaults.sliding_window = 4096;
    a.defaults.moe.intermediate_size = 1408;
    return a;
}(llama);

}  // namespace llmcost::arch
