// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

namespace hunyuan_v1_dense_detail {

/// What it calls dynamic with an `alpha` are frequencies that stay as they are (`compute_ntk_alpha_rope_parameters`).
constexpr void parse_config(config_view json, model_config& config) {
    set_single_mask(json, config);
    if (const auto head_dim = json.find("head_dim"); !head_dim || head_dim->is_null())
        throw_missing_key(json, "head_dim", "a positive integer");
    if (config.rope_scaling == rope_scaling_kind::none || config.rope_scaling == rope_scaling_kind::longrope) return;
    const auto alpha = detail::rope_parameters(json)->optional_real("alpha");
    if (alpha && *alpha != 0) config.rope_scaling = rope_scaling_kind::none;
}

}  // namespace hunyuan_v1_dense_detail

// transformers/models/hunyuan_v1_dense: norms of rotated queries and keys
inline constexpr model_spec hunyuan_v1_dense = [](model_spec spec) {
    spec.supported_heads = classifying_decoder_heads;
    spec.model_type = "hunyuan_v1_dense";
    spec.class_prefix = "HunYuanDenseV1";
    spec.parse_config = hunyuan_v1_dense_detail::parse_config;
    spec.attention = attention_with_norm_after_rotary;
    spec.names.q_norm = "query_layernorm";
    spec.names.k_norm = "key_layernorm";
    spec.defaults.vocab_size = 290943;
    spec.config_keys.add("mlp_bias", key_rule::absent);
    return spec;
}(llama);

}  // namespace llmcost::arch
