// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/forward/vision_transformer.hpp>

namespace llmcost::arch {

// transformers/models/vit: configuration_vit.py, modeling_vit.py
inline constexpr model_spec vit{
    .model_type = "vit",
    .class_prefix = "ViT",
    .forward = forward_vit,
    .base_model = forward_vit_base,
    .parse_config = parse_vit,
    .family_keys = vit_config::family_keys,
    .dropout_keys = vit_config::dropout_rates,
    .rotary = rotary_style::none,
    .supported_heads = {head_kind::none, head_kind::image_classification, head_kind::masked_image},
    .names = {.base_model = "vit"},
    .defaults = {.hidden_size = 768,
                 .intermediate_size = 3072,
                 .num_hidden_layers = 12,
                 .num_attention_heads = 12,
                 .hidden_act = activation::gelu,
                 .head = head_kind::image_classification},
};

}  // namespace llmcost::arch
