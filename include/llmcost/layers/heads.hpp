// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/activation.hpp>
#include <llmcost/layers/linear.hpp>

namespace llmcost {

/// Labels of whole sequences from one state of each, (B, width) -> (B, labels): dense, tanh, scores.
///
/// Source: transformers/models/roberta/modeling_roberta.py, `RobertaClassificationHead`, and its relatives of BART and T5.
struct classification_head {
    std::int64_t width;
    std::int64_t labels;
    class_name named;

    static constexpr role what = role::head;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x) const {
        const value h = t.call("dense", linear{width, width, true}, dropout(t, "dropout", x));
        return t.call("out_proj", linear{width, labels, true}, dropout(t, "dropout", t.tanh(h)));
    }
};

/// Scores of an answer's start and end, each copied out of their common product: (B, S, width) -> (B, S).
constexpr value answer_scores(trace& t, const value& x) {
    const value both = t.call("qa_outputs", head_linear{{x.dim(-1), 2, true}}, x);
    t.gradient_arrives(t.contiguous(both.slice(-1, 1).squeeze(-1)));  // of the starts; the ends are handed out
    return t.contiguous(both.slice(-1, 1).squeeze(-1));
}

}  // namespace llmcost
