// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/causal_convolution.hpp>
#include <llmcost/layers/einsum.hpp>
#include <llmcost/layers/linear.hpp>
#include <llmcost/model/sizes.hpp>

namespace llmcost {

namespace state_space_dual {

/// What the recurrence reads: u (B, S, H, P), time steps (B, S, H), A and D (H), B and C (B, S, G, N).
struct inputs {
    value u;
    value time_step;
    value a;
    value b;
    value c;
    value d;
    value time_step_bias;
};

/// Sums over all spans that end in a position: x (…, L) -> (…, L, L), those that start behind it masked.
constexpr value segment_sum(trace& t, const value& x) {
    extents to;
    for (int i = 0; i < x.rank; ++i) to.size[to.rank++] = x.size[i];
    to.size[to.rank++] = x.dim(-1);
    return t.where(t.cumsum(t.where(x.unsqueeze(-1).expand(to)), -2));
}

/// Positions padded by zeros to whole chunks; the reference copies where nothing is missing, too.
constexpr value padded(trace& t, const value& x, std::int64_t padding) {
    return padding > 0 ? t.pad(x, 1, padding) : t.clone(x);
}

/// (B, S, …) -> (B, chunks, chunk, …)
constexpr value in_chunks(trace& t, const value& x, std::int64_t padding, std::int64_t chunk) {
    const value whole = padded(t, x, padding);
    extents to{whole.dim(0), -1, chunk};
    for (int i = 2; i < whole.rank; ++i) to.size[to.rank++] = whole.size[i];
    return t.reshape(whole, to);
}

/// The recurrence h_s = exp(Δ_s A) h_{s-1} + Δ_s B_s u_s, y_s = C_s h_s + D u_s over a whole sequence, by chunks of L
/// positions: (B, S, H, P), `state` (B, H, P, N) where there is one before.
///
/// With c chunks, MULT of the five products: B·c·H·(L²·(N + P) + 2·L·P·N) + B·H·(c + 1)²·P·N.
/// Source: transformers/models/mamba2/modeling_mamba2.py, `mamba2_chunk_scan`.
constexpr value chunk_scan(trace& t, inputs in, std::int64_t chunk, const value* state) {
    const std::int64_t batch = in.u.dim(0), sequence = in.u.dim(1), heads = in.u.dim(2), width = in.u.dim(3);
    const std::int64_t padding = (chunk - sequence % chunk) % chunk;
    t.chunked(chunk);
    const value step = t.unary(op::clamp, t.softplus(t.add(in.time_step, t.to(in.time_step_bias, in.time_step.type))));
    value u = t.to(in.u, dtype::float32);
    value b = t.repeat_interleave(t.to(in.b, dtype::float32), 2, heads / in.b.dim(2));
    value c = t.repeat_interleave(t.to(in.c, dtype::float32), 2, heads / in.c.dim(2));
    const value beside = t.mul(in.d.unsqueeze(-1), padded(t, u, padding));
    u = t.mul(u, t.to(step.unsqueeze(-1), dtype::float32));
    value a = t.mul(t.to(in.a, u.type), t.to(step, dtype::float32));
    for (value* v : {&u, &a, &b, &c}) *v = in_chunks(t, *v, padding, chunk);
    a = a.permute({0, 3, 1, 2});
    const value decay = t.cumsum(a, -1);

    // inside of each chunk: attention without a softmax, the decay its mask
    const value within = t.exp(segment_sum(t, a));
    const value scores = t.mul(einsum(t, "bclhn,bcshn->bclsh", c, b), within.permute({0, 2, 3, 4, 1}));
    const value near = einsum(t, "bclsh,bcshp->bclhp", scores, u);

    // what each chunk adds to the state, and the states at its boundaries
    const value to_end = t.exp(t.sub(t.slice(decay, -1, 1), decay));
    const value entering = t.mul(b, to_end.permute({0, -2, -1, 1}).unsqueeze(-1));
    const value fresh = einsum(t, "bclhn,bclhp->bchpn", entering, u);
    const value first = state != nullptr ? t.to(*state, fresh.type).unsqueeze(1) : t.zeros_like(fresh.slice(1, 1));
    const value between = t.exp(segment_sum(t, t.pad(t.select(decay, -1), -1, 1))).transpose(1, 3);
    const value states = einsum(t, "bzch,bzhpn->bchpn", between, t.cat({first, fresh}, 1));

    const value from_start = t.exp(decay);
    const value before = einsum(t, "bclhn,bchpn->bclhp", c, t.slice(states, 1, states.dim(1) - 1));
    const value far = t.mul(before, from_start.permute({0, 2, 3, 1}).unsqueeze(-1));
    const value both = t.contiguous(t.add(near, far));
    return t.slice(t.add(t.reshape(both, {batch, -1, heads, width}), beside), 1, sequence);
}

/// One position from the state that the cache holds: (B, H, P).
///
/// Source: transformers/models/mamba2/modeling_mamba2.py, `mamba2_selective_state_update`.
constexpr value state_update(trace& t, const inputs& in, const value& state) {
    const std::int64_t batch = in.u.dim(0), heads = in.u.dim(2), width = in.u.dim(3);
    const std::int64_t groups = in.b.dim(2), states = in.b.dim(3);
    const value u = in.u.view({batch, heads, width});
    const value raw = in.time_step.transpose(1, 2).expand({batch, heads, width});
    const value step = t.softplus(t.add(raw, in.time_step_bias.unsqueeze(-1).expand({heads, width}))).unsqueeze(-1);
    const value a = in.a.unsqueeze(-1).unsqueeze(-1).expand({heads, width, states});
    const value decay = t.exp(t.mul(step, a));
    const auto per_head = [&](const value& v) {
        const value one = v.view({batch, groups, 1, states});
        return t.contiguous(one.expand({batch, groups, heads / groups, states}));
    };
    const value b = per_head(in.b).view({batch, heads, 1, states});
    const value entering = t.mul(t.mul(step, b), u.unsqueeze(-1));
    const value h = t.add(t.mul(state, decay), entering);
    const value c = per_head(in.c).view({batch * heads, states, 1});
    const value read = t.bmm(h.view({batch * heads, width, states}), c).view({batch, heads, width});
    return t.add(read, t.mul(u, in.d.unsqueeze(-1).expand({heads, width})));
}

}  // namespace state_space_dual

/// RMS norm of x · SiLU(gate) over groups of equal width: x (B, S, width), gate of the same size.
///
/// Source: transformers/models/mamba2/modeling_mamba2.py, `MambaRMSNormGated`.
struct grouped_gated_norm {
    std::int64_t width;
    std::int64_t groups;
    class_name named;

    static constexpr role what = role::norm;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x, const value& gate) const {
        const value w = t.param("weight", {width});
        const value gated = t.mul(t.to(x, dtype::float32), t.silu(t.to(gate, dtype::float32)));
        const value parts = gated.view({x.dim(0), x.dim(1), groups, width / groups});
        const value normed = t.mul(parts, t.rsqrt(t.add(t.mean(t.pow(parts, 2), -1, true))));
        return t.mul(w, t.to(normed.view({x.dim(0), x.dim(1), width}), x.type));
    }
};

/// The Mamba-2 mixer: x (B, S, hidden) -> (B, S, hidden).
///
/// One projection to gate, convolved channels and time steps; causal convolution; recurrence by chunks, or by one
/// position; gated norm; projection back. The cache keeps (B, channels, kernel) and (B, H, P, N).
/// Source: transformers/models/mamba2/modeling_mamba2.py, `Mamba2Mixer`.
struct dual_state_space {
    std::int64_t hidden_size;
    const state_space_sizes& dims;
    activation act;
    class_name named;
    class_name norm_named;

    static constexpr role what = role::mixer;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return named; }

    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t inner = dims.intermediate_size, heads = dims.num_heads, width = dims.head_dim;
        const std::int64_t groups = dims.n_groups, states = dims.state_size, channels = inner + 2 * groups * states;
        const std::int64_t batch = x.dim(0), sequence = x.dim(1);
        state_space_dual::inputs in{};
        in.time_step_bias = t.param("dt_bias", {heads});
        const value a_log = t.param("A_log", {heads});
        in.d = t.param("D", {heads});
        const convolution_weights kernel = declare_convolution(t, "conv1d", channels, dims.conv_kernel, dims.use_conv_bias);
        const value projected = t.call("in_proj", linear{hidden_size, inner + channels + heads, dims.use_bias}, x);
        in.a = t.neg(t.exp(t.to(a_log, dtype::float32)));
        const value gate = projected.slice(-1, inner), mixed = projected.slice(-1, channels).transpose(1, 2);
        in.time_step = projected.slice(-1, heads);
        const value local = causal_convolution(t, mixed, kernel, act).transpose(1, 2);
        in.u = local.slice(-1, inner).view({batch, sequence, heads, width});
        in.b = in.c = local.slice(-1, groups * states).view({batch, sequence, groups, states});

        const extents sizes{batch, heads, width, states};
        const value state = trace::buffer(sizes);
        const bool follows = has_recurrent_state(t);
        const value out = scanned(t, in, state, follows);
        cache_recurrent_state(t, sizes);
        const grouped_gated_norm last{inner, groups, norm_named};
        const value normed = t.call("norm", last, t.reshape(out, {batch, sequence, inner}), gate);
        return t.call("out_proj", linear{inner, hidden_size, dims.use_bias}, t.to(normed, x.type));
    }

private:
    constexpr value scanned(trace& t, const state_space_dual::inputs& in, const value& state, bool follows) const {
        const std::int64_t batch = in.u.dim(0), sequence = in.u.dim(1);
        const recorder::fused_guard fused{t,
                                          {.kind = fused_kind::linear_attention,
                                           .batch = batch,
                                           .sequence = sequence,
                                           .heads = dims.num_heads,
                                           .kv_heads = dims.n_groups,
                                           .head_dim = dims.state_size,
                                           .value_dim = dims.head_dim,
                                           .chunk = dims.chunk_size}};
        if (follows && sequence == 1) return state_space_dual::state_update(t, in, state);
        return state_space_dual::chunk_scan(t, in, dims.chunk_size, follows ? &state : nullptr);
    }
};

}  // namespace llmcost
