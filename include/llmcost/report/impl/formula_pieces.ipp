// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/report/formula_pieces.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/analysis/closed_form.hpp>
#include <llmcost/analysis/polynomial.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/report/formula_terms.hpp>
#include <llmcost/text/error.hpp>

namespace llmcost {

LLMCOST_INLINE bool formula_piece::contains(const workload& w) const noexcept {
    region r = domain;
    if (any_rest && r.chunk != 0) r.is_chunk_multiple = w.sequence % r.chunk == 0;
    return r.contains(w);
}

LLMCOST_INLINE polynomial::powers formula_piece::place_of(const workload& w) const noexcept {
    if (domain.chunk == 0) return {w.sequence, 0, w.past};
    const std::int64_t chunks = (w.sequence + domain.chunk - 1) / domain.chunk;
    return {chunks, w.sequence - (chunks - 1) * domain.chunk, w.past};
}

}  // namespace llmcost

namespace llmcost::detail {

LLMCOST_INLINE region tighten_bounds(region r) {
    const auto cut = [](region::interval& in, std::int64_t low, std::int64_t high) {
        in.low = std::max(in.low, low);
        in.high = std::min(in.high, high);
    };
    cut(r.sequence, r.total.low - r.past.high, r.total.high - r.past.low);
    cut(r.past, r.total.low - r.sequence.high, r.total.high - r.sequence.low);
    if (r.total.low <= r.sequence.low + r.past.low) r.total.low = 0;
    if (r.total.high >= std::min(r.sequence.high + r.past.high, 2 * max_input)) r.total.high = 2 * max_input;
    return r;
}

LLMCOST_INLINE region_search::region_search(const model& m, const workload& load)
    : model_(m), load_(load), max_new_(max_tokens(m, load, false)), max_total_(max_tokens(m, load, true)) {
    for (std::size_t num_added = 1; num_added != 0;) {
        num_added = 0;
        for (const workload& w : candidates()) num_added += refine_boundary(w) ? 1U : 0U;
    }
}

LLMCOST_INLINE std::int64_t region_search::max_tokens(const model& m, workload load, bool cached) {
    constexpr std::int64_t probe_length = std::int64_t{1} << 22;
    load.batch = 1;
    load.sequence = cached ? 1 : probe_length;
    load.past = cached ? probe_length - 1 : 0;
    try {
        (void)region_of(m, load);
    } catch (const workload_error& e) {
        return probe_length - (e.requested_positions() - e.max_positions());
    } catch (const overflow_error&) {
    }
    return 2 * max_input;
}

LLMCOST_INLINE std::vector<workload> region_search::candidates() const {
    std::vector<std::int64_t> batches{1, 2}, tokens{1, 2}, pasts{0, 1}, totals{1, 2};
    const auto note = [](std::vector<std::int64_t>& in, const region::interval& bounds) {
        for (const std::int64_t n : {bounds.low - 1, bounds.low, bounds.high, bounds.high + 1}) in.push_back(n);
    };
    std::int64_t chunk = 0;
    for (const auto& [r, point] : regions_) {
        note(batches, r.batch);
        note(tokens, r.sequence);
        note(pasts, r.past);
        note(totals, r.total);
        chunk = std::max(chunk, r.chunk);
    }
    const auto settle = [](std::vector<std::int64_t>& in) {
        std::sort(in.begin(), in.end());
        in.erase(std::unique(in.begin(), in.end()), in.end());
    };
    for (std::vector<std::int64_t>* all : {&batches, &tokens, &pasts, &totals}) settle(*all);
    std::vector<std::int64_t> sequences = tokens;
    for (const std::int64_t t : totals)
        for (const std::int64_t p : pasts) sequences.push_back(t - p);
    if (chunk > 0)
        for (std::size_t i = 0, n = sequences.size(); i < n; ++i)
            for (const std::int64_t extra : {std::int64_t{0}, chunk})
                for (const std::int64_t offset : {-1, 0, 1})
                    sequences.push_back((sequences[i] + chunk - 1) / chunk * chunk + extra + offset);
    settle(sequences);
    std::vector<workload> out;
    const auto add = [&](std::int64_t b, std::int64_t s, std::int64_t p) {
        workload w = load_;
        w.batch = b;
        w.sequence = s;
        w.past = p;
        if (w.is_valid() && s <= max_new_ && s + p <= max_total_) out.push_back(w);
    };
    for (const std::int64_t b : batches)
        for (const std::int64_t s : sequences) {
            for (const std::int64_t p : pasts) add(b, s, p);
            for (const std::int64_t t : totals) add(b, s, t - s);
        }
    return out;
}

LLMCOST_INLINE bool region_search::refine_boundary(const workload& w) {
    for (const auto& [r, point] : regions_)
        if (r.contains(w)) return false;
    region r = region_of(model_, w);
    if (!r.contains(w)) return false;  // the trace is not valid for this point
    if (regions_.size() == maximum) throw error(errc::overflow, {}, "the metric has more than 400 pieces");
    r.total.high = std::min(r.total.high, max_total_);
    r.sequence.high = std::min(r.sequence.high, max_new_);
    regions_.emplace_back(r, w);
    return true;
}

/// Whether two polynomials are equal over a piece.
[[nodiscard]] LLMCOST_INLINE bool agrees(const polynomial& p, const polynomial& of_piece, const formula_piece& piece,
                                         const workload& load) {
    if (p == of_piece) return true;
    const region& r = piece.domain;
    const std::int64_t chunk = std::max<std::int64_t>(r.chunk, 1);
    workload corner = load;
    corner.sequence = r.chunk != 0 && (r.is_chunk_multiple || piece.any_rest)
                          ? (r.sequence.low + chunk - 1) / chunk * chunk
                          : r.sequence.low;
    if (r.chunk != 0 && !r.is_chunk_multiple && !piece.any_rest && corner.sequence % chunk == 0) ++corner.sequence;
    corner.past = std::max(r.past.low, r.total.low - corner.sequence);
    std::size_t num_checked = 0;
    for (std::int64_t b = 0; b < 2; ++b)
        for (std::int64_t s = 0; s < 3; ++s)
            for (std::int64_t rest = 0; rest < (r.chunk == 0 ? 1 : 3); ++rest)
                for (std::int64_t c = 0; c < 3; ++c) {
                    workload w = corner;
                    w.batch = r.batch.low + b;
                    w.sequence += s * chunk + rest;
                    w.past += c;
                    if (!piece.contains(w)) continue;
                    polynomial::int128 expected = 0, actual = 0;
                    ++num_checked;
                    if (!of_piece.value(w.batch, piece.place_of(w), expected) ||
                        !p.value(w.batch, piece.place_of(w), actual) || expected != actual)
                        return false;
                }
    return num_checked > 0;
}

/// The term with a name index; zero if the piece does not have it.
[[nodiscard]] LLMCOST_INLINE polynomial part_of(const formula_piece& piece, std::size_t name) {
    return name < piece.parts.size() ? piece.parts[name] : polynomial{};
}

/// Whether the polynomials of a piece and of its terms are valid over another piece.
[[nodiscard]] LLMCOST_INLINE bool is_valid_over(const formula_piece& a, const formula_piece& b, const workload& load) {
    bool all = agrees(a.sum, b.sum, b, load);
    for (std::size_t i = 0; all && i < std::max(a.parts.size(), b.parts.size()); ++i)
        all = agrees(part_of(a, i), part_of(b, i), b, load);
    return all;
}

[[nodiscard]] LLMCOST_INLINE bool same_bounds(const region& a, const region& b) {
    for (region::interval region::*axis : {&region::batch, &region::sequence, &region::past, &region::total})
        if ((a.*axis).low != (b.*axis).low || (a.*axis).high != (b.*axis).high) return false;
    return true;
}

/// Merges two tightened regions that one cut along an axis separates. With `differ`, they are disjoint already and must
/// have equal bounds.
[[nodiscard]] LLMCOST_INLINE bool join_regions(const region& a, const region& b, bool differ, region& out) {
    if (differ) {
        out = a;
        return same_bounds(a, b);
    }
    region hull = a;
    const auto axes = {&region::batch, &region::sequence, &region::past, &region::total};
    for (region::interval region::*axis : axes)
        hull.*axis = {std::min((a.*axis).low, (b.*axis).low), std::max((a.*axis).high, (b.*axis).high)};
    for (region::interval region::*axis : axes) {
        if ((a.*axis).high + 1 != (b.*axis).low && (b.*axis).high + 1 != (a.*axis).low) continue;
        region first = hull, second = hull;
        first.*axis = a.*axis;
        second.*axis = b.*axis;
        if (same_bounds(tighten_bounds(first), a) && same_bounds(tighten_bounds(second), b)) {
            out = tighten_bounds(hull);
            return true;
        }
    }
    return false;
}

LLMCOST_INLINE bool merge(formula_piece& a, const formula_piece& b, const workload& load) {
    if (!a.known || !b.known || a.domain.chunk != b.domain.chunk) return false;
    const bool other_rest =
        a.domain.chunk != 0 && !(a.any_rest == b.any_rest && a.domain.is_chunk_multiple == b.domain.is_chunk_multiple);
    if (other_rest && (a.any_rest || b.any_rest)) return false;
    region merged;
    if (!join_regions(a.domain, b.domain, other_rest, merged)) return false;
    const bool by_a = is_valid_over(a, b, load), by_b = !by_a && is_valid_over(b, a, load);
    if (!by_a && !by_b) return false;
    if (by_b) {
        a.sum = b.sum;
        a.parts = b.parts;
    }
    a.domain = merged;
    a.any_rest = a.any_rest || other_rest;
    return true;
}

LLMCOST_INLINE bool are_parts_valid(const formula_piece& source, const formula_piece& target, const workload& w,
                                    term_samples& terms) {
    const std::size_t num_terms = terms.at(w).size();
    for (std::size_t i = 0; i < std::max(num_terms, source.parts.size()); ++i) {
        polynomial::int128 value = 0;
        if (!part_of(source, i).value(w.batch, target.place_of(w), value) || value != terms.part(w, i)) return false;
    }
    return true;
}

LLMCOST_INLINE bool find_parts(formula_piece& piece, const closed_form& form, const workload& point,
                               term_samples& terms) {
    (void)form.evaluate([&](const workload& w) { return terms.part(w, 0); });  // so that all names are known
    polynomial sum;
    for (std::size_t i = 0; i < terms.names().size(); ++i) {
        piece.parts.push_back(form.evaluate([&](const workload& w) { return terms.part(w, i); }));
        const polynomial& part = piece.parts.back();
        for (std::size_t k = 0; k < polynomial::monomials; ++k)
            for (std::size_t n = 0; n < 2; ++n)
                sum.fits = polynomial::add(sum.twice[n][k], part.twice[n][k]) && sum.fits && part.fits;
    }
    if (!(sum == piece.sum)) throw error(errc::unsupported, "--terms", "the terms of this metric do not add up to it");
    struct step {
        std::int64_t batch, sequence, past;
    };
    for (const step& offset : {step{0, 0, 0}, step{3, 5, 7}, step{1, 0, 11}, step{4, 9, 0}, step{0, 31, 29}}) {
        workload w = point;
        w.batch += offset.batch;
        w.past += offset.past;
        w.sequence += offset.sequence * std::max<std::int64_t>(piece.domain.chunk, 1);
        if (piece.contains(w) && !are_parts_valid(piece, piece, w, terms)) return false;
    }
    return true;
}

}  // namespace llmcost::detail
