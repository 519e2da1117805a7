// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

namespace diffllama_detail {

/// `nn.RMSNorm` without a weight.
struct plain_rms {
    static constexpr role what = role::norm;
    static constexpr bool leaf = true;
    [[nodiscard]] static constexpr class_name type() { return {"", "RMSNorm"}; }
    static constexpr value describe(trace& t, const value& x) {
        const value h = t.to(x, dtype::float32);
        value variance = t.mean(t.pow(h, 2), -1, true);
        t.in_place(op::add, variance);
        return t.to(t.mul(h, t.rsqrt(variance)), x.type);
    }
};

/// exp(Σ q · k) of two vectors of parameters.
constexpr value weight_of(trace& t, const value& q, const value& k, dtype type) {
    return t.to(t.exp(t.sum(t.to(t.mul(q, k), dtype::float32), 0)), type);
}

/// Half of the values for all heads: `Tensor.repeat` over heads.
constexpr value half_of_values(trace& t, const value& v) {
    const value half = v.slice(1, v.dim(1) / 2).unsqueeze(1);
    const value twice =
        t.copy(half.expand({v.dim(0), 2, v.dim(1) / 2, v.dim(2), v.dim(3)})).view({v.dim(0), v.dim(1), v.dim(2), v.dim(3)});
    return twice;
}

/// What half of the heads find, less what the others find times a weight that is learned.
constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t heads = here.dims.num_attention_heads, d = here.dims.head_dim;
    const value q1 = t.param("lambda_q1", {d}), k1 = t.param("lambda_k1", {d});
    const value q2 = t.param("lambda_q2", {d}), k2 = t.param("lambda_k2", {d});
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    heads_first(of);
    turn(here, t, of);
    remember(here, t, of);
    const value v1 = half_of_values(t, of.v), v2 = half_of_values(t, of.v);
    const score_options how{.mask = &here.shared->mask};
    const value first = eager_attention(t, of.q, of.k, v1, here.shared->where, how);
    const value second = eager_attention(t, of.q, of.k, v2, here.shared->where, how);
    const value half = t.cat({first, second}, -1).slice(2, heads / 2);
    const value more = weight_of(t, q1, k1, x.type), less = weight_of(t, q2, k2, x.type);
    const value weight = t.add(t.sub(more, less));
    const value apart = t.sub(half, t.mul(weight, half));
    return join(here, t, t.reshape(t.mul(t.call("groupnorm", plain_rms{}, apart)), {x.dim(0), x.dim(1), -1}));
}

constexpr void read(config_view config, sizes& s) {
    plan_one_mask(config, s);
    if (s.num_key_value_heads % 2 != 0) fail_value(config, "num_key_value_heads", "an even number");
    if (config.real("attention_dropout", 0) > 0) fail_value(config, "attention_dropout", "0");
}

}  // namespace diffllama_detail

// transformers/models/diffllama: two attentions over halves of the values, one taken off the other
inline constexpr architecture diffllama = [](architecture a) {
    a.model_type = "diffllama", a.prefix = "DiffLlama", a.read = diffllama_detail::read;
    a.attend = diffllama_detail::attend;
    a.defaults.hidden_size = 2048, a.defaults.intermediate_size = 8192, a.defaults.num_hidden_layers = 16;
    a.keys[0] = no_mlp_bias;
    return a;
}(llama);

}  // namespace llmcost::arch
