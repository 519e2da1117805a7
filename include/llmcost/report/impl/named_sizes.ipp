// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/report/named_sizes.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/analysis/closed_form.hpp>
#include <llmcost/analysis/counts.hpp>
#include <llmcost/analysis/polynomial.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/formula_pieces.hpp>
#include <llmcost/report/formula_text.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/trace/scope.hpp>

namespace llmcost {

LLMCOST_INLINE const std::array<named_size, num_named_sizes>& named_sizes() {
    using config = model_config;
    static const std::array<named_size, num_named_sizes> all{{
        {"L", "L", "layers", [](const config& c) { return c.layers.is_heterogeneous() ? 0 : c.num_hidden_layers; },
         [](config& c, std::int64_t n) { c.num_hidden_layers = n; }, 1},
        {"h", "h", "hidden size", [](const config& c) { return c.hidden_size; },
         [](config& c, std::int64_t n) {
             if (c.embedding_size == c.hidden_size) c.embedding_size = n;
             c.hidden_size = n;
         },
         2},
        {"a", "a", "attention heads", [](const config& c) { return c.num_attention_heads; },
         [](config& c, std::int64_t n) {
             if (c.num_key_value_heads == c.num_attention_heads) c.num_key_value_heads = n;
             c.num_attention_heads = n;
         },
         1},
        {"k", "k", "key/value heads",
         [](const config& c) { return c.num_key_value_heads == c.num_attention_heads ? 0 : c.num_key_value_heads; },
         [](config& c, std::int64_t n) { c.num_key_value_heads = n; }, 1},
        {"d", "d", "head size", [](const config& c) { return c.head_dim; },
         [](config& c, std::int64_t n) {
             if (c.rotary_dim == c.head_dim) c.rotary_dim = n;
             c.head_dim = n;
         },
         1},
        {"f", "f", "MLP size", [](const config& c) { return c.intermediate_size; },
         [](config& c, std::int64_t n) { c.intermediate_size = n; }, 1},
        {"E", "E", "experts", [](const config& c) { return c.moe.num_experts; },
         [](config& c, std::int64_t n) { c.moe.num_experts = n; }, 1},
        {"t", "t", "experts per token",
         [](const config& c) { return c.moe.num_experts > 0 ? c.moe.num_experts_per_tok : 0; },
         [](config& c, std::int64_t n) { c.moe.num_experts_per_tok = n; }, 1},
        {"e", "e", "expert size", [](const config& c) { return c.moe.num_experts > 0 ? c.moe.intermediate_size : 0; },
         [](config& c, std::int64_t n) { c.moe.intermediate_size = n; }, 1},
        {"V", "V", "vocabulary", [](const config& c) { return c.vocab_size; },
         [](config& c, std::int64_t n) { c.vocab_size = n; }, 1},
    }};
    return all;
}

}  // namespace llmcost

namespace llmcost::detail {

using int128 = polynomial::int128;
using flat_coefficients = std::array<int128, 2 * polynomial::monomials>;

inline constexpr std::size_t size_heads = 2, size_head_dim = 4, size_hidden = 1;
inline constexpr std::size_t max_size_degree = 4;  ///< e.g. layers · hidden size · heads · head size

/// A workload of a region, away from its lower edges where it is wide enough.
[[nodiscard]] LLMCOST_INLINE workload point_in(const region& r, const workload& load) {
    workload w = load;
    const auto inside = [](const region::interval& in, std::int64_t n) { return std::clamp(n, in.low, in.high); };
    w.batch = inside(r.batch, 2);
    w.sequence = inside(r.sequence, 5);
    w.past = inside(r.past, 3);
    if (r.chunk != 0 && (w.sequence % r.chunk == 0) != r.is_chunk_multiple)
        w.sequence = r.is_chunk_multiple ? (w.sequence / r.chunk + 1) * r.chunk : w.sequence + 1;
    if (w.sequence + w.past > r.total.high) w.past = std::max(r.past.low, r.total.high - w.sequence);
    if (w.sequence + w.past < r.total.low) w.past = inside(r.past, r.total.low - w.sequence);
    return w;
}

/// Samples the coefficients of a metric at other sizes of a model.
class size_interpolation {
public:
    size_interpolation(const model& m, const workload& point, scope_query query,
                       const std::function<count(const model_metrics&)>& metric)
        : model_(m), point_(point), query_(query), metric_(metric) {
        for (std::size_t i = 0; i < num_named_sizes; ++i) {
            const std::int64_t n = named_sizes()[i].value(m.config);
            if (n < 1 || (n == 1 && i != 0)) continue;  // one head or one expert has other operations
            if (!accept(i, 2 * n) && !accept(i, n)) nodes_[i] = {};
            samples_.clear();
        }
    }

    [[nodiscard]] const std::array<std::int64_t, 3>& nodes(std::size_t i) const { return nodes_[i]; }

    /// The coefficients at the nodes with these indices. Returns false if the model has no polynomial there.
    bool sample(const size_powers& index, flat_coefficients& out) {
        if (const auto known = samples_.find(index); known != samples_.end()) {
            out = known->second;
            return true;
        }
        model m = model_;
        for (std::size_t i = 0; i < num_named_sizes; ++i)
            if (nodes_[i][0] != 0) named_sizes()[i].set(m.config, nodes_[i][index[i]]);
        try {
            const closed_form form(m, point_, query_);
            if (!form.exact()) return false;
            const polynomial sum = form.expand(metric_);
            if (!sum.fits) return false;
            for (std::size_t b = 0; b < 2; ++b)
                std::copy(std::begin(sum.twice[b]), std::end(sum.twice[b]),
                          out.begin() + static_cast<std::ptrdiff_t>(b * polynomial::monomials));
        } catch (const std::exception&) {
            return false;
        }
        samples_.emplace(index, out);
        return true;
    }

    /// All exponents with a total degree of at most `max_size_degree`.
    [[nodiscard]] std::vector<size_powers> exponents() const {
        std::vector<size_powers> out{{}};
        for (std::size_t i = 0; i < num_named_sizes; ++i) {
            if (nodes_[i][0] == 0) continue;
            const std::size_t known = out.size();
            for (std::size_t power = 1; power <= named_sizes()[i].degree; ++power)
                for (std::size_t j = 0; j < known; ++j) {
                    size_powers next = out[j];
                    next[i] = static_cast<std::uint8_t>(power);
                    if (std::accumulate(next.begin(), next.end(), std::size_t{0}) <= max_size_degree)
                        out.push_back(next);
                }
        }
        return out;
    }

    /// The divided differences at an exponent. Returns false if one is no integer.
    bool divided_difference(const size_powers& exponent, flat_coefficients& out) {
        out = {};
        int128 denominator = 1;
        for (std::size_t i = 0; i < num_named_sizes; ++i) {
            const int128 step = nodes_[i][1] - nodes_[i][0];
            if (exponent[i] == 1) denominator *= step;
            if (exponent[i] == 2) denominator *= 2 * step * step;
        }
        return add_differences(exponent, {}, 0, 1, out) && std::all_of(out.begin(), out.end(), [&](int128& n) {
                   const bool divides = n % denominator == 0;
                   n /= denominator;
                   return divides;
               });
    }

private:
    /// Whether the metric has a polynomial at two multiples of a size, and depends on it.
    ///
    /// A double base has more heads than key/value heads, and enough experts for all tokens.
    bool accept(std::size_t i, std::int64_t base) {
        samples_.clear();
        nodes_[i] = {base, 2 * base, 3 * base};
        size_powers alone{};
        alone[i] = 1;
        flat_coefficients changed{}, unchanged{};
        return sample(alone, changed) && sample({}, unchanged) && changed != unchanged;
    }

    /// Adds the signed samples below an exponent, from size `i` on.
    bool add_differences(const size_powers& exponent, size_powers index, std::size_t i, int128 weight,
                         flat_coefficients& out) {
        if (i == num_named_sizes) {
            flat_coefficients found{};
            if (!sample(index, found)) return false;
            for (std::size_t k = 0; k < out.size(); ++k)
                if (!polynomial::add(out[k], weight, found[k])) return false;
            return true;
        }
        constexpr int weights[3][3]{{1, 0, 0}, {-1, 1, 0}, {1, -2, 1}};
        for (std::uint8_t node = 0; node <= exponent[i]; ++node) {
            index[i] = node;
            if (!add_differences(exponent, index, i + 1, weight * weights[exponent[i]][node], out)) return false;
        }
        return true;
    }

    const model& model_;
    workload point_;
    scope_query query_;
    const std::function<count(const model_metrics&)>& metric_;
    std::array<std::array<std::int64_t, 3>, num_named_sizes> nodes_{};  ///< zero: the size remains a number
    std::map<size_powers, flat_coefficients> samples_;
};

/// Adds `n` · Π (x − node 0)(x − node 1)… in powers of the sizes.
LLMCOST_INLINE void add_newton_product(size_sum& sum, const size_interpolation& grid, const size_powers& exponent,
                                       std::size_t i, size_powers powers, int128 n) {
    if (i == num_named_sizes) {
        sum[powers] += n;
        return;
    }
    const auto& [first, second, third] = grid.nodes(i);
    const auto add = [&](std::uint8_t power, int128 factor) {
        powers[i] = power;
        add_newton_product(sum, grid, exponent, i + 1, powers, n * factor);
    };
    if (exponent[i] == 0) add(0, 1);
    if (exponent[i] == 1) {
        add(1, 1);
        add(0, -first);
    }
    if (exponent[i] == 2) {
        add(2, 1);
        add(1, -(first + second));
        add(0, int128{first} * second);
    }
}

/// The value at the sizes of a configuration.
[[nodiscard]] LLMCOST_INLINE int128 value_of(const size_sum& sum, const model_config& config) {
    int128 out = 0;
    for (const auto& [powers, n] : sum) {
        int128 product = n;
        for (std::size_t i = 0; i < num_named_sizes; ++i)
            for (std::uint8_t k = 0; k < powers[i]; ++k) product *= named_sizes()[i].value(config);
        out += product;
    }
    return out;
}

/// Writes heads · head size as the hidden size.
[[nodiscard]] LLMCOST_INLINE size_sum with_hidden_size(const size_sum& sum) {
    size_sum out;
    for (const auto& [found, n] : sum) {
        size_powers powers = found;
        for (; powers[size_heads] > 0 && powers[size_head_dim] > 0; ++powers[size_hidden]) {
            --powers[size_heads];
            --powers[size_head_dim];
        }
        out[powers] += n;
    }
    return out;
}

[[nodiscard]] LLMCOST_INLINE std::string digits_of(int128 n) {
    return std::string(count_text{count::from_uint128(static_cast<count::uint128>(n < 0 ? -n : n))}.view());
}

/// A product of powers: `L·h²`.
[[nodiscard]] LLMCOST_INLINE std::string product_in(const size_powers& powers, formula_language language) {
    const bool is_latex = language == formula_language::latex;
    std::string out;
    for (std::size_t i = 0; i < num_named_sizes; ++i) {
        if (powers[i] == 0) continue;
        if (!out.empty()) out += is_latex ? " " : "·";
        out += is_latex ? named_sizes()[i].latex : named_sizes()[i].symbol;
        if (powers[i] > 1) out += is_latex ? "^" + std::to_string(powers[i]) : powers[i] == 2 ? "²" : "³";
    }
    return out;
}

/// A coefficient in named sizes, its terms of the highest degree first. A single term includes the variables.
[[nodiscard]] LLMCOST_INLINE std::string sum_in(const size_sum& sum, bool halves, formula_language language,
                                                const std::string& variables, std::size_t& terms) {
    std::vector<std::pair<size_powers, int128>> sorted(sum.begin(), sum.end());
    std::erase_if(sorted, [](const auto& term) { return term.second == 0; });
    const auto degree = [](const size_powers& p) { return std::accumulate(p.begin(), p.end(), 0); };
    std::sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) {
        const int first = degree(a.first), second = degree(b.first);
        return first != second ? first > second : a.first > b.first;
    });
    std::string out;
    for (const auto& [powers, twice] : sorted) {
        const int128 n = halves ? twice : twice / 2;
        const std::string sign = language == formula_language::latex ? " " : "·", size = digits_of(n);
        std::string product = sorted.size() == 1 ? variables : "";
        const std::string sizes = product_in(powers, language);
        product += (product.empty() || sizes.empty() ? "" : sign) + sizes;
        out += out.empty() ? (n < 0 ? "-" : "") : n < 0 ? " - " : " + ";
        out += product.empty() ? size : size == "1" ? product : size + sign + product;
    }
    terms = sorted.size();
    return out;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE named_polynomial named_polynomial_of(const model& m, const workload& load, scope_query query,
                                                    const std::function<count(const model_metrics&)>& metric,
                                                    const formula_piece& piece) {
    const auto fail = [] {
        throw error(errc::unsupported, "--named-sizes", "the metric is no polynomial in the sizes of this model");
    };
    detail::size_interpolation grid(m, detail::point_in(piece.domain, load), query, metric);
    named_polynomial out;
    for (const size_powers& exponent : grid.exponents()) {
        detail::flat_coefficients differences{};
        if (!grid.divided_difference(exponent, differences)) fail();
        for (std::size_t k = 0; k < differences.size(); ++k)
            if (differences[k] != 0)
                detail::add_newton_product(out.coefficients[k / polynomial::monomials][k % polynomial::monomials], grid,
                                           exponent, 0, {}, differences[k]);
    }
    const model_config& config = m.config;
    for (std::size_t b = 0; b < 2; ++b)
        for (std::size_t k = 0; k < polynomial::monomials; ++k) {
            size_sum& sum = out.coefficients[b][k];
            if (detail::value_of(sum, config) != piece.sum.twice[b][k]) fail();
            if (config.num_attention_heads * config.head_dim == config.hidden_size) sum = detail::with_hidden_size(sum);
            for (const auto& [powers, n] : sum)
                for (std::size_t i = 0; i < num_named_sizes; ++i)
                    out.is_used[i] = out.is_used[i] || (n != 0 && powers[i] > 0);
        }
    return out;
}

LLMCOST_INLINE std::string expression_in(const named_polynomial& sum, bool chunks, formula_language language) {
    constexpr std::array<std::size_t, polynomial::monomials> order{3, 8, 7, 5, 9, 4, 1, 6, 2, 0};
    const bool is_latex = language == formula_language::latex;
    bool halves = false;
    for (const auto& part : sum.coefficients)
        for (const size_sum& coefficient : part)
            for (const auto& [powers, n] : coefficient) halves = halves || n % 2 != 0;
    std::string out;
    for (const std::size_t b : {std::size_t{1}, std::size_t{0}})
        for (const std::size_t k : order) {
            std::string variables = b == 1 ? "B" : "";
            const auto add_factor = [&](std::string_view name, std::int64_t power) {
                if (power == 0) return;
                variables += (variables.empty() ? "" : is_latex ? " " : "·") + std::string(name);
                if (power == 2) variables += is_latex ? "^2" : "²";
            };
            add_factor(chunks ? "N" : "S", polynomial::exponents[k].tokens);
            add_factor("R", polynomial::exponents[k].rest);
            add_factor("P", polynomial::exponents[k].past);
            std::size_t terms = 0;
            const std::string sum_text = detail::sum_in(sum.coefficients[b][k], halves, language, variables, terms);
            if (terms == 0) continue;
            const bool is_negative = terms == 1 && sum_text.starts_with('-') && !out.empty();
            out += out.empty() ? "" : std::string(is_latex ? "\n  " : "\n    ") + (is_negative ? "- " : "+ ");
            out += is_negative                       ? sum_text.substr(1)
                   : terms == 1 || variables.empty() ? sum_text
                                                     : variables + (is_latex ? " (" : "·(") + sum_text + ")";
        }
    if (out.empty()) out = "0";
    if (!halves) return out;
    return is_latex ? "\\tfrac{1}{2}\\left(" + out + "\\right)" : "(" + out + ")/2";
}

LLMCOST_INLINE std::string meanings_of(const std::vector<named_polynomial>& all, const model_config& config,
                                       formula_language language) {
    std::string out;
    for (std::size_t i = 0; i < num_named_sizes; ++i) {
        const bool is_used =
            std::any_of(all.begin(), all.end(), [&](const named_polynomial& p) { return p.is_used[i]; });
        if (!is_used) continue;
        const named_size& size = named_sizes()[i];
        out += (out.empty() ? "" : ", ") + std::string(size.symbol) + " = " + std::to_string(size.value(config)) + ' ' +
               std::string(size.meaning);
    }
    return (language == formula_language::latex && !out.empty() ? "% " : "") + out;
}

}  // namespace llmcost
