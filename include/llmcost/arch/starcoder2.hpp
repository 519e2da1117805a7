// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/mistral.hpp>

namespace llmcost::arch {

constexpr void parse_starcoder2(config_view json, model_config& config) {
    parse_window(json, config);
    config.attention_bias = config.output_bias = config.mlp_bias = json.boolean("use_bias", true);
}

constexpr tensor embed_tokens_with_dropout(const layer_context& ctx, trace& t) {
    return functional_dropout(t, embed_tokens(ctx, t), dropout_position::embeddings);
}

inline constexpr dropout_key starcoder2_dropout[]{{dropout_position::hidden, "residual_dropout"},
                                                  {dropout_position::embeddings, "embedding_dropout"},
                                                  {dropout_position::attention, "attention_dropout"},
                                                  {dropout_position::classifier, "classifier_dropout", 0.1}};

// transformers/models/starcoder2: layer norms, a plain feed-forward block, biases
inline constexpr model_spec starcoder2 = [](model_spec spec) {
    spec.supported_heads = decoder_heads;
    spec.model_type = "starcoder2";
    spec.class_prefix = "Starcoder2";
    spec.parse_config = parse_starcoder2;
    spec.norm = norm_kind::layer;
    spec.dense_mlp = mlp_kind::plain;
    spec.names.mlp_modules = {.up = "c_fc", .down = "c_proj", .act = "act"};
    spec.defaults.vocab_size = 49152;
    spec.defaults.hidden_size = 3072;
    spec.defaults.intermediate_size = 12288;
    spec.defaults.num_hidden_layers = 30;
    spec.defaults.num_attention_heads = 24;
    spec.defaults.num_key_value_heads = 2;
    spec.defaults.max_position_embeddings = 4096;
    spec.defaults.sliding_window = 0;
    spec.defaults.hidden_act = activation::gelu_pytorch_tanh;
    spec.defaults.tie_word_embeddings = true;
    spec.dropout_keys = starcoder2_dropout;
    spec.embed_tokens = embed_tokens_with_dropout;
    spec.add_residual = add_residual_with_dropout;
    return spec;
}(mistral);

}  // namespace llmcost::arch
