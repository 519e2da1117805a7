// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/layers/state_space_dual.hpp>

// Falcon-H1. Derived from Llama, with Mamba-2 in parallel with attention in every layer.
//
// Source: transformers/models/falcon_h1: configuration_falcon_h1.py, modeling_falcon_h1.py

namespace llmcost::arch {

namespace falcon_h1_detail {

enum family_config_index : std::uint8_t { norms, norms_first, out_bias };
inline constexpr family_key family_keys[]{
    {"mamba_rms_norm", 0, family_key_type::boolean},          // 0 = the output of the scan is gated but not normalized
    {"mamba_norm_before_gate", 1, family_key_type::boolean},  // 1 = the gate multiplies the normalized output
    {"projectors_bias", 0, family_key_type::boolean},
};

/// Gated RMS norm over groups in float32, with the gate before or after the norm.
struct gated_norm {
    std::int64_t width, groups;
    bool first;
    class_name named;

    static constexpr role module_role = role::norm;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x, const tensor& gate) const {
        const tensor w = t.param("weight", {width});
        const auto gated = [&](const tensor& v) { return t.mul(v, t.silu(t.to(gate, dtype::float32))); };
        tensor h = first ? x : gated(x);
        h = t.to(h, dtype::float32).view({x.dim(0), x.dim(1), groups, width / groups});
        h = t.mul(h, t.rsqrt(t.add_scalar(t.mean(t.pow(h, 2), -1, true))));
        h = t.mul(w.view({groups, width / groups}), h).view({x.dim(0), x.dim(1), width});
        return t.to(first ? gated(h) : h, x.type);
    }
};

/// Mamba-2 mixer with multipliers for its input and for each part of the projection.
///
/// Source: transformers/models/falcon_h1/modeling_falcon_h1.py, `FalconH1Mixer`.
struct mixer {
    layer_context ctx;

    static constexpr role module_role = role::mixer;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Mixer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const state_space_config& m = ctx.config.ssm;
        const std::int64_t inner = m.intermediate_size, states = m.n_groups * m.state_size,
                           channels = inner + 2 * states;
        const std::int64_t batch = x.dim(0), sequence = x.dim(1), width = ctx.config.hidden_size;
        state_space_dual::inputs in{};
        in.time_step_bias = t.param("dt_bias", {m.num_heads});
        const tensor a_log = t.param("A_log", {m.num_heads});
        in.d = t.param("D", {m.num_heads});
        const convolution_weights kernel = declare_conv_weights(t, "conv1d", channels, m.conv_kernel, m.use_conv_bias);
        tensor projected =
            t.call("in_proj", linear{width, inner + channels + m.num_heads, m.use_bias}, t.mul_scalar(x));
        t.register_buffer({inner + channels + m.num_heads}, t.activation_type());  // `mup_vector`
        tensor factors = trace::buffer({1, 1, inner + channels + m.num_heads});
        factors.type = t.activation_type();
        projected = t.mul(projected, factors);
        in.a = t.neg(t.exp(t.to(a_log, dtype::float32)));
        const tensor gate = projected.slice(-1, inner), mixed = projected.slice(-1, channels).transpose(1, 2);
        in.time_step = projected.slice(-1, m.num_heads);
        const tensor local = causal_convolution(t, mixed, kernel, ctx.config.hidden_act).transpose(1, 2);
        in.u = local.slice(-1, inner).view({batch, sequence, m.num_heads, m.head_dim});
        in.b = in.c = local.slice(-1, states).view({batch, sequence, m.n_groups, m.state_size});
        const tensor out = t.reshape(scanned(t, in), {batch, sequence, inner});
        const tensor last = t.to(normed(t, out, gate), x.type);
        return t.call("out_proj", linear{inner, width, ctx.config.family[out_bias] != 0}, last);
    }

private:
    constexpr tensor scanned(trace& t, const state_space_dual::inputs& in) const {
        const state_space_config& m = ctx.config.ssm;
        const shape sizes{in.u.dim(0), m.num_heads, m.head_dim, m.state_size};
        const tensor state = trace::buffer(sizes);
        const bool follows = has_recurrent_state(t);
        tensor out;
        {
            const recorder::fused_kernel_guard fused{t,
                                                     {.kind = fused_kernel_kind::linear_attention,
                                                      .batch = in.u.dim(0),
                                                      .num_queries = in.u.dim(1),
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
    constexpr tensor normed(trace& t, const tensor& x, const tensor& gate) const {
        const state_space_config& m = ctx.config.ssm;
        const bool first = ctx.config.family[norms_first] != 0;
        if (ctx.config.family[norms])
            return t.call("norm", gated_norm{m.intermediate_size, m.n_groups, first, ctx.class_of("RMSNormGated")}, x,
                          gate);
        return t.mul(x, t.silu(gate));
    }
};

/// Self-attention with keys multiplied by a constant.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    qkv.key = t.mul_scalar(qkv.key);
    apply_rotary(ctx, t, qkv);
    update_kv_cache(ctx, t, qkv);
    return output_projection(ctx, t, scaled_dot_product_attention(ctx, t, qkv));
}

struct mlp_block {
    layer_context ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MLP"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
        const bool bias = ctx.config.mlp_bias;
        const tensor up = t.call("up_proj", linear{width, inner, bias}, x);
        const tensor gate = t.mul_scalar(t.call("gate_proj", linear{width, inner, bias}, x));
        const tensor h = t.mul(up, t.call("act_fn", activation_module{ctx.config.hidden_act}, gate));
        return t.mul_scalar(t.call("down_proj", linear{inner, width, bias}, h));
    }
};

/// Decoder layer: Mamba-2 and attention in parallel after one norm, each with multipliers. Keys and values are first in
/// the cache.
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor h = apply_norm(ctx, t, "input_layernorm", x);
    const tensor features = t.mul_scalar(attention_token_mixer(ctx, t, t.mul_scalar(h)));
    const tensor mamba_output = t.mul_scalar(t.call("mamba", mixer{ctx}, h));
    const tensor middle = t.add(x, t.add(mamba_output, features));
    return t.add(middle, t.call("feed_forward", mlp_block{ctx}, apply_norm(ctx, t, "pre_ff_layernorm", middle)));
}

constexpr void parse_config(config_view json, model_config& config) {
    state_space_config& m = config.ssm;
    m.state_size = json.positive("mamba_d_state", 256);
    m.conv_kernel = json.positive("mamba_d_conv", 4);
    const auto inner = json.find("mamba_d_ssm");
    m.intermediate_size = inner && inner->is_null()
                              ? checked_size(json, "mamba_expand", json.positive("mamba_expand", 2), config.hidden_size)
                              : json.positive("mamba_d_ssm", 1024);
    m.num_heads = json.positive("mamba_n_heads", 128);
    m.n_groups = json.positive("mamba_n_groups", 1);
    m.chunk_size = json.positive("mamba_chunk_size", 256);
    m.use_bias = json.boolean("mamba_proj_bias", false);
    m.use_conv_bias = json.boolean("mamba_conv_bias", true);
    if (m.intermediate_size % m.num_heads != 0) throw_invalid_value(json, "mamba_n_heads", "a divisor of mamba_d_ssm");
    m.head_dim = m.intermediate_size / m.num_heads;
    const auto width = json.find("mamba_d_head");
    if (width && !(width->is_string() && width->as_string() == "auto") && width->as_positive() != m.head_dim)
        throw_invalid_value(json, "mamba_d_head", "mamba_d_ssm / mamba_n_heads, or \"auto\"");
    if (m.num_heads % m.n_groups != 0) throw_invalid_value(json, "mamba_n_groups", "a divisor of mamba_n_heads");
    (void)checked_size(json, "mamba_d_state", m.n_groups, m.state_size);
    config.sliding_window = 0;
    config.layers.fill({token_mixer_kind::full_attention});
}

}  // namespace falcon_h1_detail

inline constexpr model_spec falcon_h1 = [](model_spec spec) {
    spec.model_type = "falcon_h1";
    spec.class_prefix = "FalconH1";
    spec.supported_heads = language_heads;
    spec.parse_config = falcon_h1_detail::parse_config;
    spec.family_keys = falcon_h1_detail::family_keys;
    spec.embed_tokens = embed_tokens_scaled;
    spec.process_logits = scale_logits;
    spec.decoder_layer = falcon_h1_detail::decoder_layer;
    spec.attention = falcon_h1_detail::attention;
    spec.names.norm = "final_layernorm";
    spec.defaults.vocab_size = 128000;
    spec.defaults.intermediate_size = 14336;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.max_position_embeddings = 8192;
    return spec;
}(llama);

}  // namespace llmcost::arch
