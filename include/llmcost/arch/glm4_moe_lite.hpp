// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/deepseek.hpp>
#include <llmcost/reading/latent_attention.hpp>

namespace llmcost::arch {

constexpr void read_glm4_moe_lite(config_view config, sizes& s) {
    read_latent_attention(config, s);
    // `attribute_map`: another name of qk_rope_head_dim
    if (config.contains("head_dim") && config.positive("head_dim") != s.head_dim)
        fail_value(config, "head_dim", "the same as qk_rope_head_dim");
    s.rope_interleave = config.boolean("rope_interleave", true);
    read_grouped_experts(config, s, {.shared = 1});
    plan_layers(config, s, [&](std::int64_t i) { return layer_kind{.experts = is_sparse(config, s, i, i > 0)}; });
}

// transformers/models/glm4_moe_lite: DeepSeek V3's attention and experts behind one dense layer
inline constexpr architecture glm4_moe_lite = [](architecture a) {
    a.model_type = "glm4_moe_lite", a.prefix = "Glm4MoeLite", a.read = read_glm4_moe_lite, a.heads = language_heads;
    a.defaults.vocab_size = 154880, a.defaults.hidden_size = 2048, a.defaults.intermediate_size = 10240;
    a.defaults.num_hidden_layers = 47, a.defaults.num_attention_heads = 20, a.defaults.num_key_value_heads = 20;
    a.defaults.max_position_embeddings = 202752, a.defaults.moe.num_experts = 64;
    a.defaults.moe.num_experts_per_tok = 4, a.defaults.moe.intermediate_size = 1536;
    a.defaults.moe.n_group = a.defaults.moe.topk_group = 1;
    a.defaults.mla = {
        .q_lora_rank = 768, .kv_lora_rank = 512, .qk_nope_head_dim = 192, .qk_rope_head_dim = 64, .v_head_dim = 256};
    return a;
}(deepseek_v3);

}  // namespace llmcost::arch
