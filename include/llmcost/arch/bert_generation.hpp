// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>
#include <llmcost/forward/encoder_model.hpp>

// BertGeneration. Derived from BERT, with these differences:
//  - no segment embeddings and no pooler;
//  - encoder and decoder as separate models.
//
// Source: transformers/models/bert_generation

namespace llmcost::arch {

namespace bert_generation_detail {

constexpr tensor embed(const layer_context& ctx, trace& t) {
    return embed_in_module(ctx, t, sum_embeddings_without_segments);
}

constexpr tensor encode(const layer_context& ctx, trace& t) {
    return forward_encoder_with(ctx, t, {.type = {"", "BertEncoder"}});
}

constexpr tensor forward(const layer_context& ctx, trace& t) {
    return forward_encoder_model(ctx, t, {.score = score_in_lm_head});
}

}  // namespace bert_generation_detail

inline constexpr model_spec bert_generation = [](model_spec spec) {
    spec.model_type = "bert-generation";
    spec.class_prefix = "BertGeneration";
    spec.forward = bert_generation_detail::forward;
    spec.base_model = bert_generation_detail::encode;
    spec.embed_tokens = bert_generation_detail::embed;
    spec.supported_heads = language_heads;
    spec.names.model_class = "Encoder";
    spec.names.causal_lm_class = "Decoder";
    spec.defaults.vocab_size = 50358;
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 4096;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.type_vocab_size = 0;
    spec.dropout_keys = headless_encoder_dropout;
    return spec;
}(bert);

}  // namespace llmcost::arch
