// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/gemma3.hpp>

namespace llmcost::arch {

namespace shieldgemma2_detail {

/// Gemma 3 under its head; the class that judges images takes the logits of two words and their softmax.
constexpr value describe(const site& here, trace& t) {
    const site inner{here.whole, gemma3, here.dims};
    if (here.dims.head != head_kind::image_classification) return describe_decoder(inner, t);
    const module_info whole{.type = here.type(name_of(here.dims.head))};
    const module_info judge{.name = "model", .type = inner.type("ForConditionalGeneration")};
    t.enter(whole);
    t.enter(judge);
    const value x = describe_within({.name = "model", .type = inner.type("Model")}, inner.row.base, inner, t);
    const value scores = t.leave(judge, describe_head(inner, t, x));
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    return t.leave(whole, t.returns(x, t.softmax(t.gather(scores, {scores.dim(0), 2}))));
}

}  // namespace shieldgemma2_detail

// transformers/models/shieldgemma2: Gemma 3, asked whether an image breaks a rule
inline constexpr architecture shieldgemma2 = [](architecture a) {
    a.model_type = "shieldgemma2", a.prefix = "ShieldGemma2", a.describe = shieldgemma2_detail::describe;
    a.heads = {head_kind::conditional_generation, head_kind::image_classification};
    return a;
}(gemma3);

}  // namespace llmcost::arch
