// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/config_view.hpp>
#include <llmcost/config/keys.hpp>
#include <llmcost/config/layer_types.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost {

/// Parses the sizes of multi-head latent attention. With a null `q_lora_rank`, queries have one projection.
constexpr void parse_latent_attention(config_view json, model_config& config) {
    const auto rank = json.find("q_lora_rank");
    if (rank) config.mla.q_lora_rank = rank->is_null() ? 0 : rank->as_positive();
    config.mla.kv_lora_rank = json.positive("kv_lora_rank", config.mla.kv_lora_rank);
    config.mla.qk_nope_head_dim = json.positive("qk_nope_head_dim", config.mla.qk_nope_head_dim);
    config.mla.qk_rope_head_dim = json.positive("qk_rope_head_dim", config.mla.qk_rope_head_dim);
    const auto values = json.find("v_head_dim");
    if (config.mla.v_head_dim == 0)
        config.mla.v_head_dim = config.hidden_size / config.num_attention_heads;  // the class has no default
    if (values && !values->is_null()) config.mla.v_head_dim = values->as_positive();
    if (config.mla.v_head_dim == 0) throw_invalid_value(json, "num_attention_heads", "at most hidden_size heads");
    config.head_dim = config.rotary_dim = config.mla.qk_rope_head_dim;
    if (config.rotary_dim % 2 != 0) throw_invalid_value(json, "qk_rope_head_dim", "an even number");
    (void)checked_size(json, "qk_nope_head_dim", config.num_attention_heads,
                       config.mla.qk_nope_head_dim + config.head_dim);
    (void)checked_size(json, "v_head_dim", config.num_attention_heads,
                       config.mla.v_head_dim + config.mla.qk_nope_head_dim);
    reject_sliding_window(json);
    config.sliding_window = 0;
}

/// True if the layer is sparse in `mlp_layer_types`. Without this list, returns `by_rule`.
constexpr bool is_sparse(config_view json, const model_config& config, std::int64_t layer, bool by_rule) {
    const auto types = json.optional_array("mlp_layer_types");
    if (!types) return by_rule;
    if (static_cast<std::int64_t>(types->size()) != config.num_hidden_layers)
        throw_invalid_value(json, "mlp_layer_types", "a list with one kind per hidden layer");
    const string_ref mlp_type = (*types)[static_cast<std::size_t>(layer)].as_string();
    if (mlp_type != "sparse" && mlp_type != "dense")
        throw_unsupported(json, "mlp_layer_types", "unsupported layer type");
    return mlp_type == "sparse";
}

/// Sets the layers with experts.
///
/// `mlp_layer_types` takes precedence. Otherwise one layer in every `moe_layer_freq` has experts, after the first
/// `first_k_dense_replace` layers.
constexpr void set_expert_layers(config_view json, model_config& config) {
    const std::int64_t dense = json.non_negative("first_k_dense_replace", 1);
    const std::int64_t every = json.positive("moe_layer_freq", 1);
    set_layers(json, config, [&](std::int64_t i) {
        return layer_spec{.has_experts = is_sparse(json, config, i, i >= dense && i % every == 0)};
    });
}

}  // namespace llmcost
