// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

// DiffLlama. Derived from Llama, with differential attention over halves of the values.
//
// Source: transformers/models/diffllama

namespace llmcost::arch {

namespace diffllama_detail {

/// `nn.RMSNorm` without a weight.
struct plain_rms {
    static constexpr role module_role = role::norm;
    static constexpr bool is_leaf = true;
    [[nodiscard]] static constexpr class_name type_name() { return {"", "RMSNorm"}; }
    static constexpr tensor forward(trace& t, const tensor& x) {
        const tensor h = t.to(x, dtype::float32);
        tensor variance = t.mean(t.pow(h, 2), -1, true);
        t.add_(variance);
        return t.to(t.mul(h, t.rsqrt(variance)), x.type);
    }
};

/// exp(Σ q · k) for two parameter vectors.
constexpr tensor weight_of(trace& t, const tensor& q, const tensor& k, dtype type) {
    return t.to(t.exp(t.sum(t.to(t.mul(q, k), dtype::float32), 0)), type);
}

/// Half of the values, repeated for all heads (`Tensor.repeat`).
constexpr tensor half_of_values(trace& t, const tensor& v) {
    const tensor half = v.slice(1, v.dim(1) / 2).unsqueeze(1);
    const tensor twice = t.copy(half.expand({v.dim(0), 2, v.dim(1) / 2, v.dim(2), v.dim(3)}))
                             .view({v.dim(0), v.dim(1), v.dim(2), v.dim(3)});
    return twice;
}

/// Differential attention: the output of half of the heads minus a learned weight times the output of the others.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t heads = ctx.config.num_attention_heads, d = ctx.config.head_dim;
    const tensor q1 = t.param("lambda_q1", {d}), k1 = t.param("lambda_k1", {d});
    const tensor q2 = t.param("lambda_q2", {d}), k2 = t.param("lambda_k2", {d});
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    apply_rotary(ctx, t, qkv);
    update_kv_cache(ctx, t, qkv);
    const tensor v1 = half_of_values(t, qkv.value), v2 = half_of_values(t, qkv.value);
    const attention_options options{.mask = &ctx.inputs->mask};
    const tensor first = attention_forward(t, qkv.query, qkv.key, v1, ctx.inputs->pattern, options);
    const tensor second = attention_forward(t, qkv.query, qkv.key, v2, ctx.inputs->pattern, options);
    const tensor half = t.cat({first, second}, -1).slice(2, heads / 2);
    const tensor lambda_1 = weight_of(t, q1, k1, x.type), lambda_2 = weight_of(t, q2, k2, x.type);
    const tensor weight = t.add_scalar(t.sub(lambda_1, lambda_2));
    const tensor difference = t.sub(half, t.mul(weight, half));
    return output_projection(
        ctx, t, t.reshape(t.mul_scalar(t.call("groupnorm", plain_rms{}, difference)), {x.dim(0), x.dim(1), -1}));
}

constexpr void parse_config(config_view json, model_config& config) {
    set_single_mask(json, config);
    if (config.num_key_value_heads % 2 != 0) throw_invalid_value(json, "num_key_value_heads", "an even number");
    if (json.real("attention_dropout", 0) > 0) throw_invalid_value(json, "attention_dropout", "0");
}

}  // namespace diffllama_detail

inline constexpr model_spec diffllama = [](model_spec spec) {
    spec.model_type = "diffllama";
    spec.class_prefix = "DiffLlama";
    spec.parse_config = diffllama_detail::parse_config;
    spec.attention = diffllama_detail::attention;
    spec.defaults.hidden_size = 2048;
    spec.defaults.intermediate_size = 8192;
    spec.defaults.num_hidden_layers = 16;
    spec.config_keys.add("mlp_bias", key_rule::absent);
    return spec;
}(llama);

}  // namespace llmcost::arch
