// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/minimax_m2.hpp>

namespace llmcost::arch {

namespace minimax_m3_detail {

/// Gate and up, clamped: (up + 1) · gate · σ(α gate); x (…, 2 · inner) -> (…, inner).
constexpr value gated(trace& t, const value& both) {
    const value half = both.slice(-1, both.dim(-1) / 2);
    const value gate = t.unary(op::compare, half), up = t.unary(op::clamp, half);
    const value glu = t.mul(gate, t.sigmoid(t.mul(gate)));
    return t.mul(t.add(up), glu);
}

struct dense_block {
    std::int64_t width;
    std::int64_t inner;
    class_name named;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x) const {
        const value both = t.call("gate_up_proj", linear{width, 2 * inner}, x);
        return t.call("down_proj", linear{inner, width}, gated(t, both));
    }
};

struct clamped_experts : routed_rows {
    static constexpr bool leaf = true;
    constexpr value describe(trace& t, const value& x, const value& weights) const {
        const recorder::fused_guard fused{t, part(x.dim(0))};
        const value rows = picked(t, x), up = param(t, "gate_up_proj", {num_experts, 2 * inner, width}),
                    down = param(t, "down_proj", {num_experts, width, inner});
        const value both = t.linear(rows, t.select(up, 0));
        return summed(t, x, weights, t.linear(gated(t, both), t.select(down, 0)));
    }
};

constexpr value mixture(const site& here, trace& t, const value& x) {
    const moe_sizes& m = here.dims.moe;
    const std::int64_t width = here.dims.hidden_size;
    const value tokens = x.view({-1, width});
    const dense_block shared{width, m.shared_intermediate_size, here.type(here.row.names.mlp_type)};
    const value beside = t.call("shared_experts", shared, tokens);
    const value weights = call_own_router(here, t, minimax_m2_detail::pick, tokens);
    const routed_rows all{width,
                          m.intermediate_size,
                          m.num_experts,
                          m.num_experts_per_tok,
                          activation::silu,
                          here.type(here.row.names.experts_type)};
    const value routed = t.mul(t.call("experts", clamped_experts{all}, tokens, weights));
    return t.add(routed, beside).view({x.dim(0), x.dim(1), width});
}

constexpr value feed(const site& here, trace& t, const value& x) {
    if (here.kind.experts) return t.call("mlp", mixture_module{here, mixture}, x);
    const dense_block block{here.dims.hidden_size, here.dims.intermediate_size, here.type(here.row.names.mlp_type)};
    return t.call("mlp", block, x);
}

/// Layers that see blocks of keys only are not described.
constexpr void check_layers(config_view config, std::int64_t layers) {
    if (const auto types = config.optional_array("layer_types")) {
        if (static_cast<std::int64_t>(types->size()) != layers)
            fail_value(config, "layer_types", "a list with one kind per hidden layer");
        for (const config_view word : *types)
            if (word.as_string() != "full_attention")
                fail_unsupported(config, "layer_types", "no layer describes one of these kinds");
    } else if (const auto sparse = config.optional_object("sparse_attention_config")) {
        if (const auto each = sparse->optional_array("sparse_attention_freq"))
            for (const config_view entry : *each)
                if (entry.as_integer() != 0)
                    fail_unsupported(*sparse, "sparse_attention_freq", "no layer describes attention to blocks of keys");
    }
}

constexpr void read(config_view config, sizes& s) {
    s.rotary_dim = whole_pairs(s.head_dim, detail::read_partial_rotary_factor(config, 1.0));
    read_experts(config, s, config.contains("num_experts") ? "num_experts" : "num_local_experts");
    read_balance(config, s);
    check_experts(config, s);
    s.moe.intermediate_size = s.intermediate_size;
    s.moe.shared_intermediate_size = config.positive("shared_intermediate_size", 3072);
    s.intermediate_size = config.positive("dense_intermediate_size", 12288);
    check_layers(config, s.num_hidden_layers);
    s.sliding_window = 0;
    const sparse_places listed(config, s, 0);
    const auto each = config.contains("mlp_layer_types") ? maybe<config_view>{} : config.optional_array("moe_layer_freq");
    if (each && static_cast<std::int64_t>(each->size()) < s.num_hidden_layers)
        fail_value(config, "moe_layer_freq", "a list with one number per hidden layer");
    plan_layers(config, s, [&](std::int64_t i) {
        const bool several = each ? (*each)[static_cast<std::uint32_t>(i)].as_integer() != 0 : listed.has(i);
        return layer_kind{mixer_kind::full_attention, several};
    });
}

}  // namespace minimax_m3_detail

// transformers/models/minimax_m3_vl: the text model; norms per head, clamped gates, a block beside the experts
inline constexpr architecture minimax_m3_vl_text = [](architecture a) {
    a.model_type = "minimax_m3_vl_text", a.prefix = "MiniMaxM3VL", a.read = minimax_m3_detail::read;
    a.feed = minimax_m3_detail::feed, a.norm = norm_kind::rms_plus_one, a.qk_norm = qk_norm_kind::per_head;
    a.names.model_type = "TextModel", a.names.mlp_type = "DenseMLP";
    a.keys[2] = {"sliding_window", "", key_rule::absent}, a.keys[3] = {"hidden_act", "", key_rule::absent};
    a.defaults.hidden_size = 6144, a.defaults.intermediate_size = 3072, a.defaults.num_hidden_layers = 60;
    a.defaults.num_attention_heads = 64, a.defaults.num_key_value_heads = 4;
    a.defaults.max_position_embeddings = 524288;
    a.defaults.moe.num_experts = 128, a.defaults.moe.num_experts_per_tok = 4;
    return a;
}(minimax_m2);

}  // namespace llmcost::arch
