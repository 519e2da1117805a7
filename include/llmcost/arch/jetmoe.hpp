// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/reading/experts.hpp>

namespace llmcost::arch {

namespace jetmoe_detail {

/// A projection per expert of the rows that are sorted by experts: the output of each, then all of them joined.
struct parallel_experts {
    site here;
    std::int64_t in, out;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("ParallelExperts"); }
    constexpr value describe(trace& t, const value& rows) const {
        const moe_sizes& m = here.dims.moe;
        const value weight = t.param("weight", {m.num_experts, out, in}, m.num_experts_per_tok, m.num_experts);
        return t.cat({t.linear(rows, t.select_each(weight, 0, m.num_experts))}, 0);
    }
};

/// The largest k logits in float32, softmax over those; weights of the sorted rows.
struct gating {
    site here;

    static constexpr role what = role::router;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("TopKGating"); }
    constexpr value describe(trace& t, const value& tokens) const {
        const moe_sizes& m = here.dims.moe;
        const value raw = t.call("layer", linear{here.dims.hidden_size, m.num_experts}, tokens);
        const value weights = t.to(t.softmax_method(t.top_k(t.to(raw, dtype::float32), m.num_experts_per_tok)), tokens.type);
        for (int twice = 0; twice < 2; ++twice)  // zeros, and a copy with ones where an expert is picked, to be counted
            (void)t.constant({tokens.dim(0), m.num_experts}, tokens.type);
        return t.gather(weights.view({-1}), {tokens.dim(0) * m.num_experts_per_tok});
    }
};

/// Rows added up where they came from, in a tensor beside the zeros: (places, width).
constexpr value scattered(trace& t, const value& rows, std::int64_t places) {
    (void)t.constant({places, rows.dim(1)}, rows.type);
    value sum = t.constant({places, rows.dim(1)}, rows.type);
    t.index_add(sum, rows);
    return sum;
}

struct mixture {
    site here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MoE"); }
    constexpr value describe(trace& t, const value& x) const {
        const moe_sizes& m = here.dims.moe;
        const std::int64_t width = here.dims.hidden_size, inner = m.intermediate_size;
        const value bias = t.param("bias", {width}), tokens = t.reshape(x, {-1, width});
        const value weights = t.call("router", gating{here}, tokens);
        const value rows = t.gather(tokens, {weights.dim(0), width});
        const value half = t.call("input_linear", parallel_experts{here, width, 2 * inner}, rows).slice(-1, inner);
        const value h = t.mul(t.call("activation", activation_module{here.dims.hidden_act}, half), half);
        const value out = t.call("output_linear", parallel_experts{here, inner, width}, h);
        const value sum = scattered(t, t.mul(out, weights.unsqueeze(-1)), tokens.dim(0));
        return t.add(sum.view({x.dim(0), x.dim(1), width}), bias);
    }
};
constexpr value feed(const site& here, trace& t, const value& x) { return t.call("mlp", mixture{here}, x); }

/// Queries and outputs by experts, keys and values by one projection that the heads of all experts share.
///
/// The module `experts` is never called itself: its children are, and what lies between them is the attention's.
constexpr value attend(const site& here, trace& t, const value& x) {
    const moe_sizes& m = here.dims.moe;
    const std::int64_t batch = x.dim(0), sequence = x.dim(1), width = here.dims.hidden_size, k = m.num_experts_per_tok;
    const std::int64_t wide = here.dims.num_key_value_heads * here.dims.head_dim;
    const module_info experts{.name = "experts", .type = here.type("MoA")};
    const value tokens = t.reshape(x, {-1, width});
    t.enter(experts);
    const value bias = t.param("bias", {width}), weights = t.call("router", gating{here}, tokens);
    t.leave(experts);
    const value rows = t.gather(tokens, {weights.dim(0), width});
    t.enter(experts);
    const value found = t.call("input_linear", parallel_experts{here, width, wide}, rows);
    t.leave(experts);
    qkv of;
    of.q = scattered(t, found, weights.dim(0)).view({batch, sequence, k * wide});
    of.k = of.v = t.call("kv_proj", linear{width, 2 * wide}, x).slice(-1, wide);
    split_heads(here, of);
    heads_first(of);
    turn(here, t, of);
    remember(here, t, of);
    const auto repeated = [&](const value& v) {
        const extents all{k, v.dim(0), v.dim(1), v.dim(2), v.dim(3)};
        return t.copy(v.expand(all)).permute({1, 0, 2, 3, 4});
    };
    const auto joined = [&](const value& v) {
        value out = repeated(v);
        out = trace::contiguous_like(out);  // `Tensor.repeat` writes them in this order
        return out.view({v.dim(0), k * v.dim(1), v.dim(2), v.dim(3)});
    };
    of.k = joined(of.k), of.v = joined(of.v);
    const value seen = t.reshape(eager_attention(t, of.q, of.k, of.v, here.shared->where, {.mask = &here.shared->mask}),
                                 {batch * sequence * k, wide});
    const value sorted = t.gather(seen, {weights.dim(0), wide});
    t.enter(experts);
    const value out = t.call("output_linear", parallel_experts{here, wide, width}, sorted);
    t.leave(experts);
    const value sum = scattered(t, t.mul(out, weights.unsqueeze(-1)), tokens.dim(0));
    return t.add(sum.view({batch, sequence, width}), bias);
}

/// Three logits of each layer are asked how evenly they pick: of both routers, and what attention hands on.
constexpr value finish(const site& here, trace& t, const value& logits) {
    const recorder::off_loss_guard unread{t};
    const std::int64_t tokens = t.load().batch * t.load().sequence;
    if (here.dims.own[0]) weigh_balance(t, 3 * here.dims.num_hidden_layers, tokens, here.dims.moe, dtype::float32);
    return logits;
}

inline constexpr own_key keys[]{
    {"output_router_logits", 0, own_value::boolean},
};

constexpr void read(config_view config, sizes& s) {
    read_experts(config, s, "num_local_experts");
    check_experts(config, s);
    s.moe.intermediate_size = s.intermediate_size;
    s.num_attention_heads = checked_width(config, "num_experts_per_tok", s.num_key_value_heads, s.moe.num_experts_per_tok);
    s.rotary_dim = s.head_dim;
    s.attention_bias = s.output_bias = false;
    plan_one_mask(config, s);
    s.layers.set_all({s.layers[0].mixer, true});
}

}  // namespace jetmoe_detail

// transformers/models/jetmoe: configuration_jetmoe.py, modeling_jetmoe.py; experts for queries and outputs of attention, too
inline constexpr architecture jetmoe = [](architecture a) {
    a.model_type = "jetmoe", a.prefix = "JetMoe", a.heads = classifying_decoder_heads;
    a.read = jetmoe_detail::read, a.own = jetmoe_detail::keys, a.attend = jetmoe_detail::attend;
    a.feed = jetmoe_detail::feed, a.finish = jetmoe_detail::finish, a.names.attention = "self_attention";
    a.keys[0] = no_attention_bias, a.keys[1] = no_mlp_bias;
    a.keys[2] = {"head_dim", "kv_channels"};
    a.keys[3] = {"hidden_act", "activation_function", key_rule::written_only};
    a.keys[4] = {"num_attention_heads", "num_key_value_heads", key_rule::written_only};  // times the experts per token
    a.defaults = sizes{.vocab_size = 32000,
                       .hidden_size = 2048,
                       .intermediate_size = 5632,
                       .num_hidden_layers = 12,
                       .num_attention_heads = 16,
                       .num_key_value_heads = 16,
                       .head_dim = 128,
                       .max_position_embeddings = 4096,
                       .tie_word_embeddings = true,
                       .moe = {.num_experts = 8, .num_experts_per_tok = 2}};
    return a;
}(llama);

}  // namespace llmcost::arch
