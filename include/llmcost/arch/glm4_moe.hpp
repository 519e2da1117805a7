// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/reading/experts.hpp>
#include <llmcost/walks/further_tokens.hpp>

namespace llmcost::arch {

namespace glm4_moe_detail {

/// Where the configuration says so, queries and keys are normed per head.
constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t d = here.dims.head_dim;
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    if (here.dims.qk_norm) norm_queries_and_keys(here, t, of, d, d);
    heads_first(of);
    turn(here, t, of);
    remember(here, t, of);
    return join(here, t, look_up(here, t, of));
}

constexpr void read(config_view config, sizes& s) {
    read_grouped_experts(config, s, {.shared = 1});
    const std::int64_t dense = config.non_negative("first_k_dense_replace", 1);
    s.qk_norm = config.boolean("use_qk_norm", false);
    s.output_bias = false;
    s.rotary_dim = whole_pairs(s.head_dim, detail::read_partial_rotary_factor(config, 0.5));
    plan_one_mask(config, s);
    const mixer_kind mixer = s.layers[0].mixer;
    plan_layers(config, s, [&](std::int64_t i) { return layer_kind{mixer, i >= dense}; });
}

/// Experts in every layer.
constexpr void read_solar(config_view config, sizes& s) {
    read_grouped_experts(config, s, {.shared = 1});
    s.output_bias = false;
    s.rotary_dim = whole_pairs(s.head_dim, detail::read_partial_rotary_factor(config, 1.0));
    plan_one_mask(config, s);
    s.layers.set_all({s.layers[0].mixer, true});
}

}  // namespace glm4_moe_detail

// transformers/models/glm4_moe: DeepSeek V3's experts, half of each head rotated, norms of queries and keys on request
inline constexpr architecture glm4_moe = [](architecture a) {
    a.model_type = "glm4_moe", a.prefix = "Glm4Moe", a.read = glm4_moe_detail::read, a.heads = language_heads;
    a.attend = glm4_moe_detail::attend, a.joins_rotated = true, a.predict = predict_by_last_layer;
    a.router = router_kind::sigmoid_grouped, a.shared_experts = shared_expert_kind::added;
    a.names.moe_type = "MoE", a.names.router_type = "TopkRouter";
    a.keys[0] = no_mlp_bias;
    a.defaults.vocab_size = 151552, a.defaults.intermediate_size = 10944, a.defaults.num_hidden_layers = 46;
    a.defaults.num_attention_heads = 96, a.defaults.num_key_value_heads = 8, a.defaults.max_position_embeddings = 131072;
    a.defaults.moe = {.num_experts = 128, .num_experts_per_tok = 8, .intermediate_size = 1408, .norm_topk_prob = true};
    return a;
}(llama);

// transformers/models/solar_open: the same experts in every layer, heads rotated as Llama's
inline constexpr architecture solar_open = [](architecture a) {
    a.model_type = "solar_open", a.prefix = "SolarOpen", a.read = glm4_moe_detail::read_solar, a.attend = attend;
    a.joins_rotated = false, a.predict = nullptr;
    a.defaults.vocab_size = 196608, a.defaults.num_hidden_layers = 48, a.defaults.num_attention_heads = 64;
    a.defaults.head_dim = 128, a.defaults.moe.intermediate_size = 1280;
    return a;
}(glm4_moe);

}  // namespace llmcost::arch
