// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/deepseek_v3.hpp>
#include <llmcost/config/latent_attention.hpp>
#include <llmcost/forward/sparse_attention.hpp>
#include <llmcost/layers/sparse_indexer.hpp>

namespace llmcost::arch {

namespace deepseek_v32_detail {

constexpr void parse_config(config_view json, model_config& config) {
    sparse_attention::parse_indexed_attention(json, config);
    const std::int64_t dense = sparse_attention::parse_moe_config(json, config);
    set_layers(json, config,
               [&](std::int64_t i) { return layer_spec{.has_experts = is_sparse(json, config, i, i >= dense)}; });
}

}  // namespace deepseek_v32_detail

// DeepSeek V3.2. Derived from DeepSeek V3, with sparse attention over tokens that an indexer selects.
//
// Source: transformers/models/deepseek_v32
inline constexpr model_spec deepseek_v32 = [](model_spec spec) {
    spec.model_type = "deepseek_v32";
    spec.class_prefix = "DeepseekV32";
    spec.supported_heads = language_heads;
    spec.parse_config = deepseek_v32_detail::parse_config;
    spec.family_keys = sparse_attention::family_keys;
    spec.token_mixer = sparse_attention::token_mixer<rotary_style::rotate_half>;
    spec.defaults.max_position_embeddings = 163840;
    spec.defaults.mla = {
        .q_lora_rank = 1536, .kv_lora_rank = 512, .qk_nope_head_dim = 128, .qk_rope_head_dim = 64, .v_head_dim = 128};
    spec.defaults.moe.has_float32_correction = true;
    return spec;
}(deepseek_v3);

}  // namespace llmcost::arch
