// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include <llmcost/devices/device.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/step.hpp>

// Kernels whose sizes are polynomials of the workload.
namespace llmcost {

/// Exponents of batch B, new tokens S per sequence and cached tokens P.
struct monomial {
    std::uint8_t batch, sequence, past;
};
inline constexpr monomial monomials[]{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0, 0, 1}, {1, 0, 1},
                                      {0, 2, 0}, {1, 2, 0}, {0, 1, 1}, {1, 1, 1}, {0, 0, 2}, {1, 0, 2}};
inline constexpr std::size_t monomial_count = std::size(monomials);

/// All monomials of a workload.
struct monomial_values {
    std::int64_t integer[monomial_count]{};  ///< undefined if `real` exceeds 64 bits
    double real[monomial_count]{};

    constexpr monomial_values(std::int64_t batch, std::int64_t sequence, std::int64_t past) noexcept {
        const auto power = [](auto n, std::uint8_t exponent) {
            decltype(n) result = 1;
            for (; exponent > 0; --exponent) result *= n;
            return result;
        };
        for (std::size_t i = 0; i < monomial_count; ++i) {
            const monomial m = monomials[i];
            const auto product = [&](auto b, auto s, auto p) {
                return power(b, m.batch) * power(s, m.sequence) * power(p, m.past);
            };
            real[i] = product(static_cast<double>(batch), static_cast<double>(sequence), static_cast<double>(past));
            integer[i] = static_cast<std::int64_t>(product(static_cast<std::uint64_t>(batch),
                                                           static_cast<std::uint64_t>(sequence),
                                                           static_cast<std::uint64_t>(past)));
        }
    }
};

/// Sums the monomials of groups of sequences in one step. The constant monomial counts once.
constexpr monomial_values& operator+=(monomial_values& a, const monomial_values& b) noexcept {
    for (std::size_t i = 1; i < monomial_count; ++i) {
        a.integer[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(a.integer[i]) +
                                                 static_cast<std::uint64_t>(b.integer[i]));
        a.real[i] += b.real[i];
    }
    return a;
}

/// A workload of a step.
struct step_shape {
    std::int64_t batch = 0, sequence = 0, past = 0;

    /// This workload plus the exponents of a monomial.
    [[nodiscard]] constexpr step_shape monomial_after(monomial m) const noexcept {
        return {batch + m.batch, sequence + m.sequence, past + m.past};
    }
};

/// A size as a polynomial. Coefficients are doubled, so that halves of squares (a causal triangle) are integers.
struct size_polynomial {
    std::int64_t twice[monomial_count]{};

    /// Interpolates values at `base` and its neighbors with Newton's forward differences.
    ///
    /// `basis`: a bit set of monomials that contains all divisors of its monomials. Each has one value.
    template <class Value>
    [[nodiscard]] static constexpr size_polynomial interpolate(step_shape base, unsigned basis, Value value) {
        size_polynomial p;
        for (std::size_t i = 0; i < monomial_count; ++i)
            if (in(basis, i)) p.add_newton(base, monomials[i], difference(basis, monomials[i], value));
        return p;
    }
    static constexpr bool in(unsigned basis, std::size_t i) noexcept { return (basis >> i & 1U) != 0; }

private:
    static constexpr std::int64_t choose(int n, int k) noexcept { return n == 2 && k == 1 ? 2 : 1; }
    /// The forward difference of the order of a monomial.
    template <class Value>
    static constexpr std::int64_t difference(unsigned basis, monomial m, Value value) {
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < monomial_count; ++i) {
            const monomial exponents = monomials[i];
            if (!in(basis, i) || exponents.batch > m.batch || exponents.sequence > m.sequence ||
                exponents.past > m.past)
                continue;
            const bool odd =
                (m.batch - exponents.batch + m.sequence - exponents.sequence + m.past - exponents.past) % 2 != 0;
            const std::int64_t ways = choose(m.sequence, exponents.sequence) * choose(m.past, exponents.past);
            sum += (odd ? -ways : ways) * value(i);
        }
        return sum;
    }
    /// Adds `times` times the Newton basis polynomial of a monomial; squares are halved.
    constexpr void add_newton(step_shape base, monomial m, std::int64_t times) noexcept {
        const auto factor = [](std::int64_t start, int order, int power) -> std::int64_t {
            if (power > order) return 0;
            if (power == order) return 1;
            if (order == 1) return -start;
            return power == 1 ? -(2 * start + 1) : start * (start + 1);
        };
        if (m.sequence != 2 && m.past != 2) times *= 2;
        for (std::size_t i = 0; i < monomial_count; ++i)
            twice[i] += times * factor(base.batch, m.batch, monomials[i].batch) *
                        factor(base.sequence, m.sequence, monomials[i].sequence) *
                        factor(base.past, m.past, monomials[i].past);
    }
};

/// A kernel whose sizes are polynomials of the workload.
class planned_kernel {
public:
    planned_kernel(known_kernel kernel, const size_polynomial (&sizes)[max_operator_sizes]);

    /// Whether the kernel processes the rows of all groups of a step at once; otherwise the sequences of each group.
    [[nodiscard]] bool is_row_kernel() const noexcept { return kernel_.kernel.shape.type->num_axes == 1; }
    /// Whether a size depends on the number of cached tokens.
    [[nodiscard]] bool reads_past() const noexcept { return reads_past_; }
    /// The kernel for a workload. Throws: `overflow_error` if a size exceeds 59 bits.
    const known_kernel& at(const monomial_values& values);
    /// Tabulates the time at the measured sizes, if only sizes along the axes vary.
    void precompute_curves(const device& device);

private:
    struct term {
        std::size_t size, monomial_index;
        std::int64_t twice;
    };
    known_kernel kernel_;
    std::vector<term> terms_;  ///< sorted by size index
    bool has_non_axis_variation_ = false, reads_past_ = false;
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/size_polynomials.ipp>  // IWYU pragma: export
#endif
