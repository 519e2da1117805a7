// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/experts.hpp>

namespace llmcost::arch {

/// Parses the keys of routed and shared experts. The first layers are dense.
constexpr void parse_bailing_experts(config_view json, model_config& config) {
    parse_experts(json, config, "num_experts");
    const std::int64_t shared = json.non_negative("num_shared_experts", 0);
    config.moe.shared_intermediate_size =
        checked_size(json, "num_shared_experts", shared, config.moe.intermediate_size);
    const std::int64_t dense = json.non_negative("first_k_dense_replace", 0);
    set_single_mask(json, config);
    const token_mixer_kind mixer = config.layers[0].token_mixer;
    set_layers(json, config, [&](std::int64_t i) { return layer_spec{mixer, i >= dense}; });
    config.attention_bias = json.boolean("use_qkv_bias", false);
    config.output_bias = json.boolean("use_bias", false);
}

namespace bailing_moe_detail {

constexpr void parse_config(config_view json, model_config& config) {
    parse_bailing_experts(json, config);
    if (json.boolean("norm_head", false)) throw_unsupported(json, "norm_head", "a normalized head is not supported");
}

}  // namespace bailing_moe_detail

// Ling. Derived from Llama, with one projection for queries, keys and values, and experts.
//
// Source: modeling_bailing_moe.py of inclusionAI/Ling-lite
inline constexpr model_spec bailing_moe = [](model_spec spec) {
    spec.model_type = "bailing_moe";
    spec.class_prefix = "BailingMoe";
    spec.is_remote_code = true;
    spec.dropout_keys = {};
    spec.parse_config = bailing_moe_detail::parse_config;
    spec.attention = fused_qkv_attention;
    spec.supported_heads = language_heads;
    spec.router = router_kind::softmax_top_k;
    spec.shared_experts = shared_expert_kind::added;
    spec.names.embed_tokens = "word_embeddings";
    spec.names.attention = "attention";
    spec.names.q_proj = "query_key_value";
    spec.names.o_proj = "dense";
    spec.names.q_norm = "query_layernorm";
    spec.names.k_norm = "key_layernorm";
    spec.names.router_class = "Gate";
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.defaults.vocab_size = 30592;
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 4096;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.max_position_embeddings = 16384;
    spec.defaults.moe = {
        .num_experts = 16, .num_experts_per_tok = 2, .intermediate_size = 1024, .norm_topk_prob = true};
    return spec;
}(llama);

}  // namespace llmcost::arch
