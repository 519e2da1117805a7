// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/wav2vec2.hpp>
#include <llmcost/forward/wav2vec2_encoder.hpp>

namespace llmcost::arch {

namespace hubert_detail {

using wav2vec2_encoder::norms_features, wav2vec2_encoder::parse_shared, wav2vec2_encoder::switches;

constexpr void parse_hubert(config_view json, model_config& config) {
    parse_shared(json, config);
    if (json.boolean("conv_pos_batch_norm", false))
        throw_unsupported(json, "conv_pos_batch_norm", "a norm before the convolutional positions is not supported");
    if (!json.boolean("feat_proj_layer_norm", true)) config.family[switches] &= ~norms_features;
}

}  // namespace hubert_detail

// transformers/models/hubert: without adapters
inline constexpr model_spec hubert = [](model_spec spec) {
    spec.model_type = "hubert";
    spec.class_prefix = "Hubert";
    spec.names.base_model = "hubert";
    spec.parse_config = hubert_detail::parse_hubert;
    return spec;
}(wav2vec2);

}  // namespace llmcost::arch
