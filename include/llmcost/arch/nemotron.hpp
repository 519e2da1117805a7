// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

constexpr void parse_nemotron(config_view json, model_config& config) {
    set_single_mask(json, config);
    if (const auto num_kv_heads = json.find("num_key_value_heads"); !num_kv_heads || num_kv_heads->is_null())
        throw_missing_key(json, "num_key_value_heads", "a positive integer");
    config.rotary_dim = round_rotary_dim(config.head_dim, detail::parse_partial_rotary_factor(json, 0.5));
}

// transformers/models/nemotron: layer norms of 1 + weight, half of each head rotated, no gate
inline constexpr model_spec nemotron = [](model_spec spec) {
    spec.model_type = "nemotron";
    spec.class_prefix = "Nemotron";
    spec.parse_config = parse_nemotron;
    spec.norm = norm_kind::layer_plus_one;
    spec.names.norm_class = "LayerNorm1P";
    spec.has_partial_rotary = true;
    spec.dense_mlp = mlp_kind::plain;
    spec.defaults.vocab_size = 256000;
    spec.defaults.hidden_size = 6144;
    spec.defaults.intermediate_size = 24576;
    spec.defaults.num_attention_heads = 48;
    spec.defaults.max_position_embeddings = 4096;
    spec.defaults.hidden_act = activation::relu2;
    return spec;
}(llama);

}  // namespace llmcost::arch
