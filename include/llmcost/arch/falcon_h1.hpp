// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/layers/state_space_dual.hpp>

namespace llmcost::arch {

namespace falcon_h1_detail {

enum own : std::uint8_t { norms, norms_first, out_bias };
inline constexpr own_key keys[]{
    {"mamba_rms_norm", 0, own_value::boolean},          // else the scan's output is only gated
    {"mamba_norm_before_gate", 1, own_value::boolean},  // the gate multiplies what is normed
    {"projectors_bias", 0, own_value::boolean},
};

/// RMS norm in groups, the gate in front of it or behind, all in float32.
struct gated_norm {
    std::int64_t width, groups;
    bool first;
    class_name named;

    static constexpr role what = role::norm;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x, const value& gate) const {
        const value w = t.param("weight", {width});
        const auto gated = [&](const value& v) { return t.mul(v, t.silu(t.to(gate, dtype::float32))); };
        value h = first ? x : gated(x);
        h = t.to(h, dtype::float32).view({x.dim(0), x.dim(1), groups, width / groups});
        h = t.mul(h, t.rsqrt(t.add(t.mean(t.pow(h, 2), -1, true))));
        h = t.mul(w.view({groups, width / groups}), h).view({x.dim(0), x.dim(1), width});
        return t.to(first ? gated(h) : h, x.type);
    }
};

/// A Mamba-2 mixer with constants on what goes in and on each part of its projection.
///
/// Source: transformers/models/falcon_h1/modeling_falcon_h1.py, `FalconH1Mixer`.
struct mixer {
    site here;

    static constexpr role what = role::mixer;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Mixer"); }
    constexpr value describe(trace& t, const value& x) const {
        const state_space_sizes& m = here.dims.ssm;
        const std::int64_t inner = m.intermediate_size, states = m.n_groups * m.state_size, channels = inner + 2 * states;
        const std::int64_t batch = x.dim(0), sequence = x.dim(1), width = here.dims.hidden_size;
        state_space_dual::inputs in{};
        in.time_step_bias = t.param("dt_bias", {m.num_heads});
        const value a_log = t.param("A_log", {m.num_heads});
        in.d = t.param("D", {m.num_heads});
        const convolution_weights kernel = declare_convolution(t, "conv1d", channels, m.conv_kernel, m.use_conv_bias);
        value projected = t.call("in_proj", linear{width, inner + channels + m.num_heads, m.use_bias}, t.mul(x));
        value factors = trace::buffer({1, 1, inner + channels + m.num_heads});
        factors.type = t.activation_type();
        projected = t.mul(projected, factors);
        in.a = t.neg(t.exp(t.to(a_log, dtype::float32)));
        const value gate = projected.slice(-1, inner), mixed = projected.slice(-1, channels).transpose(1, 2);
        in.time_step = projected.slice(-1, m.num_heads);
        const value local = causal_convolution(t, mixed, kernel, here.dims.hidden_act).transpose(1, 2);
        in.u = local.slice(-1, inner).view({batch, sequence, m.num_heads, m.head_dim});
        in.b = in.c = local.slice(-1, states).view({batch, sequence, m.n_groups, m.state_size});
        const value out = t.reshape(scanned(t, in), {batch, sequence, inner});
        const value last = t.to(normed(t, out, gate), x.type);
        return t.call("out_proj", linear{inner, width, here.dims.own[out_bias] != 0}, last);
    }

private:
    constexpr value scanned(trace& t, const state_space_dual::inputs& in) const {
        const state_space_sizes& m = here.dims.ssm;
        const extents sizes{in.u.dim(0), m.num_heads, m.head_dim, m.state_size};
        const value state = trace::buffer(sizes);
        const bool follows = has_recurrent_state(t);
        value out;
        {
            const recorder::fused_guard fused{t,
                                              {.kind = fused_kind::linear_attention,
                                               .batch = in.u.dim(0),
                                               .sequence = in.u.dim(1),
                                               .heads = m.num_heads,
                                               .kv_heads = m.n_groups,
                                               .head_dim = m.state_size,
                                               .value_dim = m.head_dim,
                                               .chunk = m.chunk_size}};
            out = follows && in.u.dim(1) == 1
                      ? state_space_dual::state_update(t, in, state)
                      : state_space_dual::chunk_scan(t, in, m.chunk_size, follows ? &state : nullptr);
        }
        cache_recurrent_state(t, sizes);
        return out;
    }
    constexpr value normed(trace& t, const value& x, const value& gate) const {
        const state_space_sizes& m = here.dims.ssm;
        const bool first = here.dims.own[norms_first] != 0;
        if (here.dims.own[norms])
            return t.call("norm", gated_norm{m.intermediate_size, m.n_groups, first, here.type("RMSNormGated")}, x, gate);
        return t.mul(x, t.silu(gate));
    }
};

/// Attention whose keys are multiplied by a constant.
constexpr value attend(const site& here, trace& t, const value& x) {
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    heads_first(of);
    of.k = t.mul(of.k);
    turn(here, t, of);
    remember(here, t, of);
    return join(here, t, look_up(here, t, of));
}

struct feed_block {
    site here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MLP"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
        const bool bias = here.dims.mlp_bias;
        const value up = t.call("up_proj", linear{width, inner, bias}, x);
        const value gate = t.mul(t.call("gate_proj", linear{width, inner, bias}, x));
        const value h = t.mul(up, t.call("act_fn", activation_module{here.dims.hidden_act}, gate));
        return t.mul(t.call("down_proj", linear{inner, width, bias}, h));
    }
};

/// Mamba-2 and attention side by side behind one norm, each times constants; the cache has keys and values first.
constexpr value layer(const site& here, trace& t, const value& x) {
    const value h = normed(here, t, "input_layernorm", x);
    const value seen = t.mul(mix_by_attention(here, t, t.mul(h)));
    const value kept = t.mul(t.call("mamba", mixer{here}, h));
    const value middle = t.add(x, t.add(kept, seen));
    return t.add(middle, t.call("feed_forward", feed_block{here}, normed(here, t, "pre_ff_layernorm", middle)));
}

constexpr void read(config_view config, sizes& s) {
    state_space_sizes& m = s.ssm;
    m.state_size = config.positive("mamba_d_state", 256);
    m.conv_kernel = config.positive("mamba_d_conv", 4);
    const auto inner = config.find("mamba_d_ssm");
    m.intermediate_size = inner && inner->is_null()
                              ? checked_width(config, "mamba_expand", config.positive("mamba_expand", 2), s.hidden_size)
                              : config.positive("mamba_d_ssm", 1024);
    m.num_heads = config.positive("mamba_n_heads", 128);
    m.n_groups = config.positive("mamba_n_groups", 1);
    m.chunk_size = config.positive("mamba_chunk_size", 256);
    m.use_bias = config.boolean("mamba_proj_bias", false);
    m.use_conv_bias = config.boolean("mamba_conv_bias", true);
    if (m.intermediate_size % m.num_heads != 0) fail_value(config, "mamba_n_heads", "a divisor of mamba_d_ssm");
    m.head_dim = m.intermediate_size / m.num_heads;
    const auto width = config.find("mamba_d_head");
    if (width && !(width->is_string() && width->as_string() == "auto") && width->as_positive() != m.head_dim)
        fail_value(config, "mamba_d_head", "mamba_d_ssm / mamba_n_heads, or \"auto\"");
    if (m.num_heads % m.n_groups != 0) fail_value(config, "mamba_n_groups", "a divisor of mamba_n_heads");
    (void)checked_width(config, "mamba_d_state", m.n_groups, m.state_size);
    s.sliding_window = 0;
    s.layers.set_all({mixer_kind::full_attention});
}

}  // namespace falcon_h1_detail

// transformers/models/falcon_h1: configuration_falcon_h1.py, modeling_falcon_h1.py; Mamba-2 beside attention in every layer
inline constexpr architecture falcon_h1 = [](architecture a) {
    a.model_type = "falcon_h1", a.prefix = "FalconH1", a.heads = language_heads;
    a.read = falcon_h1_detail::read, a.own = falcon_h1_detail::keys;
    a.embed = embed_words_scaled, a.finish = multiply_logits;
    a.layer = falcon_h1_detail::layer, a.attend = falcon_h1_detail::attend;
    a.names.norm = "final_layernorm";
    a.defaults.vocab_size = 128000, a.defaults.intermediate_size = 14336, a.defaults.num_key_value_heads = 8;
    a.defaults.max_position_embeddings = 8192;
    return a;
}(llama);

}  // namespace llmcost::arch
