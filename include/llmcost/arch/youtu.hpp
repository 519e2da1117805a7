// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/latent_attention.hpp>

namespace llmcost::arch {

constexpr void parse_youtu(config_view json, model_config& config) {
    parse_latent_attention(json, config);
    config.rope_interleave = json.boolean("rope_interleave", true);
    set_single_mask(json, config);
}

// transformers/models/youtu: DeepSeek V3's latent attention, dense blocks
inline constexpr model_spec youtu = [](model_spec spec) {
    spec.model_type = "youtu";
    spec.class_prefix = "Youtu";
    spec.parse_config = parse_youtu;
    spec.supported_heads = language_heads;
    spec.token_mixer = latent_attention_token_mixer;
    spec.rotary = rotary_style::interleaved_split;
    spec.defaults = model_config{.vocab_size = 128256,
                                 .hidden_size = 2048,
                                 .intermediate_size = 6144,
                                 .num_hidden_layers = 32,
                                 .num_attention_heads = 16,
                                 .num_key_value_heads = 16,
                                 .max_position_embeddings = 131072,
                                 .tie_word_embeddings = true,
                                 .mla = {.q_lora_rank = 1536,
                                         .kv_lora_rank = 512,
                                         .qk_nope_head_dim = 128,
                                         .qk_rope_head_dim = 64,
                                         .v_head_dim = 128}};
    spec.config_keys.add("mlp_bias", key_rule::absent);
    return spec;
}(llama);

}  // namespace llmcost::arch
