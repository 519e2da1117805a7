// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

// transformers/models/olmo2: norms after the blocks; QK-norm over all heads
inline constexpr model_spec olmo2 = [](model_spec spec) {
    spec.supported_heads = classifying_decoder_heads;
    spec.model_type = "olmo2";
    spec.class_prefix = "Olmo2";
    spec.decoder_layer = post_norm_layer;
    spec.norm = norm_kind::rms_cast_last;
    spec.qk_norm = qk_norm_kind::all_heads;
    spec.rotary = rotary_style::rotate_half_float32;
    spec.defaults.vocab_size = 50304;
    spec.config_keys.add("mlp_bias", key_rule::absent);
    return spec;
}(llama);

}  // namespace llmcost::arch
