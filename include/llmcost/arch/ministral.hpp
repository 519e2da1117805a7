// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/mistral.hpp>

namespace llmcost::arch {

namespace ministral_detail {

/// Ministral makes a mask of the window whatever its layers are; these are listed, or slide.
constexpr void parse_config(config_view json, model_config& config) {
    require_sliding_window(json);
    if (const auto head_dim = json.find("head_dim"); !head_dim || head_dim->is_null())
        throw_missing_key(json, "head_dim", "a positive integer");
    if (!parse_layer_types(json, config)) config.layers.fill({token_mixer_kind::sliding_attention});
}

}  // namespace ministral_detail

// transformers/models/ministral: a mask for each kind of layer
inline constexpr model_spec ministral = [](model_spec spec) {
    spec.model_type = "ministral";
    spec.class_prefix = "Ministral";
    spec.parse_config = ministral_detail::parse_config;
    spec.mask_policy = mask_kind::full_and_sliding;
    spec.names.base_model_for_question_answering = "transformer";
    return spec;
}(mistral);

}  // namespace llmcost::arch
