// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/causal_convolution.hpp>
#include <llmcost/layers/einsum.hpp>
#include <llmcost/layers/linear.hpp>
#include <llmcost/layers/model_config.hpp>

// Mamba-2: state space duality (SSD).
//
// Shapes: B = batch, S = sequence (new tokens), H = heads, P = head_dim, G = groups, N = state size, L = chunk size.

namespace llmcost {

namespace state_space_dual {

/// Inputs of the recurrence: u (B, S, H, P), time_step (B, S, H), a and d (H), b and c (B, S, G, N).
struct inputs {
    tensor u;
    tensor time_step;
    tensor a;
    tensor b;
    tensor c;
    tensor d;
    tensor time_step_bias;
};

/// Sums of all segments that end at each position, masked where they start after it: (…, L) -> (…, L, L).
constexpr tensor segment_sum(trace& t, const tensor& x) {
    shape to;
    for (int i = 0; i < x.rank; ++i) to.size[to.rank++] = x.size[i];
    to.size[to.rank++] = x.dim(-1);
    return t.masked_fill(t.cumsum(t.masked_fill(x.unsqueeze(-1).expand(to)), -2));
}

/// Pads positions with zeros to a multiple of the chunk size. The reference copies x even without padding.
constexpr tensor padded(trace& t, const tensor& x, std::int64_t padding) {
    return padding > 0 ? t.pad(x, 1, padding) : t.clone(x);
}

/// Splits positions into chunks: (B, S, …) -> (B, chunks, chunk, …).
constexpr tensor split_into_chunks(trace& t, const tensor& x, std::int64_t padding, std::int64_t chunk) {
    const tensor padded_input = padded(t, x, padding);
    shape to{padded_input.dim(0), -1, chunk};
    for (int i = 2; i < padded_input.rank; ++i) to.size[to.rank++] = padded_input.size[i];
    return t.reshape(padded_input, to);
}

/// The recurrence over a sequence, computed in chunks of L positions: (B, S, H, P).
///
///     h_s = exp(Δ_s A) h_{s-1} + Δ_s B_s u_s
///     y_s = C_s h_s + D u_s
///
/// `state` (B, H, P, N) is the cached state; null: none.
/// Cost of the five products with c chunks: MULT B·c·H·(L²·(N + P) + 2·L·P·N) + B·H·(c + 1)²·P·N.
/// Source: transformers/models/mamba2/modeling_mamba2.py, `mamba2_chunk_scan`.
constexpr tensor chunk_scan(trace& t, inputs in, std::int64_t chunk, const tensor* state) {
    const std::int64_t batch = in.u.dim(0), sequence = in.u.dim(1), heads = in.u.dim(2), width = in.u.dim(3);
    const std::int64_t padding = (chunk - sequence % chunk) % chunk;
    t.set_chunk_size(chunk);
    const tensor step = t.clamp(t.softplus(t.add(in.time_step, t.to(in.time_step_bias, in.time_step.type))));
    tensor u = t.to(in.u, dtype::float32);
    tensor b = t.repeat_interleave(t.to(in.b, dtype::float32), 2, heads / in.b.dim(2));
    tensor c = t.repeat_interleave(t.to(in.c, dtype::float32), 2, heads / in.c.dim(2));
    const tensor d_residual = t.mul(in.d.unsqueeze(-1), padded(t, u, padding));
    u = t.mul(u, t.to(step.unsqueeze(-1), dtype::float32));
    tensor a = t.to(in.a, u.type);
    a = t.mul(a, t.to(step, dtype::float32));
    for (tensor* v : {&u, &a, &b, &c}) *v = split_into_chunks(t, *v, padding, chunk);
    a = a.permute({0, 3, 1, 2});
    const tensor decay = t.cumsum(a, -1);

    // Output within each chunk: attention without a softmax, masked by the decay.
    const tensor intra_chunk_decay = t.exp(segment_sum(t, a));
    const tensor scores = t.mul(einsum(t, "bclhn,bcshn->bclsh", c, b), intra_chunk_decay.permute({0, 2, 3, 4, 1}));
    const tensor near = einsum(t, "bclsh,bcshp->bclhp", scores, u);

    // Contribution of each chunk to the state, and states at the chunk boundaries.
    const tensor to_end = t.exp(t.sub(t.slice(decay, -1, 1), decay));
    const tensor entering = t.mul(b, to_end.permute({0, -2, -1, 1}).unsqueeze(-1));
    const tensor fresh = einsum(t, "bclhn,bclhp->bchpn", entering, u);
    const tensor first = state != nullptr ? t.to(*state, fresh.type).unsqueeze(1) : t.zeros_like(fresh.slice(1, 1));
    const tensor inter_chunk_decay = t.exp(segment_sum(t, t.pad(t.select(decay, -1), -1, 1))).transpose(1, 3);
    const tensor states = einsum(t, "bzch,bzhpn->bchpn", inter_chunk_decay, t.cat({first, fresh}, 1));

    const tensor from_start = t.exp(decay);
    const tensor c_times_states = einsum(t, "bclhn,bchpn->bclhp", c, t.slice(states, 1, states.dim(1) - 1));
    const tensor off_diagonal_output = t.mul(c_times_states, from_start.permute({0, 2, 3, 1}).unsqueeze(-1));
    const tensor summed_output = t.contiguous(t.add(near, off_diagonal_output));
    return t.slice(t.add(t.reshape(summed_output, {batch, -1, heads, width}), d_residual), 1, sequence);
}

/// One step of the recurrence, with the cached state: (B, H, P).
///
/// Source: transformers/models/mamba2/modeling_mamba2.py, `mamba2_selective_state_update`.
constexpr tensor state_update(trace& t, const inputs& in, const tensor& state) {
    const std::int64_t batch = in.u.dim(0), heads = in.u.dim(2), width = in.u.dim(3);
    const std::int64_t groups = in.b.dim(2), states = in.b.dim(3);
    const tensor u = in.u.view({batch, heads, width});
    const tensor raw = in.time_step.transpose(1, 2).expand({batch, heads, width});
    const tensor step = t.softplus(t.add(raw, in.time_step_bias.unsqueeze(-1).expand({heads, width}))).unsqueeze(-1);
    const tensor a = in.a.unsqueeze(-1).unsqueeze(-1).expand({heads, width, states});
    const tensor decay = t.exp(t.mul(step, a));
    const auto per_head = [&](const tensor& v) {
        const tensor one = v.view({batch, groups, 1, states});
        return t.contiguous(one.expand({batch, groups, heads / groups, states}));
    };
    const tensor b = per_head(in.b).view({batch, heads, 1, states});
    const tensor entering = t.mul(t.mul(step, b), u.unsqueeze(-1));
    const tensor h = t.add(t.mul(state, decay), entering);
    const tensor c = per_head(in.c).view({batch * heads, states, 1});
    const tensor read = t.bmm(h.view({batch * heads, width, states}), c).view({batch, heads, width});
    return t.add(read, t.mul(u, in.d.unsqueeze(-1).expand({heads, width})));
}

}  // namespace state_space_dual

/// RMS norm of x · SiLU(gate) per group: x, gate (B, S, width) -> (B, S, width).
///
/// Source: transformers/models/mamba2/modeling_mamba2.py, `MambaRMSNormGated`.
struct grouped_gated_norm {
    std::int64_t width;
    std::int64_t groups;
    class_name named;

    static constexpr role module_role = role::norm;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x, const tensor& gate) const {
        const tensor w = t.param("weight", {width});
        const tensor float_x = t.to(x, dtype::float32);
        const tensor gated = t.mul(float_x, t.silu(t.to(gate, dtype::float32)));
        const tensor parts = gated.view({x.dim(0), x.dim(1), groups, width / groups});
        const tensor normed = t.mul(parts, t.rsqrt(t.add_scalar(t.mean(t.pow(parts, 2), -1, true))));
        return t.mul(w, t.to(normed.view({x.dim(0), x.dim(1), width}), x.type));
    }
};

/// The Mamba-2 block: x (B, S, hidden) -> (B, S, hidden).
///
///  - `gate, u, B, C, Δ = in_proj(x)`
///  - `u, B, C = act(conv1d(u, B, C))`
///  - `y = out_proj(norm(ssd(u, Δ, A, B, C, D), gate))`
///
/// The cache contains (B, channels, kernel) and (B, H, P, N).
/// Source: transformers/models/mamba2/modeling_mamba2.py, `Mamba2Mixer`.
struct dual_state_space {
    std::int64_t hidden_size;
    const state_space_config& config;
    activation act;
    class_name named;
    class_name norm_named;

    static constexpr role module_role = role::mixer;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return named; }

    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t inner = config.intermediate_size, heads = config.num_heads, width = config.head_dim;
        const std::int64_t groups = config.n_groups, states = config.state_size, channels = inner + 2 * groups * states;
        const std::int64_t batch = x.dim(0), sequence = x.dim(1);
        state_space_dual::inputs in{};
        in.time_step_bias = t.param("dt_bias", {heads});
        const tensor a_log = t.param("A_log", {heads});
        in.d = t.param("D", {heads});
        const convolution_weights kernel =
            declare_conv_weights(t, "conv1d", channels, config.conv_kernel, config.use_conv_bias);
        const tensor projected = t.call("in_proj", linear{hidden_size, inner + channels + heads, config.use_bias}, x);
        in.a = t.neg(t.exp(t.to(a_log, dtype::float32)));
        const tensor gate = projected.slice(-1, inner), mixed = projected.slice(-1, channels).transpose(1, 2);
        in.time_step = projected.slice(-1, heads);
        const tensor local = causal_convolution(t, mixed, kernel, act).transpose(1, 2);
        in.u = local.slice(-1, inner).view({batch, sequence, heads, width});
        in.b = in.c = local.slice(-1, groups * states).view({batch, sequence, groups, states});

        const shape sizes{batch, heads, width, states};
        const tensor state = trace::buffer(sizes);
        const bool follows = has_recurrent_state(t);
        const tensor out = ssd_forward(t, in, state, follows);
        cache_recurrent_state(t, sizes);
        const grouped_gated_norm last{inner, groups, norm_named};
        const tensor normed = t.call("norm", last, t.reshape(out, {batch, sequence, inner}), gate);
        return t.call("out_proj", linear{inner, hidden_size, config.use_bias}, t.to(normed, x.type));
    }

private:
    constexpr tensor ssd_forward(trace& t, const state_space_dual::inputs& in, const tensor& state,
                                 bool follows) const {
        const std::int64_t batch = in.u.dim(0), sequence = in.u.dim(1);
        const recorder::fused_kernel_guard fused{t,
                                                 {.kind = fused_kernel_kind::linear_attention,
                                                  .batch = batch,
                                                  .num_queries = sequence,
                                                  .heads = config.num_heads,
                                                  .kv_heads = config.n_groups,
                                                  .head_dim = config.state_size,
                                                  .value_dim = config.head_dim,
                                                  .chunk = config.chunk_size}};
        if (follows && sequence == 1) return state_space_dual::state_update(t, in, state);
        return state_space_dual::chunk_scan(t, in, config.chunk_size, follows ? &state : nullptr);
    }
};

}  // namespace llmcost
