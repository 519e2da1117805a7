// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/analysis/polynomial.hpp>

namespace llmcost {

/// The workloads for which one polynomial holds: intervals of batch, sequence, past and past + sequence.
struct region {
    struct interval {
        std::int64_t low = 0;
        std::int64_t high = max_input;
        [[nodiscard]] constexpr bool has(std::int64_t n) const noexcept { return low <= n && n <= high; }
        [[nodiscard]] constexpr std::int64_t width() const noexcept { return high - low + 1; }
    };
    interval batch{1, max_input}, sequence{1, max_input}, past{}, total{1, 2 * max_input};
    std::int64_t chunk = 0;  ///< 0: sequences are not padded
    bool is_chunk_multiple = false;

    [[nodiscard]] constexpr bool contains(const workload& w) const noexcept {
        return batch.has(w.batch) && sequence.has(w.sequence) && past.has(w.past) && total.has(w.past + w.sequence) &&
               (chunk == 0 || (w.sequence % chunk == 0) == is_chunk_multiple);
    }
};

/// The region around a workload.
///
/// Its bounds are the edges that the trace declares, and sizes of one, which have other memory layouts.
[[nodiscard]] constexpr region region_of(const model& m, const workload& load) {
    region_edges edges;
    trace t{load};
    t.set_region_edges(&edges);
    m.trace_with_loss(t);
    edges.add(workload_axis::batch, 2);
    edges.add(workload_axis::sequence, 2);
    edges.add(workload_axis::past, 1);
    edges.add(workload_axis::total, 2);
    region r;
    r.chunk = edges.chunk_size;
    r.is_chunk_multiple = r.chunk != 0 && load.sequence % r.chunk == 0;
    const auto cut = [](region::interval& in, std::int64_t bound, std::int64_t current) {
        if (current < bound)
            in.high = in.high < bound - 1 ? in.high : bound - 1;
        else
            in.low = in.low > bound ? in.low : bound;
    };
    for (int i = 0; i < edges.num_edges; ++i) {
        const std::int64_t position = edges.edges[i].position;
        switch (edges.edges[i].axis) {
            case workload_axis::batch: cut(r.batch, position, load.batch); break;
            case workload_axis::sequence: cut(r.sequence, position, load.sequence); break;
            case workload_axis::past: cut(r.past, position, load.past); break;
            case workload_axis::total: cut(r.total, position, load.past + load.sequence); break;
        }
    }
    if (!edges.is_complete) r.batch.high = r.batch.low - 1;  // the region is empty: no polynomial is guaranteed
    return r;
}

/// The figures of a model as polynomials in batch, sequence and past, exact within one region.
///
/// The polynomials are affine in batch and quadratic in sequence, past and, if sequences are padded, chunks. They are
/// interpolated from traces by finite differences in integers, and verified with further traces of the region.
/// `exact()` is false if these differ, and for training steps: shared storages make saved bytes no polynomial.
class closed_form {
public:
    static constexpr std::size_t figure_count = 21;
    static constexpr std::size_t monomials = polynomial::monomials;

    constexpr closed_form() noexcept = default;
    constexpr closed_form(const model& m, const workload& center, scope_query query = {})
        : types_(storage_types_of(m, center)), load_(with_storage_types(center, types_)), query_(query) {
        region_ = region_of(m, load_);
        try {
            is_exact_ = !load_.training && region_.contains(load_) && choose_base() && interpolate(m) && is_verified(m);
        } catch (
            // the model has fewer positions than the samples need, if an adapter adds virtual tokens
            const workload_error&) {
        }
    }

    [[nodiscard]] constexpr bool exact() const noexcept { return is_exact_; }
    [[nodiscard]] constexpr const region& valid_region() const noexcept { return region_; }
    /// Whether this form is valid for a workload: it is exact and applies to the workload.
    [[nodiscard]] constexpr bool contains_workload(const workload& w) const noexcept {
        return is_exact_ && applies_to(w);
    }
    /// Whether a workload has the same options and is in the region. Does not depend on whether the form is exact.
    [[nodiscard]] constexpr bool applies_to(const workload& w) const noexcept {
        return region_.contains(w) && w.head == load_.head && w.attention == load_.attention &&
               w.training == load_.training && w.encoder_sequence == load_.encoder_sequence &&
               w.has_same_multimodal_inputs(load_) && w.weights == load_.weights &&
               w.activations == load_.activations && w.cache == load_.cache;
    }
    /// The workload around which the form was created, with element types filled in: the start of a sweep.
    [[nodiscard]] constexpr const workload& reference_workload() const noexcept { return load_; }

    /// All figures of a workload in the region.
    [[nodiscard]] constexpr model_metrics operator()(const workload& w) const {
        const point offset = place_of(w);
        count out[figure_count];
        for (std::size_t i = 0; i < figure_count; ++i) out[i] = value_of(i, offset);
        return unpack(out);
    }
    /// ADD + MULT of a workload in the region; cheaper than evaluating all figures.
    [[nodiscard]] constexpr count flops(const workload& w) const { return value_of(flops_at, place_of(w)); }

    /// The polynomial of `combine(figures)`, which must be a sum of figures.
    template <class Of>
    [[nodiscard]] constexpr polynomial expand(Of combine) const {
        return evaluate(
            [&](const workload& w) { return static_cast<int128>(count(combine((*this)(w))).to_uint128()); });
    }
    /// The polynomial of `sample(workload)`, which must be one in the region of this form.
    template <class Sample>
    [[nodiscard]] constexpr polynomial evaluate(Sample sample) const {
        int128 differences_of[2][monomials]{};
        for (std::size_t n = 0; n < (region_.batch.width() > 1 ? 2 : 1); ++n) {
            int128 samples[monomials]{};
            for (std::size_t k = 0; k < monomials; ++k)
                if (has(exponents[k])) {
                    const auto& [a, b, c] = exponents[k];
                    const point p{base_.batch + static_cast<std::int64_t>(n), base_.a + a, base_.b + b, base_.c + c};
                    samples[k] = sample(workload_at(p));
                }
            differences(samples, differences_of[n]);
        }
        if (region_.batch.width() > 1)
            for (std::size_t k = 0; k < monomials; ++k) differences_of[1][k] -= differences_of[0][k];
        return expanded(differences_of, base_.batch, {base_.a, region_.chunk == 0 ? 0 : base_.b, base_.c});
    }

private:
    __extension__ typedef __int128 int128;
    static constexpr std::size_t flops_at = 18;
    /// above this, differences of figures could exceed 128 bits
    static constexpr int128 largest_sample = int128{1} << 120;

    static constexpr void pack(const model_metrics& f, int128 (&out)[figure_count]) {
        // clang-format off
        const count all[figure_count] = {f.add,  f.mult, f.div, f.sqrt, f.exp, f.log, f.tanh, f.erf, f.trig, f.pow,
                                         f.neg,  f.cmp,  f.params, f.active_params, f.cache_elements, f.module_output_elements, f.written_elements, f.torch_flops,
                                         f.flops(), f.unrouted_flops, f.encoder_cache_elements};
        // clang-format on
        for (std::size_t i = 0; i < figure_count; ++i) out[i] = static_cast<int128>(all[i].to_uint128());
    }
    [[nodiscard]] constexpr model_metrics unpack(const count (&v)[figure_count]) const {
        model_metrics f;
        f.add = v[0];
        f.mult = v[1];
        f.div = v[2];
        f.sqrt = v[3];
        f.exp = v[4];
        f.log = v[5];
        f.tanh = v[6];
        f.erf = v[7];
        f.trig = v[8];
        f.pow = v[9];
        f.neg = v[10];
        f.cmp = v[11];
        f.params = v[12];
        f.active_params = v[13];
        f.cache_elements = v[14];
        f.module_output_elements = v[15];
        f.written_elements = v[16];
        f.torch_flops = v[17];
        f.unrouted_flops = v[19];
        f.encoder_cache_elements = v[20];
        f.weight_bytes = bytes_of(f.params, types_.weights);
        f.cache_bytes = bytes_of(f.cache_elements, types_.cache);
        f.encoder_cache_bytes = bytes_of(f.encoder_cache_elements, types_.activations);
        return f;
    }

    /// Coordinates of the interpolation: chunks, tokens in the last chunk, past. Without chunks: sequence, 0, past.
    struct point {
        std::int64_t batch = 1, a = 0, b = 0, c = 0;
    };
    [[nodiscard]] constexpr point grid_point(const workload& w) const noexcept {
        if (region_.chunk == 0) return {w.batch, w.sequence, 0, w.past};
        const std::int64_t chunks = (w.sequence + region_.chunk - 1) / region_.chunk;
        return {w.batch, chunks, w.sequence - (chunks - 1) * region_.chunk, w.past};
    }
    [[nodiscard]] constexpr workload workload_at(const point& p) const noexcept {
        workload w = load_;
        w.batch = p.batch;
        w.past = p.c;
        w.sequence = region_.chunk == 0 ? p.a : (p.a - 1) * region_.chunk + p.b;
        return w;
    }
    /// Chooses the base of the interpolation grid. Returns false if no grid fits into the region.
    ///
    /// The base has the smallest sequence, or chunks, of the region, and past is raised to reach the lower bound of
    /// past + sequence, or the other way round. A coordinate with one or two values has no slope or no curvature.
    constexpr bool choose_base() {
        // the values of both that past + sequence allows
        const region::interval &sequence = region_.sequence, &total = region_.total;
        const auto larger = [](std::int64_t a, std::int64_t b) { return a > b ? a : b; };
        const auto smaller = [](std::int64_t a, std::int64_t b) { return a < b ? a : b; };
        const region::interval past{larger(region_.past.low, total.low - sequence.high),
                                    smaller(region_.past.high, total.high - sequence.low)};
        const std::int64_t low = larger(sequence.low, total.low - past.high), chunk = region_.chunk;
        const std::int64_t high = smaller(sequence.high, total.high - past.low);
        const auto chunks_of = [&](std::int64_t n) { return chunk == 0 ? n : (n + chunk - 1) / chunk; };
        const bool rest = chunk != 0 && !region_.is_chunk_multiple;
        const region::interval along_a{chunks_of(low), chunks_of(high)};
        const std::int64_t lowest = !rest ? chunk : low - (along_a.low - 1) * chunk;
        const std::int64_t highest =
            along_a.width() > 1 || high >= along_a.high * chunk ? chunk - 1 : high - (along_a.low - 1) * chunk;
        const region::interval along_b{along_a.width() > 1 ? 1 : lowest, highest};
        const auto steps = [](const region::interval& in) { return in.width() > 2 ? std::int64_t{2} : in.width() - 1; };
        steps_ = {steps(along_a), rest ? steps(along_b) : 0, steps(past)};
        for (const bool next_chunk : {false, true})
            for (const bool raises_past : {true, false}) {
                base_ = {region_.batch.low, along_a.low, lowest, past.low};
                if (next_chunk) {
                    ++base_.a;
                    base_.b = rest ? 1 : chunk;
                }
                const workload corner = workload_at(base_);
                const std::int64_t missing = region_.total.low - corner.sequence - corner.past;
                if (missing > 0) (raises_past ? base_.c : base_.a) += raises_past ? missing : chunks_of(missing);
                if (fits()) return true;
            }
        return false;
    }
    [[nodiscard]] constexpr bool fits() const {
        for (std::int64_t i = 0; i <= steps_.a; ++i)
            for (std::int64_t j = 0; j <= steps_.b && i + j <= 2; ++j)
                for (std::int64_t k = 0; k <= steps_.c && i + j + k <= 2; ++k)
                    if (!region_.contains(workload_at({base_.batch, base_.a + i, base_.b + j, base_.c + k})))
                        return false;
        return true;
    }

    struct grid {
        std::int64_t a = 0, b = 0, c = 0;
    };
    // in the order of the terms in `value_of`; terms of the last chunk come last
    static constexpr grid exponents[monomials] = {{0, 0, 0}, {1, 0, 0}, {0, 0, 1}, {2, 0, 0}, {0, 0, 2},
                                                  {1, 0, 1}, {0, 1, 0}, {0, 2, 0}, {1, 1, 0}, {0, 1, 1}};

    [[nodiscard]] constexpr bool has(const grid& g) const noexcept {
        return g.a <= steps_.a && g.b <= steps_.b && g.c <= steps_.c;
    }

    /// Computes Newton's differences on the grid: coefficients of x(x−1)/2 for one coordinate, of products for two.
    constexpr bool interpolate(const model& m) {
        const std::int64_t batches = region_.batch.width() > 1 ? 2 : 1;
        int128 samples[2][monomials][figure_count]{};
        for (std::int64_t n = 0; n < batches; ++n)
            for (std::size_t k = 0; k < monomials; ++k) {
                if (!has(exponents[k])) continue;
                const point p{base_.batch + n, base_.a + exponents[k].a, base_.b + exponents[k].b,
                              base_.c + exponents[k].c};
                pack(count_model(m, workload_at(p), query_), samples[n][k]);
                for (const int128 sample : samples[n][k])
                    if (sample < 0 || sample >= largest_sample) return false;
            }
        constexpr int128 maximum = int128{1} << 62;
        for (std::size_t i = 0; i < figure_count; ++i)
            for (std::size_t n = 0; n < 2; ++n) {
                int128 f[monomials]{}, c[monomials]{};
                for (std::size_t k = 0; k < monomials; ++k)
                    f[k] = n == 0 ? samples[0][k][i] : batches == 2 ? samples[1][k][i] - samples[0][k][i] : 0;
                differences(f, c);
                for (std::size_t k = 0; k < monomials; ++k) {
                    if (c[k] >= maximum || -c[k] >= maximum) return false;
                    coefficients_[i][n][k] = static_cast<std::int64_t>(c[k]);
                }
            }
        max_offset_ = std::int64_t{1} << 24;
        while (max_offset_ != 0 && !fits_without_overflow(max_offset_)) max_offset_ /= 2;
        return true;
    }
    /// Whether no sum exceeds 64 bits if each coordinate is below `bound`. x(x−1)/2 and xy are below bound².
    [[nodiscard]] constexpr bool fits_without_overflow(std::int64_t bound) const noexcept {
        constexpr int128 maximum = int128{1} << 63;
        for (const auto& figure : coefficients_)
            for (const auto& c : figure) {
                int128 linear = 0, square = 0;
                for (std::size_t k = 1; k < monomials; ++k) {
                    const bool of_degree_one = exponents[k].a + exponents[k].b + exponents[k].c == 1;
                    (of_degree_one ? linear : square) += c[k] < 0 ? -c[k] : c[k];
                }
                const int128 constant = c[0] < 0 ? -c[0] : c[0];
                if (square >= maximum / bound / bound || constant + (linear + square * bound) * bound >= maximum)
                    return false;
            }
        return true;
    }
    constexpr void differences(const int128 (&f)[monomials], int128 (&c)[monomials]) const {
        const auto value_of_exponents = [&](std::int64_t x, std::int64_t y, std::int64_t z) {
            for (std::size_t k = 0; k < monomials; ++k)
                if (exponents[k].a == x && exponents[k].b == y && exponents[k].c == z) return f[k];
            return f[0];
        };
        for (std::size_t k = 0; k < monomials; ++k) {
            const grid& g = exponents[k];
            const std::int64_t degree = g.a + g.b + g.c;
            const bool square = g.a == 2 || g.b == 2 || g.c == 2;
            if (!has(g))
                c[k] = 0;
            else if (degree == 0)
                c[k] = f[k];
            else if (degree == 1)
                c[k] = f[k] - f[0];
            else if (square)
                c[k] = f[k] - 2 * value_of_exponents(g.a / 2, g.b / 2, g.c / 2) + f[0];
            else
                c[k] = f[k] - (g.a != 0 ? value_of_exponents(1, 0, 0) : value_of_exponents(0, 1, 0)) -
                       (g.c != 0 ? value_of_exponents(0, 0, 1) : value_of_exponents(0, 1, 0)) + f[0];
        }
    }
    /// The offset of a workload from the base of the grid.
    [[nodiscard]] constexpr point place_of(const workload& w) const noexcept {
        const point p = grid_point(w);
        return {p.batch - base_.batch, p.a - base_.a, region_.chunk == 0 ? 0 : p.b - base_.b, p.c - base_.c};
    }
    [[nodiscard]] static constexpr std::int64_t triangle(std::int64_t x) noexcept { return x * (x - 1) >> 1; }
    [[nodiscard]] constexpr count value_of(std::size_t figure, const point& p) const {
        const bool near = p.a < max_offset_ && p.c < max_offset_ && -p.a < max_offset_ && -p.c < max_offset_ &&
                          region_.chunk <= max_offset_;
        if (!near) return checked_value_of(figure, p);
        const auto sum_of = [&](const std::int64_t(&coefficients)[monomials]) {
            const std::int64_t sum = coefficients[0] + coefficients[1] * p.a + coefficients[2] * p.c +
                                     coefficients[3] * triangle(p.a) + coefficients[4] * triangle(p.c) +
                                     coefficients[5] * (p.a * p.c);
            if (region_.chunk == 0) return sum;
            return sum + (coefficients[6] + coefficients[8] * p.a + coefficients[9] * p.c) * p.b +
                   coefficients[7] * triangle(p.b);
        };
        const auto& [fixed_coefficients, batch_coefficients] = coefficients_[figure];
        return count::from_uint128(static_cast<count::uint128>(
            sum_of(fixed_coefficients) + static_cast<int128>(sum_of(batch_coefficients)) * p.batch));
    }
    constexpr count checked_value_of(std::size_t figure, const point& p) const {
        const std::int64_t monomial_values[monomials] = {1,         p.a, p.c,           triangle(p.a), triangle(p.c),
                                                         p.a * p.c, p.b, triangle(p.b), p.a * p.b,     p.b * p.c};
        count plus, minus;
        for (std::size_t k = 0; k < monomials; ++k)
            for (int part = 0; part < 2; ++part) {
                const std::int64_t c = coefficients_[figure][part][k];
                const bool negative = (c < 0) != (monomial_values[k] < 0);
                const auto size = [](std::int64_t n) { return count(n < 0 ? -n : n); };
                (negative ? minus : plus) +=
                    size(c) * size(monomial_values[k]) * (part == 0 ? count(1) : count(p.batch));
            }
        return plus - minus;
    }
    /// Whether the form equals traces of workloads that are not part of the interpolation.
    constexpr bool is_verified(const model& m) const {
        for (const point& offset : {point{3, 5, 0, 7}, point{1, 0, 0, 11}, point{4, 9, 0, 0}, point{0, 31, 0, 29}}) {
            workload w = load_;
            w.batch += offset.batch;
            w.sequence += offset.a * (region_.chunk != 0 ? region_.chunk : 1);
            w.past += offset.c;
            if (region_.contains(w) && !matches_trace(m, w)) return false;
        }
        return matches_trace(m, load_);
    }
    constexpr bool matches_trace(const model& m, const workload& w) const {
        return (*this)(w) == count_model(m, w, query_);
    }

    storage_types types_{};
    workload load_{};
    scope_query query_{};
    region region_{};
    point base_{};
    grid steps_{};
    /// for one sequence, and the increment for each further one
    std::int64_t coefficients_[figure_count][2][monomials]{};
    std::int64_t max_offset_ = 0;  ///< bound of coordinates for which sums fit in 64 bits
    bool is_exact_ = false;
};

}  // namespace llmcost
