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
    [[nodiscard]] double normal() noexcept;
    /// Gamma with mean 1. A shape of 1 is exponential, below 1 is bursty, above 1 is regular.
    ///
    /// Source: Marsaglia and Tsang, ACM TOMS 26, 2000.
    [[nodiscard]] double gamma(double shape) noexcept;

private:
    std::uint64_t state_;
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/simulation/impl/random_stream.ipp>  // IWYU pragma: export
#endif
