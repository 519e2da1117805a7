// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

namespace baichuan_detail {

enum own : std::uint8_t { by_distance };
inline constexpr own_key keys[]{
    {.value = own_value::computed},  // linear biases by distance instead of rotations
};

/// Scores with biases by distance, which stand in the mask, and not below the lowest number.
constexpr value look_up_by_distance(const site& here, trace& t, const qkv& of) {
    const shared_values& s = *here.shared;
    const recorder::fused_guard fused{t, fused_attention(of.q, of.k.dim(1), s.where, of.k.dim(2))};
    const bool sparse = t.load().attention == attention_scores::causal;
    value scores = t.div(t.matmul(of.q, of.k.transpose(2, 3), sparse ? s.where.visible_pairs() : 0));
    scores = t.add(scores, s.mask);
    scores = t.binary(op::maximum, scores, t.constant({}));
    const value mixed = t.matmul(t.softmax(scores), of.v).transpose(1, 2);
    return t.reshape(mixed, {mixed.dim(0), mixed.dim(1), -1});
}

constexpr value attend(const site& here, trace& t, const value& x) {
    const qkv packed = project_qkv_as_one(here, t, x);
    if (here.dims.own[by_distance] == 0) return join(here, t, attend_with(here, t, packed));
    qkv of = packed;
    split_heads(here, of);
    heads_first(of);
    remember(here, t, of);
    return join(here, t, look_up_by_distance(here, t, of));
}

/// Biases by distance and the mask are one tensor, made once for all passes.
constexpr decoder_context prepare(const site& here, trace& t) {
    if (here.dims.own[by_distance] == 0) return masks_and_tables(here, t);
    decoder_context c;
    c.full.where = context_of(t, 0);
    c.full.mask = trace::buffer({here.dims.num_attention_heads, c.full.where.sequence, c.full.where.length()});
    return c.sliding = c.full, c;
}

/// Files of the larger models state a length, but no table of positions.
constexpr void read(config_view config, sizes& s) {
    plan_one_mask(config, s);
    s.own[by_distance] = config.contains("model_max_length") && !config.contains("max_position_embeddings");
    if (s.own[by_distance] != 0) s.max_position_embeddings = config.positive("model_max_length");
}

}  // namespace baichuan_detail

// modeling_baichuan.py of baichuan-inc/Baichuan-7B, Baichuan-13B-Base and Baichuan2: Llama, one projection for queries, keys
// and values; the larger models with linear biases by distance
inline constexpr architecture baichuan = [](architecture a) {
    a.model_type = "baichuan", a.prefix = "Baichuan", a.remote_code = true, a.read = baichuan_detail::read;
    a.own = baichuan_detail::keys, a.attend = baichuan_detail::attend, a.prepare = baichuan_detail::prepare;
    a.heads = language_heads, a.names.q = "W_pack", a.drops = {};
    a.keys[0] = no_attention_bias, a.keys[1] = no_mlp_bias, a.keys[2] = no_key_value_heads;
    a.defaults.vocab_size = 125696, a.defaults.max_position_embeddings = 4096;
    return a;
}(llama);

}  // namespace llmcost::arch
