// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>

namespace llmcost::arch {

namespace roc_bert_detail {

enum own : std::uint8_t { sounds, shapes, sound_width, sound_rows, shape_width, shape_rows, concatenates };
inline constexpr own_key keys[]{
    {"enable_pronunciation", 1, own_value::boolean},
    {"enable_shape", 1, own_value::boolean},
    {"pronunciation_embed_dim", 768},
    {"pronunciation_vocab_size", 910},
    {"shape_embed_dim", 512},
    {"shape_vocab_size", 24858},
    {"concat_input", 1, own_value::boolean},
};

/// A table beside the words; what is not joined to them is not looked up, as nobody gives its indices.
constexpr value beside_words(const site& here, trace& t, literal name, own rows, own width, bool looked_up) {
    const recorder::idle_guard unused{t, !looked_up};
    const embedding table{here.dims.own[rows], here.dims.own[width]};
    return t.call(name, table, extents{t.load().batch, t.load().sequence});
}

/// Words with the shapes and the sounds of characters.
constexpr value sum_embeddings(const site& here, trace& t) {
    const own_sizes& o = here.dims.own;
    const std::int64_t width = here.dims.hidden_size;
    const bool joins = o[concatenates] != 0, shaped = joins && o[shapes] != 0, sounding = joins && o[sounds] != 0;
    const value words = word_embeddings(here, t);
    const value shape = beside_words(here, t, "shape_embed", shape_rows, shape_width, shaped);
    const value sound = beside_words(here, t, "pronunciation_embed", sound_rows, sound_width, sounding);
    if (!joins) {
        const value x = t.add(words, segment_embeddings(here, t));
        value out = t.clone(norm_embeddings(here, t, t.add(x, position_embeddings(here, t))));
        t.in_place(op::div, out);
        return out;
    }
    value x = t.clone(words);
    if (shaped) x = t.cat({x, shape}, -1);
    if (sounding) x = t.cat({x, sound}, -1);
    x = t.call("map_inputs_layer", linear{x.dim(-1), width, true}, x);
    t.in_place(op::add, x, segment_embeddings(here, t));
    t.in_place(op::add, x, position_embeddings(here, t));
    return norm_embeddings(here, t, x);
}
constexpr value embed(const site& here, trace& t) { return embed_within(here, t, sum_embeddings); }

/// Scores of words under every head over them; the one for pretraining computes what the pooler gives for its loss alone.
constexpr value score_words(const site& here, trace& t, const two_values& out) {
    const module_info cls{.name = "cls", .type = here.type("OnlyMLMHead"), .what = role::head};
    t.enter(cls);
    return t.leave(cls, transform_and_score(here, t, out.first));
}
constexpr value score(const site& here, trace& t, const two_values& out) {
    return score_states(here, t, out, score_words, false);
}
constexpr value describe(const site& here, trace& t) {
    return describe_encoder(here, t, {score, bert_detail::heads.pooled});
}

constexpr void read(config_view config, sizes& s) {
    read_encoder_decoding(config, s);
    const own_sizes& o = s.own;
    (void)checked_width(config, "shape_embed_dim", 1, s.hidden_size + o[shape_width] + o[sound_width]);
}

}  // namespace roc_bert_detail

// transformers/models/roc_bert: BERT with embeddings of characters' shapes and sounds
inline constexpr architecture roc_bert = [](architecture a) {
    a.model_type = "roc_bert", a.prefix = "RoCBert", a.describe = roc_bert_detail::describe, a.read = roc_bert_detail::read;
    a.own = roc_bert_detail::keys, a.embed = roc_bert_detail::embed;
    a.heads = {head_kind::none,
               head_kind::causal_lm,
               head_kind::masked_lm,
               head_kind::pretraining,
               head_kind::sequence_classification,
               head_kind::token_classification,
               head_kind::question_answering,
               head_kind::multiple_choice};
    a.names.base = "roc_bert", a.names.causal_lm_type = "ForCausalLM";
    return a;
}(bert);

}  // namespace llmcost::arch
