// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/trace/trace.hpp>

namespace llmcost {

/// `nn.Linear`: x (…, in) -> (…, out); MULT rows·in·out, ADD rows·(in−1)·out, a bias rows·out more.
struct linear {
    std::int64_t in;
    std::int64_t out;
    bool bias = false;
    bool shares_weight = false;  ///< tied to a tensor that another module names first
    bool shares_bias = false;    ///< the same of its bias
    class_name named{"", "Linear"};

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x) const {
        if (leaf_policy* const policy = t.policy()) {
            const value weight = weight_of(t), b = bias ? bias_of(t) : value{};
            const value read = policy->reads(t, x);
            return policy->gives(t, x, weight, false, bias ? &b : nullptr, t.linear(read, weight, bias ? &b : nullptr));
        }
        const value weight = weight_of(t);
        if (!bias) return t.linear(x, weight);
        const value b = bias_of(t);
        return t.linear(x, weight, &b);
    }

private:
    constexpr value weight_of(trace& t) const {
        return shares_weight ? t.tied("weight", {out, in}) : t.param("weight", {out, in});
    }
    constexpr value bias_of(trace& t) const { return shares_bias ? t.tied("bias", {out}) : t.param("bias", {out}); }
};

/// A linear layer with the role of a model's head.
struct head_linear : linear {
    static constexpr role what = role::head;
};

/// A linear layer that brings a tower's features to the width of a text.
struct projector_linear : linear {
    static constexpr role what = role::projector;
};

/// `nn.Embedding`: integers of these sizes -> (…, width), a copy of rows without arithmetic.
struct embedding {
    std::int64_t rows;
    std::int64_t width;
    bool scaled = false;  ///< multiplied by a constant inside the module
    class_name named{"", "Embedding"};
    bool shares_weight = false;  ///< tied to a tensor that another module names first
    bool makes_indices = false;  ///< the pass makes the integers that are looked up: positions

    static constexpr role what = role::embedding;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const extents& ids) const {
        const value weight = shares_weight ? t.tied("weight", {rows, width}) : t.param("weight", {rows, width});
        extents to = ids;
        if (makes_indices) t.save_integers(count(elements_of(ids.size, ids.rank)));
        to.size[to.rank++] = width;
        leaf_policy* const policy = t.policy();
        const value x = t.gather(weight, policy == nullptr ? to : policy->looks_up(rows, to));
        const value found = scaled ? t.mul(x) : x;
        return policy == nullptr ? found : policy->looked_up(t, weight, scaled, found);
    }
    /// The module alone, for others that are tied to it.
    constexpr void declare(trace& t, literal name) const {
        const module_info m{.name = name, .type = named, .what = what, .leaf = leaf};
        t.enter(m);
        (void)t.param("weight", {rows, width});
        t.leave(m);
    }
};

}  // namespace llmcost
