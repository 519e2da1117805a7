// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/nomic_bert.hpp>
#include <llmcost/arch/roberta.hpp>

namespace llmcost::arch {

namespace jina_detail {

/// Words that a language head in front of the model names first, and segments.
constexpr value sum_embeddings(const site& here, trace& t) {
    const bool tied = here.dims.tie_word_embeddings && here.dims.head == head_kind::masked_lm;
    const embedding words{here.dims.vocab_size, here.dims.hidden_size, false, {"", "Embedding"}, tied};
    const value x = t.call("word_embeddings", words, extents{t.load().batch, t.load().sequence});
    return norm_embeddings(here, t, t.add(x, segment_embeddings(here, t)));
}
constexpr value embed(const site& here, trace& t) { return embed_within(here, t, sum_embeddings); }
constexpr value describe(const site& here, trace& t) {
    return describe_encoder(here, t, {.score = roberta_detail::score_named_first, .pooled = {head_kind::none}});
}

}  // namespace jina_detail

// transformers/models/jina_embeddings_v3: Nomic BERT with biases and plain blocks, under RoBERTa's heads
inline constexpr architecture jina_embeddings_v3 = [](architecture a) {
    a.model_type = "jina_embeddings_v3", a.prefix = "JinaEmbeddingsV3", a.describe = jina_detail::describe;
    a.embed = jina_detail::embed, a.feed_forward = mlp_kind::plain;
    a.heads = {head_kind::none, head_kind::masked_lm, head_kind::sequence_classification, head_kind::token_classification,
               head_kind::question_answering};
    a.names.base = "roberta", a.names.mlp = {.up = "fc1", .down = "fc2", .act = "activation_fn"};
    a.defaults.vocab_size = 250002, a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 4096;
    a.defaults.num_hidden_layers = 24, a.defaults.num_attention_heads = 16, a.defaults.max_position_embeddings = 8194;
    a.defaults.type_vocab_size = 1, a.defaults.hidden_act = activation::gelu;
    a.defaults.attention_bias = a.defaults.output_bias = a.defaults.mlp_bias = true;
    return a;
}(nomic_bert);

}  // namespace llmcost::arch
