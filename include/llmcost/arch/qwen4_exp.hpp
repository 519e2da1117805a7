// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen3_5.hpp>
#include <llmcost/arch/qwen4_exp_words.hpp>

namespace llmcost::arch {

namespace qwen4_exp_detail {

/// What a block reads of all streams (B, S, streams · width), and how its output goes to each: (B, S, width), (B, S,
/// streams).
struct gated_residual {
    site here;
    bool injects = true;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("TextGatedResidual"); }
    constexpr two_values describe(trace& t, const value& all) const {
        const std::int64_t n = here.dims.own[streams], width = here.dims.hidden_size, rank = here.dims.own[mix_rank];
        const value normed = t.call("hc_norm", stream_norm{n, width, here.type("TextRMSNorm")}, all);
        const value low = t.silu(t.div(t.call("input_mix_weight_down", linear{n * width, rank}, normed)));
        const value weights = t.sigmoid(t.call("input_mix_weight_up", linear{rank, n * width}, low));
        const extents apart{all.dim(0), all.dim(1), n, width};
        const value mixed = t.mean(t.mul(weights.view(apart), normed.view(apart)), -2);
        if (!injects) return {mixed, value{}};
        return {mixed, t.mul(t.sigmoid(t.div(t.call("block_inject_weight", linear{n * width, n}, normed))))};
    }
};

/// Streams with a block's output added, to each by its weight.
constexpr value injected(trace& t, const value& all, const value& h, const value& weights) {
    const value spread = t.mul(h.unsqueeze(-2), weights.unsqueeze(-1));
    return t.add(all, t.reshape(spread, {all.dim(0), all.dim(1), all.dim(2)}));
}

constexpr value layer(const site& here, trace& t, const value& x) {
    value all = x;
    if (here.kind.own != 0) all = t.add(x, t.call("ple", word_layer{here, here.kind.own - 1}, x));
    two_values in = t.call("attn_hyper_connection", gated_residual{here}, all);
    all = injected(t, all, mixed(here, t, in.first), in.second);
    in = t.call("mlp_hyper_connection", gated_residual{here}, all);
    return injected(t, all, here.row.feed(here, t, in.first), in.second);
}

// ---- which keys each token sees

/// How many whole blocks of tokens queries see, all together, and what follows from it.
struct visible_blocks {
    std::int64_t all = 0;      ///< blocks of all queries of a sequence
    std::int64_t picked = 0;   ///< those that are picked
    std::int64_t queries = 0;  ///< that see any
    std::int64_t rest = 0;     ///< tokens of queries that see none
};
constexpr visible_blocks count_blocks(trace& t, const context& where, std::int64_t rate, std::int64_t most) {
    const auto around = [&](axis a, std::int64_t at) { t.edge(a, at / rate * rate), t.edge(a, (at / rate + 1) * rate); };
    around(axis::past, where.past), around(axis::total, where.length());
    // Σ ⌊i / rate⌋, and Σ min(⌊i / rate⌋, most), over i = 1 … n
    const auto blocks_to = [&](std::int64_t n) {
        const std::int64_t whole = n / rate;
        return rate * (whole * (whole - 1) / 2) + whole * (n % rate + 1);
    };
    const auto picked_to = [&](std::int64_t n) {
        const std::int64_t full = (most + 1) * rate;
        return n < full ? blocks_to(n) : blocks_to(full - 1) + most * (n - full + 1);
    };
    const auto few = [&](std::int64_t n) { return n < rate ? n : rate - 1; };
    const std::int64_t before = where.past, behind = where.length();
    return {blocks_to(behind) - blocks_to(before), picked_to(behind) - picked_to(before),
            behind - few(behind) - before + few(before),
            few(behind) * (few(behind) + 1) / 2 - few(before) * (few(before) + 1) / 2};
}

/// The norm of the blocks that one query sees, for all queries one behind the other: each adds one to the weight anew.
struct norm_by_query {
    std::int64_t width;
    std::int64_t queries;
    class_name named;

    static constexpr role what = role::norm;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x) const {
        const value weight = t.to(t.param("weight", {width}), dtype::float32);
        if (x.elements == 0) return x;
        const value h = t.to(x, dtype::float32);
        const value out = t.mul(h, t.rsqrt(t.add(t.mean(t.pow(h, 2), -1, true))));
        const value grown = t.add(weight.unsqueeze(0).expand({queries, width}));
        return t.to(t.mul(out, grown.select(0)), x.type);
    }
};

/// Halves of the first elements turned by their positions, the others as they are.
constexpr value turned(trace& t, const value& x, const value& cos, const value& sin) {
    const std::int64_t part = cos.dim(-1);
    const value first = t.slice(x, -1, part), plain = t.mul(first, cos);
    const value joined = t.cat({t.neg(t.slice(first, -1, part / 2)), t.slice(first, -1, part / 2)}, -1);
    const value both = t.add(plain, t.mul(joined, sin));
    return t.cat({both, t.slice(x, -1, x.dim(-1) - part)}, -1);
}

/// Each query picks blocks of tokens by the means of their keys, (B, T, width), which the cache holds: a loop over queries,
/// all of whose steps together are described here. What it finds out are integers, so that no gradient comes back.
struct indexer {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("TextQSAIndexer"); }
    constexpr void describe_steps(trace& t, const value& q, const value& keys) const {
        const own_sizes& own = here.dims.own;
        const shared_values& s = *here.shared;
        const std::int64_t batch = q.dim(0), d = own[index_width], rate = own[index_rate];
        const visible_blocks seen = count_blocks(t, s.where, rate, own[index_budget] / rate);
        const std::int64_t n = checked_product(batch, seen.all), part = s.cos.dim(-1);
        (void)t.constant(
            {checked_product(batch, seen.rest)});  // no blocks, joined with the tokens behind them, are floating
        const norm_by_query norm{d, checked_product(batch, seen.queries), here.type("TextRMSNorm")};
        if (n == 0) {
            (void)t.call("k_layernorm", norm, trace::buffer({0, d}));
            return;
        }
        const value groups = t.gather(keys, {checked_product(n, rate), d}).view({n, rate, d});
        const value pooled = t.to(t.mean(t.to(groups, dtype::float32), 1), keys.type);
        const value normed = t.call("k_layernorm", norm, pooled).unsqueeze(1);
        const value cos = t.gather(s.own[0], {n, part}).unsqueeze(1), sin = t.gather(s.own[1], {n, part}).unsqueeze(1);
        const value blocks = t.to(turned(t, normed, cos, sin).squeeze(1), dtype::float32);
        const value query = t.to(q, dtype::float32).slice(0, 1).slice(1, 1).view({own[index_heads], d});
        const value found =
            t.unary(torch_function::relu_function, op::relu, t.matmul(query, blocks.transpose(0, 1)).transpose(0, 1));
        (void)t.top_k(t.div(t.sum(found, -1)), checked_product(batch, seen.picked));
    }
    constexpr value describe(trace& t, const value& x) const {
        const recorder::off_loss_guard indices{t};
        const own_sizes& own = here.dims.own;
        const shared_values& s = *here.shared;
        const std::int64_t batch = x.dim(0), sequence = x.dim(1), heads = own[index_heads], d = own[index_width];
        const value both = t.call("index_qk_proj", linear{here.dims.hidden_size, (heads + 1) * d}, x);
        value q = t.reshape(both.slice(-1, heads * d), {batch, sequence, heads, d});
        value keys = t.reshape(both.slice(-1, d), {batch, sequence, d});
        q = call_norm(t, "q_layernorm", here.row.norm, d, here.type("TextRMSNorm"), q);
        q = turned(t, q, s.cos.unsqueeze(2), s.sin.unsqueeze(2));
        if (!t.training())
            keys = s.where.past > 0 ? t.cat({trace::buffer({batch, s.where.past, d}), keys}, 1) : t.cat({keys}, 1);
        describe_steps(t, q, keys);
        return keys;
    }
};

/// Qwen3-Next's gated attention, to keys that an indexer picks.
constexpr value attend(const site& here, trace& t, const value& x) {
    const decoder_names& n = here.row.names;
    const std::int64_t d = here.dims.head_dim, heads = here.dims.num_attention_heads;
    const std::int64_t narrow = here.dims.num_key_value_heads * d, batch = x.dim(0), sequence = x.dim(1);
    const value keys = t.call("indexer", indexer{here}, x);
    const bool sparse = t.load().attention == attention_scores::causal;
    const value mask = sparse ? here.shared->mask : t.where(here.shared->mask);
    qkv of;
    of.q = project(here, t, n.q, 2 * heads * d, x).view({batch, sequence, heads, 2 * d}).slice(-1, d);
    const value gate = t.reshape(of.q, {batch, sequence, -1});
    of.k = project(here, t, n.k, narrow, x), of.v = project(here, t, n.v, narrow, x);
    split_heads(here, of);
    norm_queries_and_keys(here, t, of, d, d);
    heads_first(of);
    turn(here, t, of);
    remember(here, t, of);
    if (!t.training()) t.cache(keys);
    const value mixed = eager_attention(t, of.q, of.k, of.v, here.shared->where, {.mask = &mask});
    const value found = t.reshape(mixed, {batch, sequence, -1});
    return join(here, t, t.mul(found, t.sigmoid(gate)));
}

constexpr value recur(const site& here, trace& t, const value& x) {
    const delta_sizes& d = here.dims.delta;
    const delta_rule_sizes rule{here.dims.hidden_size, d.num_key_heads, d.num_value_heads,   d.key_head_dim,
                                d.value_head_dim,      d.conv_kernel,   here.dims.hidden_act};
    const extents words = here.kind.own != 0 ? word_layer{here, here.kind.own - 1}.state_of(x.dim(0)) : extents{};
    const gated_delta_net net{rule, "Qwen4ExpText", true, static_cast<activation>(here.dims.own[gate_act]), words};
    return t.call(here.row.names.recurrent, net, x);
}

/// Tables of all positions where an indexer looks up those of keys, and the part of them that is new.
constexpr decoder_context prepare(const site& here, trace& t) {
    decoder_context c = masks(here, t);
    const std::int64_t sequence = t.load().sequence;
    const bool indexed = here.dims.layers.has(mixer_kind::full_attention, here.dims.num_hidden_layers);
    const rotary_table table{here.dims.rotary_dim, here.type("TextRotaryEmbedding"), rotary_frequencies{here.dims, false},
                             here.row.rotated, here.row.axes};
    const two_values tables = t.call("rotary_emb", table, indexed ? c.full.where.length() : sequence);
    c.full.own[0] = tables.first, c.full.own[1] = tables.second;
    c.full.cos = tables.first.slice(1, sequence), c.full.sin = tables.second.slice(1, sequence);
    return c;
}

constexpr value base(const site& here, trace& t) {
    const value words = here.row.embed(here, t);
    const decoder_context shared = here.row.prepare(here, t);
    const std::int64_t n = here.dims.own[streams], batch = words.dim(0), sequence = words.dim(1), width = words.dim(2);
    const value x = t.copy(words.unsqueeze(2).expand({batch, sequence, n, width})).view({batch, sequence, n * width});
    const value out = describe_layers(here, t, shared, x);
    return t.call("hyper_connection_mixer", gated_residual{here, false}, out).first;
}

/// An indexer's sizes, all of which must be given: the reference builds one for every layer that attends.
constexpr void read_indexer(config_view config, sizes& s) {
    if (!s.layers.has(mixer_kind::full_attention, s.num_hidden_layers)) return;
    s.own[index_heads] = config.positive("indexer_n_heads");
    s.own[index_width] = config.positive("indexer_head_dim");
    s.own[index_budget] = config.positive("indexer_budget");
    s.own[index_rate] = config.positive("indexer_compress_ratio");
    (void)checked_width(config, "indexer_head_dim", s.own[index_heads] + 1, s.own[index_width]);
    if (config.positive("indexer_kv_heads") != 1) fail_value(config, "indexer_kv_heads", "1");
    if (s.own[index_budget] % s.own[index_rate] != 0)
        fail_value(config, "indexer_budget", "a multiple of indexer_compress_ratio");
    if (s.rotary_dim > s.own[index_width]) fail_value(config, "indexer_head_dim", "at least the rotated elements of a head");
}

constexpr void read(config_view config, sizes& s) {
    read_experts(config, s, "num_experts");
    read_balance(config, s);
    check_experts(config, s);
    s.moe.shared_intermediate_size = config.positive("shared_expert_intermediate_size", 512);
    read_delta_nets(config, s);
    s.rotary_dim = whole_pairs(s.head_dim, detail::read_partial_rotary_factor(config, 1.0));
    check_three_axes(config);
    if (s.own[streams] < 2) fail_value(config, "hc_count", "at least 2");
    (void)checked_width(config, "hc_count", s.own[streams], s.hidden_size);
    const auto gate = config.find("output_gate_type");
    const activation act =
        gate && !gate->is_null() ? activation_named(config, "output_gate_type", gate->as_string()) : s.hidden_act;
    if (act != activation::sigmoid && act != activation::silu) fail_value(config, "output_gate_type", "sigmoid or silu");
    s.own[gate_act] = static_cast<std::int64_t>(act);
    plan_words(config, s);
    read_indexer(config, s);
}

}  // namespace qwen4_exp_detail

// transformers/models/qwen4_exp: several residual streams, layers that add features of pairs and triples of words, and
// attention to keys that an indexer picks
inline constexpr architecture qwen4_exp_text = [](architecture a) {
    a.model_type = "qwen4_exp_text", a.prefix = "Qwen4Exp", a.read = qwen4_exp_detail::read, a.own = qwen4_exp_detail::keys;
    a.describe = describe_decoder, a.base = qwen4_exp_detail::base, a.prepare = qwen4_exp_detail::prepare;
    a.layer = qwen4_exp_detail::layer, a.attend = qwen4_exp_detail::attend, a.recur = qwen4_exp_detail::recur;
    a.kinds.own = 255;
    a.names.layer_type = a.names.recurrent_layer_type = "TextDecoderLayer", a.names.attention_type = "TextAttention";
    a.names.norm_type = "TextRMSNorm", a.names.mlp_type = "TextMLP", a.names.moe_type = "TextSparseMoeBlock";
    a.names.experts_type = "TextExperts", a.names.router_type = "TextTopKRouter";
    a.defaults.moe.num_experts = 512, a.defaults.moe.num_experts_per_tok = 10, a.defaults.moe.norm_topk_prob = true;
    return a;
}(qwen3_5_moe_text);

// transformers/models/qwen4_exp, Qwen4ExpVisionConfig
inline constexpr architecture qwen4_exp_vision = [](architecture a) {
    a.model_type = "qwen4_exp_vision", a.prefix = "Qwen4Exp";
    return a;
}(qwen3_5_vision);

// transformers/models/qwen4_exp; old files call the part that sees as the whole is called
inline constexpr architecture qwen4_exp = [](architecture a) {
    a.model_type = "qwen4_exp", a.prefix = "Qwen4Exp";
    a.text.otherwise = &qwen4_exp_text;
    a.beside[0].otherwise = &qwen4_exp_vision, a.beside[0].also = "qwen4_exp";
    return a;
}(qwen3_5_moe);

}  // namespace llmcost::arch
