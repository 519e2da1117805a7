// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/report/formula_text.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/analysis/closed_form.hpp>
#include <llmcost/analysis/polynomial.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/report/formula_pieces.hpp>
#include <llmcost/report/formula_terms.hpp>

namespace llmcost::detail {

[[nodiscard]] LLMCOST_INLINE const formula_signs& signs_of(formula_language language) {
    return signs_of_formula[static_cast<std::size_t>(language)];
}

/// An integer literal; in C with 128 bits if 64 are insufficient.
[[nodiscard]] LLMCOST_INLINE std::string number_in(polynomial::int128 n, formula_language language) {
    const auto size = static_cast<count::uint128>(n < 0 ? -n : n);
    const auto digits_of = [](count::uint128 value) {
        return std::string(count_text{count::from_uint128(value)}.view());
    };
    constexpr count::uint128 split = 1'000'000'000'000'000'000;
    if (language != formula_language::c || size >> 63 == 0) return digits_of(size);
    return "((__int128)" + digits_of(size / split) + "*" + digits_of(split) + " + " + digits_of(size % split) + ")";
}

/// `3·S² + 5·S·P − 7`; empty for zero.
[[nodiscard]] LLMCOST_INLINE std::string sum_in(const polynomial::int128 (&twice)[polynomial::monomials], bool halves,
                                                bool chunks, formula_language language, bool& several) {
    constexpr std::array<std::size_t, polynomial::monomials> order{3, 8, 7, 5, 9, 4, 1, 6, 2, 0};
    const formula_signs& signs = signs_of(language);
    std::string out;
    std::size_t terms = 0;
    for (const std::size_t k : order) {
        const polynomial::int128 n = halves ? twice[k] : twice[k] / 2;
        if (n == 0) continue;
        const auto& [tokens, rest, past] = polynomial::exponents[k];
        std::string monomial;
        const auto factor = [&](std::string_view name, std::int64_t power) {
            for (std::int64_t i = 0; i < (signs.square.empty() ? power : power > 0); ++i)
                monomial.append(monomial.empty() ? "" : signs.times)
                    .append(name)
                    .append(power == 2 ? signs.square : "");
        };
        factor(chunks ? "N" : "S", tokens);
        factor("R", rest);
        factor("P", past);
        const std::string size = number_in(n, language);
        const bool minus = n < 0;
        out += terms == 0 ? (minus ? "-" : "") : minus ? " - " : " + ";
        out += monomial.empty() ? size : size == "1" ? monomial : size + std::string(signs.times) + monomial;
        ++terms;
    }
    several = terms > 1;
    return out;
}

/// A condition on one variable; empty if it always holds.
[[nodiscard]] LLMCOST_INLINE std::string bounds_in(std::string_view name, const region::interval& in,
                                                   std::int64_t minimum, std::int64_t maximum,
                                                   formula_language language) {
    const formula_signs& signs = signs_of(language);
    const std::string n(name), low = std::to_string(in.low), high = std::to_string(in.high);
    if (in.low == in.high) return n + " " + std::string(signs.range) + " " + low;
    if (in.low <= minimum) return in.high >= maximum ? std::string() : n + std::string(signs.less_equal) + high;
    if (in.high >= maximum) return n + std::string(signs.greater_equal) + low;
    if (language == formula_language::c) return n + " >= " + low + " && " + n + " <= " + high;
    return low + std::string(signs.less_equal) + n + std::string(signs.less_equal) + high;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE std::string expression_in(const polynomial& sum, bool chunks, formula_language language) {
    const detail::formula_signs& signs = detail::signs_of(language);
    bool halves = false;
    for (const auto& part : sum.twice)
        for (const polynomial::int128 n : part) halves = halves || n % 2 != 0;
    bool several = false, ignored = false;
    const std::string batch_terms = detail::sum_in(sum.twice[1], halves, chunks, language, several);
    const std::string constant_terms = detail::sum_in(sum.twice[0], halves, chunks, language, ignored);
    std::string out;
    if (!batch_terms.empty())
        out = "B" + std::string(signs.times) +
              (several || batch_terms.starts_with('-') ? "(" + batch_terms + ")" : batch_terms);
    if (!constant_terms.empty() && !out.empty())
        out += constant_terms.starts_with('-') ? " - " + constant_terms.substr(1) : " + " + constant_terms;
    if (out.empty()) out = constant_terms.empty() ? "0" : constant_terms;
    if (!halves) return out;
    return language == formula_language::latex ? "\\tfrac{1}{2}\\left(" + out + "\\right)"
                                               : "(" + out + (language == formula_language::python ? ")//2" : ")/2");
}

}  // namespace llmcost

namespace llmcost::detail {

/// A term name, escaped for comments, or for text in LaTeX.
[[nodiscard]] LLMCOST_INLINE std::string term_name_in(const std::string& name, formula_language language) {
    std::string out;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const char letter = name[i];
        if (language == formula_language::latex && std::string_view("_#$%&{}").find(letter) != std::string_view::npos)
            out += '\\';
        if (language == formula_language::c && letter == '/' && i > 0 && name[i - 1] == '*')
            out += '.';
        else
            out += language == formula_language::latex && (letter == '\\' || letter == '^' || letter == '~') ? '.'
                                                                                                             : letter;
    }
    return out;
}

/// The terms of a piece as a sum over several lines, with their names.
[[nodiscard]] LLMCOST_INLINE std::string terms_in(const formula_piece& piece, formula_language language) {
    std::string out;
    for (std::size_t i = 0; i < piece.terms.size(); ++i) {
        const formula_term& term = piece.terms[i];
        const std::string name = term_name_in(term.name, language), times = std::to_string(term.times);
        const std::string sum = expression_in(term.sum, piece.domain.chunk != 0, language);
        const bool last = i + 1 == piece.terms.size(), is_single = term.times == 1;
        switch (language) {
            case formula_language::text:
                out += "      " + name + (is_single ? "" : " ×" + times) + ": " + sum + '\n';
                break;
            case formula_language::latex:
                out += std::string(i == 0 ? "    & " : "    + {} & ") + (is_single ? "" : times + " \\cdot \\left(") +
                       sum + (is_single ? "" : "\\right)") + " && \\texttt{" + name + '}' + (last ? "\n" : " \\\\\n");
                break;
            case formula_language::c:
                out += "        /* " + name + " */ (__int128)" + times + "*(" + sum + (last ? ");\n" : ") +\n");
                break;
            case formula_language::python:
                out += std::string(i == 0 ? "            " : "            + ") + times + "*(" + sum + ")  # " + name +
                       '\n';
                break;
        }
    }
    return out;
}

}  // namespace llmcost::detail

namespace llmcost {

/// The condition of a piece; empty if it is valid everywhere.
[[nodiscard]] LLMCOST_INLINE std::string condition_in(const formula_piece& piece, formula_language language) {
    using detail::bounds_in;
    const region& r = piece.domain;
    std::vector<std::string> parts{
        bounds_in("B", r.batch, 1, max_input, language), bounds_in("S", r.sequence, 1, max_input, language),
        bounds_in("P", r.past, 0, max_input, language), bounds_in("S + P", r.total, 0, 2 * max_input, language)};
    const bool short_of_one = !r.is_chunk_multiple && r.sequence.high < r.chunk;  // implies a single, incomplete chunk
    if (r.chunk != 0 && !piece.any_rest && !short_of_one) {
        const std::string chunk = std::to_string(r.chunk);
        constexpr std::array<std::string_view, 4> divides{" divides S", " \\mid S", "", ""},
            does_not{" does not divide S", " \\nmid S", "", ""};
        const auto& relations = r.is_chunk_multiple ? divides : does_not;
        const std::string_view name = relations[static_cast<std::size_t>(language)];
        parts.push_back(name.empty() ? "S % " + chunk + (r.is_chunk_multiple ? " == 0" : " != 0")
                                     : chunk + std::string(name));
    }
    std::string out;
    for (const std::string& part : parts)
        if (!part.empty()) out.append(out.empty() ? "" : detail::signs_of(language).conjunction).append(part);
    return out;
}

/// The chunk size to which sequences are padded, or 0.
[[nodiscard]] LLMCOST_INLINE std::int64_t chunk_of(const std::vector<formula_piece>& pieces) {
    for (const formula_piece& p : pieces)
        if (p.domain.chunk != 0) return p.domain.chunk;
    return 0;
}

/// An identifier in C and Python: letters, digits and `_`.
[[nodiscard]] LLMCOST_INLINE std::string identifier_of(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (good || (!out.empty() && out.back() != '_')) out += good ? c : '_';
    }
    while (!out.empty() && out.back() == '_') out.pop_back();
    return out.empty() || (out.front() >= '0' && out.front() <= '9') ? "f" + out : out;
}

LLMCOST_INLINE formula_inputs inputs_of(const std::vector<formula_piece>& pieces) {
    bool tokens = false, past = false;
    const auto bounds = [](const region::interval& in, std::int64_t minimum, std::int64_t maximum) {
        return in.low > minimum || in.high < maximum;
    };
    for (const formula_piece& p : pieces) {
        past = past || bounds(p.domain.past, 0, max_input) || bounds(p.domain.total, 0, 2 * max_input);
        tokens = tokens || bounds(p.domain.sequence, 1, max_input) || p.domain.chunk != 0;
        for (const auto& part : p.sum.twice)
            for (std::size_t k = 0; k < polynomial::monomials; ++k) {
                const auto& [of_tokens, of_rest, of_past] = polynomial::exponents[k];
                if (part[k] != 0) {
                    tokens = tokens || of_tokens + of_rest > 0;
                    past = past || of_past > 0;
                }
            }
    }
    return past ? formula_inputs::all : tokens ? formula_inputs::batch_and_tokens : formula_inputs::batch;
}

LLMCOST_INLINE std::string formula_in(formula_language language, const std::string& name, const std::string& about,
                                      const std::vector<formula_piece>& pieces, formula_inputs inputs) {
    constexpr std::array<std::string_view, 3> lists{"B", "B, S", "B, S, P"},
        typed{"__int128 B", "__int128 B, __int128 S", "__int128 B, __int128 S, __int128 P"},
        unused{"(void)B", "(void)B, (void)S", "(void)B, (void)S, (void)P"};
    const auto select = [&](const std::array<std::string_view, 3>& variants) {
        return std::string(variants[static_cast<std::size_t>(inputs)]);
    };
    const std::int64_t chunk = chunk_of(pieces);
    const std::string c = std::to_string(chunk), id = identifier_of(name);
    const bool has_one_case =
        pieces.size() == 1 && pieces.front().known && condition_in(pieces.front(), language).empty();
    std::string out;
    if (language == formula_language::c) {
        // Escapes sequences that would end the comment.
        std::string comment;
        for (const char letter : about) comment += letter == '*' ? '.' : letter;
        out = "/* " + comment + (has_one_case ? ".\n   " : ".\n   -1 where no polynomial is known. ") +
              "__int128 is GCC's and Clang's. */\nstatic inline __int128 " + id + '(' + select(typed) + ") {\n";
        if (chunk != 0)
            out += "    const __int128 N = (S + " + std::to_string(chunk - 1) + ")/" + c + ", R = S - (N - 1)*" + c +
                   ";\n";
        out += "    " + select(unused) + std::string(chunk != 0 ? ", (void)R" : "") + ";\n";
    }
    if (language == formula_language::python) {
        std::string comment;
        for (const char letter : about) comment += letter == '"' || letter == '\\' ? '\'' : letter;
        out = "def " + id + '(' + select(lists) + "):\n    \"\"\"" + comment + ".\"\"\"\n";
        if (chunk != 0)
            out += "    N = (S + " + std::to_string(chunk - 1) + ")//" + c + "\n    R = S - (N - 1)*" + c + "\n";
    }
    std::string escaped;
    for (const char letter : id) escaped += letter == '_' ? std::string("\\_") : std::string(1, letter);
    if (language == formula_language::latex)
        out = "% " + about + "\n\\[ \\mathrm{" + escaped + "}(" + select(lists) +
              ") =" + (has_one_case ? "" : " \\begin{cases}") + "\n";
    if (language == formula_language::text) out = name + " of " + about + "\n";
    for (const formula_piece& p : pieces) {
        if (!p.known && language != formula_language::text) continue;
        const std::string condition = condition_in(p, language),
                          sum = p.known ? expression_in(p, language) : "no polynomial is known";
        const bool named = !p.terms.empty();
        const std::string terms = detail::terms_in(p, language);
        switch (language) {
            case formula_language::text:
                out += (condition.empty() ? "" : "  " + condition + ":\n") + "    " + sum + '\n' + terms;
                break;
            case formula_language::latex:
                out += "  " + (named ? "\\begin{aligned}\n" + terms + "  \\end{aligned}" : sum) +
                       (has_one_case ? "\n" : " & " + condition + " \\\\\n");
                break;
            case formula_language::c:
                out += "    " + (condition.empty() ? "" : "if (" + condition + ") ") + "return" +
                       (named ? "\n" + terms : " " + sum + ";\n");
                break;
            case formula_language::python:
                out += (condition.empty() ? "" : "    if " + condition + ":\n    ") + "    return " +
                       (named ? "(\n" + terms + "        )" : sum) + "\n";
                break;
        }
    }
    if (language == formula_language::c) out += has_one_case ? "}\n" : "    return -1;\n}\n";
    if (language == formula_language::python && !has_one_case)
        out += "    raise ValueError(\"no polynomial is known here\")\n";
    if (language == formula_language::latex) {
        out += has_one_case ? "\\]\n" : "\\end{cases} \\]\n";
        if (chunk != 0) out += "% N = \\lceil S/" + c + " \\rceil, R = S - " + c + " (N - 1)\n";
    }
    if (language == formula_language::text && chunk != 0)
        out += "  N = ⌈S / " + c + "⌉ chunks, R = S − " + c + "·(N − 1) tokens in the last one\n";
    return out;
}

}  // namespace llmcost
