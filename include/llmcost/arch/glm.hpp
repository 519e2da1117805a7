// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

namespace glm_detail {

/// Pairs of elements of a part of each head are rotated by tables of halves, which are spread anew in every layer.
constexpr value attend(const site& here, trace& t, const value& x) {
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    heads_first(of);
    const value cos = spread_to_pairs(t, here.shared->cos), sin = spread_to_pairs(t, here.shared->sin);
    for (value* const each : {&of.q, &of.k})
        *each = rotate_part(t, rotation::interleaved, *each, here.dims.rotary_dim, cos, sin, true);
    remember(here, t, of);
    return join(here, t, look_up(here, t, of));
}

}  // namespace glm_detail

constexpr void read_glm(config_view config, sizes& s) {
    plan_one_mask(config, s);
    s.output_bias = false;
    s.rotary_dim = whole_pairs(s.head_dim, detail::read_partial_rotary_factor(config, 0.5));
}

// transformers/models/glm: half of each head rotated in pairs, biases on q, k, v, gate and up in one projection
inline constexpr architecture glm = [](architecture a) {
    a.heads = decoder_heads;
    a.model_type = "glm", a.prefix = "Glm", a.read = read_glm, a.attend = glm_detail::attend, a.joins_rotated = true;
    a.feed_forward = mlp_kind::fused_gated, a.names.mlp = {.gate = "gate_up_proj", .act = "activation_fn"};
    a.defaults.vocab_size = 151552, a.defaults.intermediate_size = 13696, a.defaults.num_hidden_layers = 40;
    a.defaults.num_key_value_heads = 2, a.defaults.head_dim = 128, a.defaults.max_position_embeddings = 131072;
    a.defaults.attention_bias = true;
    a.keys[0] = no_mlp_bias;
    return a;
}(llama);

// transformers/models/glm4: norms before and after each block
inline constexpr architecture glm4 = [](architecture a) {
    a.model_type = "glm4", a.prefix = "Glm4", a.layer = layer_normed_around;
    a.names.norm_after_attention = "post_self_attn_layernorm", a.names.norm_after_feed_forward = "post_mlp_layernorm";
    return a;
}(glm);

}  // namespace llmcost::arch
