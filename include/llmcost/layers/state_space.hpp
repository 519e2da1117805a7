// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/layers/causal_convolution.hpp>
#include <llmcost/layers/linear.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/layers/norm.hpp>

// Mamba-1: selective state space layers.
//
// Shapes: B = batch, S = sequence (new tokens), I = intermediate size, N = state size.

namespace llmcost {

/// Inputs of a selective scan: u, gate and time_step (B, I, S), a (I, N), b and c (B, S, N), d (I).
struct selective_scan_inputs {
    tensor u;
    tensor time_step;
    tensor a;
    tensor b;
    tensor c;
    tensor d;
    tensor gate;
    tensor time_step_bias;
};

/// Selective scan over a sequence, with an initial state of zeros: (B, I, S).
///
///     h_s = exp(Δ_s A) h_{s-1} + Δ_s B_s u_s
///     y_s = (C_s h_s + D u_s) · silu(gate_s)
///
/// The reference loops over time. The trace has each operation once, for all S steps.
/// Cost per element of the states (B·I·S·N): MULT 5, ADD 2, EXP 1, less B·I·S ADD for the products with C.
/// Each element of u adds the softplus, the skip connection and the gate.
/// With `records_cache` false, the caller records the cache, for several states in one tensor.
/// Source: transformers/models/mamba/modeling_mamba.py, `mamba_selective_scan`.
constexpr tensor selective_scan(trace& t, const selective_scan_inputs& in, bool records_cache = true) {
    const std::int64_t batch = in.u.dim(0), inner = in.u.dim(1), sequence = in.u.dim(2), states = in.a.dim(1);
    const dtype type = in.u.type;
    const tensor step = t.softplus(t.add(in.time_step, t.to(in.time_step_bias, in.time_step.type).unsqueeze(-1)));
    const tensor decay = t.exp(t.mul(in.a.unsqueeze(0).unsqueeze(2), step.unsqueeze(3)));
    const tensor scaled = t.mul(step.unsqueeze(3), t.to(in.b, dtype::float32).unsqueeze(1));
    const tensor entering = t.mul(scaled, t.to(in.u, dtype::float32).unsqueeze(3));

    // The state of one step is a separate tensor (B, I, N). Here the states of all steps are one tensor.
    const tensor zeros = t.full({batch, inner, states}, type);
    const tensor previous_state = zeros.unsqueeze(1).expand({batch, sequence, inner, states});
    const tensor decayed_state =
        trace::contiguous_like(t.mul(t.split_sequentially(decay, sequence).permute({0, 2, 1, 3}), previous_state));
    const tensor h = t.add(decayed_state, t.split_sequentially(entering, sequence).permute({0, 2, 1, 3}));
    const tensor each_c =
        trace::contiguous_like(t.split_sequentially(in.c, sequence));  // each step reads a slice without a copy
    const tensor read = t.matmul(t.to(h, type), each_c.unsqueeze(-1));
    // The next steps multiply all states except the last, with or without a cast.
    tensor multiplied = h.slice(1, sequence - 1);
    multiplied.storage_numel = multiplied.numel;
    t.save_for_backward(multiplied);
    if (multiplied.requires_grad) t.add_backward_cost({.mult = count(multiplied.numel)});
    t.accumulate_gradient(multiplied);
    const tensor stacked = t.cat({read.squeeze(-1).transpose(1, 2)}, -1);

    cache_recurrent_state(t, {batch, inner, states}, records_cache);
    const tensor out = t.add(stacked, t.mul(in.u, t.to(in.d, dtype::float32).unsqueeze(0).unsqueeze(-1)));
    return t.mul(out, t.silu(in.gate));
}

/// One step of the selective scan, with the cached state: (B, I, 1).
///
/// Source: transformers/models/mamba/modeling_mamba.py, `mamba_selective_state_update`.
constexpr tensor selective_state_update(trace& t, const selective_scan_inputs& in, bool records_cache = true) {
    const std::int64_t batch = in.u.dim(0), inner = in.u.dim(1), states = in.a.dim(1);
    const tensor u = in.u.select(-1);
    const tensor step = t.softplus(t.add(in.time_step.select(-1), in.time_step_bias));
    const tensor decay = t.exp(t.mul(step.unsqueeze(-1), in.a));
    const tensor entering = t.mul(t.mul(step.unsqueeze(-1), in.b.select(1).unsqueeze(1)), u.unsqueeze(-1));
    const tensor h = t.add(t.mul(trace::buffer({batch, inner, states}), decay), entering);
    cache_recurrent_state(t, {batch, inner, states}, records_cache);
    const tensor read = t.matmul(h, in.c.select(1).unsqueeze(-1)).squeeze(-1);
    const tensor out = t.add(read, t.mul(u, in.d));
    return t.mul(out, t.silu(in.gate.select(-1))).unsqueeze(-1);
}

/// Norms of time steps, B and C before a selective scan.
enum class state_norm : std::uint8_t {
    none,
    plain,    ///< RMS norms without a weight (Falcon Mamba)
    weighted  ///< RMS norms (Jamba)
};

/// The Mamba-1 block: x (B, S, hidden) -> (B, S, hidden).
///
///  - `u, gate = in_proj(x)`
///  - `u = act(conv1d(u))`
///  - `Δ, B, C = x_proj(u)`
///  - `y = out_proj(selective_scan(u, Δ, A, B, C, D, gate))`
///
/// Source: transformers/models/mamba/modeling_mamba.py, `MambaMixer`.
struct selective_state_space {
    std::int64_t hidden_size;
    const state_space_config& config;
    activation act;
    class_name named;
    state_norm norms = state_norm::none;
    class_name norm_named{};

    static constexpr role module_role = role::mixer;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return named; }

    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t inner = config.intermediate_size, states = config.state_size, rank = config.time_step_rank;
        const tensor a_log = t.param("A_log", {inner, states});
        selective_scan_inputs in{};
        in.d = t.param("D", {inner});
        const linear in_proj{hidden_size, 2 * inner, config.use_bias};
        const tensor projected = t.call("in_proj", in_proj, x).transpose(1, 2);
        in.a = t.neg(t.exp(t.to(a_log, dtype::float32)));
        in.gate = projected.slice(1, inner);
        const convolution_weights kernel =
            declare_conv_weights(t, "conv1d", inner, config.conv_kernel, config.use_conv_bias);
        in.u = causal_convolution(t, projected.slice(1, inner), kernel, act);
        const tensor chosen = t.call("x_proj", linear{inner, rank + 2 * states}, in.u.transpose(1, 2));
        in.time_step = normed(t, "dt_layernorm", rank, inner, chosen.slice(-1, rank));
        in.b = normed(t, "b_layernorm", states, states, chosen.slice(-1, states));
        in.c = normed(t, "c_layernorm", states, states, chosen.slice(-1, states));
        const module_info dt_proj{.name = "dt_proj", .class_of_module = {"", "Linear"}};
        t.enter(dt_proj);
        const tensor weight = t.param("weight", {inner, rank}), bias = t.param("bias", {inner});
        t.leave(dt_proj);
        in.time_step = t.matmul_operator(weight, in.time_step.transpose(1, 2));
        in.time_step_bias = t.to(bias, dtype::float32);
        const bool steps = has_recurrent_state(t) && x.dim(1) == 1;
        const tensor mixed = steps ? selective_state_update(t, in) : selective_scan(t, in);
        return t.call("out_proj", linear{inner, hidden_size, config.use_bias}, t.to(mixed.transpose(1, 2), x.type));
    }

private:
    /// Applies a norm. One without weights has a buffer of `buffer_width` ones in their place (Falcon Mamba).
    constexpr tensor normed(trace& t, literal name, std::int64_t width, std::int64_t buffer_width,
                            const tensor& x) const {
        if (norms == state_norm::none) return x;
        if (norms != state_norm::weighted) t.register_buffer({buffer_width}, t.activation_type());
        return t.call(name, norm_module{norm_kind::rms, width, norm_named, norms == state_norm::weighted}, x);
    }
};

}  // namespace llmcost
