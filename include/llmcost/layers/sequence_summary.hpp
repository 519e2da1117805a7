// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/activation.hpp>
#include <llmcost/layers/linear.hpp>

namespace llmcost {

/// Reduction of the hidden states of a sequence to one vector.
enum class summary_kind : std::uint8_t {
    last,   ///< of the last token
    first,  ///< of the first token
    mean,   ///< mean of all tokens
    picked  ///< of a given index, which is the last token
};

/// Options of a sequence summary, packed into one family key.
struct summary_form {
    summary_kind kind = summary_kind::last;
    bool projects = false;
    bool to_labels = false;
    bool drops_first = false;
    bool drops_last = false;
    bool activates = false;
    activation act = activation::tanh;

    [[nodiscard]] constexpr std::int64_t packed() const noexcept {
        return static_cast<std::int64_t>(kind) | projects << 2 | to_labels << 3 | drops_first << 4 | drops_last << 5 |
               activates << 6 | static_cast<std::int64_t>(act) << 7;
    }
    [[nodiscard]] static constexpr summary_form unpacked(std::int64_t n) noexcept {
        return {
            static_cast<summary_kind>(n & 3), (n & 4) != 0, (n & 8) != 0, (n & 16) != 0, (n & 32) != 0, (n & 64) != 0,
            static_cast<activation>(n >> 7)};
    }
};

/// Summary of each sequence: (B, S, width) -> (B, width or labels).
///
///     last_dropout(activation(summary(first_dropout(reduce(x)))))
///
/// Source: transformers/models/xlm/modeling_xlm.py, `XLMSequenceSummary`, and its copies.
struct sequence_summary {
    summary_form form;
    std::int64_t width;
    std::int64_t labels;
    class_name named;

    static constexpr role module_role = role::head;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        tensor h = dropped(t, "first_dropout", form.drops_first, summed(t, x));
        const std::int64_t to = form.to_labels ? labels : width;
        h = form.projects ? t.call("summary", linear{width, to, true}, h) : t.call("summary", identity{}, h);
        h = form.activates ? t.call("activation", activation_module{form.act}, h) : t.call("activation", identity{}, h);
        return dropped(t, "last_dropout", form.drops_last, h);
    }

private:
    static constexpr tensor dropped(trace& t, literal name, bool drops, const tensor& x) {
        return drops ? dropout(t, name, x, dropout_position::unconditional) : t.call(name, identity{}, x);
    }
    constexpr tensor summed(trace& t, const tensor& x) const {
        if (form.kind == summary_kind::mean) return t.mean(x, 1);
        if (form.kind == summary_kind::picked) {
            t.save_for_backward(x);
            return t.gather(x, {x.dim(0), 1, x.dim(2)}).squeeze(-2);
        }
        return t.select(x, 1);
    }
};

}  // namespace llmcost
