// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/reading/experts.hpp>

namespace llmcost::arch {

namespace hunyuan_v1_moe_detail {

/// Queries and keys are normed behind their rotation.
constexpr value attend(const site& here, trace& t, const value& x) {
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    heads_first(of);
    turn(here, t, of);
    norm_queries_and_keys(here, t, of, here.dims.head_dim, here.dims.head_dim);
    remember(here, t, of);
    return join(here, t, look_up(here, t, of));
}

/// Weights of the k experts whose softmax is largest, normed to one, by a linear layer of its own in float32.
struct gate {
    site here;

    static constexpr role what = role::router;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Gate"); }
    constexpr value describe(trace& t, const value& x, std::int64_t k) const {
        const value tokens = t.to(t.reshape(x, {-1, x.dim(-1)}), dtype::float32);
        const value logits = t.call("wg", linear{x.dim(-1), here.dims.moe.num_experts}, tokens);
        value weights = t.top_k(t.softmax(logits), k);
        t.in_place(op::div, weights, t.sum(weights, -1, true));
        return weights;
    }
};

/// Routed experts, and a block that all tokens meet; a layer's word is how many experts a token picks there.
struct mixture {
    site here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Moe"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, n = here.dims.moe.num_experts;
        const value beside = call_mlp(here, t, "shared_mlp", here.dims.intermediate_size, x);
        const value tokens = x.view({-1, width});
        const value weights = t.call("gate", gate{here}, tokens, here.kind.own);
        const routed_rows all{width,         here.dims.intermediate_size, n,
                              here.kind.own, here.dims.hidden_act,        here.type("Experts")};
        const value routed = t.call("experts", experts<expert_kind::gated>{all}, tokens, weights);
        return t.add(t.reshape(routed, {x.dim(0), x.dim(1), width}), beside);
    }
};

constexpr value feed(const site& here, trace& t, const value& x) { return t.call("mlp", mixture{here}, x); }

/// How many experts a token picks: one number, or one per layer.
constexpr void read_picks(config_view config, sizes& s, mixer_kind mixer) {
    const literal key = config.contains("num_experts_per_tok") ? "num_experts_per_tok" : "moe_topk";
    const auto given = config.find(key);
    const bool listed = given && given->is_array();
    if (listed && static_cast<std::int64_t>(given->size()) < s.num_hidden_layers)
        fail_value(config, key, "a number, or a list of one per hidden layer");
    const auto picks = [&](std::int64_t i) {
        const std::int64_t k = listed  ? (*given)[static_cast<std::uint32_t>(i)].as_positive()
                               : given ? given->as_positive()
                                       : 1;
        if (k > s.moe.num_experts) fail_value(config, key, "at most the number of experts");
        if (k > 255) fail_unsupported(config, key, "no row describes so many experts for one token");
        return static_cast<std::uint8_t>(k);
    };
    s.moe.num_experts_per_tok = picks(0);
    plan_layers(config, s, [&](std::int64_t i) { return layer_kind{mixer, true, picks(i)}; });
}

/// What it calls dynamic with an `alpha` are frequencies that stay as they are (`compute_ntk_alpha_rope_parameters`).
constexpr void read(config_view config, sizes& s) {
    if (const auto given = config.find("head_dim"); !given || given->is_null())
        fail_missing(config, "head_dim", "a positive integer");
    if (s.frequencies >= frequency_rule::rescaled) {
        const auto alpha = detail::rope_parameters(config)->optional_real("alpha");
        if (alpha && *alpha != 0) s.frequencies = frequency_rule::kept;
    }
    s.moe.num_experts = config.positive(config.contains("num_local_experts") ? "num_local_experts" : "num_experts", 1);
    s.moe.intermediate_size = s.moe.shared_intermediate_size = s.intermediate_size;
    s.moe.norm_topk_prob = true;
    plan_one_mask(config, s);
    read_picks(config, s, s.layers[0].mixer);
}

}  // namespace hunyuan_v1_moe_detail

// transformers/models/hunyuan_v1_moe: norms of rotated queries and keys, experts in every layer
inline constexpr architecture hunyuan_v1_moe = [](architecture a) {
    a.heads = classifying_decoder_heads;
    a.model_type = "hunyuan_v1_moe", a.prefix = "HunYuanMoEV1", a.read = hunyuan_v1_moe_detail::read;
    a.attend = hunyuan_v1_moe_detail::attend, a.feed = hunyuan_v1_moe_detail::feed, a.kinds.own = 255;
    a.names.q_norm = "query_layernorm", a.names.k_norm = "key_layernorm", a.names.base_under_answers = "model";
    a.defaults.vocab_size = 290943;
    a.keys[0] = no_mlp_bias;
    return a;
}(llama);

}  // namespace llmcost::arch
