// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/einsum.hpp>
#include <llmcost/model/model_spec.hpp>

// Attention of Reformer: within chunks of tokens in sequence order (local), or sorted by hashes (LSH).
// Source: transformers/models/reformer/modeling_reformer.py, `LocalSelfAttention`, `LSHSelfAttention`.
namespace llmcost::arch::reformer_detail {

enum family_config_index : std::uint8_t {
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
/// Layer flag: chunks of tokens sorted by hashes, instead of chunks in sequence order.
inline constexpr std::uint8_t hashed = 1;

/// True if the class with this head supports a cache.
constexpr bool is_cached(head_kind head) noexcept { return head == head_kind::none || head == head_kind::causal_lm; }
constexpr std::int64_t past_of(const layer_context& ctx, const trace& t) noexcept {
    return is_cached(ctx.config.head) ? t.load().past : 0;
}

/// Chunks that lengths are padded to, and the shortest.
struct chunk_lengths {
    std::int64_t common = 0, minimum = 0;
};
constexpr chunk_lengths chunks_of(const model_config& config) {
    bool sorts = false, has_local_layers = false;
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i)
        (config.layers[i].family_tag == hashed ? sorts : has_local_layers) = true;
    const std::int64_t a = config.family[local_chunk], b = config.family[hashed_chunk];
    if (!sorts) return {a, a};
    if (!has_local_layers) return {b, b};
    std::int64_t x = a, y = b;
    while (y != 0) {
        const std::int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return {a / x * b, a < b ? a : b};
}
/// Tokens of a prefill with those that fill up its last chunk.
constexpr std::int64_t padded(const model_config& config, std::int64_t length) {
    const chunk_lengths chunks = chunks_of(config);
    return length <= chunks.minimum ? length : (length + chunks.common - 1) / chunks.common * chunks.common;
}

/// Chunks with their neighbours, those of the ends with those of the other end: (B, H, C, c, d) -> (B, H, C, n·c, d).
constexpr tensor with_neighbours(trace& t, const tensor& x, std::int64_t num_chunks_before,
                                 std::int64_t num_chunks_after) {
    if (num_chunks_before == 0 && num_chunks_after == 0) return x;
    tensor neighbors[trace::max_cat_inputs];
    int n = 0;
    for (std::int64_t i = -num_chunks_before; i <= num_chunks_after; ++i) {
        const std::int64_t distance = i < 0 ? -i : i, moved = distance < x.dim(2) ? distance : x.dim(2);
        neighbors[n++] = i == 0 ? x : t.cat({x.slice(2, moved), x.slice(2, x.dim(2) - moved)}, 2);
    }
    return t.cat(neighbors, n, 3);
}

/// Scores that masks choose from are written anew; softmax is spelled out.
constexpr tensor attention(trace& t, const tensor& q, const tensor& k, const tensor& v, int masks,
                           tensor* logits = nullptr) {
    tensor scores = t.matmul(q, k.transpose(-1, -2));
    for (int i = 0; i < masks; ++i) scores = t.masked_fill(scores);
    const tensor all = t.logsumexp(scores, -1, true);
    if (logits != nullptr) *logits = all;
    return t.matmul(t.exp(t.sub(scores, all)), v);
}

constexpr tensor split_heads(const layer_context& ctx, const tensor& x) {
    return x.view({x.dim(0), x.dim(1), ctx.config.num_attention_heads, ctx.config.head_dim}).transpose(2, 1);
}
constexpr tensor merge_heads(trace& t, const tensor& x) {
    return t.reshape(x.permute({0, 2, 1, 3}), {x.dim(0), -1, x.dim(1) * x.dim(3)});
}
constexpr tensor split_chunks(trace& t, const tensor& x, std::int64_t chunk) {
    return t.reshape(x, {x.dim(0), x.dim(1), -1, chunk, x.dim(3)});
}

/// The states that an earlier pass has left, before the new ones.
constexpr tensor prepend_past(trace& t, const tensor& x, std::int64_t past) {
    return t.cat({trace::buffer({x.dim(0), past, x.dim(2)}), x}, 1);
}

/// Whether a prefill hides tokens: those that fill up the last chunk, or later ones.
constexpr bool hides(const layer_context& ctx, const trace& t, std::int64_t length) {
    return ctx.config.is_causal || length != t.load().sequence;
}

constexpr tensor attend_as_they_stand(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.num_attention_heads * ctx.config.head_dim;
    const std::int64_t chunk = ctx.config.family[local_chunk], num_chunks_before = ctx.config.family[local_before],
                       past = past_of(ctx, t);
    const linear projection{width, inner};
    tensor source = x;
    if (past > 0) {
        std::int64_t first = (past / chunk - num_chunks_before) * chunk;
        if (first < 0) first = first + past > 0 ? first + past : 0;  // counted from the end
        source = prepend_past(t, x, past - first);
    }
    tensor q = split_heads(ctx, t.call("query", projection, x));
    tensor k = split_heads(ctx, t.call("key", projection, source));
    tensor v = split_heads(ctx, t.call("value", projection, source));
    k = t.div_scalar(k);
    const bool is_chunked = x.dim(1) > chunk;
    if (is_chunked) {
        q = split_chunks(t, q, chunk);
        k = split_chunks(t, k, chunk);
        v = split_chunks(t, v, chunk);
        k = with_neighbours(t, k, num_chunks_before, ctx.config.family[local_after]);
        v = with_neighbours(t, v, num_chunks_before, ctx.config.family[local_after]);
    }
    const tensor out = attention(t, q, k, v, hides(ctx, t, x.dim(1)) ? 1 : 0);
    return merge_heads(t, is_chunked ? out.view({x.dim(0), q.dim(1), x.dim(1), ctx.config.head_dim}) : out);
}

/// Buckets, in one or two factors.
struct bucket_counts {
    std::int64_t first = 0, second = 0;
};
/// Those of the configuration, or as many as the paper recommends for a text (`_set_num_buckets`).
constexpr bucket_counts buckets_for(const model_config& config, std::int64_t length) {
    if (config.family[buckets] != 0) return {config.family[buckets], config.family[more_buckets]};
    const std::int64_t chunk = config.family[hashed_chunk];
    int bits = 0;
    while (std::int64_t{2} << bits <= 2 * (length / chunk)) ++bits;
    std::int64_t root = 0;
    while ((root + 1) * (root + 1) <= config.max_position_embeddings / chunk) ++root;
    if (std::int64_t{1} << bits <= 2 * (root > chunk ? root : chunk)) return {std::int64_t{1} << bits, 0};
    return {std::int64_t{1} << bits / 2, std::int64_t{1} << (bits - bits / 2)};
}
/// Vectors (B, H, S, d) turned at random, in which the largest number or its negative names a bucket.
constexpr void hash(const layer_context& ctx, trace& t, const tensor& x, const bucket_counts& n) {
    const std::int64_t rounds = ctx.config.family[hashes];
    const tensor turns = t.full({x.dim(1), x.dim(3), rounds, (n.first + n.second) / 2}, x.type);
    const tensor rotated = einsum(t, "bmtd,mdhr->bmhtr", x, turns);
    for (const std::int64_t factor : {n.first, n.second}) {
        if (factor == 0) continue;
        const tensor part = rotated.slice(-1, factor / 2);
        (void)t.cat({part, t.neg(part)}, -1);
    }
}
/// Keys are queries of one length.
constexpr tensor normed(trace& t, const tensor& x) {
    return t.div_scalar(t.mul(x, t.rsqrt(t.add_scalar(t.mean(t.pow(x, 2), -1, true)))));
}
/// Of every round of hashes its share: (B, H, rounds·S, d) -> (B, H, S, d).
constexpr tensor over_rounds(const layer_context& ctx, trace& t, const tensor& out, const tensor& logits) {
    const std::int64_t rounds = ctx.config.family[hashes], heads = out.dim(1);
    if (rounds == 1) return out;
    const tensor x = t.reshape(out, {out.dim(0), heads, rounds, -1, out.dim(3)});
    const tensor shares = t.reshape(logits, {out.dim(0), heads, rounds, -1}).unsqueeze(-1);
    return t.sum(t.mul(x, t.exp(t.sub(shares, t.logsumexp(shares, 2, true)))), 2);
}

/// Every round sorts tokens by their buckets and attends within chunks of what it has sorted.
constexpr tensor attend_sorted(const layer_context& ctx, trace& t, tensor qk, tensor v) {
    const std::int64_t batch = qk.dim(0), heads = qk.dim(1), length = qk.dim(2), d = qk.dim(3);
    const std::int64_t rounds = ctx.config.family[hashes], chunk = ctx.config.family[hashed_chunk];
    hash(ctx, t, qk, buckets_for(ctx.config, length));
    const shape all{batch, heads, rounds * length, d};
    const auto sorted = [&](const tensor& x) {
        const tensor repeated = t.copy(rounds == 1 ? x : x.unsqueeze(2).expand({batch, heads, rounds, length, d}));
        return split_chunks(t, t.gather(repeated, all), chunk);
    };
    qk = sorted(qk);
    v = sorted(v);
    const std::int64_t num_chunks_before = ctx.config.family[hashed_before],
                       num_chunks_after = ctx.config.family[hashed_after];
    const tensor k = with_neighbours(t, normed(t, qk), num_chunks_before, num_chunks_after);
    v = with_neighbours(t, v, num_chunks_before, num_chunks_after);
    tensor logits;
    const tensor out = attention(t, qk, k, v, hides(ctx, t, length) ? 2 : 1, &logits);
    const tensor unsorted = t.gather(out, all), shares = t.gather(logits, {batch, heads, rounds * length});
    return over_rounds(ctx, t, unsorted, shares);
}

/// A token that looks up the chunks around its bucket, in every round those of the states that were hashed before.
constexpr tensor sorted_chunk_attention(const layer_context& ctx, trace& t, const tensor& x, const tensor& query,
                                        const tensor& qk_weight, const tensor& v_weight, std::int64_t past) {
    const std::int64_t batch = x.dim(0), width = x.dim(2), heads = query.dim(1), d = query.dim(3);
    const std::int64_t rounds = ctx.config.family[hashes];
    const std::int64_t near =
        (ctx.config.family[hashed_before] + ctx.config.family[hashed_after] + 1) * ctx.config.family[hashed_chunk];
    const tensor states = prepend_past(t, x, past);
    hash(ctx, t, query, buckets_for(ctx.config, padded(ctx.config, past)));
    const tensor picked = t.gather(states, {batch * heads * near * rounds, width}).view({batch, heads, -1, width});
    const auto projected = [&](const tensor& weight) {
        const tensor by_head = t.reshape(weight, {heads, d, width}).transpose(-2, -1);
        return t.reshape(einsum(t, "balh,ahr->balr", picked, by_head), {batch, heads, rounds, -1, d});
    };
    const tensor qk = projected(qk_weight), v = projected(v_weight);
    const tensor q = t.copy(query.unsqueeze(2).expand({batch, heads, rounds, 1, d}));
    tensor logits;
    const tensor out = attention(t, q, normed(t, qk), v, 1, &logits);
    return over_rounds(ctx, t, out.view({batch, heads, rounds, d}), logits.view({batch, heads, rounds}));
}

/// True if a text of this length is sorted into chunks, whose buckets are cached.
constexpr bool is_sorted(const layer_context& ctx, std::int64_t length) {
    return padded(ctx.config, length) > ctx.config.family[hashed_chunk];
}

constexpr tensor attend_by_hashes(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.num_attention_heads * ctx.config.head_dim;
    const std::int64_t chunk = ctx.config.family[hashed_chunk], past = past_of(ctx, t);
    const linear projection{width, inner};
    tensor query;
    if (past > 0) query = split_heads(ctx, t.call("query_key", projection, x));
    if (past > 0 && is_sorted(ctx, past)) {
        {
            const recorder::not_executed_guard unused_projection{t};
            (void)t.call("value", projection, x);
        }
        const tensor weight = trace::buffer({inner, width});
        return merge_heads(t, sorted_chunk_attention(ctx, t, x, query, weight, weight, past));
    }
    const tensor source = past > 0 ? prepend_past(t, x, past) : x;
    tensor qk;
    {
        const recorder::shared_parameters_guard shared_parameters{t, past > 0};
        qk = split_heads(ctx, t.call("query_key", projection, source));
    }
    const tensor v = split_heads(ctx, t.call("value", projection, source));
    if (past == 0 && x.dim(1) > chunk) return merge_heads(t, attend_sorted(ctx, t, qk, v));
    if (past == 0) {
        const tensor keys = normed(t, qk);
        return merge_heads(t, attention(t, qk, keys, v, hides(ctx, t, x.dim(1)) ? 2 : 1));
    }
    if (source.dim(1) >= chunk) {
        // no prefill has chosen a number of buckets, without which `_hash_vectors` fails
        if (ctx.config.family[buckets] == 0 && !t.is_not_executed()) throw_position_error(chunk - 1, source.dim(1));
        hash(ctx, t, qk, buckets_for(ctx.config, source.dim(1)));
    }
    const tensor k = normed(t, qk);
    (void)t.mul_scalar(
        t.full({x.dim(0), qk.dim(1), 1, source.dim(1)}).select(-1));  // the token's own place, in floating point
    return merge_heads(t, attention(t, query, k, v, 1));
}

}  // namespace llmcost::arch::reformer_detail
