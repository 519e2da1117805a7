// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2.hpp>
#include <llmcost/reading/experts.hpp>

namespace llmcost::arch {

constexpr void read_qwen3_moe(config_view config, sizes& s) {
    read_experts(config, s, config.contains("num_local_experts") ? "num_local_experts" : "num_experts");
    read_balance(config, s);
    const bool slides = config.boolean("use_sliding_window", false);
    if (!slides) s.sliding_window = 0;
    plan_one_mask(config, s, slides);
    const mixer_kind mixer = s.layers[0].mixer;
    const expert_places experts(config, s);
    plan_layers(config, s, [&](std::int64_t i) { return layer_kind{mixer, experts.has(i)}; });
}

// transformers/models/qwen3: norms of queries and keys per head
inline constexpr architecture qwen3 = [](architecture a) {
    a.model_type = "qwen3", a.prefix = "Qwen3", a.read = read_qwen_window, a.qk_norm = qk_norm_kind::per_head;
    a.defaults.head_dim = 128;
    return a;
}(qwen2);

// transformers/models/qwen3_moe: norms of queries and keys per head, no shared expert
inline constexpr architecture qwen3_moe = [](architecture a) {
    a.model_type = "qwen3_moe", a.prefix = "Qwen3Moe", a.read = read_qwen3_moe, a.qk_norm = qk_norm_kind::per_head;
    a.router = router_kind::softmax_top_k;
    a.defaults.vocab_size = 151936, a.defaults.hidden_size = 2048, a.defaults.intermediate_size = 6144;
    a.defaults.num_hidden_layers = 24, a.defaults.num_attention_heads = 32, a.defaults.num_key_value_heads = 4;
    a.defaults.max_position_embeddings = 32768, a.defaults.sliding_window = 4096, a.defaults.moe.num_experts = 128;
    a.defaults.moe.num_experts_per_tok = 8, a.defaults.moe.intermediate_size = 768;
    a.keys[0] = no_mlp_bias;
    return a;
}(llama);

}  // namespace llmcost::arch
