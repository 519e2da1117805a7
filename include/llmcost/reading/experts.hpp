// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/model/architecture.hpp>
#include <llmcost/reading/config.hpp>
#include <llmcost/reading/keys.hpp>
#include <llmcost/reading/layer_types.hpp>

namespace llmcost {

/// Experts in every `decoder_sparse_step`-th layer that `mlp_only_layers` does not name (Qwen).
class expert_places {
public:
    constexpr expert_places(config_view config, const sizes& s)
        : several_(s.moe.num_experts > 0), step_(config.positive("decoder_sparse_step", 1)) {
        if (const auto dense = config.optional_array("mlp_only_layers")) dense_ = layer_set(*dense);
    }
    /// Experts in every layer, or in none.
    constexpr explicit expert_places(bool everywhere) noexcept : several_(everywhere), step_(1) {}
    [[nodiscard]] constexpr bool has(std::int64_t layer) const noexcept {
        return several_ && (layer + 1) % step_ == 0 && !dense_.has(layer);
    }

private:
    bool several_;
    std::int64_t step_;
    layer_set dense_{};
};

/// Experts in the layers that `mlp_layer_types` calls sparse; without the list in those behind the first dense ones.
class sparse_places {
public:
    constexpr sparse_places(config_view config, const sizes& s, std::int64_t dense)
        : dense_(dense), list_(config.optional_array("mlp_layer_types")) {
        if (!list_) return;
        if (static_cast<std::int64_t>(list_->size()) != s.num_hidden_layers)
            fail_value(config, "mlp_layer_types", "a list with one kind per hidden layer");
        for (const config_view entry : *list_)
            if (entry.as_string() != "sparse" && entry.as_string() != "dense")
                fail_value(config, "mlp_layer_types", "a list of dense and sparse");
    }
    [[nodiscard]] constexpr bool has(std::int64_t layer) const {
        return list_ ? (*list_)[static_cast<std::size_t>(layer)].as_string() == "sparse" : layer >= dense_;
    }

private:
    std::int64_t dense_;
    maybe<config_view> list_;
};

constexpr void read_experts(config_view config, sizes& s, literal number_of_experts) {
    s.moe.num_experts = config.non_negative(number_of_experts, s.moe.num_experts);
    s.moe.num_experts_per_tok = s.moe.num_experts_per_tok > 0
                                    ? config.positive("num_experts_per_tok", s.moe.num_experts_per_tok)
                                    : config.positive("num_experts_per_tok");
    if (s.moe.num_experts_per_tok > s.moe.num_experts && s.moe.num_experts > 0)
        fail_value(config, "num_experts_per_tok", "at most the number of experts");
    s.moe.intermediate_size = config.positive("moe_intermediate_size", s.moe.intermediate_size);
    s.moe.norm_topk_prob = config.boolean("norm_topk_prob", s.moe.norm_topk_prob);
}

/// Types whose language model weighs how evenly its routers pick, where the configuration asks for it.
constexpr void read_balance(config_view config, sizes& s) {
    s.moe.weighs_balance = config.boolean("output_router_logits", false) && s.moe.num_experts > 0;
}

/// Keys of experts that a router picks from groups, beside shared ones (DeepSeek V3 and its relatives).
struct grouped_experts {
    literal number = "n_routed_experts";
    literal number_too = "num_local_experts";  ///< another name of it
    literal shared_key = "n_shared_experts";   ///< empty: none
    std::int64_t shared = 0;                   ///< without the key; 0: it must be there
    bool by_two = true;                        ///< a group is worth its two best experts
};
constexpr void read_grouped_experts(config_view config, sizes& s, const grouped_experts& of) {
    const literal number = config.contains(of.number_too) ? of.number_too : of.number;
    s.moe.num_experts = s.moe.num_experts > 0 ? config.positive(number, s.moe.num_experts) : config.positive(number);
    read_experts(config, s, number);
    if (!is_empty(of.shared_key)) {
        const std::int64_t shared =
            of.shared > 0 ? config.positive(of.shared_key, of.shared) : config.positive(of.shared_key);
        s.moe.shared_intermediate_size = checked_width(config, of.shared_key, shared, s.moe.intermediate_size);
    }
    s.moe.limits_groups = true;
    s.moe.n_group = config.positive("n_group", s.moe.n_group);
    s.moe.topk_group = config.positive("topk_group", s.moe.topk_group);
    if (s.moe.num_experts % s.moe.n_group != 0) fail_value(config, "n_group", "a divisor of the number of experts");
    if (s.moe.topk_group > s.moe.n_group) fail_value(config, "topk_group", "at most n_group");
    if (of.by_two && s.moe.num_experts / s.moe.n_group < 2)
        fail_value(config, "n_group", "at most half as many groups as experts");
}

/// Types whose layers have experts whatever a configuration says.
constexpr void check_experts(config_view config, const sizes& s) {
    if (s.moe.num_experts > 0) return;
    constexpr literal names[] = {"num_experts", "num_local_experts", "n_routed_experts"};
    for (const literal key : names)
        if (config.contains(key)) fail_value(config, key, "a positive integer");
}

}  // namespace llmcost
