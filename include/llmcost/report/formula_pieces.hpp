// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <llmcost/analysis/closed_form.hpp>
#include <llmcost/report/formula_terms.hpp>
#include <llmcost/text/error.hpp>

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

    [[nodiscard]] bool contains(const workload& w) const noexcept {
        region r = domain;
        if (any_rest && r.chunk != 0) r.is_chunk_multiple = w.sequence % r.chunk == 0;
        return r.contains(w);
    }
    /// The variables of the polynomial for a workload: sequence or chunks, remainder, past.
    [[nodiscard]] polynomial::powers place_of(const workload& w) const noexcept {
        if (domain.chunk == 0) return {w.sequence, 0, w.past};
        const std::int64_t chunks = (w.sequence + domain.chunk - 1) / domain.chunk;
        return {chunks, w.sequence - (chunks - 1) * domain.chunk, w.past};
    }
};

namespace detail {

/// A region without redundant bounds: tokens that fill a chunk, sums of sequence and past.
[[nodiscard]] inline region tighten_bounds(region r) {
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

/// Finds the regions of a model, each from one of its points.
class region_search {
public:
    region_search(const model& m, const workload& load)
        : model_(m), load_(load), max_new_(max_tokens(m, load, false)), max_total_(max_tokens(m, load, true)) {
        for (std::size_t num_added = 1; num_added != 0;) {
            num_added = 0;
            for (const workload& w : candidates()) num_added += refine_boundary(w) ? 1U : 0U;
        }
    }
    /// The regions, with a point of each.
    [[nodiscard]] const std::vector<std::pair<region, workload>>& found() const noexcept { return found_; }

private:
    static constexpr std::size_t maximum = 400;

    /// The maximum number of new tokens by the model's positions, or of cached and new ones with `cached`.
    static std::int64_t max_tokens(const model& m, workload load, bool cached) {
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
    [[nodiscard]] std::vector<workload> candidates() const {
        std::vector<std::int64_t> batches{1, 2}, tokens{1, 2}, pasts{0, 1}, totals{1, 2};
        const auto note = [](std::vector<std::int64_t>& in, const region::interval& bounds) {
            for (const std::int64_t n : {bounds.low - 1, bounds.low, bounds.high, bounds.high + 1}) in.push_back(n);
        };
        std::int64_t chunk = 0;
        for (const auto& [r, point] : found_) {
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
    /// Adds the region of a point that is outside of all known regions.
    bool refine_boundary(const workload& w) {
        for (const auto& [r, point] : found_)
            if (r.contains(w)) return false;
        region r = region_of(model_, w);
        if (!r.contains(w)) return false;  // the trace is not valid for this point
        if (found_.size() == maximum) throw error(errc::overflow, {}, "the metric has more than 400 pieces");
        r.total.high = std::min(r.total.high, max_total_);
        r.sequence.high = std::min(r.sequence.high, max_new_);
        found_.emplace_back(r, w);
        return true;
    }

    const model& model_;
    workload load_;
    std::int64_t max_new_, max_total_;
    std::vector<std::pair<region, workload>> found_;
};

/// Whether two polynomials are equal over a piece.
[[nodiscard]] inline bool agrees(const polynomial& p, const polynomial& of_piece, const formula_piece& piece,
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
[[nodiscard]] inline polynomial part_of(const formula_piece& piece, std::size_t name) {
    return name < piece.parts.size() ? piece.parts[name] : polynomial{};
}
/// Whether the polynomials of a piece and of its terms are valid over another piece.
[[nodiscard]] inline bool holds_over(const formula_piece& a, const formula_piece& b, const workload& load) {
    bool all = agrees(a.sum, b.sum, b, load);
    for (std::size_t i = 0; all && i < std::max(a.parts.size(), b.parts.size()); ++i)
        all = agrees(part_of(a, i), part_of(b, i), b, load);
    return all;
}

[[nodiscard]] inline bool same_bounds(const region& a, const region& b) {
    for (region::interval region::*axis : {&region::batch, &region::sequence, &region::past, &region::total})
        if ((a.*axis).low != (b.*axis).low || (a.*axis).high != (b.*axis).high) return false;
    return true;
}

/// Merges two tightened regions that one cut along an axis separates. With `differ`, they are disjoint already and must
/// have equal bounds.
[[nodiscard]] inline bool join_regions(const region& a, const region& b, bool differ, region& out) {
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

/// Merges two adjacent pieces with equal polynomials. Returns false if they cannot be merged.
inline bool merge(formula_piece& a, const formula_piece& b, const workload& load) {
    if (!a.known || !b.known || a.domain.chunk != b.domain.chunk) return false;
    const bool other_rest =
        a.domain.chunk != 0 && !(a.any_rest == b.any_rest && a.domain.is_chunk_multiple == b.domain.is_chunk_multiple);
    if (other_rest && (a.any_rest || b.any_rest)) return false;
    region merged;
    if (!join_regions(a.domain, b.domain, other_rest, merged)) return false;
    const bool by_a = holds_over(a, b, load), by_b = !by_a && holds_over(b, a, load);
    if (!by_a && !by_b) return false;
    if (by_b) {
        a.sum = b.sum;
        a.parts = b.parts;
    }
    a.domain = merged;
    a.any_rest = a.any_rest || other_rest;
    return true;
}

/// Whether the terms of a piece agree with a trace, at a workload of a similar piece.
[[nodiscard]] inline bool parts_hold(const formula_piece& source, const formula_piece& at, const workload& w,
                                     term_samples& terms) {
    const std::size_t num_terms = terms.at(w).size();
    for (std::size_t i = 0; i < std::max(num_terms, source.parts.size()); ++i) {
        polynomial::int128 value = 0;
        if (!part_of(source, i).value(w.batch, at.place_of(w), value) || value != terms.part(w, i)) return false;
    }
    return true;
}
/// Interpolates the terms of a piece and verifies them against its sum and further traces. Returns false on failure.
[[nodiscard]] inline bool find_parts(formula_piece& piece, const closed_form& form, const workload& point,
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
        if (piece.contains(w) && !parts_hold(piece, piece, w, terms)) return false;
    }
    return true;
}

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
                    (terms != nullptr && !parts_hold(of_other, target, w, *terms)))
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
