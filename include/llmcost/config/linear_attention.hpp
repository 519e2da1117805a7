// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/experts.hpp>
#include <llmcost/config/latent_attention.hpp>

// Models with linear attention and latent attention (Kimi Linear, Bailing hybrid).
namespace llmcost {

/// Experts by their names in Kimi's files, which go before those of DeepSeek's.
constexpr void parse_kimi_experts(config_view json, model_config& config) {
    const auto select_key = [&](literal first, literal second) { return json.contains(first) ? first : second; };
    moe_config& moe = config.moe;
    const literal number = select_key("num_experts", "num_local_experts"),
                  groups = select_key("num_expert_group", "n_group");
    const literal top_k_key = select_key("num_experts_per_token", "num_experts_per_tok");
    moe.num_experts = json.positive(number, moe.num_experts);
    moe.num_experts_per_tok = json.positive(top_k_key, moe.num_experts_per_tok);
    if (moe.num_experts_per_tok > moe.num_experts)
        throw_invalid_value(json, top_k_key, "at most the number of experts");
    moe.intermediate_size = json.positive("moe_intermediate_size", moe.intermediate_size);
    moe.norm_topk_prob = json.boolean(select_key("moe_renormalize", "norm_topk_prob"), moe.norm_topk_prob);
    const literal shared = select_key("num_shared_experts", "n_shared_experts");
    moe.shared_intermediate_size = checked_size(json, shared, json.positive(shared, 1), moe.intermediate_size);
    moe.has_group_limit = true;
    moe.n_group = json.positive(groups, moe.n_group);
    moe.topk_group = json.positive("topk_group", moe.topk_group);
    if (moe.num_experts % moe.n_group != 0) throw_invalid_value(json, groups, "a divisor of the number of experts");
    if (moe.topk_group > moe.n_group) throw_invalid_value(json, "topk_group", "at most as many as there are groups");
    if (moe.num_experts / moe.n_group < 2) throw_invalid_value(json, groups, "at most half as many groups as experts");
}

/// Sets the layer kinds from `layer_types` or a rule; layers after the first dense ones have experts.
template <class Attends>
constexpr void set_linear_attention_layers(config_view json, model_config& config, std::int64_t dense,
                                           const Attends& attends) {
    const bool listed = parse_layer_types(json, config, token_mixer_kind::recurrent);
    const layer_plan listed_layers = config.layers;
    set_layers(json, config, [&](std::int64_t i) {
        const token_mixer_kind default_token_mixer =
            attends(i) ? token_mixer_kind::full_attention : token_mixer_kind::recurrent;
        return layer_spec{listed ? listed_layers[i].token_mixer : default_token_mixer,
                          is_sparse(json, config, i, i >= dense)};
    });
}

}  // namespace llmcost
