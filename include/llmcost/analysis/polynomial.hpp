// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace llmcost {

/// A figure as a polynomial.
///
/// Affine in batch; quadratic in new tokens (or chunks), past, and tokens in the last chunk. Coefficients are doubled,
/// so that halves are integers.
struct polynomial {
    __extension__ typedef __int128 int128;
    static constexpr std::size_t monomials = 10;

    /// Exponents of a monomial. If sequences are padded, `tokens` are chunks and `rest` are the tokens in the last one.
    struct powers {
        std::int64_t tokens = 0, rest = 0, past = 0;
    };
    static constexpr powers exponents[monomials] = {{0, 0, 0}, {1, 0, 0}, {0, 0, 1}, {2, 0, 0}, {0, 0, 2},
                                                    {1, 0, 1}, {0, 1, 0}, {0, 2, 0}, {1, 1, 0}, {0, 1, 1}};

    int128 twice[2][monomials]{};  ///< doubled coefficients: constant in batch, and per sequence
    bool fits = true;              ///< false: a coefficient exceeds 128 bits

    /// Adds a product of up to three factors to a sum. Returns false on overflow of 128 bits.
    static constexpr bool add(int128& sum, int128 a, int128 b = 1, int128 c = 1) noexcept {
        int128 product = 0;
        return !__builtin_mul_overflow(a, b, &product) && !__builtin_mul_overflow(product, c, &product) &&
               !__builtin_add_overflow(sum, product, &sum);
    }
    /// Evaluates the polynomial. Returns false if a sum exceeds 128 bits or the result is not an integer.
    [[nodiscard]] constexpr bool value(std::int64_t batch, const powers& variables, int128& out) const noexcept {
        const auto power = [](std::int64_t x, std::int64_t n) {
            return n == 0 ? int128{1} : n == 1 ? int128{x} : int128{x} * x;
        };
        int128 sum = 0;
        bool good = fits;
        for (std::size_t part = 0; part < 2; ++part)
            for (std::size_t k = 0; k < monomials; ++k) {
                const powers& e = exponents[k];
                const int128 monomial =
                    power(variables.tokens, e.tokens) * power(variables.rest, e.rest) * power(variables.past, e.past);
                good = good && add(sum, twice[part][k], monomial, part == 0 ? 1 : batch);
            }
        out = sum / 2;
        return good && sum % 2 == 0;
    }
    friend constexpr bool operator==(const polynomial&, const polynomial&) = default;
};

/// Converts Newton's differences around a corner to a polynomial in the variables themselves.
///
/// `differences[n][k]` is the coefficient of x(x−1)/2 if exponent k is a square, otherwise of the monomial. `n` = 1 is
/// the coefficient per further sequence.
[[nodiscard]] constexpr polynomial expanded(const polynomial::int128 (&differences)[2][polynomial::monomials],
                                            std::int64_t batch, const polynomial::powers& corner) noexcept {
    using int128 = polynomial::int128;
    polynomial out;
    const auto add = [&](std::size_t part, std::size_t k, int128 a, int128 b = 1, int128 c = 1) {
        out.fits = polynomial::add(out.twice[part][k], a, b, c) && out.fits;
    };
    const auto place_of = [](std::int64_t tokens, std::int64_t rest, std::int64_t past) {
        for (std::size_t k = 0; k < polynomial::monomials; ++k) {
            const polynomial::powers& e = polynomial::exponents[k];
            if (e.tokens == tokens && e.rest == rest && e.past == past) return k;
        }
        return std::size_t{0};
    };
    for (std::size_t part = 0; part < 2; ++part)
        for (std::size_t k = 0; k < polynomial::monomials; ++k) {
            const int128 c = differences[part][k];
            const auto& [tokens, rest, past] = polynomial::exponents[k];
            const int128 offsets[3] = {corner.tokens, corner.rest, corner.past};
            const std::int64_t e[3] = {tokens, rest, past};
            if (c == 0) continue;
            if (tokens + rest + past == 0) add(part, 0, 2, c);
            if (tokens + rest + past == 1) {
                add(part, k, 2, c);
                for (int i = 0; i < 3; ++i)
                    if (e[i] == 1) add(part, 0, -2, c, offsets[i]);
            }
            for (int i = 0; i < 3; ++i)
                if (e[i] == 2) {  // x(x − 1) with x = v − corner, without the factor 1/2
                    add(part, k, c);
                    add(part, place_of(i == 0, i == 1, i == 2), -c, 2 * offsets[i] + 1);
                    add(part, 0, c, offsets[i], offsets[i] + 1);
                }
            for (int i = 0; i < 3; ++i)
                for (int j = i + 1; j < 3; ++j)
                    if (e[i] == 1 && e[j] == 1) {
                        add(part, k, 2, c);
                        add(part, place_of(i == 0, i == 1, i == 2), -2, c, offsets[j]);
                        add(part, place_of(j == 0, j == 1, j == 2), -2, c, offsets[i]);
                        add(part, 0, 2 * c, offsets[i], offsets[j]);
                    }
        }
    for (std::size_t k = 0; k < polynomial::monomials; ++k) add(0, k, -1, out.twice[1][k], batch);
    return out;
}

}  // namespace llmcost
