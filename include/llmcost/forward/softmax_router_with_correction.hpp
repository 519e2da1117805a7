// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/model/model_spec.hpp>

// A router whose softmax scores select experts after the addition of a correction bias.
//
// Shapes: tokens (tokens, hidden), k = experts per token.
namespace llmcost {

/// Adds the correction bias to router scores: (tokens, experts) -> (tokens, experts).
///
/// Source: transformers, modeling_ernie4_5_moe.py, `Ernie4_5_MoeStatics`.
struct router_statics {
    layer_context ctx;

    static constexpr role module_role = role::router;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Statics"); }
    constexpr tensor forward(trace& t, const tensor& scores) const {
        const std::int64_t n = ctx.config.moe.num_experts;
        const trace::float32_parameters_guard typed{t};
        return t.add(scores, t.frozen_parameter("e_score_correction_bias", {1, n}).view({n}));
    }
};

/// Top-k router: tokens (tokens, hidden) -> weights (tokens, k).
///
/// The corrected softmax scores select the k experts. The uncorrected scores of these experts, normalized to a sum of
/// one, are the weights.
/// Source: transformers, modeling_ernie4_5_moe.py, `Ernie4_5_MoeTopKRouter`.
struct softmax_router_with_correction {
    layer_context ctx;

    static constexpr role module_role = role::router;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("TopKRouter"); }
    constexpr tensor forward(trace& t, const tensor& tokens) const {
        const moe_config& moe = ctx.config.moe;
        tensor weight = t.float32_param("weight", {moe.num_experts, ctx.config.hidden_size});
        weight.type = dtype::float32;  // independent of the model's dtype
        const tensor logits = t.linear(t.to(tokens, dtype::float32), weight);
        t.record_router_logits(logits);
        const tensor scores = t.softmax(logits);
        {
            const recorder::detach_guard indices{t};
            (void)t.topk(t.call("moe_statics", router_statics{ctx}, scores), moe.num_experts_per_tok);
        }
        const tensor best = t.gather(scores, {tokens.dim(0), moe.num_experts_per_tok});
        const tensor sum = t.clamp_min(t.sum(best, -1, true));  // clamped to `moe_norm_min`
        return t.to(t.div(best, sum), tokens.type);
    }
};

}  // namespace llmcost
