// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/decoder.hpp>

namespace llmcost::arch {

/// Gemma wrote `gelu` and means its tanh approximation (configuration_gemma.py, `__post_init__`).
constexpr void read_gemma(config_view config, sizes& s) {
    plan_one_mask(config, s);
    if (s.hidden_act == activation::gelu) s.hidden_act = activation::gelu_pytorch_tanh;
}

/// Gemma 2 and 3: soft caps where they are no null, every `pattern`-th layer full, the others sliding.
constexpr void read_gemma_layers(config_view config, sizes& s, bool attention_cap, bool logits_cap, std::int64_t pattern) {
    const auto capped = [&](literal key, bool otherwise) {
        return config.contains(key) ? config.optional_real(key).has_value() : otherwise;
    };
    s.attention_soft_cap = capped("attn_logit_softcapping", attention_cap);
    s.logits_soft_cap = capped("final_logit_softcapping", logits_cap);
    if (read_layer_types(config, s)) return;
    plan_layers(config, s, [&](std::int64_t i) {
        const bool full = (i + 1) % pattern == 0;
        return layer_kind{full ? mixer_kind::full_attention : mixer_kind::sliding_attention};
    });
}
constexpr void read_gemma2(config_view config, sizes& s) { read_gemma_layers(config, s, true, true, 2); }
constexpr void read_gemma3(config_view config, sizes& s) {
    read_gemma_layers(config, s, false, false, config.positive("sliding_window_pattern", 6));
    const auto both = config.find("use_bidirectional_attention");
    s.looks_ahead = both && !both->is_null() && both->as_boolean();
    if (s.looks_ahead) s.sliding_window = s.sliding_window / 2 + 1;  // as far ahead as back
    s.attention_soft_cap = false;                                    // its attention has the key and does not pass it on
}

// transformers/models/gemma: norms of 1 + weight, embeddings scaled inside of their module
inline constexpr architecture gemma = [](architecture a) {
    a.model_type = "gemma", a.prefix = "Gemma", a.read = read_gemma, a.norm = norm_kind::rms_plus_one;
    a.embed = embed_words_scaling_by_buffer, a.names.embedding_type = "TextScaledWordEmbedding", a.heads = decoder_heads;
    a.keys[0] = no_mlp_bias;
    a.defaults.vocab_size = 256000, a.defaults.hidden_size = 3072, a.defaults.intermediate_size = 24576;
    a.defaults.num_hidden_layers = 28, a.defaults.num_attention_heads = 16, a.defaults.num_key_value_heads = 16;
    a.defaults.head_dim = 256, a.defaults.max_position_embeddings = 8192;
    a.defaults.hidden_act = activation::gelu_pytorch_tanh, a.defaults.tie_word_embeddings = true;
    return a;
}(shared_decoder);

// transformers/models/gemma2: norms before and after each block, soft caps, sliding and full layers in turns
inline constexpr architecture gemma2 = [](architecture a) {
    a.model_type = "gemma2", a.prefix = "Gemma2", a.read = read_gemma2, a.layer = layer_normed_around;
    a.names.norm_before_feed_forward = "pre_feedforward_layernorm";
    a.masks = mask_rule::full_and_sliding;
    a.keys[1] = {"hidden_act", "hidden_activation", key_rule::written_only};
    a.defaults.hidden_size = 2304, a.defaults.intermediate_size = 9216, a.defaults.num_hidden_layers = 26;
    a.defaults.num_attention_heads = 8, a.defaults.num_key_value_heads = 4, a.defaults.sliding_window = 4096;
    return a;
}(gemma);

// transformers/models/vaultgemma: norms before each block only
inline constexpr architecture vaultgemma = [](architecture a) {
    a.heads = language_heads;
    a.model_type = "vaultgemma", a.prefix = "VaultGemma", a.layer = layer_normed_before;
    return a;
}(gemma2);

// transformers/models/gemma3: norms of queries and keys, five sliding layers to a full one, a rotary table for each
inline constexpr architecture gemma3_text = [](architecture a) {
    a.heads = classifying_decoder_heads;
    a.model_type = "gemma3_text", a.prefix = "Gemma3", a.read = read_gemma3;
    a.qk_norm = qk_norm_kind::per_head_transposed, a.rotary_per_mixer = true;
    a.names.model_type = "TextModel";
    a.defaults.vocab_size = 262208, a.defaults.max_position_embeddings = 131072;
    return a;
}(gemma2);

}  // namespace llmcost::arch
