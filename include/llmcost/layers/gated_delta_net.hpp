// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/causal_convolution.hpp>
#include <llmcost/layers/linear.hpp>
#include <llmcost/layers/norm.hpp>

// Gated DeltaNet (linear attention with the gated delta rule).
//
// Shapes: B = batch, S = sequence (new tokens).

namespace llmcost {

/// Sizes of a Gated DeltaNet layer.
struct gated_delta_net_dims {
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

/// Gated RMS norm: x, gate (tokens, width) -> (tokens, width).
///
///     weight · x · rsqrt(mean(x²) + ε) · act(gate)
struct gated_rms_norm {
    std::int64_t width;
    class_name named;
    activation act = activation::silu;

    static constexpr role module_role = role::norm;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x, const tensor& gate) const {
        const tensor w = t.param("weight", {width}), h = t.to(x, dtype::float32);
        const tensor out = t.mul(h, t.rsqrt(t.add_scalar(t.mean(t.pow(h, 2), -1, true))));
        const tensor scaled = t.mul(w, t.to(out, x.type));
        return t.to(t.mul(scaled, activate(t, act, t.to(gate, dtype::float32))), x.type);
    }
};

namespace delta_rule {

inline constexpr std::int64_t chunk = 64;

/// Inputs of the delta rule, as the projections return them: (B, S, heads, …).
struct inputs {
    tensor query, key, value_, decay, beta;
};

/// L2 normalization over the last dimension: x · rsqrt(Σ x² + ε).
constexpr tensor l2norm(trace& t, const tensor& x) {
    return t.mul(x, t.rsqrt(t.add_scalar(t.sum(t.mul(x, x), -1, true))));
}

/// Prepares the inputs of the delta rule: heads before positions, in float32, with normalized queries and keys.
///
/// Query and key heads are repeated to the number of value heads.
constexpr inputs prepared(trace& t, inputs in, const gated_delta_net_dims& dims) {
    if (dims.num_key_heads != dims.num_value_heads) {
        in.query = t.repeat_interleave(in.query, 2, dims.num_value_heads / dims.num_key_heads);
        in.key = t.repeat_interleave(in.key, 2, dims.num_value_heads / dims.num_key_heads);
    }
    for (tensor* v : {&in.query, &in.key, &in.value_, &in.beta, &in.decay})
        *v = t.to_contiguous_format(v->transpose(1, 2), dtype::float32);
    in.query = l2norm(t, in.query);
    in.key = l2norm(t, in.key);
    return in;
}

/// Splits positions into chunks: (B, heads, S, …) -> (B, heads, chunks, chunk, …). S is a multiple of `chunk`.
constexpr tensor chunked(trace& t, const tensor& x, std::int64_t chunk) {
    shape to{x.dim(0), x.dim(1), -1, chunk};
    if (x.rank == 4) to.size[to.rank++] = x.dim(3);
    return t.reshape(x, to);
}

/// The delta rule with chunks of 64 tokens: two triangular solves per chunk, then a scan over the chunk states.
///
/// Returns (B, S, value heads, value_head_dim). Writes the last state to `state`. `starts`: no state is cached.
/// Source: transformers/models/qwen3_next/modeling_qwen3_next.py, `torch_chunk_gated_delta_rule`.
constexpr tensor chunk_gated_delta_rule(trace& t, inputs in, const gated_delta_net_dims& dims, tensor& state,
                                        bool starts) {
    const std::int64_t batch = in.key.dim(0), sequence = in.key.dim(1);
    const dtype type = in.query.type;
    const std::int64_t padding = (chunk - sequence % chunk) % chunk, chunks = (sequence + padding) / chunk;
    t.set_chunk_size(chunk);
    in = prepared(t, in, dims);
    in.query = t.mul_scalar(in.query);
    const auto padded = [&](const tensor& x) { return padding > 0 ? t.pad(x, 2, padding) : t.clone(x); };
    for (tensor* v : {&in.query, &in.key, &in.value_, &in.beta, &in.decay}) *v = padded(*v);
    const tensor v_beta = chunked(t, t.mul(in.value_, in.beta.unsqueeze(-1)), chunk);
    const tensor k_beta = chunked(t, t.mul(in.key, in.beta.unsqueeze(-1)), chunk);
    tensor query = chunked(t, in.query, chunk), key = chunked(t, in.key, chunk);
    const tensor decay = t.cumsum(chunked(t, in.decay, chunk), 3);
    const tensor pairwise = t.exp(t.masked_fill(t.sub(decay.unsqueeze(4), decay.unsqueeze(3))));

    const tensor system = t.mul(t.matmul_operator(k_beta, key.transpose(-1, -2)), pairwise);
    const tensor intra_chunk_scores = t.mul(t.matmul_operator(query, key.transpose(-1, -2)), pairwise);
    const tensor decayed = t.mul(k_beta, t.exp(decay).unsqueeze(-1));
    const tensor new_values = t.solve_triangular(system, v_beta);
    const tensor k_decayed = t.solve_triangular(system, decayed);
    if (starts) state = t.full({batch, dims.num_value_heads, dims.key_head_dim, dims.value_head_dim});
    tensor out = t.zeros_like(new_values);

    query = t.mul(query, t.exp(decay).unsqueeze(-1));
    tensor chunk_decay;
    {
        const recorder::detach_guard state_alone{t, chunks == 1};  // used by the next state only, which is not read
        key = t.mul(key, t.exp(t.sub(t.slice(decay, -1, 1), decay)).unsqueeze(-1));
        chunk_decay = t.exp(t.select(decay, -1)).unsqueeze(-1).unsqueeze(-1);
    }
    const auto step = [&](tensor& s, bool read) {
        const tensor chunk_values = t.select(new_values, 2);
        const tensor fresh = t.sub(chunk_values, t.matmul_operator(t.select(k_decayed, 2), s));
        const tensor inter_chunk_output = t.matmul_operator(t.select(query, 2), s);
        t.copy_into_slice(out, t.add(inter_chunk_output, t.matmul_operator(t.select(intra_chunk_scores, 2), fresh)));
        const recorder::detach_guard unread{t, !read};
        const tensor decayed_state = t.mul(s, t.select(chunk_decay, 2));
        s = t.add(decayed_state, t.matmul_operator(t.select(key, 2).transpose(-1, -2), fresh));
    };
    // The first state requires no gradient, later ones do. The last state is not read.
    step(state, chunks > 1);
    for (loop other_loop = t.loop_time_steps(chunks - 2, state); other_loop.next();) step(state, true);
    if (chunks > 1) step(state, false);
    const tensor flat = t.reshape(out, {batch, dims.num_value_heads, -1, dims.value_head_dim});
    return t.to_contiguous_format(t.slice(flat, 2, sequence).transpose(1, 2), type);
}

/// The delta rule for one token: decays the state, adds the correction, and computes the output from it.
///
/// Source: transformers/models/qwen3_next/modeling_qwen3_next.py, `torch_recurrent_gated_delta_rule`.
constexpr tensor recurrent_gated_delta_rule(trace& t, inputs in, const gated_delta_net_dims& dims, tensor& state) {
    const dtype type = in.query.type;
    in = prepared(t, in, dims);
    in.query = t.div_scalar(in.query);
    const tensor out = t.zeros_like(in.value_);
    const tensor q = in.query.select(2), k = in.key.select(2), v = in.value_.select(2);
    state = t.mul(state, t.exp(in.decay.select(2)).unsqueeze(-1).unsqueeze(-1));
    const tensor kv_mem = t.sum(t.mul(state, k.unsqueeze(-1)), -2);
    const tensor delta = t.mul(t.add(v, kv_mem), in.beta.select(2).unsqueeze(-1));
    state = t.add(state, t.mul(k.unsqueeze(-1), delta.unsqueeze(-2)));
    (void)t.sum(t.mul(state, q.unsqueeze(-1)), -2);  // copied into `out`
    return t.to(t.contiguous(out.transpose(1, 2)), type);
}

/// The delta rule for a sequence, or for one token with a cached state: (B, S, value heads, value_head_dim).
constexpr tensor update_conv_state(trace& t, const inputs& in, const gated_delta_net_dims& dims, tensor& state,
                                   bool follows) {
    const recorder::fused_kernel_guard fused{t,
                                             {.kind = fused_kernel_kind::linear_attention,
                                              .batch = in.value_.dim(0),
                                              .num_queries = in.value_.dim(1),
                                              .heads = dims.num_value_heads,
                                              .kv_heads = dims.num_key_heads,
                                              .head_dim = dims.key_head_dim,
                                              .value_dim = dims.value_head_dim,
                                              .chunk = chunk,
                                              .uses_delta_rule = true}};
    if (follows) return recurrent_gated_delta_rule(t, in, dims, state);
    return chunk_gated_delta_rule(t, in, dims, state, t.load().past == 0);
}

/// The delta rule with the recurrent state of the layer in the cache: (B, S, value heads, value_head_dim).
constexpr tensor cached(trace& t, const inputs& in, const gated_delta_net_dims& dims) {
    const bool caches = !t.is_training(), starts = t.load().past == 0;
    tensor state = trace::buffer({in.value_.dim(0), dims.num_value_heads, dims.key_head_dim, dims.value_head_dim});
    const tensor out = update_conv_state(t, in, dims, state, caches && !starts && in.value_.dim(1) == 1);
    if (caches) {
        if (starts) (void)t.zeros_like(state);
        t.add_to_cache(state);
    }
    return out;
}

}  // namespace delta_rule

/// Gated DeltaNet: projections, causal convolution, delta rule, gated norm. x (B, S, width) -> (B, S, width).
///
/// The cache contains the last inputs of the convolution and one state per value head.
/// Source: transformers/models/qwen3_next/modeling_qwen3_next.py, `Qwen3NextGatedDeltaNet`;
/// transformers/models/qwen3_5/modeling_qwen3_5.py, `Qwen3_5GatedDeltaNet`.
struct gated_delta_net {
    gated_delta_net_dims dims;
    literal prefix;
    bool has_separate_projections = false;  ///< separate projections for qkv, z, b and a
    activation gate_act = activation::silu;
    shape extra_cache_shape{};  ///< another cached state, listed after that of the convolution; rank 0: none

    static constexpr role module_role = role::mixer;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {prefix, "GatedDeltaNet"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t batch = x.dim(0), sequence = x.dim(1);
        const std::int64_t key_dim = dims.key_dim(), value_dim = dims.value_dim(), channels = 2 * key_dim + value_dim;
        const tensor dt_bias = t.param("dt_bias", {dims.num_value_heads}),
                     a_log = t.param("A_log", {dims.num_value_heads});
        const convolution_weights weights = declare_conv_weights(t, "conv1d", channels, dims.conv_kernel, false);
        const parts p = has_separate_projections ? project_separately(t, x) : project_fused(t, x);
        const auto heads = [&](const tensor& v, std::int64_t d) { return t.reshape(v, {batch, sequence, -1, d}); };
        const tensor mixed = causal_convolution(t, p.qkv.transpose(1, 2), weights, dims.act).transpose(1, 2);
        if (extra_cache_shape.rank != 0 && !t.is_training()) t.add_to_cache(trace::buffer(extra_cache_shape));

        delta_rule::inputs in;
        in.query = heads(mixed.slice(-1, key_dim), dims.key_head_dim);
        in.key = heads(mixed.slice(-1, key_dim), dims.key_head_dim);
        in.value_ = heads(mixed.slice(-1, value_dim), dims.value_head_dim);
        in.beta = t.sigmoid(p.b);
        const tensor rate = t.neg(t.exp(t.to(a_log, dtype::float32)));
        in.decay = t.mul(rate, t.softplus(t.add(t.to(p.a, dtype::float32), dt_bias)));
        const tensor out = delta_rule::cached(t, in, dims);
        const tensor rows = t.reshape(out, {-1, dims.value_head_dim});
        const tensor gate = t.reshape(p.z, {-1, dims.value_head_dim});
        const gated_rms_norm norm{dims.value_head_dim, {prefix, "RMSNormGated"}, gate_act};
        const tensor normed = t.call("norm", norm, rows, gate);
        return t.call("out_proj", linear{value_dim, dims.width}, normed.view({batch, sequence, value_dim}));
    }

private:
    /// Concatenated queries, keys and values; gate `z` of the norm; `b` for beta; `a` for the decay.
    struct parts {
        tensor qkv, z, b, a;
    };
    constexpr parts project_separately(trace& t, const tensor& x) const {
        parts p;
        p.qkv = t.call("in_proj_qkv", linear{dims.width, 2 * dims.key_dim() + dims.value_dim()}, x);
        p.z = t.call("in_proj_z", linear{dims.width, dims.value_dim()}, x);
        p.b = t.call("in_proj_b", linear{dims.width, dims.num_value_heads}, x);
        p.a = t.call("in_proj_a", linear{dims.width, dims.num_value_heads}, x);
        return p;
    }
    /// Projects with two fused linear layers, interleaved by key head.
    ///
    /// The parts are copied separately (`fix_query_key_value_ordering`).
    constexpr parts project_fused(trace& t, const tensor& x) const {
        const std::int64_t batch = x.dim(0), sequence = x.dim(1), groups = dims.num_value_heads / dims.num_key_heads;
        tensor qkvz = t.call("in_proj_qkvz", linear{dims.width, 2 * dims.key_dim() + 2 * dims.value_dim()}, x);
        tensor ba = t.call("in_proj_ba", linear{dims.width, 2 * dims.num_value_heads}, x);
        qkvz = qkvz.view({batch, sequence, dims.num_key_heads, -1});
        ba = ba.view({batch, sequence, dims.num_key_heads, -1});
        const tensor value_slice = qkvz.slice(-1, groups * dims.value_head_dim),
                     key_slice = qkvz.slice(-1, dims.key_head_dim);
        const auto flat = [&](const tensor& v) { return t.reshape(v, {batch, sequence, -1}); };
        parts p;
        const tensor v = t.reshape(value_slice, {batch, sequence, -1, dims.value_head_dim});
        p.z = t.reshape(value_slice, {batch, sequence, -1, dims.value_head_dim});
        p.b = flat(ba.slice(-1, groups));
        p.a = flat(ba.slice(-1, groups));
        const tensor q_flat = flat(key_slice), k_flat = flat(key_slice);
        p.qkv = t.cat({q_flat, k_flat, flat(v)}, -1);
        return p;
    }
};

}  // namespace llmcost
