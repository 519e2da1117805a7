// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/forward/encoder_model.hpp>

// Heads of RoBERTa and related encoders: a language head with a dense layer, and a classifier over the first state.
namespace llmcost::roberta_heads {

/// Computes language-head logits. In some related models, the head is declared before the base model, so that its
/// decoder names the tied weight.
constexpr tensor compute_lm_head_logits(const layer_context& ctx, trace& t, const tensor& x, bool named_first) {
    const module_info lm_head{.name = "lm_head", .class_of_module = ctx.class_of("LMHead"), .module_role = role::head};
    const std::int64_t width = ctx.config.hidden_size;
    t.enter(lm_head);
    declare_lm_head_bias(ctx.config, t);
    const tensor h = t.unary(torch_function::stored_gelu, op::gelu, t.call("dense", linear{width, width, true}, x));
    const tensor normed = t.call("layer_norm", norm_module{norm_kind::layer, width}, h);
    return t.leave(lm_head, mlm_logits(ctx.config, t, normed, named_first));
}

constexpr tensor lm_head_logits(const layer_context& ctx, trace& t, const tensor_pair& out) {
    return compute_lm_head_logits(ctx, t, out.first, false);
}

constexpr tensor lm_head_logits_named_first(const layer_context& ctx, trace& t, const tensor_pair& out) {
    return compute_lm_head_logits(ctx, t, out.first, true);
}

constexpr tensor score_with(const layer_context& ctx, trace& t, const tensor_pair& out, score_part compute_logits) {
    if (ctx.config.head == head_kind::sequence_classification) return classify_first_state(ctx, t, out.first);
    return forward_encoder_head(ctx, t, out, compute_logits);
}

constexpr tensor score(const layer_context& ctx, trace& t, const tensor_pair& out) {
    return score_with(ctx, t, out, lm_head_logits);
}

constexpr tensor score_named_first(const layer_context& ctx, trace& t, const tensor_pair& out) {
    return score_with(ctx, t, out, lm_head_logits_named_first);
}

inline constexpr head_set pooled{head_kind::none, head_kind::multiple_choice};

}  // namespace llmcost::roberta_heads
