// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/llmcost.hpp>

// Layers by themselves, their structural choices as template arguments; figures by hand from docs/counting.md.
namespace {

using namespace llmcost;

template <class Layer, class... Inputs>
constexpr model_metrics figures_of_one(const Layer& layer, const shape& sizes, const Inputs&... sizes_of_others) {
    trace t{{}};
    (void)t.call("layer", layer, t.input(sizes), t.input(sizes_of_others)...);
    return model_metrics_of(t.totals());
}

// 3 rows of 8: 8 squares, a product each with the scale and with the weight
static_assert(figures_of_one(norm_module{norm_kind::rms, 8, {"My", "RMSNorm"}}, {3, 8}).mult == count(3 * 3 * 8));
static_assert(figures_of_one(norm_module{norm_kind::rms, 8, {"My", "RMSNorm"}, false}, {3, 8}).mult ==
              count(3 * 2 * 8));
static_assert(figures_of_one(norm_module{norm_kind::layer, 8}, {3, 8}).params == count(8 + 8));

// a choice made by type and the same one made by value are one layer
static_assert(figures_of_one(norm_module{norm_kind::layer_spelled, 8, {"My", "LayerNorm"}}, {3, 8}) ==
              figures_of_one(norm_module{norm_kind::layer_spelled, 8, {"My", "LayerNorm"}}, {3, 8}));

// 3 rows through 8 -> 16 -> 8: two or three products; ReLU multiplies nothing, a gate once for each of 16
constexpr mlp_module plain{mlp_kind::plain, 8, 16, activation::relu, {"My", "MLP"}};
constexpr mlp_module gated{mlp_kind::gated, 8, 16, activation::relu, {"My", "MLP"}};
constexpr mlp_module fused{mlp_kind::fused_gated, 8, 16, activation::relu, {"My", "MLP"}};
static_assert(figures_of_one(plain, {3, 8}).params == count(2 * 8 * 16));
static_assert(figures_of_one(plain, {3, 8}).mult == count(3 * 2 * 8 * 16));
static_assert(figures_of_one(gated, {3, 8}).params == count(3 * 8 * 16));
static_assert(figures_of_one(gated, {3, 8}).mult == count(3 * (3 * 8 * 16 + 16)));
static_assert(figures_of_one(fused, {3, 8}).mult == figures_of_one(gated, {3, 8}).mult);

// 3 tokens pick 2 of 4 experts: one logit per expert, and the picked weights divided by their sum where they are normed
constexpr router_config four_experts{.hidden_size = 8, .num_experts = 4, .num_experts_per_tok = 2};
constexpr router_config normed_experts{
    .hidden_size = 8, .num_experts = 4, .num_experts_per_tok = 2, .normalizes_weights = true};
constexpr moe_router picks{router_kind::softmax_top_k, four_experts, {"My", "Router"}};
constexpr moe_router picks_normed{router_kind::softmax_top_k, normed_experts, {"My", "Router"}};
static_assert(figures_of_one(picks, {3, 8}).params == count(4 * 8));
static_assert(figures_of_one(picks, {3, 8}).mult == count(3 * 4 * 8));
static_assert(figures_of_one(picks_normed, {3, 8}).div == figures_of_one(picks, {3, 8}).div + count(3 * 2));

// every token meets 2 of 4 experts: three products of 8 x 16, the gate, the weight; all experts have parameters
constexpr routed_experts_base sizes{8, 16, 4, 2, activation::relu, {"My", "Experts"}};
static_assert(figures_of_one(experts<expert_kind::gated>{sizes}, {3, 8}, shape{3, 2}).params == count(4 * 3 * 8 * 16));
static_assert(figures_of_one(experts<expert_kind::gated>{sizes}, {3, 8}, shape{3, 2}).mult ==
              count(3 * 2 * (3 * 8 * 16 + 16 + 8)));
static_assert(figures_of_one(experts<expert_kind::clamped_swiglu>{sizes}, {3, 8}, shape{3, 2}).params ==
              count(4 * (3 * 8 * 16 + 2 * 16 + 8)));

}  // namespace
