// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/deepseek_v3.hpp>
#include <llmcost/config/latent_attention.hpp>

// GLM-4 MoE Lite. Derived from DeepSeek V3, with one dense layer before the layers with experts.
//
// Source: transformers/models/glm4_moe_lite

namespace llmcost::arch {

constexpr void parse_glm4_moe_lite(config_view json, model_config& config) {
    parse_latent_attention(json, config);
    // `attribute_map`: an alias of qk_rope_head_dim
    if (json.contains("head_dim") && json.positive("head_dim") != config.head_dim)
        throw_invalid_value(json, "head_dim", "the same as qk_rope_head_dim");
    config.rope_interleave = json.boolean("rope_interleave", true);
    parse_grouped_experts(json, config, {.shared = 1});
    set_layers(json, config,
               [&](std::int64_t i) { return layer_spec{.has_experts = is_sparse(json, config, i, i > 0)}; });
}

inline constexpr model_spec glm4_moe_lite = [](model_spec spec) {
    spec.model_type = "glm4_moe_lite";
    spec.class_prefix = "Glm4MoeLite";
    spec.parse_config = parse_glm4_moe_lite;
    spec.supported_heads = language_heads;
    spec.defaults.vocab_size = 154880;
    spec.defaults.hidden_size = 2048;
    spec.defaults.intermediate_size = 10240;
    spec.defaults.num_hidden_layers = 47;
    spec.defaults.num_attention_heads = 20;
    spec.defaults.num_key_value_heads = 20;
    spec.defaults.max_position_embeddings = 202752;
    spec.defaults.moe.num_experts = 64;
    spec.defaults.moe.num_experts_per_tok = 4;
    spec.defaults.moe.intermediate_size = 1536;
    spec.defaults.moe.n_group = spec.defaults.moe.topk_group = 1;
    spec.defaults.mla = {
        .q_lora_rank = 768, .kv_lora_rank = 512, .qk_nope_head_dim = 192, .qk_rope_head_dim = 64, .v_head_dim = 256};
    spec.defaults.moe.has_float32_correction = true;
    return spec;
}(deepseek_v3);

}  // namespace llmcost::arch
