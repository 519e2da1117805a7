// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen3.hpp>

namespace llmcost::arch {

/// All layers are full and have experts unless lists say otherwise; each kind has frequencies of its own.
constexpr void read_mellum(config_view config, sizes& s) {
    read_experts(config, s, config.contains("num_local_experts") ? "num_local_experts" : "num_experts");
    check_experts(config, s), read_balance(config, s);
    const bool listed = read_layer_types(config, s);
    const layer_plan given = s.layers;
    const sparse_places experts(config, s, 0);
    plan_layers(config, s, [&](std::int64_t i) {
        return layer_kind{listed ? given[i].mixer : mixer_kind::full_attention, experts.has(i)};
    });
    const auto turn = [&](mixer_kind kind, literal key) {
        if (s.layers.has(kind, s.num_hidden_layers) && !rotates_layers(config, key, true))
            fail_value(config, "rope_parameters", "parameters for each kind of layers");
        const auto rope = config.optional_object("rope_parameters");
        const auto of_kind = rope ? rope->optional_object(key) : maybe<config_view>{};
        if (of_kind && of_kind->real("partial_rotary_factor", 1) != 1)
            fail_unsupported(*of_kind, "partial_rotary_factor", "rotates a part of the heads of one kind of layers");
    };
    turn(mixer_kind::full_attention, "full_attention"), turn(mixer_kind::sliding_attention, "sliding_attention");
}

// transformers/models/mellum: Qwen3's experts, masks and rotary tables for the kinds of layers that there are
inline constexpr architecture mellum = [](architecture a) {
    a.heads = language_heads;
    a.model_type = "mellum", a.prefix = "Mellum", a.read = read_mellum, a.masks = mask_rule::present;
    a.rotary_per_mixer = true;
    a.defaults.vocab_size = 98304, a.defaults.hidden_size = 2304, a.defaults.intermediate_size = 7168;
    a.defaults.num_hidden_layers = 28, a.defaults.head_dim = 128, a.defaults.max_position_embeddings = 131072;
    a.defaults.sliding_window = 1024;
    a.defaults.moe = {.num_experts = 64, .num_experts_per_tok = 8, .intermediate_size = 896, .norm_topk_prob = true};
    return a;
}(qwen3_moe);

}  // namespace llmcost::arch
