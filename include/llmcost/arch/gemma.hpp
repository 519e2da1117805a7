// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/decoder.hpp>

namespace llmcost::arch {

/// Parses `config.json`. Gemma's `gelu` means its tanh approximation.
///
/// Source: transformers, configuration_gemma.py, `__post_init__`.
constexpr void parse_gemma(config_view json, model_config& config) {
    set_single_mask(json, config);
    if (config.hidden_act == activation::gelu) config.hidden_act = activation::gelu_pytorch_tanh;
}

// Gemma. Derived from the default decoder, with these differences:
//  - norms with the factor 1 + weight;
//  - embeddings scaled inside their module.
//
// Source: transformers/models/gemma
inline constexpr model_spec gemma = [](model_spec spec) {
    spec.model_type = "gemma";
    spec.class_prefix = "Gemma";
    spec.parse_config = parse_gemma;
    spec.norm = norm_kind::rms_plus_one;
    spec.embed_tokens = scaled_embedding_with_buffer;
    spec.names.embedding_class = "TextScaledWordEmbedding";
    spec.supported_heads = decoder_heads;
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.defaults.vocab_size = 256000;
    spec.defaults.hidden_size = 3072;
    spec.defaults.intermediate_size = 24576;
    spec.defaults.num_hidden_layers = 28;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.num_key_value_heads = 16;
    spec.defaults.head_dim = 256;
    spec.defaults.max_position_embeddings = 8192;
    spec.defaults.hidden_act = activation::gelu_pytorch_tanh;
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(default_decoder);

}  // namespace llmcost::arch
