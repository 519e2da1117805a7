// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>

namespace llmcost::arch {

namespace megatron_bert_detail {

/// Sums embeddings without a norm; each block has a norm before it, and one final norm follows the layers.
constexpr tensor sum_embeddings(const layer_context& ctx, trace& t) {
    register_position_ids(ctx, t);
    const tensor tokens = word_embeddings(ctx, t);
    tensor x = t.add(tokens, segment_embeddings(ctx, t));
    t.add_(x, position_embeddings(ctx, t));
    return dropout(t, "dropout", x);
}
constexpr tensor embed(const layer_context& ctx, trace& t) { return embed_in_module(ctx, t, sum_embeddings); }
constexpr tensor encode(const layer_context& ctx, trace& t) {
    make_padding_mask(t);
    return forward_encoder_with(ctx, t, {.type = ctx.class_of("Encoder"), .last_norm = "ln"});
}
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    return bert_layer_with_norms(ctx, t, x, {.attention = "ln", .layer = "ln"}, "SelfAttention");
}

}  // namespace megatron_bert_detail

// transformers/models/megatron_bert: BERT with norms before blocks
inline constexpr model_spec megatron_bert = [](model_spec spec) {
    spec.model_type = "megatron-bert";
    spec.class_prefix = "MegatronBert";
    spec.base_model = megatron_bert_detail::encode;
    spec.embed_tokens = megatron_bert_detail::embed;
    spec.decoder_layer = megatron_bert_detail::decoder_layer;
    spec.attention = divided_attention;
    spec.names.causal_lm_class = "ForCausalLM";
    spec.defaults.vocab_size = 29056;
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 4096;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 16;
    spec.dropout_keys = headless_encoder_dropout;
    return spec;
}(bert);

}  // namespace llmcost::arch
