// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/einsum.hpp>
#include <llmcost/model/architecture.hpp>

// How a Reformer attends: within chunks of tokens as they stand, or as hashes have sorted them.
// Source: transformers/models/reformer/modeling_reformer.py, `LocalSelfAttention`, `LSHSelfAttention`.
namespace llmcost::arch::reformer_detail {

enum own : std::uint8_t {
    local_chunk,
    local_before,
    local_after,
    hashed_chunk,
    hashed_before,
    hashed_after,
    hashes,
    axial,
    rows,
    columns,
    width_of_rows,
    buckets,
    more_buckets
};
/// What layers of a kind attend by: chunks of tokens as they stand, or sorted by hashes.
inline constexpr std::uint8_t hashed = 1;

/// Whether the class under this head is handed what it has kept of a past; others have none.
constexpr bool keeps(head_kind head) noexcept { return head == head_kind::none || head == head_kind::causal_lm; }
constexpr std::int64_t past_of(const site& here, const trace& t) noexcept {
    return keeps(here.dims.head) ? t.load().past : 0;
}

/// Chunks that lengths are padded to, and the shortest.
struct chunk_lengths {
    std::int64_t common = 0, least = 0;
};
constexpr chunk_lengths chunks_of(const sizes& dims) {
    bool sorts = false, stands = false;
    for (std::int64_t i = 0; i < dims.num_hidden_layers; ++i) (dims.layers[i].own == hashed ? sorts : stands) = true;
    const std::int64_t a = dims.own[local_chunk], b = dims.own[hashed_chunk];
    if (!sorts) return {a, a};
    if (!stands) return {b, b};
    std::int64_t x = a, y = b;
    while (y != 0) {
        const std::int64_t rest = x % y;
        x = y, y = rest;
    }
    return {a / x * b, a < b ? a : b};
}
/// Tokens of a prefill with those that fill up its last chunk.
constexpr std::int64_t padded(const sizes& dims, std::int64_t length) {
    const chunk_lengths chunks = chunks_of(dims);
    return length <= chunks.least ? length : (length + chunks.common - 1) / chunks.common * chunks.common;
}

/// Chunks with their neighbours, those of the ends with those of the other end: (B, H, C, c, d) -> (B, H, C, n·c, d).
constexpr value with_neighbours(trace& t, const value& x, std::int64_t before, std::int64_t after) {
    if (before == 0 && after == 0) return x;
    value each[trace::most_joined];
    int n = 0;
    for (std::int64_t i = -before; i <= after; ++i) {
        const std::int64_t far = i < 0 ? -i : i, moved = far < x.dim(2) ? far : x.dim(2);
        each[n++] = i == 0 ? x : t.cat({x.slice(2, moved), x.slice(2, x.dim(2) - moved)}, 2);
    }
    return t.cat(each, n, 3);
}

/// Scores that masks choose from are written anew; softmax is spelled out.
constexpr value attend(trace& t, const value& q, const value& k, const value& v, int masks, value* logits = nullptr) {
    value scores = t.matmul(q, k.transpose(-1, -2));
    for (int i = 0; i < masks; ++i) scores = t.where(scores);
    const value all = t.logsumexp(scores, -1, true);
    if (logits != nullptr) *logits = all;
    return t.matmul(t.exp(t.sub(scores, all)), v);
}

constexpr value by_heads(const site& here, const value& x) {
    return x.view({x.dim(0), x.dim(1), here.dims.num_attention_heads, here.dims.head_dim}).transpose(2, 1);
}
constexpr value joined(trace& t, const value& x) {
    return t.reshape(x.permute({0, 2, 1, 3}), {x.dim(0), -1, x.dim(1) * x.dim(3)});
}
constexpr value in_chunks(trace& t, const value& x, std::int64_t chunk) {
    return t.reshape(x, {x.dim(0), x.dim(1), -1, chunk, x.dim(3)});
}

/// The states that an earlier pass has left, in front of the new ones.
constexpr value behind(trace& t, const value& x, std::int64_t past) {
    return t.cat({trace::buffer({x.dim(0), past, x.dim(2)}), x}, 1);
}

/// Whether a prefill hides tokens: those that fill up the last chunk, or later ones.
constexpr bool hides(const site& here, const trace& t, std::int64_t length) {
    return here.dims.is_decoder || length != t.load().sequence;
}

constexpr value attend_as_they_stand(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, inner = here.dims.num_attention_heads * here.dims.head_dim;
    const std::int64_t chunk = here.dims.own[local_chunk], before = here.dims.own[local_before], past = past_of(here, t);
    const linear projection{width, inner};
    value from = x;
    if (past > 0) {
        std::int64_t first = (past / chunk - before) * chunk;
        if (first < 0) first = first + past > 0 ? first + past : 0;  // counted from the end
        from = behind(t, x, past - first);
    }
    value q = by_heads(here, t.call("query", projection, x));
    value k = by_heads(here, t.call("key", projection, from));
    value v = by_heads(here, t.call("value", projection, from));
    k = t.div(k);
    const bool apart = x.dim(1) > chunk;
    if (apart) {
        q = in_chunks(t, q, chunk), k = in_chunks(t, k, chunk), v = in_chunks(t, v, chunk);
        k = with_neighbours(t, k, before, here.dims.own[local_after]);
        v = with_neighbours(t, v, before, here.dims.own[local_after]);
    }
    const value out = attend(t, q, k, v, hides(here, t, x.dim(1)) ? 1 : 0);
    return joined(t, apart ? out.view({x.dim(0), q.dim(1), x.dim(1), here.dims.head_dim}) : out);
}

/// Buckets, in one or two factors.
struct bucket_counts {
    std::int64_t first = 0, second = 0;
};
/// Those of the configuration, or as many as the paper recommends for a text (`_set_num_buckets`).
constexpr bucket_counts buckets_for(const sizes& dims, std::int64_t length) {
    if (dims.own[buckets] != 0) return {dims.own[buckets], dims.own[more_buckets]};
    const std::int64_t chunk = dims.own[hashed_chunk];
    int bits = 0;
    while (std::int64_t{2} << bits <= 2 * (length / chunk)) ++bits;
    std::int64_t root = 0;
    while ((root + 1) * (root + 1) <= dims.max_position_embeddings / chunk) ++root;
    if (std::int64_t{1} << bits <= 2 * (root > chunk ? root : chunk)) return {std::int64_t{1} << bits, 0};
    return {std::int64_t{1} << bits / 2, std::int64_t{1} << (bits - bits / 2)};
}
/// Vectors (B, H, S, d) turned at random, in which the largest number or its negative names a bucket.
constexpr void hash(const site& here, trace& t, const value& x, const bucket_counts& n) {
    const std::int64_t rounds = here.dims.own[hashes];
    const value turns = t.constant({x.dim(1), x.dim(3), rounds, (n.first + n.second) / 2}, x.type);
    const value turned = einsum(t, "bmtd,mdhr->bmhtr", x, turns);
    for (const std::int64_t each : {n.first, n.second}) {
        if (each == 0) continue;
        const value part = turned.slice(-1, each / 2);
        (void)t.cat({part, t.neg(part)}, -1);
    }
}
/// Keys are queries of one length.
constexpr value normed(trace& t, const value& x) { return t.div(t.mul(x, t.rsqrt(t.add(t.mean(t.pow(x, 2), -1, true))))); }
/// Of every round of hashes its share: (B, H, rounds·S, d) -> (B, H, S, d).
constexpr value over_rounds(const site& here, trace& t, const value& out, const value& logits) {
    const std::int64_t rounds = here.dims.own[hashes], heads = out.dim(1);
    if (rounds == 1) return out;
    const value each = t.reshape(out, {out.dim(0), heads, rounds, -1, out.dim(3)});
    const value shares = t.reshape(logits, {out.dim(0), heads, rounds, -1}).unsqueeze(-1);
    return t.sum(t.mul(each, t.exp(t.sub(shares, t.logsumexp(shares, 2, true)))), 2);
}

/// Every round sorts tokens by their buckets and attends within chunks of what it has sorted.
constexpr value attend_sorted(const site& here, trace& t, value qk, value v) {
    const std::int64_t batch = qk.dim(0), heads = qk.dim(1), length = qk.dim(2), d = qk.dim(3);
    const std::int64_t rounds = here.dims.own[hashes], chunk = here.dims.own[hashed_chunk];
    hash(here, t, qk, buckets_for(here.dims, length));
    const extents all{batch, heads, rounds * length, d};
    const auto sorted = [&](const value& x) {
        const value repeated = t.copy(rounds == 1 ? x : x.unsqueeze(2).expand({batch, heads, rounds, length, d}));
        return in_chunks(t, t.gather(repeated, all), chunk);
    };
    qk = sorted(qk), v = sorted(v);
    const std::int64_t before = here.dims.own[hashed_before], after = here.dims.own[hashed_after];
    const value k = with_neighbours(t, normed(t, qk), before, after);
    v = with_neighbours(t, v, before, after);
    value logits;
    const value out = attend(t, qk, k, v, hides(here, t, length) ? 2 : 1, &logits);
    const value back = t.gather(out, all), shares = t.gather(logits, {batch, heads, rounds * length});
    return over_rounds(here, t, back, shares);
}

/// A token that looks up the chunks around its bucket, in every round those of the states that were hashed before.
constexpr value look_up_sorted(const site& here, trace& t, const value& x, const value& query, const value& qk_weight,
                               const value& v_weight, std::int64_t past) {
    const std::int64_t batch = x.dim(0), width = x.dim(2), heads = query.dim(1), d = query.dim(3);
    const std::int64_t rounds = here.dims.own[hashes];
    const std::int64_t near = (here.dims.own[hashed_before] + here.dims.own[hashed_after] + 1) * here.dims.own[hashed_chunk];
    const value states = behind(t, x, past);
    hash(here, t, query, buckets_for(here.dims, padded(here.dims, past)));
    const value picked = t.gather(states, {batch * heads * near * rounds, width}).view({batch, heads, -1, width});
    const auto projected = [&](const value& weight) {
        const value by_head = t.reshape(weight, {heads, d, width}).transpose(-2, -1);
        return t.reshape(einsum(t, "balh,ahr->balr", picked, by_head), {batch, heads, rounds, -1, d});
    };
    const value qk = projected(qk_weight), v = projected(v_weight);
    const value q = t.copy(query.unsqueeze(2).expand({batch, heads, rounds, 1, d}));
    value logits;
    const value out = attend(t, q, normed(t, qk), v, 1, &logits);
    return over_rounds(here, t, out.view({batch, heads, rounds, d}), logits.view({batch, heads, rounds}));
}

/// Whether a text of so many tokens has been sorted into chunks, whose buckets are kept.
constexpr bool is_sorted(const site& here, std::int64_t length) {
    return padded(here.dims, length) > here.dims.own[hashed_chunk];
}

constexpr value attend_by_hashes(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, inner = here.dims.num_attention_heads * here.dims.head_dim;
    const std::int64_t chunk = here.dims.own[hashed_chunk], past = past_of(here, t);
    const linear projection{width, inner};
    value query;
    if (past > 0) query = by_heads(here, t.call("query_key", projection, x));
    if (past > 0 && is_sorted(here, past)) {
        {
            const recorder::idle_guard read_beside_the_module{t};
            (void)t.call("value", projection, x);
        }
        const value weight = trace::buffer({inner, width});
        return joined(t, look_up_sorted(here, t, x, query, weight, weight, past));
    }
    const value from = past > 0 ? behind(t, x, past) : x;
    value qk;
    {
        const recorder::called_again_guard again{t, past > 0};
        qk = by_heads(here, t.call("query_key", projection, from));
    }
    const value v = by_heads(here, t.call("value", projection, from));
    if (past == 0 && x.dim(1) > chunk) return joined(t, attend_sorted(here, t, qk, v));
    if (past == 0) return joined(t, attend(t, qk, normed(t, qk), v, hides(here, t, x.dim(1)) ? 2 : 1));
    if (from.dim(1) >= chunk) {
        // no prefill has chosen a number of buckets, without which `_hash_vectors` fails
        if (here.dims.own[buckets] == 0 && !t.idle()) report_positions(chunk - 1, from.dim(1));
        hash(here, t, qk, buckets_for(here.dims, from.dim(1)));
    }
    const value k = normed(t, qk);
    (void)t.mul(t.constant({x.dim(0), qk.dim(1), 1, from.dim(1)}).select(-1));  // the token's own place, in floating point
    return joined(t, attend(t, query, k, v, 1));
}

}  // namespace llmcost::arch::reformer_detail
