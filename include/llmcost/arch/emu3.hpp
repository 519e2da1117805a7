// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/emu3_vision.hpp>
#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

inline constexpr dropout_key emu3_dropout[]{{dropout_position::hidden, "attention_dropout", 0.1},
                                            {dropout_position::attention, "attention_dropout", 0.1}};

// The text model (`Emu3TextConfig`). Derived from Llama, with a dropout module shared by both blocks.
//
// Source: transformers/models/emu3
inline constexpr submodel_spec emu3_text_model = [](model_spec spec) {
    spec.model_type = "emu3_text_model";
    spec.class_prefix = "Emu3";
    spec.supported_heads = language_heads;
    spec.names.model_class = "TextModel";
    spec.names.attention_dropout = spec.names.mlp_dropout = "dropout";
    spec.defaults.vocab_size = 184622;
    spec.defaults.intermediate_size = 14336;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.max_position_embeddings = 9216;
    spec.dropout_keys = emu3_dropout;
    return spec;
}(llama);

// The image tokenizer (`Emu3VQVAEConfig`).
//
// Source: transformers/models/emu3
inline constexpr submodel_spec emu3_vqgan{
    .model_type = "emu3_vqgan",
    .class_prefix = "Emu3VQVAE",
    .base_model = emu3_detail::encode_images,
    .parse_config = emu3_detail::parse_vision_config,
    .family_keys = emu3_detail::family_keys,
    .rotary = rotary_style::none,
    .names = {.model_class = ""},
    .defaults = {.hidden_size = 1024, .num_hidden_layers = 1, .num_attention_heads = 1},
};

// Emu3. A VQ-VAE whose codes are tokens of the text model.
//
// Source: transformers/models/emu3
inline constexpr model_spec emu3 = [](model_spec spec) {
    spec.model_type = "emu3";
    spec.class_prefix = "Emu3";
    spec.base_model = emu3_detail::base;
    spec.parse_composite_config = emu3_detail::parse_config;
    spec.compute_media_shapes = emu3_detail::compute_media_shapes;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config", .default_spec = &emu3_text_model, .ignores_model_type = true};
    spec.components[0] = {.key = "vq_config", .default_spec = &emu3_vqgan, .ignores_model_type = true};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
