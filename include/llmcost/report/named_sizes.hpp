// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/analysis/polynomial.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/formula_pieces.hpp>
#include <llmcost/report/formula_text.hpp>

// Coefficients of a metric as polynomials in the sizes of a model: h, L, V, heads.
namespace llmcost {

/// A size of a model that formulas of papers name.
struct named_size {
    std::string_view symbol, latex, meaning;
    std::int64_t (*value)(const model_config&);
    void (*set)(model_config&, std::int64_t);
    std::size_t degree;  ///< highest power in which a metric depends on the size
};

/// All named sizes, in the order of the symbols in a product.
inline constexpr std::size_t num_named_sizes = 10;
[[nodiscard]] const std::array<named_size, num_named_sizes>& named_sizes();

/// A polynomial in the named sizes. A coefficient is doubled, so that halves are integers.
using size_powers = std::array<std::uint8_t, num_named_sizes>;
using size_sum = std::map<size_powers, polynomial::int128>;

/// The polynomial of a workload with coefficients in named sizes, in the layout of `polynomial::twice`.
struct named_polynomial {
    std::array<std::array<size_sum, polynomial::monomials>, 2> coefficients{};
    /// Sizes that occur.
    std::array<bool, num_named_sizes> is_used{};
};

/// Interpolates the coefficients of a piece from models of other sizes, and verifies them with the model itself.
///
/// A size that a model cannot change, or that its layers do not share, remains a number. If heads times head size is
/// the hidden size, the product is written as the hidden size.
/// Throws: `error` if the coefficients are no polynomial in the sizes.
[[nodiscard]] named_polynomial named_polynomial_of(const model& m, const workload& load, scope_query query,
                                                   const std::function<count(const model_metrics&)>& metric,
                                                   const formula_piece& piece);

/// The polynomial of a piece as an expression in text or LaTeX: `B·S·(2·L·h² + h·V)`.
[[nodiscard]] std::string expression_in(const named_polynomial& sum, bool chunks, formula_language language);

/// `h = 2048 hidden size, L = 16 layers`: the sizes that occur, with their values.
[[nodiscard]] std::string meanings_of(const std::vector<named_polynomial>& all, const model_config& config,
                                      formula_language language);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/report/impl/named_sizes.ipp>  // IWYU pragma: export
#endif
