// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/hyper_connection.hpp>
#include <llmcost/model/architecture.hpp>
#include <llmcost/walks/attention.hpp>
#include <llmcost/walks/layers.hpp>

// DeepSeek V4's attention: a window, and beside it entries that many tokens became together.
namespace llmcost::arch {

namespace deepseek_v4_detail {

enum own : std::uint8_t {
    q_rank,
    rope_dim,
    sparse_rate,
    heavy_rate,
    streams,
    steps,
    o_groups,
    o_rank,
    index_heads,
    index_dim,
    index_top_k,
    score,
    weighed_routers
};
inline constexpr own_key keys[]{
    {"q_lora_rank", 1024},
    {.value = own_value::computed},
    {.value = own_value::computed},  // tokens that become one, in layers that pick from those
    {.value = own_value::computed},  // the same in layers that see all of those
    {"hc_mult", 4},
    {"hc_sinkhorn_iters", 20},
    {"o_groups", 8},
    {"o_lora_rank", 1024},
    {"index_n_heads", 64},
    {"index_head_dim", 128},
    {"index_topk", 512},
    {.value = own_value::computed},  // `scoring_func`: whether it is a sigmoid
    {.value = own_value::computed},  // how many routers are asked how evenly they pick (`output_router_logits`)
};

/// Words of layers: what they see beside a window, and whether their router looks experts up by words.
inline constexpr std::uint8_t sparse = 1, heavy = 2, hashed = 4;
constexpr std::uint8_t reach_of(const site& here) { return here.kind.own & 3U; }

/// Cosines and sines, (batch, n, dim / 2) each, of each sequence's positions.
struct rotary {
    site here;
    std::int64_t batch;

    static constexpr role what = role::rotary;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("RotaryEmbedding"); }
    constexpr two_values describe(trace& t, std::int64_t n) const {
        const trace::no_grad_guard quiet{t};
        const value angles = t.mul(t.constant({batch, n, 1}), trace::buffer({here.dims.own[rope_dim] / 2}));
        const value cos = t.mul(t.unary(op::cos, angles)), sin = t.mul(t.unary(op::sin, angles));
        return {t.to(cos, t.activation_type()), t.to(sin, t.activation_type())};
    }
};

/// The last elements of each head turned in pairs, in float32: x (B, heads, S, dim).
constexpr value turned(trace& t, const value& x, const value& cos, const value& sin) {
    const value c = t.repeat_interleave(cos, -1, 2).unsqueeze(1), s = t.repeat_interleave(sin, -1, 2).unsqueeze(1);
    const std::int64_t part = c.dim(-1);
    const value kept = t.slice(x, -1, x.dim(-1) - part), rope = t.slice(x, -1, part);
    const value plain = t.mul(t.to(rope, dtype::float32), c);
    const value even = t.slice(rope, -1, part / 2, 2), odd = t.neg(t.slice(rope, -1, part / 2, 2));
    const value joined = t.cat({odd.unsqueeze(-1), even.unsqueeze(-1)}, -1).view({x.dim(0), x.dim(1), x.dim(2), part});
    const value out = t.to(t.add(plain, t.mul(t.to(joined, dtype::float32), s)), x.type);
    return t.cat({kept, out}, -1);
}

/// What a pass finds of tokens that become one: those that wait for others, and windows that are full.
struct windows {
    std::int64_t rate, waiting, fresh, all, left;

    constexpr windows(trace& t, std::int64_t tokens) : rate(tokens) {
        const std::int64_t past = t.load().past, total = past + t.load().sequence;
        const auto around = [&](axis a, std::int64_t at) { t.edge(a, at / rate * rate), t.edge(a, (at / rate + 1) * rate); };
        around(axis::past, past), around(axis::total, total);
        t.edge(axis::past, past / rate * rate + 1);  // what waits is joined with what comes, nothing is not
        waiting = past % rate, fresh = total / rate - past / rate, all = total / rate, left = total % rate;
    }
};

/// Windows of tokens become one entry each, a mixture whose weights a gate makes of every element: (B, entries, dim).
///
/// `overlaps`: a window sees the one before it, too. The entries of earlier passes come from the cache.
constexpr value compressed(const site& here, trace& t, const value& x, const windows& w, std::int64_t dim, bool overlaps) {
    const std::int64_t batch = x.dim(0), features = overlaps ? 2 * dim : dim, width = here.dims.hidden_size;
    value bias, kv, gate;
    {
        const recorder::off_loss_guard unread{t, w.fresh == 0};
        bias = t.param("position_bias", {w.rate, features});
        kv = t.call("kv_proj", linear{width, features}, x), gate = t.call("gate_proj", linear{width, features}, x);
    }
    const bool caches = !t.training();
    if (caches && w.waiting > 0) {
        kv = t.cat({trace::buffer({batch, w.waiting, features}), kv}, 1);
        gate = t.cat({trace::buffer({batch, w.waiting, features}), gate}, 1);
    }
    const recorder::idle_guard none{t, w.fresh == 0};
    const std::int64_t n = w.fresh > 0 ? w.fresh : 1, length = w.fresh > 0 ? w.rate : 0;
    kv = t.slice(kv, 1, n * length), gate = t.slice(gate, 1, n * length);
    if (w.fresh == 0) kv = gate = trace::buffer({batch, w.rate, features});
    value rows = kv.view({batch, n, w.rate, features}), weights = t.add(gate.view({batch, n, w.rate, features}), bias);
    if (overlaps) {
        const auto spread = [&](const value& from) {
            value to = t.constant({batch, n, 2 * w.rate, dim}, from.type);
            t.copy_into(to, t.slice(from, -1, dim));
            if (n > 1) t.copy_into(to, t.slice(t.slice(from, 1, n - 1), -1, dim));
            if (caches) (void)t.clone(trace::buffer({batch, w.rate, dim}));  // of the last window, for the next pass
            return to;
        };
        const value wide = spread(rows);
        weights = spread(weights), rows = wide;
    }
    const value parts = t.to(t.softmax_method(t.to(weights.transpose(2, 3), dtype::float32)), rows.type).transpose(2, 3);
    const value mixed = t.sum(t.mul(rows, parts), 2);
    const value normed = call_norm(t, "kv_norm", here.row.norm, dim, here.type("RMSNorm"), mixed);
    const two_values at = t.call("rotary_emb", rotary{here, batch}, n);
    const value fresh = turned(t, normed.unsqueeze(1), at.first, at.second).squeeze(1);
    const std::int64_t before = w.all - w.fresh;
    if (w.fresh == 0) return trace::buffer({batch, before, dim});
    return caches && before > 0 ? t.cat({trace::buffer({batch, before, dim}), fresh}, 1) : fresh;
}

/// Scores of every entry, by small heads of their own: q (B, S, heads, dim), entries (B, T, dim) -> (B, S, T).
struct scorer {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("IndexerScorer"); }
    constexpr value describe(trace& t, const value& q, const value& entries, const value& x) const {
        const value keys_of = t.to(entries.transpose(-1, -2), dtype::float32).unsqueeze(1);
        const value scores = t.mul(t.unary(op::relu, t.matmul(t.to(q, dtype::float32), keys_of)));
        const value raw = t.call("weights_proj", linear{here.dims.hidden_size, here.dims.own[index_heads]}, x);
        return t.sum(t.mul(scores, t.mul(t.to(raw, dtype::float32)).unsqueeze(-1)), 2);
    }
};

/// Picks entries for each query.
struct indexer {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Indexer"); }
    constexpr value describe(trace& t, const value& x, const value& low, const windows& w) const {
        const recorder::off_loss_guard picks{t};
        const std::int64_t heads = here.dims.own[index_heads], dim = here.dims.own[index_dim],
                           top = here.dims.own[index_top_k];
        const value entries = compressed(here, t, x, w, dim, true);
        const two_values at = t.call("rotary_emb", rotary{here, 1}, x.dim(1));
        value q = t.call("q_b_proj", linear{here.dims.own[q_rank], heads * dim}, low);
        q = q.view({x.dim(0), x.dim(1), heads, dim}).transpose(1, 2);
        q = turned(t, q, at.first, at.second).transpose(1, 2);
        const value scores = t.call("scorer", scorer{here}, q, entries, x);
        t.edge(axis::total, top * w.rate);
        return t.top_k(w.all > 0 ? t.where(scores) : scores, top < w.all ? top : w.all);
    }
};

/// Entries for all tokens that passed, and with which mask a query sees them: (B, 1, S, entries), none where it is a pad.
struct compressor {
    site here;
    const windows& w;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const {
        return here.type(reach_of(here) == sparse ? "CSACompressor" : "HCACompressor");
    }
    constexpr two_values describe(trace& t, const value& x, const value& low) const {
        const bool picks = reach_of(here) == sparse;
        const std::int64_t batch = x.dim(0), sequence = x.dim(1);
        const value entries = compressed(here, t, x, w, here.dims.head_dim, picks);
        if (picks) {
            (void)t.call("indexer", indexer{here}, x, low, w);
            return {entries.unsqueeze(1), t.constant({batch, 1, sequence, w.all + 1}, x.type).slice(-1, w.all)};
        }
        if (sequence == 1 || w.all == 0) return {entries.unsqueeze(1), value{}};
        return {entries.unsqueeze(1), t.where(t.constant({batch, 1, sequence, w.all}, x.type))};
    }
};

/// Entries that the first n tokens see together, each as many as are whole before it, at most `most`.
constexpr count seen_by_first(std::int64_t n, std::int64_t rate, std::int64_t most) {
    const std::int64_t last = rate * most - 1, grown = n < last ? n : last, whole = grown / rate;
    const count growing =
        count(rate) * (count(whole) * count(whole > 0 ? whole - 1 : 0) / 2) + count(whole) * count(grown - whole * rate + 1);
    return growing + count(n - grown) * count(most);
}

/// Scores over a window's keys and entries together, with a sink; keys are values. (B, S, heads, dim).
constexpr value look_up_all(const site& here, trace& t, const value& q, const value& kv, const value& mask,
                            const windows* w) {
    const shared_values& s = *here.shared;
    const recorder::fused_guard fused{t, fused_attention(q, 1, s.where, kv.dim(2))};
    const value sinks = t.param("sinks", {q.dim(1)});
    std::int64_t pairs = 0;
    if (t.load().attention == attention_scores::causal) {
        pairs = s.where.visible_pairs();
        const std::int64_t seen = s.where.seen;
        if (w != nullptr) {
            const std::int64_t most = reach_of(here) == sparse ? here.dims.own[index_top_k] : w->all + 1;
            const count more = seen_by_first(seen + q.dim(2), w->rate, most) - seen_by_first(seen, w->rate, most);
            pairs += static_cast<std::int64_t>(more.to_64());
        }
    }
    const value keys_of = repeat_kv(t, kv, q.dim(1)), values_of = repeat_kv(t, kv, q.dim(1));
    value scores = t.mul(t.matmul(q, keys_of.transpose(2, 3), pairs));
    if (pairs == 0) scores = t.add(scores, mask);
    const value column = sinks.view({1, q.dim(1), 1, 1}).expand({q.dim(0), q.dim(1), q.dim(2), 1});
    const value all = t.cat({scores, column}, -1);
    value weights = t.slice(t.softmax(t.sub(all, t.max_over(all, -1, true))), -1, kv.dim(2));
    if (pairs != 0) trace::see(weights, pairs);
    weights = drop(t, weights, dropout_of::attention);
    return t.contiguous(t.matmul(weights, values_of).transpose(1, 2));
}

/// Heads in groups, each projected by itself: x (B, S, groups, width) -> (B, S, groups, rank).
struct grouped_linear {
    std::int64_t groups, width, rank;
    literal prefix;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {prefix, "GroupedLinear"}; }
    constexpr value describe(trace& t, const value& x) const {
        const value weight = t.param("weight", {groups * rank, width}).view({groups, rank, width}).transpose(1, 2);
        const value rows = t.reshape(x, {-1, groups, width}).transpose(0, 1);
        return t.reshape(t.bmm(rows, weight).transpose(0, 1), {x.dim(0), x.dim(1), groups, rank});
    }
};

/// What the cache holds beside a window's keys, in the order of `DeepseekV4CSACache`.
constexpr void cache_windows(const site& here, trace& t, const windows& w, std::int64_t batch) {
    if (t.training()) return;
    const bool picks = reach_of(here) == sparse;
    const std::int64_t dims[2] = {here.dims.head_dim, here.dims.own[index_dim]};
    const int n = picks ? 2 : 1;
    for (int twice = 0; twice < 2; ++twice)
        for (int i = 0; i < n; ++i) t.cache(trace::buffer({batch, w.left, picks ? 2 * dims[i] : dims[i]}));
    for (int i = 0; i < n; ++i) t.cache(trace::buffer({batch, w.all, dims[i]}));
    for (int twice = 0; picks && w.all > 0 && twice < 2; ++twice)
        for (int i = 0; i < n; ++i) t.cache(trace::buffer({batch, w.rate, dims[i]}));
}

/// Attention of many heads to one key for all of them, in a window and among compressed entries.
constexpr value attend(const site& here, trace& t, const value& x) {
    const own_sizes& own = here.dims.own;
    const std::int64_t heads = here.dims.num_attention_heads, d = here.dims.head_dim, width = here.dims.hidden_size;
    const std::int64_t batch = x.dim(0), sequence = x.dim(1);
    const bool alone = reach_of(here) == 0;
    const value& cos = here.shared->own[alone ? 0 : 2];
    const value& sin = here.shared->own[alone ? 1 : 3];
    const value low = norm_of(here, t, "q_a_norm", own[q_rank], t.call("q_a_proj", linear{width, own[q_rank]}, x));
    value q = t.call("q_b_proj", linear{own[q_rank], heads * d}, low).view({batch, sequence, heads, d}).transpose(1, 2);
    q = t.call("q_b_norm", unweighted_norm{here.type("UnweightedRMSNorm")}, q);
    q = turned(t, q, cos, sin);
    const value one = norm_of(here, t, "kv_norm", d, t.call("kv_proj", linear{width, d}, x));
    const value fresh = turned(t, one.view({batch, sequence, 1, d}).transpose(1, 2), cos, sin);
    value kv = update_cache(t, fresh, here.shared->where), mask = here.shared->mask;
    value found;
    if (alone) {
        (void)update_cache(t, fresh, here.shared->where);  // values, which nothing reads
        found = look_up_all(here, t, q, kv, mask, nullptr);
    } else {
        const windows w{t, own[reach_of(here) == sparse ? sparse_rate : heavy_rate]};
        const two_values more = t.call("compressor", compressor{here, w}, x, low);
        cache_windows(here, t, w, batch);
        kv = t.cat({kv, more.first}, 2);
        if (w.all > 0)
            mask = more.second.rank > 0 ? t.cat({mask, t.to(more.second, mask.type)}, -1) : t.pad(mask, -1, w.all);
        found = look_up_all(here, t, q, kv, mask, &w);
    }
    const value back = turned(t, found.transpose(1, 2), cos, t.neg(sin)).transpose(1, 2);
    const grouped_linear apart{own[o_groups], heads * d / own[o_groups], own[o_rank], here.row.prefix};
    const value grouped = t.call("o_a_proj", apart, t.reshape(back, {batch, sequence, own[o_groups], -1}));
    return t.call("o_b_proj", linear{own[o_groups] * own[o_rank], width}, t.reshape(grouped, {batch, sequence, -1}));
}

}  // namespace deepseek_v4_detail

}  // namespace llmcost::arch
