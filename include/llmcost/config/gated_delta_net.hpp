// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/config_view.hpp>
#include <llmcost/config/experts.hpp>
#include <llmcost/config/keys.hpp>
#include <llmcost/config/rope.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost {

/// Parses the sizes of Gated DeltaNet layers and the partial rotary factor of attention (Qwen3-Next, Qwen3.5).
constexpr void parse_gated_delta_net(config_view json, model_config& config) {
    config.delta = {json.positive("linear_num_key_heads", 16), json.positive("linear_num_value_heads", 32),
                    json.positive("linear_key_head_dim", 128), json.positive("linear_value_head_dim", 128),
                    json.positive("linear_conv_kernel_dim", 4)};
    if (config.delta.num_value_heads % config.delta.num_key_heads != 0)
        throw_invalid_value(json, "linear_num_value_heads", "a multiple of linear_num_key_heads");
    (void)checked_size(json, "linear_key_head_dim", config.delta.num_key_heads, config.delta.key_head_dim);
    (void)checked_size(json, "linear_value_head_dim", config.delta.num_value_heads, config.delta.value_head_dim);
    config.rotary_dim = round_rotary_dim(config.head_dim, detail::parse_partial_rotary_factor(json, 0.25));
}

/// Sets the layer plan: `layer_types`, or full attention in every `full_attention_interval`-th layer.
constexpr void set_gated_delta_layers(config_view json, model_config& config, const expert_layer_selection& experts) {
    const std::int64_t interval = json.positive("full_attention_interval", 4);
    const bool listed = parse_layer_types(json, config, token_mixer_kind::recurrent);
    const layer_plan listed_layers = config.layers;
    set_layers(json, config, [&](std::int64_t i) {
        const token_mixer_kind default_token_mixer =
            (i + 1) % interval != 0 ? token_mixer_kind::recurrent : token_mixer_kind::full_attention;
        return layer_spec{listed ? listed_layers[i].token_mixer : default_token_mixer, experts.has(i)};
    });
}

}  // namespace llmcost
