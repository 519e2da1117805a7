// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/model/architecture.hpp>
#include <llmcost/reading/config.hpp>
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

/// Experts that a router picks from groups, beside shared ones, behind the first `first_k_dense_replace` layers (DeepSeek V3
/// and its relatives); 0 as a default: the key has none.
struct grouped_experts {
    std::int64_t shared = 0;
    std::int64_t dense_layers = 0;
    bool by_two = true;  ///< a group is worth its two best experts
};
constexpr std::int64_t read_grouped_experts(config_view config, sizes& s, const grouped_experts& otherwise) {
    const literal number = config.contains("num_local_experts") ? "num_local_experts" : "n_routed_experts";
    s.moe.num_experts = s.moe.num_experts > 0 ? config.positive(number, s.moe.num_experts) : config.positive(number);
    read_experts(config, s, number);
    const std::int64_t shared =
        otherwise.shared > 0 ? config.positive("n_shared_experts", otherwise.shared) : config.positive("n_shared_experts");
    s.moe.shared_intermediate_size = shared * s.moe.intermediate_size;
    s.moe.limits_groups = true;
    s.moe.n_group = config.positive("n_group", s.moe.n_group);
    s.moe.topk_group = config.positive("topk_group", s.moe.topk_group);
    if (s.moe.num_experts % s.moe.n_group != 0) fail_value(config, "n_group", "a divisor of the number of experts");
    if (s.moe.topk_group > s.moe.n_group) fail_value(config, "topk_group", "at most n_group");
    if (otherwise.by_two && s.moe.num_experts / s.moe.n_group < 2)
        fail_value(config, "n_group", "at most half as many groups as experts");
    return config.non_negative("first_k_dense_replace", otherwise.dense_layers);
}

/// Types whose layers have experts whatever a configuration says.
constexpr void check_experts(config_view config, const sizes& s) {
    if (s.moe.num_experts > 0) return;
    constexpr literal names[] = {"num_experts", "num_local_experts", "n_routed_experts"};
    for (const literal key : names)
        if (config.contains(key)) fail_value(config, key, "a positive integer");
}

}  // namespace llmcost
