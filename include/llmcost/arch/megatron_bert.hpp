// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>

namespace llmcost::arch {

namespace megatron_bert_detail {

/// No norm over embeddings: it stands in front of each block, and behind all layers.
constexpr value sum_embeddings(const site& here, trace& t) {
    value x = t.add(word_embeddings(here, t), segment_embeddings(here, t));
    t.in_place(op::add, x, position_embeddings(here, t));
    return dropout(t, "dropout", x);
}
constexpr value embed(const site& here, trace& t) { return embed_within(here, t, sum_embeddings); }
constexpr value encode(const site& here, trace& t) {
    make_padding_mask(t);
    return encode_with(here, t, {.type = here.type("Encoder"), .last_norm = "ln"});
}
constexpr value layer(const site& here, trace& t, const value& x) {
    return bert_layer_with(here, t, x, {.attention = "ln", .layer = "ln"}, "SelfAttention");
}

}  // namespace megatron_bert_detail

// transformers/models/megatron_bert: BERT with norms in front of blocks
inline constexpr architecture megatron_bert = [](architecture a) {
    a.model_type = "megatron-bert", a.prefix = "MegatronBert", a.base = megatron_bert_detail::encode;
    a.embed = megatron_bert_detail::embed, a.layer = megatron_bert_detail::layer, a.attend = attend_dividing;
    a.names.causal_lm_type = "ForCausalLM";
    a.defaults.vocab_size = 29056, a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 4096;
    a.defaults.num_hidden_layers = 24, a.defaults.num_attention_heads = 16;
    a.drops = headless_encoder_dropout;
    return a;
}(bert);

}  // namespace llmcost::arch
