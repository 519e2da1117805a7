// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/activation.hpp>
#include <llmcost/layers/linear.hpp>

namespace llmcost {

/// Sequence classification head: dense, activation, output projection. (B, width) -> (B, labels).
///
/// Source: transformers/models/roberta/modeling_roberta.py, `RobertaClassificationHead`; BART and T5 have variants.
struct classification_head {
    std::int64_t width;
    std::int64_t labels;
    class_name named;
    activation act = activation::tanh;
    literal act_name = "";  ///< empty: a function, not a module

    static constexpr role module_role = role::head;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        tensor h = t.call("dense", linear{width, width, true}, dropout(t, "dropout", x, dropout_position::classifier));
        h = is_empty(act_name) ? activate(t, act, h) : t.call(act_name, activation_module{act}, h);
        return t.call("out_proj", linear{width, labels, true}, dropout(t, "dropout", h, dropout_position::classifier));
    }
};

/// Start logits of question answering: (B, S, 2) -> (B, S).
///
/// With `copied`, start and end logits are copied, otherwise they are views. The loss reads only the start logits,
/// which are the first output. Their gradient has the size of both.
constexpr tensor start_of_answers(trace& t, const tensor& qa_logits, bool copied = true) {
    if (!copied) return t.slice(qa_logits, -1, 1).squeeze(-1);
    const tensor start = t.contiguous(t.slice(qa_logits, -1, 1).squeeze(-1));
    const recorder::detach_guard unread{t};
    (void)t.contiguous(qa_logits.slice(-1, 1).squeeze(-1));
    return start;
}
/// The question answering head, a linear layer for start and end logits: (B, S, width) -> start logits (B, S).
constexpr tensor question_answering_logits(trace& t, const tensor& x, literal name = "qa_outputs", bool copied = true) {
    return start_of_answers(t, t.call(name, head_linear{{x.dim(-1), 2, true}}, x), copied);
}

}  // namespace llmcost
