// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/reading/experts.hpp>

namespace llmcost::arch {

namespace exaone_moe_detail {

/// Layers that see everything know no positions where others have windows.
constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t d = here.dims.head_dim;
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    heads_first(of);
    norm_queries_and_keys(here, t, of, d, d);
    if (here.dims.sliding_window == 0 || here.kind.mixer == mixer_kind::sliding_attention) turn(here, t, of);
    remember(here, t, of);
    return join(here, t, look_up(here, t, of));
}

/// Every so many-th layer sees everything, unless `layer_types` says otherwise.
constexpr void read(config_view config, sizes& s) {
    read_grouped_experts(
        config, s, {.number = "num_experts", .number_too = "num_experts", .shared_key = "num_shared_experts", .shared = 1});
    const std::int64_t dense = config.non_negative("first_k_dense_replace", 1);
    const bool listed = read_layer_types(config, s);
    const layer_plan given = s.layers;
    const sparse_places experts(config, s, dense);
    const std::int64_t period = listed ? 1 : config.positive("sliding_window_pattern", 4);
    plan_layers(config, s, [&](std::int64_t i) {
        const bool slides = (i + 1) % period != 0;
        const mixer_kind by_rule = slides ? mixer_kind::sliding_attention : mixer_kind::full_attention;
        return layer_kind{listed ? given[i].mixer : by_rule, experts.has(i)};
    });
}

}  // namespace exaone_moe_detail

// transformers/models/exaone_moe: positions in layers with windows alone, DeepSeek V3's experts
inline constexpr architecture exaone_moe = [](architecture a) {
    a.model_type = "exaone_moe", a.prefix = "ExaoneMoe", a.read = exaone_moe_detail::read, a.masks = mask_rule::present,
    a.heads = language_heads;
    a.attend = exaone_moe_detail::attend;
    a.router = router_kind::sigmoid_grouped, a.shared_experts = shared_expert_kind::added;
    a.names.moe_type = "SparseMoEBlock", a.names.router_type = "TopkRouter";
    a.keys[0] = no_mlp_bias, a.keys[1] = no_attention_bias;
    a.defaults.vocab_size = 102400, a.defaults.intermediate_size = 16384, a.defaults.num_key_value_heads = 32;
    a.defaults.sliding_window = 4096;
    a.defaults.moe = {.num_experts = 64, .num_experts_per_tok = 8, .intermediate_size = 1024, .norm_topk_prob = true};
    return a;
}(llama);

}  // namespace llmcost::arch
