// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

namespace helium_detail {

/// Pairs of elements are rotated by tables of halves, which are spread anew in every layer.
constexpr value attend(const site& here, trace& t, const value& x) {
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    heads_first(of);
    const value cos = spread_to_pairs(t, here.shared->cos), sin = spread_to_pairs(t, here.shared->sin);
    for (value* const each : {&of.q, &of.k}) *each = rotate<rotation::interleaved>(t, *each, cos, sin);
    remember(here, t, of);
    return join(here, t, look_up(here, t, of));
}

constexpr void read(config_view config, sizes& s) {
    plan_one_mask(config, s);
    s.output_bias = false;
    if (s.num_attention_heads * s.head_dim != s.hidden_size)
        fail_unsupported(config, "hidden_size", "the projection behind attention is as wide as it, but the heads are not");
}

}  // namespace helium_detail

// transformers/models/helium: heads rotated in pairs by tables of halves, norms all in float32
inline constexpr architecture helium = [](architecture a) {
    a.heads = decoder_heads;
    a.model_type = "helium", a.prefix = "Helium", a.read = helium_detail::read, a.attend = helium_detail::attend;
    a.norm = norm_kind::rms_float_weight;
    a.defaults.vocab_size = 48000, a.defaults.hidden_size = 2560, a.defaults.intermediate_size = 7040;
    a.defaults.num_hidden_layers = 24, a.defaults.num_attention_heads = 20, a.defaults.num_key_value_heads = 20;
    a.defaults.head_dim = 128, a.defaults.max_position_embeddings = 4096;
    return a;
}(llama);

}  // namespace llmcost::arch
