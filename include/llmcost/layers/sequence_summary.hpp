// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/activation.hpp>
#include <llmcost/layers/linear.hpp>

namespace llmcost {

/// How the states of a sequence become one.
enum class summary_kind : std::uint8_t {
    last,   ///< the last token's
    first,  ///< the first token's
    mean,   ///< their mean
    picked  ///< that of an index, which is the last token's
};

/// What a summary does, as one number among a family's own sizes.
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
        return {static_cast<summary_kind>(n & 3), (n & 4) != 0, (n & 8) != 0, (n & 16) != 0, (n & 32) != 0, (n & 64) != 0,
                static_cast<activation>(n >> 7)};
    }
};

/// One state of each sequence, (B, S, width) -> (B, width or labels).
///
/// Source: transformers/models/xlm/modeling_xlm.py, `XLMSequenceSummary`, and its copies.
struct sequence_summary {
    summary_form how;
    std::int64_t width;
    std::int64_t labels;
    class_name named;

    static constexpr role what = role::head;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x) const {
        value h = dropped(t, "first_dropout", how.drops_first, summed(t, x));
        const std::int64_t to = how.to_labels ? labels : width;
        h = how.projects ? t.call("summary", linear{width, to, true}, h) : t.call("summary", identity{}, h);
        h = how.activates ? t.call("activation", activation_module{how.act}, h) : t.call("activation", identity{}, h);
        return dropped(t, "last_dropout", how.drops_last, h);
    }

private:
    static constexpr value dropped(trace& t, literal name, bool drops, const value& x) {
        return drops ? dropout(t, name, x, dropout_of::always) : t.call(name, identity{}, x);
    }
    constexpr value summed(trace& t, const value& x) const {
        if (how.kind == summary_kind::mean) return t.mean(x, 1);
        if (how.kind == summary_kind::picked) {
            t.save_for_backward(x);
            return t.gather(x, {x.dim(0), 1, x.dim(2)}).squeeze(-2);
        }
        return t.select(x, 1);
    }
};

}  // namespace llmcost
