// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/model/architecture.hpp>
#include <llmcost/reading/config.hpp>
#include <llmcost/reading/keys.hpp>
#include <llmcost/reading/layer_types.hpp>

namespace llmcost {

/// Sizes of latent attention, which a row has defaults of; a rank of queries that is null means that there is no such step.
constexpr void read_latent_attention(config_view config, sizes& s) {
    const auto rank = config.find("q_lora_rank");
    if (rank) s.mla.q_lora_rank = rank->is_null() ? 0 : rank->as_positive();
    s.mla.kv_lora_rank = config.positive("kv_lora_rank", s.mla.kv_lora_rank);
    s.mla.qk_nope_head_dim = config.positive("qk_nope_head_dim", s.mla.qk_nope_head_dim);
    s.mla.qk_rope_head_dim = config.positive("qk_rope_head_dim", s.mla.qk_rope_head_dim);
    const auto values = config.find("v_head_dim");
    if (s.mla.v_head_dim == 0) s.mla.v_head_dim = s.hidden_size / s.num_attention_heads;  // where the class has none
    if (values && !values->is_null()) s.mla.v_head_dim = values->as_positive();
    if (s.mla.v_head_dim == 0) fail_value(config, "num_attention_heads", "at most hidden_size heads");
    s.head_dim = s.rotary_dim = s.mla.qk_rope_head_dim;
    if (s.rotary_dim % 2 != 0) fail_value(config, "qk_rope_head_dim", "an even number");
    (void)checked_width(config, "qk_nope_head_dim", s.num_attention_heads, s.mla.qk_nope_head_dim + s.head_dim);
    (void)checked_width(config, "v_head_dim", s.num_attention_heads, s.mla.v_head_dim + s.mla.qk_nope_head_dim);
    refuse_window(config);
    s.sliding_window = 0;
}

/// Whether `mlp_layer_types` says that a layer has experts; without such a list, a rule does.
constexpr bool is_sparse(config_view config, const sizes& s, std::int64_t layer, bool by_rule) {
    const auto types = config.optional_array("mlp_layer_types");
    if (!types) return by_rule;
    if (static_cast<std::int64_t>(types->size()) != s.num_hidden_layers)
        fail_value(config, "mlp_layer_types", "a list with one kind per hidden layer");
    const string_ref word = (*types)[static_cast<std::size_t>(layer)].as_string();
    if (word != "sparse" && word != "dense")
        fail_unsupported(config, "mlp_layer_types", "no layer is of one of these kinds");
    return word == "sparse";
}

}  // namespace llmcost
