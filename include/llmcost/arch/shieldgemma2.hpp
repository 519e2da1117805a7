// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/gemma3.hpp>

namespace llmcost::arch {

namespace shieldgemma2_detail {

/// Gemma 3 under its head; the image classifier takes the softmax over the logits of two tokens.
constexpr tensor forward(const layer_context& ctx, trace& t) {
    const layer_context inner{ctx.model, gemma3, ctx.config};
    if (ctx.config.head != head_kind::image_classification) return forward_decoder(inner, t);
    const module_info model_info{.class_of_module = ctx.class_of(name_of(ctx.config.head))};
    const module_info judge{.name = "model", .class_of_module = inner.class_of("ForConditionalGeneration")};
    t.enter(model_info);
    t.enter(judge);
    const tensor x = forward_in_module({.name = "model", .class_of_module = inner.class_of("Model")},
                                       inner.spec.base_model, inner, t);
    const tensor scores = t.leave(judge, forward_head(inner, t, x));
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    return t.leave(model_info, t.select_model_output(x, t.softmax(t.gather(scores, {scores.dim(0), 2}))));
}

}  // namespace shieldgemma2_detail

// transformers/models/shieldgemma2: Gemma 3 as a classifier of policy violations in images
inline constexpr model_spec shieldgemma2 = [](model_spec spec) {
    spec.model_type = "shieldgemma2";
    spec.class_prefix = "ShieldGemma2";
    spec.alternative_classes = "Gemma3ForConditionalGeneration";  // the model inside of the classifier
    spec.forward = shieldgemma2_detail::forward;
    spec.supported_heads = {head_kind::conditional_generation, head_kind::image_classification};
    return spec;
}(gemma3);

}  // namespace llmcost::arch
