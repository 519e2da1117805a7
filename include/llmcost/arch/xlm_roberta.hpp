// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/roberta.hpp>
#include <llmcost/forward/roberta_heads.hpp>

namespace llmcost::arch {

namespace xlm_roberta_detail {

/// Classes that are made with their head before the model (modeling_xlm_roberta.py, `XLMRobertaForMaskedLM`).
constexpr tensor sum_embeddings(const layer_context& ctx, trace& t) {
    register_position_buffers(ctx, t);
    const bool tied = ctx.config.tie_word_embeddings &&
                      (ctx.config.head == head_kind::masked_lm || ctx.config.head == head_kind::causal_lm);
    const embedding token_embedding{ctx.config.vocab_size, ctx.config.hidden_size, false, {"", "Embedding"}, tied};
    tensor x = t.call("word_embeddings", token_embedding, shape{t.load().batch, t.load().sequence});
    x = t.add(x, segment_embeddings(ctx, t));
    return norm_embeddings(ctx, t, t.add(x, position_embeddings(ctx, t, t.load().batch)));
}

constexpr tensor embed(const layer_context& ctx, trace& t) { return embed_in_module(ctx, t, sum_embeddings); }

constexpr tensor forward(const layer_context& ctx, trace& t) {
    return forward_encoder_model(ctx, t, {roberta_heads::score_named_first, roberta_heads::pooled});
}

}  // namespace xlm_roberta_detail

// transformers/models/xlm_roberta: RoBERTa, whose language head is declared after the base model
inline constexpr model_spec xlm_roberta = [](model_spec spec) {
    spec.model_type = "xlm-roberta";
    spec.class_prefix = "XLMRoberta";
    spec.defaults.vocab_size = 30522;
    spec.forward = xlm_roberta_detail::forward;
    spec.embed_tokens = xlm_roberta_detail::embed;
    return spec;
}(roberta);

}  // namespace llmcost::arch
