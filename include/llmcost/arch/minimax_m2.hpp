// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/experts.hpp>

namespace llmcost::arch {

namespace minimax_m2_detail {

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    return moe_or_dense_mlp(ctx, t, routed_experts_block<route_by_corrected_sigmoid>, x);
}

/// Old files write the rotated part of a head as `rotary_dim` elements.
constexpr void parse_config(config_view json, model_config& config) {
    const std::int64_t rotated = json.positive("rotary_dim", config.head_dim);
    if (rotated > config.head_dim) throw_invalid_value(json, "rotary_dim", "at most head_dim");
    const double part = static_cast<double>(rotated) / static_cast<double>(config.head_dim);
    config.rotary_dim = round_rotary_dim(config.head_dim, detail::parse_partial_rotary_factor(json, part));
    parse_experts(json, config, json.contains("num_experts") ? "num_experts" : "num_local_experts");
    parse_load_balancing(json, config);
    validate_experts(json, config);
    config.moe.intermediate_size = config.intermediate_size;
    set_single_mask(json, config);
    config.layers.fill({config.layers[0].token_mixer, true});
}

}  // namespace minimax_m2_detail

// transformers/models/minimax_m2: norms over all queries and keys, a part of each head rotated, a router with sigmoids
inline constexpr model_spec minimax_m2 = [](model_spec spec) {
    spec.model_type = "minimax_m2";
    spec.class_prefix = "MiniMaxM2";
    spec.parse_config = minimax_m2_detail::parse_config;
    spec.supported_heads = language_heads;
    spec.mlp = minimax_m2_detail::mlp;
    spec.qk_norm = qk_norm_kind::all_heads;
    spec.has_partial_rotary = true;
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.defaults.vocab_size = 200064;
    spec.defaults.hidden_size = 3072;
    spec.defaults.intermediate_size = 1536;
    spec.defaults.num_hidden_layers = 62;
    spec.defaults.num_attention_heads = 48;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.head_dim = 128;
    spec.defaults.max_position_embeddings = 196608;
    spec.defaults.moe.num_experts = 256;
    spec.defaults.moe.num_experts_per_tok = 8;
    spec.dropout_keys = router_jitter_dropout;
    return spec;
}(llama);

}  // namespace llmcost::arch
