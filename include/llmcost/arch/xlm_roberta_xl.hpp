// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/roberta.hpp>

namespace llmcost::arch {

namespace xlm_roberta_xl_detail {

/// Sums embeddings without a norm; each block has a norm before it, and one final norm follows the layers.
constexpr tensor sum_embeddings(const layer_context& ctx, trace& t) {
    register_position_buffers(ctx, t);
    const tensor tokens = word_embeddings(ctx, t);
    const tensor x = t.add(tokens, segment_embeddings(ctx, t));
    return dropout(t, "dropout", t.add(x, position_embeddings(ctx, t, t.load().batch)));
}

constexpr tensor embed(const layer_context& ctx, trace& t) { return embed_in_module(ctx, t, sum_embeddings); }

constexpr tensor encode(const layer_context& ctx, trace& t) {
    return forward_encoder_with(ctx, t, {.type = ctx.class_of("Encoder"), .last_norm = "LayerNorm"});
}

constexpr tensor encoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    return bert_layer_with_norms(ctx, t, x,
                                 {.attention = "self_attn_layer_norm", .layer = "LayerNorm", .drops = false});
}

}  // namespace xlm_roberta_xl_detail

// transformers/models/xlm_roberta_xl: norms before blocks, none over embeddings, a final norm after the layers
inline constexpr model_spec xlm_roberta_xl = [](model_spec spec) {
    spec.model_type = "xlm-roberta-xl";
    spec.class_prefix = "XLMRobertaXL";
    spec.base_model = xlm_roberta_xl_detail::encode;
    spec.embed_tokens = xlm_roberta_xl_detail::embed;
    spec.decoder_layer = xlm_roberta_xl_detail::encoder_layer;
    spec.defaults.vocab_size = 250880;
    spec.defaults.hidden_size = 2560;
    spec.defaults.intermediate_size = 10240;
    spec.defaults.num_hidden_layers = 36;
    spec.defaults.num_attention_heads = 32;
    spec.defaults.max_position_embeddings = 514;
    spec.defaults.type_vocab_size = 1;
    return spec;
}(roberta);

}  // namespace llmcost::arch
