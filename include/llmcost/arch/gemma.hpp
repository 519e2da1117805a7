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

/// Parses the layers of Gemma 2 and 3: soft caps unless null, and full attention in every `pattern`-th layer.
constexpr void parse_gemma_layers(config_view json, model_config& config, bool attention_cap, bool logits_cap,
                                  std::int64_t pattern) {
    const auto capped = [&](literal key, bool otherwise) {
        return json.contains(key) ? json.optional_real(key).has_value() : otherwise;
    };
    config.attention_soft_cap = capped("attn_logit_softcapping", attention_cap);
    config.logits_soft_cap = capped("final_logit_softcapping", logits_cap);
    if (parse_layer_types(json, config)) return;
    set_layers(json, config, [&](std::int64_t i) {
        const bool full = (i + 1) % pattern == 0;
        return layer_spec{full ? token_mixer_kind::full_attention : token_mixer_kind::sliding_attention};
    });
}
constexpr void parse_gemma2(config_view json, model_config& config) { parse_gemma_layers(json, config, true, true, 2); }
constexpr void parse_gemma3(config_view json, model_config& config) {
    parse_gemma_layers(json, config, false, false, json.positive("sliding_window_pattern", 6));
    const auto bidirectional = json.find("use_bidirectional_attention");
    config.is_bidirectional = bidirectional && !bidirectional->is_null() && bidirectional->as_boolean();
    if (config.is_bidirectional) config.sliding_window = config.sliding_window / 2 + 1;  // equal in both directions
    config.attention_soft_cap = false;  // its attention receives this key but does not pass it on
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

// Gemma 2. Derived from Gemma, with these differences:
//  - norms before and after each block;
//  - soft caps, and alternating sliding-window and full-attention layers.
//
// Source: transformers/models/gemma2
inline constexpr model_spec gemma2 = [](model_spec spec) {
    spec.model_type = "gemma2";
    spec.class_prefix = "Gemma2";
    spec.parse_config = parse_gemma2;
    spec.decoder_layer = sandwich_norm_layer;
    spec.names.pre_mlp_norm = "pre_feedforward_layernorm";
    spec.mask_policy = mask_kind::full_and_sliding;
    spec.config_keys.add("hidden_act", "hidden_activation", key_rule::family_name_only);
    spec.defaults.hidden_size = 2304;
    spec.defaults.intermediate_size = 9216;
    spec.defaults.num_hidden_layers = 26;
    spec.defaults.num_attention_heads = 8;
    spec.defaults.num_key_value_heads = 4;
    spec.defaults.sliding_window = 4096;
    return spec;
}(gemma);

// VaultGemma. Derived from Gemma 2, with norms only before each block.
//
// Source: transformers/models/vaultgemma
inline constexpr model_spec vaultgemma = [](model_spec spec) {
    spec.supported_heads = language_heads;
    spec.model_type = "vaultgemma";
    spec.class_prefix = "VaultGemma";
    spec.decoder_layer = pre_norm_layer;
    return spec;
}(gemma2);

// Gemma 3. Derived from Gemma 2, with these differences:
//  - norms of queries and keys;
//  - five sliding-window layers per full-attention layer, with separate rotary tables.
//
// Source: transformers/models/gemma3
inline constexpr model_spec gemma3_text = [](model_spec spec) {
    spec.supported_heads = classifying_decoder_heads;
    spec.model_type = "gemma3_text";
    spec.class_prefix = "Gemma3";
    spec.parse_config = parse_gemma3;
    spec.qk_norm = qk_norm_kind::per_head_transposed;
    spec.has_rotary_per_token_mixer = true;
    spec.names.model_class = "TextModel";
    spec.defaults.vocab_size = 262208;
    spec.defaults.max_position_embeddings = 131072;
    return spec;
}(gemma2);

}  // namespace llmcost::arch
