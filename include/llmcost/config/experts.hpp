// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/config_view.hpp>
#include <llmcost/config/keys.hpp>
#include <llmcost/config/layer_types.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost {

/// Layers with experts: every `decoder_sparse_step`-th layer, except those in `mlp_only_layers` (Qwen).
class expert_layer_selection {
public:
    constexpr expert_layer_selection(config_view json, const model_config& config)
        : has_experts_(config.moe.num_experts > 0), step_(json.positive("decoder_sparse_step", 1)) {
        if (const auto dense = json.optional_array("mlp_only_layers")) dense_ = layer_set(*dense);
    }
    /// Selects all layers or none.
    constexpr explicit expert_layer_selection(bool everywhere) noexcept : has_experts_(everywhere), step_(1) {}
    [[nodiscard]] constexpr bool has(std::int64_t layer) const noexcept {
        return has_experts_ && (layer + 1) % step_ == 0 && !dense_.has(layer);
    }

private:
    bool has_experts_;
    std::int64_t step_;
    layer_set dense_{};
};

/// Layers with experts: those that are sparse in `mlp_layer_types`. Default: all layers after the first `dense` ones.
class sparse_layer_selection {
public:
    constexpr sparse_layer_selection(config_view json, const model_config& config, std::int64_t dense)
        : dense_(dense), list_(json.optional_array("mlp_layer_types")) {
        if (!list_) return;
        if (static_cast<std::int64_t>(list_->size()) != config.num_hidden_layers)
            throw_invalid_value(json, "mlp_layer_types", "a list with one kind per hidden layer");
        for (const config_view entry : *list_)
            if (entry.as_string() != "sparse" && entry.as_string() != "dense")
                throw_invalid_value(json, "mlp_layer_types", "a list of dense and sparse");
    }
    [[nodiscard]] constexpr bool has(std::int64_t layer) const {
        return list_ ? (*list_)[static_cast<std::size_t>(layer)].as_string() == "sparse" : layer >= dense_;
    }

private:
    std::int64_t dense_;
    maybe<config_view> list_;
};

constexpr void parse_experts(config_view json, model_config& config, literal number_of_experts) {
    config.moe.num_experts = json.non_negative(number_of_experts, config.moe.num_experts);
    config.moe.num_experts_per_tok = config.moe.num_experts_per_tok > 0
                                         ? json.positive("num_experts_per_tok", config.moe.num_experts_per_tok)
                                         : json.positive("num_experts_per_tok");
    if (config.moe.num_experts_per_tok > config.moe.num_experts && config.moe.num_experts > 0)
        throw_invalid_value(json, "num_experts_per_tok", "at most the number of experts");
    config.moe.intermediate_size = json.positive("moe_intermediate_size", config.moe.intermediate_size);
    config.moe.norm_topk_prob = json.boolean("norm_topk_prob", config.moe.norm_topk_prob);
}

/// Parses `output_router_logits`, which adds the load-balancing loss.
constexpr void parse_load_balancing(config_view json, model_config& config) {
    config.moe.has_load_balancing_loss = json.boolean("output_router_logits", false) && config.moe.num_experts > 0;
}

/// Configuration keys of MoE with expert groups and shared experts (DeepSeek V3).
struct grouped_expert_keys {
    literal number = "n_routed_experts";
    literal number_too = "num_local_experts";  ///< alternative key
    literal shared_key = "n_shared_experts";   ///< empty: none
    std::int64_t shared = 0;                   ///< default value; 0: the key is required
    bool by_two = true;                        ///< a group is rated by its two best experts
};
constexpr void parse_grouped_experts(config_view json, model_config& config, const grouped_expert_keys& expert_keys) {
    const literal number = json.contains(expert_keys.number_too) ? expert_keys.number_too : expert_keys.number;
    config.moe.num_experts =
        config.moe.num_experts > 0 ? json.positive(number, config.moe.num_experts) : json.positive(number);
    parse_experts(json, config, number);
    if (!is_empty(expert_keys.shared_key)) {
        const std::int64_t shared = expert_keys.shared > 0 ? json.positive(expert_keys.shared_key, expert_keys.shared)
                                                           : json.positive(expert_keys.shared_key);
        config.moe.shared_intermediate_size =
            checked_size(json, expert_keys.shared_key, shared, config.moe.intermediate_size);
    }
    config.moe.has_group_limit = true;
    config.moe.n_group = json.positive("n_group", config.moe.n_group);
    config.moe.topk_group = json.positive("topk_group", config.moe.topk_group);
    if (config.moe.num_experts % config.moe.n_group != 0)
        throw_invalid_value(json, "n_group", "a divisor of the number of experts");
    if (config.moe.topk_group > config.moe.n_group) throw_invalid_value(json, "topk_group", "at most n_group");
    if (expert_keys.by_two && config.moe.num_experts / config.moe.n_group < 2)
        throw_invalid_value(json, "n_group", "at most half as many groups as experts");
}

/// Checks that the number of experts is positive, for types whose layers always have experts.
constexpr void validate_experts(config_view json, const model_config& config) {
    if (config.moe.num_experts > 0) return;
    constexpr literal names[] = {"num_experts", "num_local_experts", "n_routed_experts"};
    for (const literal key : names)
        if (json.contains(key)) throw_invalid_value(json, key, "a positive integer");
}

constexpr void parse_local_experts(config_view json, model_config& config) {
    parse_experts(json, config, "num_local_experts");
    validate_experts(json, config);
    config.moe.intermediate_size = config.intermediate_size;
}

}  // namespace llmcost
