// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/latent_attention.hpp>
#include <llmcost/layers/linear.hpp>
#include <llmcost/model/architecture.hpp>

// The words that attentions are made of, in the order in which most of them say them. A family with another order says its
// own sentence with the same words, as `attend` of its row.
namespace llmcost {

/// Queries, keys and values on their way through an attention.
struct qkv {
    value q, k, v;
};

/// x times the weight of a projection, (B, S, hidden) -> (B, S, features).
constexpr value project(const site& here, trace& t, literal name, std::int64_t features, const value& x) {
    return t.call(name, linear{here.dims.hidden_size, features, here.dims.attention_bias}, x);
}

/// A norm of queries or keys over so many features.
constexpr value norm_of(const site& here, trace& t, literal name, std::int64_t features, const value& x) {
    return call_norm(t, name, here.row.norm, features, here.type(here.row.names.norm_type), x);
}

/// Queries, keys and values by a projection each: (B, S, heads · d), (B, S, kv heads · d) twice.
constexpr qkv project_qkv(const site& here, trace& t, const value& x) {
    const decoder_names& n = here.row.names;
    const std::int64_t d = here.dims.head_dim, wide = here.dims.num_attention_heads * d;
    const std::int64_t narrow = here.dims.num_key_value_heads * d;
    return {project(here, t, n.q, wide, x), project(here, t, n.k, narrow, x), project(here, t, n.v, narrow, x)};
}

/// The same by one projection, whose parts lie one behind the other.
constexpr qkv project_qkv_as_one(const site& here, trace& t, const value& x) {
    const std::int64_t d = here.dims.head_dim, wide = here.dims.num_attention_heads * d;
    const std::int64_t narrow = here.dims.num_key_value_heads * d;
    const value all = project(here, t, here.row.names.q, wide + 2 * narrow, x);
    return {t.slice(all, -1, wide), t.slice(all, -1, narrow), t.slice(all, -1, narrow)};
}

/// (B, S, heads · d) -> (B, S, heads, d), of queries, keys and values.
constexpr void split_heads(const site& here, qkv& of) {
    const std::int64_t batch = of.q.dim(0), sequence = of.q.dim(1), d = here.dims.head_dim;
    of.q = of.q.view({batch, sequence, here.dims.num_attention_heads, d});
    of.k = of.k.view({batch, sequence, here.dims.num_key_value_heads, d});
    of.v = of.v.view({batch, sequence, here.dims.num_key_value_heads, d});
}

/// (B, S, heads, d) -> (B, heads, S, d), of queries, keys and values.
constexpr void heads_first(qkv& of) {
    for (value* const each : {&of.q, &of.k, &of.v}) *each = each->transpose(1, 2);
}

/// Norms of queries and keys, each over so many features.
constexpr void norm_queries_and_keys(const site& here, trace& t, qkv& of, std::int64_t of_q, std::int64_t of_k) {
    of.q = norm_of(here, t, here.row.names.q_norm, of_q, of.q);
    of.k = norm_of(here, t, here.row.names.k_norm, of_k, of.k);
}

/// Queries or keys turned by their positions, (B, heads, S, d).
constexpr value turn(const site& here, trace& t, const value& x) {
    if (here.row.rotated == rotation::none) return x;
    return rotate_part(t, here.row.rotated, x, here.dims.rotary_dim, here.shared->cos, here.shared->sin,
                       here.row.joins_rotated);
}
constexpr void turn(const site& here, trace& t, qkv& of) { of.q = turn(here, t, of.q), of.k = turn(here, t, of.k); }

/// Appends keys and values to the cache.
constexpr void remember(const site& here, trace& t, qkv& of) {
    of.k = update_cache(t, of.k, here.shared->where);
    of.v = update_cache(t, of.v, here.shared->where);
}

/// What queries find in keys and values, heads side by side: (B, S, heads · d).
constexpr value look_up(const site& here, trace& t, const qkv& of, score_options how = {}) {
    how.mask = &here.shared->mask;
    how.soft_cap = how.soft_cap || here.dims.attention_soft_cap;
    const value mixed = eager_attention(t, of.q, of.k, of.v, here.shared->where, how);
    return t.contiguous(t.reshape(mixed, {mixed.dim(0), mixed.dim(1), -1}));
}

/// The output projection: (B, S, heads · d) -> (B, S, hidden).
constexpr value join(const site& here, trace& t, const value& x) {
    return t.call(here.row.names.o, linear{x.dim(-1), here.dims.hidden_size, here.dims.output_bias}, x);
}

/// From projections on: norms where the row has them, positions, cache, scores; (B, S, heads · d).
constexpr value attend_with(const site& here, trace& t, qkv of, const score_options& how = {}) {
    const std::int64_t d = here.dims.head_dim;
    const qk_norm_kind norms = here.row.qk_norm;
    if (norms == qk_norm_kind::whole) norm_queries_and_keys(here, t, of, of.q.dim(-1), of.k.dim(-1));
    if (here.dims.clips_qkv)
        for (value* const each : {&of.q, &of.k, &of.v}) t.in_place(op::clamp, *each);
    split_heads(here, of);
    if (norms == qk_norm_kind::per_head) norm_queries_and_keys(here, t, of, d, d);
    heads_first(of);
    if (norms == qk_norm_kind::per_head_transposed) norm_queries_and_keys(here, t, of, d, d);
    turn(here, t, of);
    remember(here, t, of);
    return look_up(here, t, of, how);
}

/// Attention as Llama has it, with the norms of queries and keys that the row says: (B, S, hidden) -> the same.
constexpr value attend(const site& here, trace& t, const value& x) {
    return join(here, t, attend_with(here, t, project_qkv(here, t, x)));
}

/// The same with one projection for queries, keys and values.
constexpr value attend_from_one(const site& here, trace& t, const value& x) {
    return join(here, t, attend_with(here, t, project_qkv_as_one(here, t, x)));
}

/// The module around a row's `attend`.
struct attention_module {
    site here;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type(here.row.names.attention_type); }
    constexpr value describe(trace& t, const value& x) const { return here.row.attend(here, t, x); }
};

constexpr value mix_by_attention(const site& here, trace& t, const value& x) {
    return t.call(here.row.names.attention, attention_module{here}, x);
}

/// Attention with a low-rank cache (DeepSeek), its rotation chosen by row and configuration.
constexpr latent_attention latent_attention_of(const site& here) {
    const rotation in_pairs = here.dims.rope_interleave ? rotation::split_pairs : rotation::half;
    const bool as_row = here.row.rotated == rotation::complex_pairs || here.row.rotated == rotation::none;
    const rotation rotated = as_row ? here.row.rotated : in_pairs;
    const shared_values& s = *here.shared;
    return {here.dims.hidden_size,
            here.dims.num_attention_heads,
            here.dims.mla,
            here.dims.attention_bias,
            here.row.prefix,
            s.where,
            s.mask,
            s.cos,
            s.sin,
            rotated};
}
constexpr value mix_by_latent_attention(const site& here, trace& t, const value& x) {
    return t.call(here.row.names.attention, latent_attention_of(here), x);
}

}  // namespace llmcost
