// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/emu3_vision.hpp>
#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

inline constexpr dropout_key emu3_dropout[]{{dropout_of::hidden, "attention_dropout", 0.1},
                                            {dropout_of::attention, "attention_dropout", 0.1}};

// transformers/models/emu3, Emu3TextConfig: Llama with a dropout module that both blocks share
inline constexpr architecture emu3_text_model = [](architecture a) {
    a.model_type = "emu3_text_model", a.prefix = "Emu3", a.heads = language_heads;
    a.names.model_type = "TextModel", a.names.attention_dropout = a.names.feed_forward_dropout = "dropout";
    a.defaults.vocab_size = 184622, a.defaults.intermediate_size = 14336, a.defaults.num_key_value_heads = 8;
    a.defaults.max_position_embeddings = 9216;
    a.drops = emu3_dropout;
    return a;
}(llama);

// transformers/models/emu3, Emu3VQVAEConfig
inline constexpr architecture emu3_vqgan{
    .model_type = "emu3_vqgan",
    .prefix = "Emu3VQVAE",
    .base = emu3_detail::see,
    .read = emu3_detail::read_vision,
    .own = emu3_detail::keys,
    .rotated = rotation::none,
    .names = {.model_type = ""},
    .defaults = {.hidden_size = 1024, .num_hidden_layers = 1, .num_attention_heads = 1},
};

// transformers/models/emu3
inline constexpr architecture emu3 = [](architecture a) {
    a.model_type = "emu3", a.prefix = "Emu3", a.base = emu3_detail::base, a.read_whole = emu3_detail::read_whole;
    a.media = emu3_detail::show, a.reads.images = true;
    a.text = {.key = "text_config", .otherwise = &emu3_text_model, .always = true};
    a.beside[0] = {.key = "vq_config", .otherwise = &emu3_vqgan, .always = true};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
