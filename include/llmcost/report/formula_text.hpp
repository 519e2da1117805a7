// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/analysis/closed_form.hpp>
#include <llmcost/analysis/polynomial.hpp>
#include <llmcost/report/formula_pieces.hpp>

// Piecewise polynomials as text, LaTeX, C and Python. Variables: batch B, new tokens S, cached tokens P.
namespace llmcost {

enum class formula_language { text, latex, c, python };

namespace detail {

struct formula_signs {
    std::string_view times, square, greater_equal, less_equal, conjunction, range;
};
// clang-format off
inline constexpr std::array<formula_signs, 4> signs_of_formula{{
    {"·",       "²",  " ≥ ",    " ≤ ",    ", ",    "="},
    {" ",       "^2", " \\ge ", " \\le ", ",\\ ",  "="},
    {"*",       "",   " >= ",   " <= ",   " && ",  "=="},
    {"*",       "",   " >= ",   " <= ",   " and ", "=="},
}};
// clang-format on

}  // namespace detail

/// A polynomial as an expression, in chunks if the piece has chunks.
[[nodiscard]] std::string expression_in(const polynomial& sum, bool chunks, formula_language language);

/// The polynomial of a piece as an expression.
[[nodiscard]] inline std::string expression_in(const formula_piece& piece, formula_language language) {
    return expression_in(piece.sum, piece.domain.chunk != 0, language);
}

/// The variables of a metric: batch, new tokens, past; fewer without tokens.
enum class formula_inputs : std::uint8_t { batch, batch_and_tokens, all };

/// The minimum set of variables of all pieces.
[[nodiscard]] formula_inputs inputs_of(const std::vector<formula_piece>& pieces);

/// The condition of a piece; empty if it is valid everywhere.
[[nodiscard]] std::string condition_in(const formula_piece& piece, formula_language language);

/// A metric in a language. `name`: the function name; `about`: a description.
[[nodiscard]] std::string formula_in(formula_language language, const std::string& name, const std::string& about,
                                     const std::vector<formula_piece>& pieces,
                                     formula_inputs inputs = formula_inputs::all);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/report/impl/formula_text.ipp>  // IWYU pragma: export
#endif
