// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/reading/experts.hpp>
#include <llmcost/walks/further_tokens.hpp>

namespace llmcost::arch {

namespace hy_v3_detail {

enum own : std::uint8_t { sums_in_float };
inline constexpr own_key keys[]{{"enable_moe_fp32_combine", 1, own_value::boolean}};

constexpr two_values pick(const site& here, trace& t, const value& tokens) {
    const moe_sizes& m = here.dims.moe;
    const value weight = t.param("weight", {m.num_experts, here.dims.hidden_size});
    const value logits = t.linear(t.to(tokens, dtype::float32), t.to(weight, dtype::float32));
    const value best = pick_corrected(t, t.sigmoid(logits), trace::buffer({m.num_experts}), m.num_experts_per_tok);
    return {logits, t.mul(t.div(best, t.add(t.sum(best, -1, true))))};
}

constexpr value mixture(const site& here, trace& t, const value& x) {
    const value tokens = x.view({-1, here.dims.hidden_size});
    value routed = call_experts(here, t, tokens, call_own_router(here, t, pick, tokens));
    value beside = call_mlp(here, t, "shared_experts", here.dims.moe.shared_intermediate_size, tokens);
    if (here.dims.own[sums_in_float]) routed = t.to(routed, dtype::float32), beside = t.to(beside, dtype::float32);
    return t.to(t.add(routed, beside), x.type).view({x.dim(0), x.dim(1), here.dims.hidden_size});
}

constexpr value feed(const site& here, trace& t, const value& x) { return feed_by_mixture(here, t, mixture, x); }

/// One dense layer in front, unless `mlp_layer_types` says otherwise; no shared experts are one as wide as a dense block.
constexpr void read(config_view config, sizes& s) {
    read_experts(config, s, config.contains("num_local_experts") ? "num_local_experts" : "num_experts");
    check_experts(config, s);
    const std::int64_t shared = config.non_negative("num_shared_experts", 1);
    s.moe.shared_intermediate_size =
        shared == 0 ? s.intermediate_size : checked_width(config, "num_shared_experts", shared, s.moe.intermediate_size);
    plan_one_mask(config, s);
    const mixer_kind mixer = s.layers[0].mixer;
    const sparse_places experts(config, s, 1);
    plan_layers(config, s, [&](std::int64_t i) { return layer_kind{mixer, experts.has(i)}; });
}

}  // namespace hy_v3_detail

// transformers/models/hy_v3: norms of queries and keys behind the transposition, a router with sigmoids
inline constexpr architecture hy_v3 = [](architecture a) {
    a.model_type = "hy_v3", a.prefix = "HYV3", a.read = hy_v3_detail::read, a.own = hy_v3_detail::keys;
    a.heads = language_heads, a.qk_norm = qk_norm_kind::per_head_transposed, a.feed = hy_v3_detail::feed;
    a.names.moe_type = "MoE";
    a.predict = predict_by_last_layer;  // vllm/model_executor/models/hy_v3_mtp.py
    a.defaults.vocab_size = 120832, a.defaults.intermediate_size = 13312, a.defaults.num_hidden_layers = 80;
    a.defaults.num_attention_heads = 64, a.defaults.num_key_value_heads = 8, a.defaults.head_dim = 128;
    a.defaults.max_position_embeddings = 131072;
    a.defaults.moe = {.num_experts = 192, .num_experts_per_tok = 8, .intermediate_size = 1536};
    return a;
}(llama);

}  // namespace llmcost::arch
