// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/reading/latent_attention.hpp>

namespace llmcost::arch {

constexpr void read_youtu(config_view config, sizes& s) {
    read_latent_attention(config, s);
    s.rope_interleave = config.boolean("rope_interleave", true);
    plan_one_mask(config, s);
}

// transformers/models/youtu: DeepSeek V3's latent attention, dense blocks
inline constexpr architecture youtu = [](architecture a) {
    a.model_type = "youtu", a.prefix = "Youtu", a.read = read_youtu, a.heads = language_heads;
    a.mix = mix_by_latent_attention, a.rotated = rotation::split_pairs;
    a.defaults = sizes{
        .vocab_size = 128256,
        .hidden_size = 2048,
        .intermediate_size = 6144,
        .num_hidden_layers = 32,
        .num_attention_heads = 16,
        .num_key_value_heads = 16,
        .max_position_embeddings = 131072,
        .tie_word_embeddings = true,
        .mla = {
            .q_lora_rank = 1536, .kv_lora_rank = 512, .qk_nope_head_dim = 128, .qk_rope_head_dim = 64, .v_head_dim = 128}};
    a.keys[0] = no_mlp_bias;
    return a;
}(llama);

}  // namespace llmcost::arch
