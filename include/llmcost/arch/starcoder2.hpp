// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/mistral.hpp>

namespace llmcost::arch {

constexpr void read_starcoder2(config_view config, sizes& s) {
    read_window(config, s);
    s.attention_bias = s.output_bias = s.mlp_bias = config.boolean("use_bias", true);
}

constexpr value embed_words_dropped(const site& here, trace& t) {
    return drop(t, embed_words(here, t), dropout_of::embeddings);
}

inline constexpr dropout_key starcoder2_dropout[]{{dropout_of::hidden, "residual_dropout"},
                                                  {dropout_of::embeddings, "embedding_dropout"},
                                                  {dropout_of::attention, "attention_dropout"},
                                                  {dropout_of::classifier, "classifier_dropout", 0.1}};

// transformers/models/starcoder2: layer norms, a plain feed-forward block, biases
inline constexpr architecture starcoder2 = [](architecture a) {
    a.heads = decoder_heads;
    a.model_type = "starcoder2", a.prefix = "Starcoder2", a.read = read_starcoder2, a.norm = norm_kind::layer;
    a.feed_forward = mlp_kind::plain;
    a.names.mlp = {.up = "c_fc", .down = "c_proj", .act = "act"};
    a.defaults.vocab_size = 49152, a.defaults.hidden_size = 3072, a.defaults.intermediate_size = 12288;
    a.defaults.num_hidden_layers = 30, a.defaults.num_attention_heads = 24, a.defaults.num_key_value_heads = 2;
    a.defaults.max_position_embeddings = 4096, a.defaults.sliding_window = 0;
    a.defaults.hidden_act = activation::gelu_pytorch_tanh, a.defaults.tie_word_embeddings = true;
    a.drops = starcoder2_dropout, a.embed = embed_words_dropped, a.residual = add_dropped_residual;
    return a;
}(mistral);

}  // namespace llmcost::arch
