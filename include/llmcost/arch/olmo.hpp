// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

constexpr void parse_olmo(config_view json, model_config& config) {
    set_single_mask(json, config);
    config.clamps_qkv = json.optional_real("clip_qkv").has_value();
}

// transformers/models/olmo: norms without weights, rotation in float32, queries, keys and values perhaps clipped
inline constexpr model_spec olmo = [](model_spec spec) {
    spec.supported_heads = classifying_decoder_heads;
    spec.model_type = "olmo";
    spec.class_prefix = "Olmo";
    spec.parse_config = parse_olmo;
    spec.norm = norm_kind::layer_weightless;
    spec.names.norm_class = "LayerNorm";
    spec.rotary = rotary_style::rotate_half_float32;
    spec.defaults.vocab_size = 50304;
    spec.config_keys.add("mlp_bias", key_rule::absent);
    return spec;
}(llama);

}  // namespace llmcost::arch
