// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/olmo2.hpp>

namespace llmcost::arch {

/// Every fourth layer is full; frequencies are scaled in these only (`convert_rope_params_to_dict`).
constexpr void parse_olmo3(config_view json, model_config& config) {
    require_sliding_window(json);
    detail::scale_full_layers_alone(json, config);
    if (parse_layer_types(json, config)) return;
    set_layers(json, config, [](std::int64_t i) {
        return layer_spec{(i + 1) % 4 != 0 ? token_mixer_kind::sliding_attention : token_mixer_kind::full_attention};
    });
}

// transformers/models/olmo3: three sliding layers to a full one, rotary tables of their own
inline constexpr model_spec olmo3 = [](model_spec spec) {
    spec.model_type = "olmo3";
    spec.class_prefix = "Olmo3";
    spec.parse_config = parse_olmo3;
    spec.mask_policy = mask_kind::full_and_sliding;
    spec.has_rotary_per_token_mixer = true;
    spec.defaults.sliding_window = 4096;
    return spec;
}(olmo2);

}  // namespace llmcost::arch
