// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

namespace ernie4_5_detail {

/// x · cos + rotate_half(x) · sin in float32, in pairs.
constexpr value turned(trace& t, const value& x, const value& cos, const value& sin) {
    const std::int64_t half = x.dim(-1) / 2;
    const value plain = t.mul(t.to(x, dtype::float32), cos);
    const value negated = t.neg(t.slice(x, -1, half, 2)).unsqueeze(-1), other = t.slice(x, -1, half, 2).unsqueeze(-1);
    const value pairs = t.cat({negated, other}, -1).view({x.dim(0), x.dim(1), x.dim(2), x.dim(3)});
    return t.to(t.add(plain, t.mul(t.to(pairs, dtype::float32), sin)), x.type);
}

constexpr value attend(const site& here, trace& t, const value& x) {
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    heads_first(of);
    const value cos = spread_to_pairs(t, here.shared->cos).unsqueeze(1);
    const value sin = spread_to_pairs(t, here.shared->sin).unsqueeze(1);
    for (value* const each : {&of.q, &of.k}) *each = turned(t, *each, cos, sin);
    remember(here, t, of);
    return join(here, t, look_up(here, t, of));
}

constexpr void read(config_view config, sizes& s) {
    plan_one_mask(config, s);
    s.attention_bias = s.output_bias = s.mlp_bias = config.boolean("use_bias", false);
}

}  // namespace ernie4_5_detail

// transformers/models/ernie4_5: heads rotated in pairs in float32 by tables of halves, biases everywhere or nowhere
inline constexpr architecture ernie4_5 = [](architecture a) {
    a.heads = language_heads;
    a.model_type = "ernie4_5", a.prefix = "Ernie4_5", a.read = ernie4_5_detail::read, a.attend = ernie4_5_detail::attend;
    a.rotated = rotation::half_in_float;
    a.defaults.vocab_size = 103424, a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 3072;
    a.defaults.num_hidden_layers = 18, a.defaults.num_attention_heads = 16, a.defaults.num_key_value_heads = 2;
    a.defaults.head_dim = 128, a.defaults.max_position_embeddings = 131072, a.defaults.tie_word_embeddings = true;
    a.keys[0] = no_attention_bias, a.keys[1] = no_mlp_bias;
    return a;
}(llama);

}  // namespace llmcost::arch
