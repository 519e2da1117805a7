// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/deepseek.hpp>

namespace llmcost::arch {

namespace beam_detail {

enum own : std::uint8_t { full_rotates, sliding_rotates, caps_logits };
inline constexpr own_key keys[]{
    {.value = own_value::computed},
    {.otherwise = 1, .value = own_value::computed},
    {.otherwise = 1, .value = own_value::computed},
};

constexpr bool rotates(const site& here) {
    const bool slides = here.kind.mixer == mixer_kind::sliding_attention;
    return here.dims.own[slides ? sliding_rotates : full_rotates] != 0;
}

/// act(gate) · up in float32.
constexpr value gated(const site& here, trace& t, const value& gate, const value& up) {
    const value h = t.call("act_fn", activation_module{here.dims.hidden_act}, t.to(gate, dtype::float32));
    return t.to(t.mul(h, t.to(up, dtype::float32)), gate.type);
}

struct dense_block {
    site here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MLP"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
        const value gate = t.call("gate_proj", linear{width, inner}, x), up = t.call("up_proj", linear{width, inner}, x);
        return t.call("down_proj", linear{inner, width}, gated(here, t, gate, up));
    }
};

struct experts : routed_rows {
    site here;

    static constexpr bool leaf = false;
    constexpr value describe(trace& t, const value& x, const value& weights) const {
        const recorder::fused_guard fused{t, part(x.dim(0))};
        const value rows = picked(t, x), up = param(t, "gate_up_proj", {num_experts, 2 * inner, width}),
                    down = param(t, "down_proj", {num_experts, width, inner});
        const value half = t.linear(rows, t.select(up, 0)).slice(-1, inner);
        return summed(t, x, weights, t.linear(gated(here, t, half, half), t.select(down, 0)));
    }
};

/// DeepSeek V3's router but for the constant, which the experts' sum is multiplied by.
struct router {
    site here;

    static constexpr role what = role::router;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("TopKRouter"); }
    constexpr two_values describe(trace& t, const value& tokens) const {
        const moe_sizes& m = here.dims.moe;
        const value weight = t.param("weight", {m.num_experts, here.dims.hidden_size});
        const value logits = t.linear(t.to(tokens, dtype::float32), t.to(weight, dtype::float32));
        const value scores = t.sigmoid(logits);
        const router_sizes r{here.dims.hidden_size, m.num_experts, m.num_experts_per_tok, m.n_group, m.topk_group, true};
        any_router{router_kind::sigmoid_grouped, r, type()}.pick(t, scores);
        value weights = t.gather(scores, {tokens.dim(0), m.num_experts_per_tok});
        if (m.norm_topk_prob) t.in_place(op::div, weights, t.add(t.sum(weights, -1, true)));
        return {logits, weights};
    }
};

struct mixture {
    site here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MoE"); }
    constexpr value describe(trace& t, const value& x) const {
        const moe_sizes& m = here.dims.moe;
        const std::int64_t width = here.dims.hidden_size;
        const value tokens = x.view({-1, width});
        const value weights = t.call("gate", router{here}, tokens).second;
        const routed_rows all{
            width, m.intermediate_size, m.num_experts, m.num_experts_per_tok, here.dims.hidden_act, here.type("Experts")};
        const value out = t.mul(t.call("experts", experts{all, here}, tokens, weights));
        return t.reshape(out, {x.dim(0), x.dim(1), width});
    }
};

constexpr value feed(const site& here, trace& t, const value& x) {
    return here.kind.experts ? t.call("mlp", mixture{here}, x) : t.call("mlp", dense_block{here}, x);
}

/// Rotated queries, or ones scaled by where their tokens stand; what is found times the sigmoid of a gate.
constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t heads = here.dims.num_attention_heads, d = here.dims.head_dim;
    const value bias = t.param("gate_bias", {heads});
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    norm_queries_and_keys(here, t, of, d, d);
    heads_first(of);
    if (rotates(here))
        turn(here, t, of);
    else
        of.q = t.to(t.mul(t.to(of.q, dtype::float32), here.shared->own[0]), of.q.type);
    remember(here, t, of);
    const value found = eager_attention(t, of.q, of.k, of.v, here.shared->where, {.mask = &here.shared->mask});
    const value scores =
        t.call("gate_proj", linear{here.dims.hidden_size, heads * d}, x).view({x.dim(0), x.dim(1), heads, d});
    const value gate = t.sigmoid(t.add(scores, bias.view({1, 1, heads, 1})));
    return join(here, t, t.contiguous(t.reshape(t.mul(found, gate), {x.dim(0), x.dim(1), -1})));
}

/// exp(0.1 · log(1 + (position + 1) / 2048)), (1, 1, sequence, 1).
constexpr value scale_of_queries(trace& t) {
    const value steps = t.div(t.add(t.constant({1, t.load().sequence})));
    return t.exp(t.mul(t.unary(op::log1p, steps))).view({1, 1, t.load().sequence, 1});
}

/// Masks, and rotary tables or scales, of the kinds of layers that there are.
constexpr decoder_context prepare(const site& here, trace& t) {
    decoder_context c = masks(here, t);
    bool turns = false;
    const auto make = [&](mixer_kind kind, shared_values& into, bool rotated) {
        if (!here.dims.layers.has(kind, here.dims.num_hidden_layers)) return;
        turns = turns || rotated;
        if (rotated)
            make_rotary_tables(here, t, into);
        else
            into.own[0] = scale_of_queries(t);
    };
    make(mixer_kind::full_attention, c.full, here.dims.own[full_rotates] != 0);
    make(mixer_kind::sliding_attention, c.sliding, here.dims.own[sliding_rotates] != 0);
    const recorder::idle_guard not_called{t};
    if (!turns) make_rotary_tables(here, t, c.full);
    return c;
}

/// Depth scales what a block gives out and what goes around it.
constexpr value residual(const site&, trace& t, const value& around, const value& through) {
    return t.add(t.mul(through), t.mul(around));
}

constexpr value finish(const site& here, trace& t, const value& logits) {
    return here.dims.own[caps_logits] != 0 ? t.mul(t.tanh(t.div(t.to(logits, dtype::float32)))) : logits;
}

/// Every sixth layer and the last are full and rotate nothing; the first three have no experts.
constexpr void read(config_view config, sizes& s) {
    read_experts(config, s, "num_experts");
    check_experts(config, s);
    s.moe.n_group = config.positive("n_group", s.moe.n_group);
    s.moe.topk_group = config.positive("topk_group", s.moe.topk_group);
    check_groups(config, s);
    if (s.moe.num_experts / s.moe.n_group < 2) fail_value(config, "n_group", "at most half as many groups as experts");
    const bool listed = read_layer_types(config, s);
    const layer_plan given = s.layers;
    const sparse_places sparse(config, s, 3);
    plan_layers(config, s, [&](std::int64_t i) {
        const bool full = (i + 1) % 6 == 0 || i == s.num_hidden_layers - 1;
        const mixer_kind by_rule = full ? mixer_kind::full_attention : mixer_kind::sliding_attention;
        return layer_kind{listed ? given[i].mixer : by_rule, sparse.has(i)};
    });
    const auto turns = [&](mixer_kind kind, literal key, bool otherwise) {
        return s.layers.has(kind, s.num_hidden_layers) && rotates_layers(config, key, otherwise);
    };
    s.own[full_rotates] = turns(mixer_kind::full_attention, "full_attention", false);
    s.own[sliding_rotates] = turns(mixer_kind::sliding_attention, "sliding_attention", true);
    const literal cap = "final_logit_softcapping";
    s.own[caps_logits] = !config.contains(cap) || config.optional_real(cap).has_value();
}

}  // namespace beam_detail

// transformers/models/beam: gates on what attention finds, scales by depth and by position, all in float32
inline constexpr architecture beam = [](architecture a) {
    a.heads = language_heads;
    a.model_type = "beam", a.prefix = "Beam", a.read = beam_detail::read, a.own = beam_detail::keys;
    a.prepare = beam_detail::prepare, a.attend = beam_detail::attend, a.feed = beam_detail::feed;
    a.layer = layer_normed_around, a.residual = beam_detail::residual, a.finish = beam_detail::finish;
    a.norm = norm_kind::rms_cast_last, a.rotated = rotation::half_in_float, a.masks = mask_rule::present;
    a.names.norm_before_feed_forward = "pre_feedforward_layernorm";
    a.defaults.vocab_size = 151936, a.defaults.hidden_size = 5120, a.defaults.intermediate_size = 20480;
    a.defaults.num_hidden_layers = 52, a.defaults.num_attention_heads = 48, a.defaults.num_key_value_heads = 8;
    a.defaults.head_dim = 128, a.defaults.max_position_embeddings = 8192, a.defaults.sliding_window = 512;
    a.defaults.moe = {.num_experts = 256,
                      .num_experts_per_tok = 8,
                      .intermediate_size = 2560,
                      .n_group = 8,
                      .topk_group = 4,
                      .norm_topk_prob = true,
                      .limits_groups = true};
    a.names.norm_after_attention = "post_attention_layernorm";
    a.keys[0] = no_mlp_bias;
    return a;
}(llama);

}  // namespace llmcost::arch
