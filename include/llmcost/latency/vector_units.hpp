// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/base/string_ref.hpp>

namespace llmcost {

/// The cost of a primitive on the vector units of a GPU, relative to an addition.
struct vector_cost {
    string_ref name;
    double additions = 0;
};

// Results per clock and multiprocessor (CUDA C++ Programming Guide, "Arithmetic Instructions", compute capability 9.0):
// 128 additions or products in 32 bits, 64 comparisons, 16 reciprocals, roots, exponentials, logarithms, sines.
// Division is a corrected reciprocal, sqrt a corrected reciprocal root. tanh, erf, trig and pow are polynomials of
// libdevice. In the order of `primitives`.
// clang-format off
inline constexpr vector_cost vector_costs[]{
    {"add",   1}, {"mult", 1}, {"div",  16}, {"sqrt", 16}, {"exp",  9}, {"log", 9},
    {"tanh", 24}, {"erf", 30}, {"trig", 30}, {"pow",  60}, {"neg",  1}, {"cmp", 2},
};
// clang-format on

/// The cost of a primitive in additions; 1 for an unknown primitive.
[[nodiscard]] constexpr double additions_per_operation(string_ref name) noexcept {
    for (const vector_cost& c : vector_costs)
        if (c.name == name) return c.additions;
    return 1;
}

}  // namespace llmcost
