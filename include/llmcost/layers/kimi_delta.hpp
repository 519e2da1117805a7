// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/causal_convolution.hpp>
#include <llmcost/layers/linear.hpp>

namespace llmcost {
// Kimi Delta Attention: the delta rule with a decay per element.
//
// Shapes: B = batch, S = sequence (new tokens), L = chunk size.

namespace kimi_delta {

inline constexpr std::int64_t chunk = 64;

/// Inputs of the delta rule: (B, S, heads, dim) each, beta (B, S, heads). The decay has one value per element.
struct inputs {
    tensor query, key, value_, decay, beta;
};

/// L2 normalization over the last dimension: x / √(Σ x² + ε).
constexpr tensor l2norm(trace& t, const tensor& x) {
    return t.div(x, t.sqrt(t.add_scalar(t.sum(t.mul(x, x), -1, true))));
}

/// The delta rule for one token: decays the state, adds the correction, and computes the output from it.
///
/// Source: transformers/models/kimi_linear/modeling_kimi_linear.py, `recurrent_kimi_delta_attention`.
constexpr tensor recurrent_kimi_delta(trace& t, inputs in, tensor& state) {
    const dtype type = in.query.type;
    for (tensor* const v : {&in.query, &in.key, &in.value_, &in.decay, &in.beta}) *v = t.to(*v, dtype::float32);
    in.query = t.mul_scalar(l2norm(t, in.query));
    in.key = l2norm(t, in.key);
    const tensor out = t.full({in.key.dim(0), in.key.dim(1), in.key.dim(2), in.value_.dim(3)});
    const tensor q = in.query.select(1), k = in.key.select(1), v = in.value_.select(1);
    state = t.mul(state, t.exp(in.decay.select(1).unsqueeze(-1)));
    const tensor kv_mem = t.sum(t.mul(state, k.unsqueeze(-1)), -2);
    const tensor delta = t.mul(t.sub(v, kv_mem), in.beta.select(1).unsqueeze(-1));
    state = t.add(state, t.mul(k.unsqueeze(-1), delta.unsqueeze(-2)));
    (void)t.sum(t.mul(state, q.unsqueeze(-1)), -2);  // copied into `out`
    return t.to(out, type);
}

/// I + A + A² + … for a strictly lower triangular A, computed in place, row by row: (…, L, L) -> (…, L, L).
constexpr tensor invert_triangular(trace& t, tensor a) {
    for (std::int64_t i = 1; i < chunk; ++i) {
        const tensor row = t.clone(t.slice(t.select(a, -2), -1, i));
        const tensor previous_rows = t.clone(t.slice(t.slice(a, -2, i), -1, i));
        t.copy_into_slice(a, t.add(row, t.sum(t.mul(row.unsqueeze(-1), previous_rows), -2)));
    }
    return t.add(a, t.full({chunk, chunk}));
}

/// Decayed and masked dot products of all pairs of positions of a chunk: (…, L, dim) -> (…, L, L).
constexpr tensor pairwise(trace& t, const tensor& left, const tensor& right, const tensor& decayed) {
    return t.masked_fill(t.sum(t.mul(t.mul(left.unsqueeze(-2), right.unsqueeze(-3)), decayed), -1));
}

/// The delta rule with chunks of 64 tokens: products of all pairs in a chunk, then a scan over the chunk states.
///
/// Returns (B, S, heads, dim). Writes the last state to `state`. `starts`: no state is cached.
/// Cost of the pairs with c chunks: MULT 4·B·heads·c·64²·dim.
/// Source: transformers/models/kimi_linear/modeling_kimi_linear.py, `chunk_kimi_delta_attention`.
constexpr tensor chunk_kimi_delta(trace& t, inputs in, tensor& state, bool starts) {
    const std::int64_t batch = in.key.dim(0), sequence = in.key.dim(1), heads = in.key.dim(2), dim = in.key.dim(3);
    const std::int64_t values = in.value_.dim(3);
    const dtype type = in.query.type;
    const std::int64_t padding = (chunk - sequence % chunk) % chunk, chunks = (sequence + padding) / chunk;
    t.set_chunk_size(chunk);
    for (tensor* const v : {&in.query, &in.key, &in.value_, &in.beta, &in.decay})
        *v = t.to(t.contiguous(v->transpose(1, 2)), dtype::float32);
    in.query = l2norm(t, in.query);
    in.key = l2norm(t, in.key);
    for (tensor* const v : {&in.query, &in.key, &in.value_, &in.decay, &in.beta})
        *v = padding > 0 ? t.pad(*v, 2, padding) : t.clone(*v);
    const auto in_chunks = [&](const tensor& x) { return t.reshape(x, {batch, heads, -1, chunk, x.dim(-1)}); };
    const tensor query = in_chunks(t.mul_scalar(in.query)), v_beta = in_chunks(t.mul(in.value_, in.beta.unsqueeze(-1)));
    const tensor k_beta = in_chunks(t.mul(in.key, in.beta.unsqueeze(-1))), key = in_chunks(in.key);
    const tensor decay = t.cumsum(in_chunks(in.decay), -2);
    const tensor decayed = t.exp(t.masked_fill(t.sub(decay.unsqueeze(-2), decay.unsqueeze(-3))));

    const tensor system = invert_triangular(t, t.neg(pairwise(t, k_beta, key, decayed)));
    const tensor new_values = t.matmul_operator(system, v_beta);
    const tensor k_decayed = t.matmul_operator(system, t.mul(k_beta, t.exp(decay)));
    if (starts) state = t.full({batch, heads, dim, values});
    tensor out = t.zeros_like(new_values);
    const auto step = [&](tensor& s, bool read) {
        const tensor q = t.select(query, 2), k = t.select(key, 2), v = t.select(new_values, 2), g = t.select(decay, 2);
        const tensor inter_chunk_output = t.matmul_operator(t.mul(q, t.exp(g)), s);
        const tensor intra_chunk_scores = pairwise(t, q, k, t.select(decayed, 2));
        const tensor fresh = t.sub(v, t.matmul_operator(t.select(k_decayed, 2), s));
        t.copy_into_slice(out, t.add(inter_chunk_output, t.matmul_operator(intra_chunk_scores, fresh)));
        const recorder::detach_guard unread{t, !read};
        const tensor decayed_state = t.mul(s, t.exp(t.select(g, 2)).unsqueeze(-1));
        const tensor to_end = t.exp(t.sub(t.slice(g, 2, 1), g));
        s = t.add(decayed_state, t.matmul_operator(t.mul(k, to_end).transpose(-1, -2), fresh));
    };
    // The first state requires no gradient, later ones do. The last state is not read.
    step(state, chunks > 1);
    for (loop other_loop = t.loop_time_steps(chunks - 2, state); other_loop.next();) step(state, true);
    if (chunks > 1) step(state, false);
    const tensor flat = t.reshape(out, {batch, heads, -1, values});
    return t.to(t.contiguous(t.slice(flat, 2, sequence).transpose(1, 2)), type);
}

/// The delta rule with the recurrent state of the layer in the cache: (B, S, heads, dim).
constexpr tensor cached(trace& t, const inputs& in) {
    const std::int64_t batch = in.key.dim(0), sequence = in.key.dim(1), heads = in.key.dim(2), dim = in.key.dim(3);
    const bool caches = !t.is_training(), starts = t.load().past == 0;
    tensor state = trace::buffer({batch, heads, dim, in.value_.dim(3)}), out;
    {
        const recorder::fused_kernel_guard fused{t,
                                                 {.kind = fused_kernel_kind::linear_attention,
                                                  .batch = batch,
                                                  .num_queries = sequence,
                                                  .heads = heads,
                                                  .kv_heads = heads,
                                                  .head_dim = dim,
                                                  .value_dim = in.value_.dim(3),
                                                  .chunk = chunk,
                                                  .uses_delta_rule = true}};
        out = caches && !starts && sequence == 1 ? recurrent_kimi_delta(t, in, state)
                                                 : chunk_kimi_delta(t, in, state, starts);
    }
    if (caches) {
        if (starts) (void)t.zeros_like(state);
        t.add_to_cache(state);
    }
    return out;
}

/// Gated RMS norm in float32, including the weight: x, gate (…, width) -> (…, width).
///
///     weight · x · rsqrt(mean(x²) + ε) · sigmoid(gate)
struct gated_norm {
    std::int64_t width;
    class_name named;

    static constexpr role module_role = role::norm;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x, const tensor& gate) const {
        const tensor w = t.param("weight", {width}), h = t.to(x, dtype::float32);
        const tensor out = t.mul(h, t.rsqrt(t.add_scalar(t.mean(t.pow(h, 2), -1, true))));
        const tensor scaled = t.mul(t.to(w, dtype::float32), out);
        return t.to(t.mul(scaled, t.sigmoid(t.to(gate, dtype::float32))), x.type);
    }
};

}  // namespace kimi_delta

/// Kimi Delta Attention: projections, causal convolution, delta rule, gated norm. x (B, S, width) -> (B, S, width).
///
/// `Gates` computes the decay of every element, (B, S, heads, dim), and the gate of the norm, (B, S, heads · dim).
/// Source: transformers/models/kimi_linear/modeling_kimi_linear.py, `KimiLinearDeltaAttention`.
template <class Gates>
struct kimi_delta_attention {
    std::int64_t width;
    std::int64_t heads;
    std::int64_t head_dim;
    std::int64_t conv_kernel;
    activation act;
    literal prefix;
    Gates gates;
    bool has_float32_convolution = false;  ///< the convolution is computed in float32, the type of its weights

    static constexpr role module_role = role::mixer;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {prefix, "DeltaAttention"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t batch = x.dim(0), sequence = x.dim(1), all = heads * head_dim;
        const auto projected = [&](literal name) { return t.call(name, linear{width, all}, x); };
        const tensor q = projected("q_proj"), k = projected("k_proj");
        const tensor qkv = t.cat({q, k, projected("v_proj")}, -1).transpose(1, 2);
        workload conv_workload = t.load();
        const bool converts = has_float32_convolution && conv_workload.keeps_float32_parameters;
        if (converts) conv_workload.activations = dtype::float32;
        tensor mixed;
        {
            const trace::workload_guard typed{t, conv_workload};
            const convolution_weights kernel = declare_conv_weights(t, "conv1d", 3 * all, conv_kernel, false);
            mixed = causal_convolution(t, converts ? t.to(qkv, dtype::float32) : qkv, kernel, act);
        }
        mixed = t.to(mixed, x.type).transpose(1, 2);
        kimi_delta::inputs in;
        in.query = in.key = in.value_ = mixed.slice(-1, all).view({batch, sequence, heads, head_dim});
        in.decay = gates.decay(t, x);
        in.beta = t.sigmoid(t.call("b_proj", linear{width, heads}, x));
        const tensor found = kimi_delta::cached(t, in);
        const tensor gate = gates.output(t, x).view({batch, sequence, heads, head_dim});
        const tensor out = t.call("o_norm", kimi_delta::gated_norm{head_dim, {prefix, "RMSNormGated"}}, found, gate);
        return t.call("o_proj", linear{all, width}, t.reshape(out, {batch, sequence, -1}));
    }
};

}  // namespace llmcost
