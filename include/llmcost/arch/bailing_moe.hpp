// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/reading/experts.hpp>
#include <llmcost/walks/further_tokens.hpp>

namespace llmcost::arch {

namespace bailing_moe_detail {

/// Experts behind the first dense layers, shared ones beside them.
constexpr void read_mixture(config_view config, sizes& s) {
    read_experts(config, s, "num_experts");
    const std::int64_t shared = config.non_negative("num_shared_experts", 0);
    s.moe.shared_intermediate_size = checked_width(config, "num_shared_experts", shared, s.moe.intermediate_size);
    const std::int64_t dense = config.non_negative("first_k_dense_replace", 0);
    plan_one_mask(config, s);
    const mixer_kind mixer = s.layers[0].mixer;
    plan_layers(config, s, [&](std::int64_t i) { return layer_kind{mixer, i >= dense}; });
    s.attention_bias = config.boolean("use_qkv_bias", false);
    s.output_bias = config.boolean("use_bias", false);
}

constexpr void read(config_view config, sizes& s) {
    read_mixture(config, s);
    if (config.boolean("norm_head", false)) fail_unsupported(config, "norm_head", "no row describes a head that is normed");
}

/// Sigmoid scores in groups, norms of queries and keys on request, a part of each head rotated.
constexpr void read_v2(config_view config, sizes& s) {
    read_mixture(config, s);
    s.moe.limits_groups = true, s.moe.norm_topk_prob = s.moe.num_experts_per_tok > 1;
    s.moe.n_group = config.positive("n_group", 8), s.moe.topk_group = config.positive("topk_group", 4);
    if (s.moe.num_experts % s.moe.n_group != 0) fail_value(config, "n_group", "a divisor of the number of experts");
    if (s.moe.topk_group > s.moe.n_group) fail_value(config, "topk_group", "at most n_group");
    s.qk_norm = config.boolean("use_qk_norm", true);
    s.rotary_dim = whole_pairs(s.head_dim, detail::read_partial_rotary_factor(config, 1.0));
}

constexpr value attend_normed(const site& here, trace& t, const value& x) {
    const std::int64_t d = here.dims.head_dim;
    qkv of = project_qkv_as_one(here, t, x);
    split_heads(here, of);
    heads_first(of);
    if (here.dims.qk_norm) norm_queries_and_keys(here, t, of, d, d);
    turn(here, t, of);
    remember(here, t, of);
    return join(here, t, look_up(here, t, of));
}

}  // namespace bailing_moe_detail

// modeling_bailing_moe.py of inclusionAI/Ling-lite: Llama, one projection for queries, keys and values, experts
inline constexpr architecture bailing_moe = [](architecture a) {
    a.model_type = "bailing_moe", a.prefix = "BailingMoe", a.remote_code = true, a.drops = {};
    a.read = bailing_moe_detail::read, a.attend = attend_from_one, a.heads = language_heads;
    a.router = router_kind::softmax_top_k, a.shared_experts = shared_expert_kind::added;
    a.names.embed_tokens = "word_embeddings", a.names.attention = "attention";
    a.names.q = "query_key_value", a.names.o = "dense";
    a.names.q_norm = "query_layernorm", a.names.k_norm = "key_layernorm", a.names.router_type = "Gate";
    a.keys[0] = no_attention_bias, a.keys[1] = no_mlp_bias;
    a.defaults.vocab_size = 30592, a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 4096;
    a.defaults.num_hidden_layers = 24, a.defaults.num_attention_heads = 16, a.defaults.max_position_embeddings = 16384;
    a.defaults.moe = {.num_experts = 16, .num_experts_per_tok = 2, .intermediate_size = 1024, .norm_topk_prob = true};
    return a;
}(llama);

// modeling_bailing_moe_v2.py of inclusionAI/Ling-mini-2.0: DeepSeek V3's router, norms of queries and keys
inline constexpr architecture bailing_moe_v2 = [](architecture a) {
    a.model_type = "bailing_moe_v2", a.prefix = "BailingMoeV2", a.read = bailing_moe_detail::read_v2;
    a.attend = bailing_moe_detail::attend_normed, a.joins_rotated = true, a.router = router_kind::sigmoid_grouped;
    a.predict = predict_by_last_layer;
    a.defaults.vocab_size = 157184, a.defaults.hidden_size = 2048, a.defaults.intermediate_size = 5120;
    a.defaults.num_hidden_layers = 20, a.defaults.num_key_value_heads = 4, a.defaults.max_position_embeddings = 32768;
    a.defaults.moe.num_experts = 256, a.defaults.moe.num_experts_per_tok = 8, a.defaults.moe.intermediate_size = 512;
    a.defaults.moe.norm_topk_prob = false;  // as `num_experts_per_tok` says
    return a;
}(bailing_moe);

}  // namespace llmcost::arch
