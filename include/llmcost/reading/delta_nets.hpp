// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/model/architecture.hpp>
#include <llmcost/reading/config.hpp>
#include <llmcost/reading/experts.hpp>
#include <llmcost/reading/keys.hpp>
#include <llmcost/reading/rope.hpp>

namespace llmcost {

/// Gated delta nets beside attention of which a part of each head is rotated (Qwen3-Next, Qwen3.5).
constexpr void read_delta_nets(config_view config, sizes& s) {
    s.delta = {config.positive("linear_num_key_heads", 16), config.positive("linear_num_value_heads", 32),
               config.positive("linear_key_head_dim", 128), config.positive("linear_value_head_dim", 128),
               config.positive("linear_conv_kernel_dim", 4)};
    if (s.delta.num_value_heads % s.delta.num_key_heads != 0)
        fail_value(config, "linear_num_value_heads", "a multiple of linear_num_key_heads");
    (void)checked_width(config, "linear_key_head_dim", s.delta.num_key_heads, s.delta.key_head_dim);
    (void)checked_width(config, "linear_value_head_dim", s.delta.num_value_heads, s.delta.value_head_dim);
    s.rotary_dim = whole_pairs(s.head_dim, detail::read_partial_rotary_factor(config, 0.25));
}

/// Every `full_attention_interval`-th layer attends, the others keep a state, unless `layer_types` says otherwise.
constexpr void plan_delta_nets(config_view config, sizes& s, const expert_places& experts) {
    const std::int64_t interval = config.positive("full_attention_interval", 4);
    const bool listed = read_layer_types(config, s, mixer_kind::recurrent);
    const layer_plan given = s.layers;
    plan_layers(config, s, [&](std::int64_t i) {
        const mixer_kind by_rule = (i + 1) % interval != 0 ? mixer_kind::recurrent : mixer_kind::full_attention;
        return layer_kind{listed ? given[i].mixer : by_rule, experts.has(i)};
    });
}

}  // namespace llmcost
