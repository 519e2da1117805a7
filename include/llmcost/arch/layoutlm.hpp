// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>

namespace llmcost::arch {

namespace layoutlm_detail {

enum own : std::uint8_t { coordinates };
inline constexpr own_key keys[]{{"max_2d_position_embeddings", 1024}};

/// Words with their places in the text and on the page; a text has no boxes, so that zeros are looked up.
constexpr value sum_embeddings(const site& here, trace& t) {
    value x = t.add(word_embeddings(here, t), position_embeddings(here, t));
    for (const literal name : {"x_position_embeddings", "y_position_embeddings"})  // left and right, upper and lower
        for (repetition side = t.again(2, x); side.next();)
            x = t.add(x, look_up_tokens(here, t, name, here.dims.own[coordinates]));
    for (const literal name : {"h_position_embeddings", "w_position_embeddings"})
        x = t.add(x, look_up_tokens(here, t, name, here.dims.own[coordinates]));
    return norm_embeddings(here, t, t.add(x, segment_embeddings(here, t)));
}
constexpr value embed(const site& here, trace& t) { return embed_within(here, t, sum_embeddings); }

/// A mask of ones is turned into zeros that every layer adds: (B, 1, 1, S).
constexpr decoder_context prepare(const site& here, trace& t) {
    decoder_context c = all_or_before(here, t);
    const value ones = t.to(t.constant({t.load().batch, 1, 1, t.load().sequence}), t.activation_type());
    c.full.mask = t.mul(t.add(ones));
    return c;
}

constexpr value attend(const site& here, trace& t, const value& x) {
    qkv of;
    project_in_heads(t, x, here.dims.hidden_size, here.dims.num_attention_heads, {}, of.q, of.k, of.v);
    return look_around(here, t, of, true);
}

constexpr value score_words(const site& here, trace& t, const two_values& out) {
    const module_info cls{.name = "cls", .type = here.type("OnlyMLMHead"), .what = role::head};
    t.enter(cls);
    return t.leave(cls, transform_and_score(here, t, out.first));
}
constexpr value score(const site& here, trace& t, const two_values& out) { return score_states(here, t, out, score_words); }
/// Every head has the pooler below it.
constexpr value describe(const site& here, trace& t) { return describe_encoder(here, t, {score, here.row.heads}); }

}  // namespace layoutlm_detail

// transformers/models/layoutlm: BERT with places on a page
inline constexpr architecture layoutlm = [](architecture a) {
    a.model_type = "layoutlm", a.prefix = "LayoutLM", a.describe = layoutlm_detail::describe, a.read = read_encoder_alone;
    a.own = layoutlm_detail::keys, a.embed = layoutlm_detail::embed, a.prepare = layoutlm_detail::prepare;
    a.attend = layoutlm_detail::attend;
    a.heads = {head_kind::none, head_kind::masked_lm, head_kind::sequence_classification, head_kind::token_classification,
               head_kind::question_answering};
    a.names.base = "layoutlm", a.defaults.head = head_kind::masked_lm;
    a.drops = headless_encoder_dropout;
    return a;
}(bert);

}  // namespace llmcost::arch
