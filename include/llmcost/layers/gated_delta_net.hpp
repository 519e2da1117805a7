// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/causal_convolution.hpp>
#include <llmcost/layers/linear.hpp>
#include <llmcost/layers/norm.hpp>

namespace llmcost {

/// Sizes of a gated delta rule mixer.
struct delta_rule_sizes {
    std::int64_t width;
    std::int64_t num_key_heads;
    std::int64_t num_value_heads;
    std::int64_t key_head_dim;
    std::int64_t value_head_dim;
    std::int64_t conv_kernel;
    activation act;

    [[nodiscard]] constexpr std::int64_t key_dim() const noexcept { return num_key_heads * key_head_dim; }
    [[nodiscard]] constexpr std::int64_t value_dim() const noexcept { return num_value_heads * value_head_dim; }
};

/// RMS norm of x (rows, width), times an activation of a gate of the same size.
struct gated_rms_norm {
    std::int64_t width;
    class_name named;
    activation act = activation::silu;

    static constexpr role what = role::norm;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x, const value& gate) const {
        const value w = t.param("weight", {width}), h = t.to(x, dtype::float32);
        const value out = t.mul(h, t.rsqrt(t.add(t.mean(t.pow(h, 2), -1, true))));
        const value scaled = t.mul(w, t.to(out, x.type));
        return t.to(t.mul(scaled, activate(t, act, t.to(gate, dtype::float32))), x.type);
    }
};

namespace delta_rule {

inline constexpr std::int64_t chunk = 64;

/// What the rule reads, all (B, S, heads, …) as the projections give it.
struct inputs {
    value query, key, value_, decay, beta;
};

/// x · rsqrt(Σ x² + ε)
constexpr value l2norm(trace& t, const value& x) { return t.mul(x, t.rsqrt(t.add(t.sum(t.mul(x, x), -1, true)))); }

/// Heads in front, float32, keys and queries of unit length, as many of them as values.
constexpr inputs prepared(trace& t, inputs in, const delta_rule_sizes& dims) {
    if (dims.num_key_heads != dims.num_value_heads) {
        in.query = t.repeat_interleave(in.query, 2, dims.num_value_heads / dims.num_key_heads);
        in.key = t.repeat_interleave(in.key, 2, dims.num_value_heads / dims.num_key_heads);
    }
    for (value* v : {&in.query, &in.key, &in.value_, &in.beta, &in.decay})
        *v = t.to_contiguous_format(v->transpose(1, 2), dtype::float32);
    in.query = l2norm(t, in.query);
    in.key = l2norm(t, in.key);
    return in;
}

/// Rows of a chunk, with the sequence padded to whole chunks.
constexpr value chunked(trace& t, const value& x, std::int64_t chunk) {
    extents to{x.dim(0), x.dim(1), -1, chunk};
    if (x.rank == 4) to.size[to.rank++] = x.dim(3);
    return t.reshape(x, to);
}

/// The rule by chunks of 64 tokens: two triangular solves inside of each, a scan over their states.
///
/// Returns (B, S, value heads, value_head_dim) and leaves the last state in `state`.
/// Source: transformers/models/qwen3_next/modeling_qwen3_next.py, `torch_chunk_gated_delta_rule`.
constexpr value by_chunks(trace& t, inputs in, const delta_rule_sizes& dims, value& state, bool starts) {
    const std::int64_t batch = in.key.dim(0), sequence = in.key.dim(1);
    const dtype type = in.query.type;
    const std::int64_t padding = (chunk - sequence % chunk) % chunk, chunks = (sequence + padding) / chunk;
    t.chunked(chunk);
    in = prepared(t, in, dims);
    in.query = t.mul(in.query);
    const auto padded = [&](const value& x) { return padding > 0 ? t.pad(x, 2, padding) : t.clone(x); };
    for (value* v : {&in.query, &in.key, &in.value_, &in.beta, &in.decay}) *v = padded(*v);
    const value v_beta = chunked(t, t.mul(in.value_, in.beta.unsqueeze(-1)), chunk);
    const value k_beta = chunked(t, t.mul(in.key, in.beta.unsqueeze(-1)), chunk);
    value query = chunked(t, in.query, chunk), key = chunked(t, in.key, chunk);
    const value decay = t.cumsum(chunked(t, in.decay, chunk), 3);
    const value pairwise = t.exp(t.where(t.sub(decay.unsqueeze(4), decay.unsqueeze(3))));

    const value system = t.mul(t.matmul_operator(k_beta, key.transpose(-1, -2)), pairwise);
    const value within = t.mul(t.matmul_operator(query, key.transpose(-1, -2)), pairwise);
    const value decayed = t.mul(k_beta, t.exp(decay).unsqueeze(-1));
    const value new_values = t.solve_unit_triangular(system, v_beta);
    const value k_decayed = t.solve_unit_triangular(system, decayed);
    if (starts) state = t.constant({batch, dims.num_value_heads, dims.key_head_dim, dims.value_head_dim});
    value out = t.zeros_like(new_values);

    query = t.mul(query, t.exp(decay).unsqueeze(-1));
    value chunk_decay;
    {
        const recorder::off_loss_guard state_alone{t, chunks == 1};  // which nothing reads
        key = t.mul(key, t.exp(t.sub(t.slice(decay, -1, 1), decay)).unsqueeze(-1));
        chunk_decay = t.exp(t.select(decay, -1)).unsqueeze(-1).unsqueeze(-1);
    }
    const auto step = [&](value& s, bool read) {
        const value fresh = t.sub(t.select(new_values, 2), t.matmul_operator(t.select(k_decayed, 2), s));
        const value across = t.matmul_operator(t.select(query, 2), s);
        t.copy_into(out, t.add(across, t.matmul_operator(t.select(within, 2), fresh)));
        const recorder::off_loss_guard unread{t, !read};
        s = t.add(t.mul(s, t.select(chunk_decay, 2)), t.matmul_operator(t.select(key, 2).transpose(-1, -2), fresh));
    };
    step(state, chunks > 1);  // the first state asks for no gradient, the others do; nothing reads the last one
    for (repetition other = t.steps(chunks - 2, state); other.next();) step(state, true);
    if (chunks > 1) step(state, false);
    const value flat = t.reshape(out, {batch, dims.num_value_heads, -1, dims.value_head_dim});
    return t.to_contiguous_format(t.slice(flat, 2, sequence).transpose(1, 2), type);
}

/// The rule for one token: the state decays, is corrected, and is read.
///
/// Source: transformers/models/qwen3_next/modeling_qwen3_next.py, `torch_recurrent_gated_delta_rule`.
constexpr value one_token(trace& t, inputs in, const delta_rule_sizes& dims, value& state) {
    const dtype type = in.query.type;
    in = prepared(t, in, dims);
    in.query = t.div(in.query);
    const value out = t.zeros_like(in.value_);
    const value q = in.query.select(2), k = in.key.select(2), v = in.value_.select(2);
    state = t.mul(state, t.exp(in.decay.select(2)).unsqueeze(-1).unsqueeze(-1));
    const value remembered = t.sum(t.mul(state, k.unsqueeze(-1)), -2);
    const value delta = t.mul(t.add(v, remembered), in.beta.select(2).unsqueeze(-1));
    state = t.add(state, t.mul(k.unsqueeze(-1), delta.unsqueeze(-2)));
    (void)t.sum(t.mul(state, q.unsqueeze(-1)), -2);  // copied into its place
    return t.to(t.contiguous(out.transpose(1, 2)), type);
}

/// The rule over a sequence, or for one token that follows a cached state: (B, S, value heads, value_head_dim).
constexpr value remembered(trace& t, const inputs& in, const delta_rule_sizes& dims, value& state, bool follows) {
    const recorder::fused_guard fused{t,
                                      {.kind = fused_kind::linear_attention,
                                       .batch = in.value_.dim(0),
                                       .sequence = in.value_.dim(1),
                                       .heads = dims.num_value_heads,
                                       .kv_heads = dims.num_key_heads,
                                       .head_dim = dims.key_head_dim,
                                       .value_dim = dims.value_head_dim,
                                       .chunk = chunk,
                                       .corrects = true}};
    if (follows) return one_token(t, in, dims, state);
    return by_chunks(t, in, dims, state, t.load().past == 0);
}

/// The same with the state that a mixer keeps in the cache.
constexpr value cached(trace& t, const inputs& in, const delta_rule_sizes& dims) {
    const bool caches = !t.training(), starts = t.load().past == 0;
    value state = trace::buffer({in.value_.dim(0), dims.num_value_heads, dims.key_head_dim, dims.value_head_dim});
    const value out = remembered(t, in, dims, state, caches && !starts && in.value_.dim(1) == 1);
    if (caches) {
        if (starts) (void)t.zeros_like(state);
        t.cache(state);
    }
    return out;
}

}  // namespace delta_rule

/// Gated delta net: projections, a short convolution, the delta rule, a gated norm.
///
/// x (B, S, width) -> (B, S, width); the cache holds the convolution's last inputs and one state per value head.
/// Source: transformers/models/qwen3_next/modeling_qwen3_next.py, `Qwen3NextGatedDeltaNet`;
/// transformers/models/qwen3_5/modeling_qwen3_5.py, `Qwen3_5GatedDeltaNet`.
struct gated_delta_net {
    delta_rule_sizes dims;
    literal prefix;
    bool apart = false;  ///< queries, keys and values, z, b and a have projections of their own
    activation gate_act = activation::silu;
    extents beside{};  ///< a state of something else that the cache lists behind the convolution's

    static constexpr role what = role::mixer;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {prefix, "GatedDeltaNet"}; }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t batch = x.dim(0), sequence = x.dim(1);
        const std::int64_t key_dim = dims.key_dim(), value_dim = dims.value_dim(), channels = 2 * key_dim + value_dim;
        const value dt_bias = t.param("dt_bias", {dims.num_value_heads}), a_log = t.param("A_log", {dims.num_value_heads});
        const convolution_weights weights = declare_convolution(t, "conv1d", channels, dims.conv_kernel, false);
        const parts p = apart ? projected_apart(t, x) : projected_together(t, x);
        const auto heads = [&](const value& v, std::int64_t d) { return t.reshape(v, {batch, sequence, -1, d}); };
        const value mixed = causal_convolution(t, p.joined.transpose(1, 2), weights, dims.act).transpose(1, 2);
        if (beside.rank != 0 && !t.training()) t.cache(trace::buffer(beside));

        delta_rule::inputs in;
        in.query = heads(mixed.slice(-1, key_dim), dims.key_head_dim);
        in.key = heads(mixed.slice(-1, key_dim), dims.key_head_dim);
        in.value_ = heads(mixed.slice(-1, value_dim), dims.value_head_dim);
        in.beta = t.sigmoid(p.b);
        const value rate = t.neg(t.exp(t.to(a_log, dtype::float32)));
        in.decay = t.mul(rate, t.softplus(t.add(t.to(p.a, dtype::float32), dt_bias)));
        const value out = delta_rule::cached(t, in, dims);
        const value rows = t.reshape(out, {-1, dims.value_head_dim});
        const value gate = t.reshape(p.z, {-1, dims.value_head_dim});
        const gated_rms_norm norm{dims.value_head_dim, {prefix, "RMSNormGated"}, gate_act};
        const value normed = t.call("norm", norm, rows, gate);
        return t.call("out_proj", linear{value_dim, dims.width}, normed.view({batch, sequence, value_dim}));
    }

private:
    /// Queries, keys and values side by side; the gate of the norm, in heads; what beta and the decay are made of.
    struct parts {
        value joined, z, b, a;
    };
    constexpr parts projected_apart(trace& t, const value& x) const {
        parts p;
        p.joined = t.call("in_proj_qkv", linear{dims.width, 2 * dims.key_dim() + dims.value_dim()}, x);
        p.z = t.call("in_proj_z", linear{dims.width, dims.value_dim()}, x);
        p.b = t.call("in_proj_b", linear{dims.width, dims.num_value_heads}, x);
        p.a = t.call("in_proj_a", linear{dims.width, dims.num_value_heads}, x);
        return p;
    }
    /// Of each key head its query, key, values and gates: parts that are copied apart (`fix_query_key_value_ordering`).
    constexpr parts projected_together(trace& t, const value& x) const {
        const std::int64_t batch = x.dim(0), sequence = x.dim(1), groups = dims.num_value_heads / dims.num_key_heads;
        value qkvz = t.call("in_proj_qkvz", linear{dims.width, 2 * dims.key_dim() + 2 * dims.value_dim()}, x);
        value ba = t.call("in_proj_ba", linear{dims.width, 2 * dims.num_value_heads}, x);
        qkvz = qkvz.view({batch, sequence, dims.num_key_heads, -1});
        ba = ba.view({batch, sequence, dims.num_key_heads, -1});
        const value wide = qkvz.slice(-1, groups * dims.value_head_dim), narrow = qkvz.slice(-1, dims.key_head_dim);
        const auto flat = [&](const value& v) { return t.reshape(v, {batch, sequence, -1}); };
        parts p;
        const value v = t.reshape(wide, {batch, sequence, -1, dims.value_head_dim});
        p.z = t.reshape(wide, {batch, sequence, -1, dims.value_head_dim});
        p.b = flat(ba.slice(-1, groups)), p.a = flat(ba.slice(-1, groups));
        const value q_flat = flat(narrow), k_flat = flat(narrow);
        p.joined = t.cat({q_flat, k_flat, flat(v)}, -1);
        return p;
    }
};

}  // namespace llmcost
