// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/convolution.hpp>

// Words that models of timm share.
namespace llmcost::arch::timm_detail {

/// `nn.ReLU(inplace=True)`.
struct relu_in_place {
    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "ReLU"}; }
    constexpr value describe(trace& t, value x) const {
        t.in_place(op::relu, x);
        return x;
    }
};

/// Runs `inside` in a module of timm's.
template <class Inside>
constexpr value within(trace& t, module_place at, literal type, const value& x, const Inside& inside,
                       role what = role::none) {
    const module_info m{.name = at.name, .index = at.index, .type = {"", type}, .what = what};
    t.enter(m);
    return t.leave(m, inside(x));
}

}  // namespace llmcost::arch::timm_detail
