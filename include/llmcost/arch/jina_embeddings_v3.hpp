// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/nomic_bert.hpp>
#include <llmcost/forward/roberta_heads.hpp>

namespace llmcost::arch {

namespace jina_embeddings_v3_detail {

/// Words that a language head before the model names first, and segments.
constexpr tensor sum_embeddings(const layer_context& ctx, trace& t) {
    const bool tied = ctx.config.tie_word_embeddings && ctx.config.head == head_kind::masked_lm;
    const embedding token_embedding{ctx.config.vocab_size, ctx.config.hidden_size, false, {"", "Embedding"}, tied};
    register_position_buffers(ctx, t);
    const tensor x = t.call("word_embeddings", token_embedding, shape{t.load().batch, t.load().sequence});
    return norm_embeddings(ctx, t, t.add(x, segment_embeddings(ctx, t)));
}
constexpr tensor embed(const layer_context& ctx, trace& t) { return embed_in_module(ctx, t, sum_embeddings); }
constexpr tensor forward(const layer_context& ctx, trace& t) {
    return forward_encoder_model(ctx, t, {.score = roberta_heads::score_named_first, .pooled = {head_kind::none}});
}

}  // namespace jina_embeddings_v3_detail

// transformers/models/jina_embeddings_v3: Nomic BERT with biases and plain blocks, under RoBERTa's heads
inline constexpr model_spec jina_embeddings_v3 = [](model_spec spec) {
    spec.model_type = "jina_embeddings_v3";
    spec.class_prefix = "JinaEmbeddingsV3";
    spec.forward = jina_embeddings_v3_detail::forward;
    spec.embed_tokens = jina_embeddings_v3_detail::embed;
    spec.dense_mlp = mlp_kind::plain;
    spec.supported_heads = {head_kind::none, head_kind::masked_lm, head_kind::sequence_classification,
                            head_kind::token_classification, head_kind::question_answering};
    spec.names.base_model = "roberta";
    spec.names.mlp_modules = {.up = "fc1", .down = "fc2", .act = "activation_fn"};
    spec.defaults.vocab_size = 250002;
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 4096;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.max_position_embeddings = 8194;
    spec.defaults.type_vocab_size = 1;
    spec.defaults.hidden_act = activation::gelu;
    spec.defaults.attention_bias = spec.defaults.output_bias = spec.defaults.mlp_bias = true;
    return spec;
}(nomic_bert);

}  // namespace llmcost::arch
