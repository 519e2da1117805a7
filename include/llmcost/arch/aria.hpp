// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

namespace aria_detail {

/// Experts whose weights are transposed, gated by SiLU whatever the configuration says.
struct experts : routed_rows {
    static constexpr bool leaf = false;
    constexpr value describe(trace& t, const value& x, const value& weights) const {
        const recorder::fused_guard fused{t, part(x.dim(0))};
        const value rows = picked(t, x), up = param(t, "gate_up_proj", {num_experts, width, 2 * inner}),
                    down = param(t, "down_proj", {num_experts, inner, width});
        const value half = t.matmul_operator(rows, t.select(up, 0)).slice(-1, inner);
        const value h = t.mul(t.call("act_fn", activation_module{act}, half), half);
        return summed(t, x, weights, t.matmul_operator(h, t.select(down, 0)));
    }
};

struct mixture {
    site here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MoELayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const sizes& dims = here.dims;
        const moe_sizes& m = dims.moe;
        const value tokens = x.view({-1, dims.hidden_size});
        const router_sizes r{dims.hidden_size, m.num_experts, m.num_experts_per_tok};
        const any_router picks{router_kind::top_k_softmax, r, here.type("TopKRouter")};
        const value weights = t.call("router", picks, tokens).second;
        const routed_rows all{dims.hidden_size,      m.intermediate_size, m.num_experts,
                              m.num_experts_per_tok, activation::silu,    {"Aria", "Experts"}};
        const value routed = t.call("experts", experts{all}, tokens, weights).view({x.dim(0), x.dim(1), dims.hidden_size});
        return t.add(routed, call_mlp(here, t, "shared_experts", m.shared_intermediate_size, x));
    }
};

constexpr value feed(const site& here, trace& t, const value& x) { return t.call("mlp", mixture{here}, x); }

constexpr void read(config_view config, sizes& s) {
    plan_one_mask(config, s);
    s.moe.num_experts = config.positive("moe_num_experts", s.moe.num_experts);
    s.moe.num_experts_per_tok = config.positive("moe_topk", s.moe.num_experts_per_tok);
    if (s.moe.num_experts_per_tok > s.moe.num_experts) fail_value(config, "moe_topk", "at most the number of experts");
    s.moe.intermediate_size = s.intermediate_size;
    s.moe.shared_intermediate_size =
        checked_width(config, "moe_num_shared_experts", config.positive("moe_num_shared_experts", 2), s.intermediate_size);
}

}  // namespace aria_detail

// transformers/models/aria, AriaTextModel: experts beside shared ones in every layer
inline constexpr architecture aria_text = [](architecture a) {
    a.heads = language_heads;
    a.model_type = "aria_text", a.prefix = "AriaText", a.read = aria_detail::read, a.feed = aria_detail::feed;
    a.names.mlp_prefix = "Aria", a.names.mlp_type = "SharedExpertsMLP";
    a.defaults.intermediate_size = 4096;
    a.defaults.moe = {.num_experts = 8, .num_experts_per_tok = 2};
    return a;
}(llama);

}  // namespace llmcost::arch
