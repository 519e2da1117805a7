// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

namespace llmcost {

/// A stream of random numbers that is equal with every compiler for the same seed.
///
/// The distributions of the standard library differ between implementations.
/// Source: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
class random_stream {
public:
    explicit constexpr random_stream(std::uint64_t seed) noexcept : state_(seed) {}

    [[nodiscard]] constexpr std::uint64_t bits() noexcept {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31);
    }
    /// Uniform in [0, 1).
    [[nodiscard]] constexpr double uniform() noexcept { return static_cast<double>(bits() >> 11) * 0x1p-53; }
    /// Uniform in [low, high].
    [[nodiscard]] constexpr std::int64_t integer(std::int64_t low, std::int64_t high) noexcept {
        const auto num_values = static_cast<double>(high - low + 1);
        const std::int64_t n = low + static_cast<std::int64_t>(uniform() * num_values);
        return n > high ? high : n;
    }
    /// Exponential with mean 1.
    [[nodiscard]] double exponential() noexcept { return -std::log1p(-uniform()); }
    [[nodiscard]] double normal() noexcept {
        constexpr double two_pi = 6.283185307179586;
        const double radius = std::sqrt(2 * exponential());
        return radius * std::cos(two_pi * uniform());
    }
    /// Gamma with mean 1. A shape of 1 is exponential, below 1 is bursty, above 1 is regular.
    ///
    /// Source: Marsaglia and Tsang, ACM TOMS 26, 2000.
    [[nodiscard]] double gamma(double shape) noexcept {
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

private:
    std::uint64_t state_;
};

}  // namespace llmcost
