// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/deepseek_v32.hpp>
#include <llmcost/forward/sparse_attention.hpp>

namespace llmcost::arch {

namespace glm_moe_dsa_detail {

constexpr void parse_config(config_view json, model_config& config) {
    sparse_attention::parse_indexed_attention(json, config);
    const std::int64_t dense = sparse_attention::parse_moe_config(json, config);
    if (!sparse_attention::has_indexer(json, config, 0))
        throw_invalid_value(json, "indexer_types", "a list whose first entry is \"full\"");
    set_layers(json, config, [&](std::int64_t i) {
        return layer_spec{.has_experts = is_sparse(json, config, i, i >= dense),
                          .family_tag = sparse_attention::has_indexer(json, config, i)
                                            ? std::uint8_t{0}
                                            : sparse_attention::shares_picks};
    });
}

}  // namespace glm_moe_dsa_detail

// GLM MoE DSA. Derived from DeepSeek V3.2, with interleaved RoPE in the indexers. Some layers reuse the selection of an
// earlier layer.
//
// Source: transformers/models/glm_moe_dsa
inline constexpr model_spec glm_moe_dsa = [](model_spec spec) {
    spec.model_type = "glm_moe_dsa";
    spec.class_prefix = "GlmMoeDsa";
    spec.parse_config = glm_moe_dsa_detail::parse_config;
    spec.family_keys = sparse_attention::glm_keys;
    spec.token_mixer = sparse_attention::token_mixer<rotary_style::interleaved_split>;
    spec.supported_layers.max_family_tag = sparse_attention::shares_picks;
    spec.defaults.vocab_size = 154880;
    spec.defaults.hidden_size = 6144;
    spec.defaults.intermediate_size = 12288;
    spec.defaults.num_hidden_layers = 78;
    spec.defaults.num_attention_heads = 64;
    spec.defaults.num_key_value_heads = 64;
    spec.defaults.max_position_embeddings = 202752;
    spec.defaults.moe.n_group = spec.defaults.moe.topk_group = 1;
    spec.defaults.mla.q_lora_rank = 2048;
    spec.defaults.mla.v_head_dim = 256;
    spec.defaults.mla.qk_nope_head_dim = 192;
    return spec;
}(deepseek_v32);

}  // namespace llmcost::arch
