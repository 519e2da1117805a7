// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/simulation/random_stream.hpp>

#include <cmath>

#include <llmcost/base/inline.hpp>

namespace llmcost {

LLMCOST_INLINE double random_stream::normal() noexcept {
    constexpr double two_pi = 6.283185307179586;
    const double radius = std::sqrt(2 * exponential());
    return radius * std::cos(two_pi * uniform());
}

LLMCOST_INLINE double random_stream::gamma(double shape) noexcept {
    if (shape == 1) return exponential();
    const bool is_below_one = shape < 1;
    const double d = (is_below_one ? shape + 1 : shape) - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    for (;;) {
        const double x = normal(), v = std::pow(1 + c * x, 3);
        if (v <= 0) continue;
        const double u = 1 - uniform();
        if (std::log(u) >= 0.5 * x * x + d - d * v + d * std::log(v)) continue;
        return (is_below_one ? d * v * std::pow(1 - uniform(), 1 / shape) : d * v) / shape;
    }
}

}  // namespace llmcost
