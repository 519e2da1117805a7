// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/encoder.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/encoder_model.hpp>

namespace llmcost::arch {

namespace bert_detail {

constexpr value score(const site& here, trace& t, const two_values& out) { return score_states(here, t, out, score_in_cls); }
/// Where a pooler is: not under heads over words, tokens and answers.
inline constexpr encoder_heads heads{
    .score = score,
    .pooled = {head_kind::none, head_kind::pretraining, head_kind::next_sentence, head_kind::sequence_classification,
               head_kind::multiple_choice},
};
constexpr value describe(const site& here, trace& t) { return describe_encoder(here, t, heads); }

}  // namespace bert_detail

// transformers/models/bert: configuration_bert.py, modeling_bert.py
inline constexpr architecture bert = [](architecture a) {
    a.model_type = "bert", a.prefix = "Bert", a.describe = bert_detail::describe, a.read = read_encoder_decoding;
    a.heads = {head_kind::none,
               head_kind::causal_lm,
               head_kind::masked_lm,
               head_kind::pretraining,
               head_kind::next_sentence,
               head_kind::sequence_classification,
               head_kind::token_classification,
               head_kind::question_answering,
               head_kind::multiple_choice};
    a.names.base = "bert", a.names.causal_lm_type = "LMHeadModel";
    a.defaults.vocab_size = 30522, a.defaults.hidden_size = 768, a.defaults.intermediate_size = 3072;
    a.defaults.num_hidden_layers = a.defaults.num_attention_heads = 12, a.defaults.max_position_embeddings = 512;
    a.defaults.type_vocab_size = 2, a.defaults.hidden_act = activation::gelu, a.defaults.tie_word_embeddings = true;
    a.keys[0] = no_key_value_heads;
    return a;
}(shared_encoder);

}  // namespace llmcost::arch
