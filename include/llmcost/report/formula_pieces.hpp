// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <llmcost/analysis/closed_form.hpp>
#include <llmcost/analysis/counts.hpp>
#include <llmcost/analysis/polynomial.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/formula_terms.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/trace/scope.hpp>

// A metric of a model as a piecewise polynomial of the workload.
namespace llmcost {

/// A region of workloads and its polynomial.
struct formula_piece {
    region domain;
    bool any_rest = false;  ///< valid for complete and incomplete chunks
    bool known = true;      ///< false if no polynomial is valid and every workload is traced
    polynomial sum;
    std::vector<polynomial> parts{};    ///< terms of `sum`, by name index of `term_samples`
    std::vector<formula_term> terms{};  ///< terms, equal ones merged

    [[nodiscard]] bool contains(const workload& w) const noexcept;
    /// The variables of the polynomial for a workload: sequence or chunks, remainder, past.
    [[nodiscard]] polynomial::powers place_of(const workload& w) const noexcept;
};

namespace detail {

/// A region without redundant bounds: tokens that fill a chunk, sums of sequence and past.
[[nodiscard]] region tighten_bounds(region r);

/// Finds the regions of a model, each from one of its points.
class region_search {
public:
    region_search(const model& m, const workload& load);
    /// The regions, with a point of each.
    [[nodiscard]] const std::vector<std::pair<region, workload>>& found() const noexcept { return regions_; }

private:
    static constexpr std::size_t maximum = 400;

    /// The maximum number of new tokens by the model's positions, or of cached and new ones with `cached`.
    static std::int64_t max_tokens(const model& m, workload load, bool cached);
    [[nodiscard]] std::vector<workload> candidates() const;
    /// Adds the region of a point that is outside of all known regions.
    bool refine_boundary(const workload& w);

    const model& model_;
    workload load_;
    std::int64_t max_new_, max_total_;
    std::vector<std::pair<region, workload>> regions_;
};

/// Merges two adjacent pieces with equal polynomials. Returns false if they cannot be merged.
bool merge(formula_piece& a, const formula_piece& b, const workload& load);

/// Whether the terms of a piece agree with a trace, at a workload of a similar piece.
[[nodiscard]] bool are_parts_valid(const formula_piece& source, const formula_piece& target, const workload& w,
                                   term_samples& terms);
/// Interpolates the terms of a piece and verifies them against its sum and further traces. Returns false on failure.
[[nodiscard]] bool find_parts(formula_piece& piece, const closed_form& form, const workload& point,
                              term_samples& terms);

/// Whether traces of a region that is too narrow for interpolation agree with a polynomial.
///
/// The tested points along each axis determine a polynomial of this size.
template <class Of>
[[nodiscard]] bool is_implied_by(const model& m, const formula_piece& of_other, const formula_piece& target,
                                 const workload& load, scope_query query, Of metric, term_samples* terms) {
    const region& r = target.domain;
    const auto sample_points = [](const region::interval& in) {
        return std::vector<std::int64_t>{in.low, in.low + 1, in.low + 2,
                                         in.low + (std::min(in.high, in.low + 4096) - in.low) / 2};
    };
    std::size_t num_checked = 0;
    for (const std::int64_t b : sample_points(r.batch))
        for (const std::int64_t s : sample_points(r.sequence)) {
            std::vector<std::int64_t> pasts = sample_points(r.past);
            for (const std::int64_t t : {r.total.low - s, r.total.high - s}) pasts.push_back(t);
            for (const std::int64_t c : pasts) {
                workload w = load;
                w.batch = b;
                w.sequence = s;
                w.past = c;
                if (!w.is_valid() || !target.contains(w)) continue;
                polynomial::int128 value = 0;
                ++num_checked;
                if (!of_other.sum.value(b, target.place_of(w), value) || value < 0 ||
                    count::from_uint128(static_cast<count::uint128>(value)) !=
                        count(metric(count_model(m, w, query))) ||
                    (terms != nullptr && !are_parts_valid(of_other, target, w, *terms)))
                    return false;
            }
        }
    return num_checked > 0;
}

}  // namespace detail

/// A metric that is a sum over all workloads, as few disjoint pieces.
///
/// Other members of the workload, as encoder tokens or positions of logits, are those of `load`.
/// With samples of its terms, each piece has terms that add up to its polynomial.
template <class Of>
[[nodiscard]] std::vector<formula_piece> formula_pieces(const model& m, const workload& load, scope_query query,
                                                        Of metric, term_samples* terms = nullptr) {
    const detail::region_search search(m, load);
    std::vector<formula_piece> pieces;
    for (const auto& [domain, point] : search.found()) {
        const closed_form form(m, point, query);
        formula_piece piece{detail::tighten_bounds(domain), false, form.exact(), {}};
        if (piece.known) piece.sum = form.expand(metric);
        piece.known = piece.known && piece.sum.fits;
        if (piece.known && terms != nullptr) piece.known = detail::find_parts(piece, form, point, *terms);
        pieces.push_back(std::move(piece));
    }
    for (formula_piece& target : pieces)
        for (std::size_t i = 0; !target.known && i < pieces.size(); ++i) {
            const formula_piece& candidate = pieces[i];
            if (!candidate.known || candidate.domain.chunk != target.domain.chunk) continue;
            target.known = detail::is_implied_by(m, candidate, target, load, query, metric, terms);
            if (target.known) {
                target.sum = candidate.sum;
                target.parts = candidate.parts;
            }
        }
    for (bool has_merged = true; has_merged;) {
        has_merged = false;
        for (std::size_t i = 0; i < pieces.size(); ++i)
            for (std::size_t j = i + 1; j < pieces.size(); ++j)
                if (detail::merge(pieces[i], pieces[j], load)) {
                    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(j));
                    has_merged = true;
                    --j;
                }
    }
    for (formula_piece& p : pieces)
        if (terms != nullptr) p.terms = folded_terms(terms->names(), p.parts);
    std::sort(pieces.begin(), pieces.end(), [](const formula_piece& a, const formula_piece& b) {
        const auto key = [](const formula_piece& p) {
            return std::pair{std::pair{p.domain.sequence.low, p.domain.past.low},
                             std::pair{p.domain.batch.low, p.domain.total.low}};
        };
        return key(a) < key(b);
    });
    return pieces;
}

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/report/impl/formula_pieces.ipp>  // IWYU pragma: export
#endif
