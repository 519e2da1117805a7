// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>

namespace llmcost::arch {

namespace bert_generation_detail {

constexpr value sum_embeddings(const site& here, trace& t) {
    const value words = word_embeddings(here, t);
    return norm_embeddings(here, t, t.add(words, position_embeddings(here, t)));
}
constexpr value embed(const site& here, trace& t) { return embed_within(here, t, sum_embeddings); }
constexpr value encode(const site& here, trace& t) { return encode_with(here, t, {.type = {"", "BertEncoder"}}); }

constexpr value score(const site& here, trace& t, const two_values& out) {
    const module_info lm_head{.name = "lm_head", .type = here.type("OnlyLMHead"), .what = role::head};
    t.enter(lm_head);
    declare_word_bias(here.dims, t);
    return t.leave(lm_head, scores_of_words(here.dims, t, kept_positions(t, out.first)));
}
constexpr value describe(const site& here, trace& t) { return describe_encoder(here, t, {.score = score}); }

}  // namespace bert_generation_detail

// transformers/models/bert_generation: BERT without segments or pooler, its halves named encoder and decoder
inline constexpr architecture bert_generation = [](architecture a) {
    a.model_type = "bert-generation", a.prefix = "BertGeneration", a.describe = bert_generation_detail::describe;
    a.base = bert_generation_detail::encode, a.embed = bert_generation_detail::embed;
    a.heads = language_heads;
    a.names.model_type = "Encoder", a.names.causal_lm_type = "Decoder";
    a.defaults.vocab_size = 50358, a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 4096;
    a.defaults.num_hidden_layers = 24, a.defaults.num_attention_heads = 16, a.defaults.type_vocab_size = 0;
    a.drops = headless_encoder_dropout;
    return a;
}(bert);

}  // namespace llmcost::arch
