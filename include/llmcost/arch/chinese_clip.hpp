// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>
#include <llmcost/arch/clip.hpp>

namespace llmcost::arch {

namespace chinese_clip_detail {

/// Words, segments and positions, the last added in place.
constexpr value sum_embeddings(const site& here, trace& t) {
    value x = t.add(word_embeddings(here, t), segment_embeddings(here, t));
    t.in_place(op::add, x, position_embeddings(here, t));
    return norm_embeddings(here, t, x);
}
constexpr value embed(const site& here, trace& t) { return embed_within(here, t, sum_embeddings); }

/// BERT's attention with a softmax in float32.
constexpr value attend_in_float(const site& here, trace& t, const value& x) {
    return attend_within(t, x, here.dims.hidden_size, here.dims.num_attention_heads, true, {}, true,
                         bert_layers::reach_of(here));
}

/// BERT as the texts' half, its classes called `prefix`.
constexpr architecture texts_of(literal prefix) {
    architecture a = bert;
    a.prefix = prefix, a.embed = embed, a.attend = attend_in_float, a.read = read_encoder_alone, a.drops = {};
    return a;
}
inline constexpr architecture texts = texts_of("ChineseCLIPText");

inline constexpr architecture images = [](architecture a) {
    a.prefix = "ChineseCLIP", a.names.layer_type = "VisionLayer", a.names.attention_type = "VisionAttention";
    a.names.mlp_type = "VisionMLP";
    a.base = [](const site& here, trace& t) { return clip_detail::states_and_pool(here, t, false, "VisionEncoder").first; };
    return a;
}(clip_vision_model);

constexpr value describe(const site& here, trace& t) {
    const site text = here.text();
    const auto first = [&] { return t.select(pool_text(here, t, [&] { return text.row.base(text, t); }), 1); };
    return clip_detail::score_with(here, t, first, "VisionEncoder");
}

}  // namespace chinese_clip_detail

// transformers/models/chinese_clip: CLIP whose texts BERT reads, pooled by their first token
inline constexpr architecture chinese_clip = [](architecture a) {
    a.model_type = "chinese_clip", a.prefix = "ChineseCLIP", a.heads = {head_kind::none};
    a.describe = chinese_clip_detail::describe;
    a.text.otherwise = &chinese_clip_detail::texts, a.beside[0].otherwise = &chinese_clip_detail::images;
    return a;
}(clip);

}  // namespace llmcost::arch
