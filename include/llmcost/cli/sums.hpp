// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/error.hpp>
#include <llmcost/cli/job.hpp>

// Figures of a job that is more than one forward pass.
namespace llmcost::cli {

/// Figures of one or several scopes, always in the same order.
using reading = std::vector<figures>;

/// Takes the reading of one forward pass.
using measure = std::function<reading(const workload&)>;

namespace detail {

/// The figures that every forward pass adds to; parameters and what lies in memory afterwards are no such thing.
inline constexpr std::array<count figures::*, 18> work_figures{
    &figures::add,           &figures::mult,
    &figures::div,           &figures::sqrt,
    &figures::exp,           &figures::log,
    &figures::tanh,          &figures::erf,
    &figures::trig,          &figures::pow,
    &figures::neg,           &figures::cmp,
    &figures::out,           &figures::written,
    &figures::torch_flops,   &figures::unrouted_flops,
    &figures::encoder_cache, &figures::encoder_cache_bytes,
};
inline constexpr std::array<count figures::*, 2> cache_figures{&figures::cache, &figures::cache_bytes};
/// The figures that a model holds whatever it does, and its cache.
inline constexpr std::array<count figures::*, 5> held_figures{
    &figures::params, &figures::active_params, &figures::weight_bytes, &figures::cache, &figures::cache_bytes};
static_assert(sizeof(figures) == (work_figures.size() + held_figures.size() + 2 + primitive_kinds) * sizeof(count),
              "a new figure: say above whether it is summed; parameters, bytes of weights and figures of training are not");

/// Whether three points of a figure lie on one line: x at `i` of `n` steps from a to b.
constexpr bool on_a_line(count a, count b, count x, std::int64_t i, std::int64_t n) {
    const bool falls = b < a;
    const count height = falls ? a - b : b - a;
    if ((falls ? x > a || a - x > height : x < a || x - a > height)) return false;
    return (falls ? a - x : x - a) * count(n) == height * count(i);
}

inline bool on_a_line(const reading& a, const reading& b, const reading& x, std::int64_t i, std::int64_t n) {
    for (std::size_t k = 0; k < x.size(); ++k) {
        for (const auto f : work_figures)
            if (!on_a_line(a[k].*f, b[k].*f, x[k].*f, i, n)) return false;
    }
    return true;
}

inline void add_work(reading& sum, const reading& more) {
    for (std::size_t k = 0; k < sum.size(); ++k)
        for (const auto f : work_figures) sum[k].*f += more[k].*f;
}
inline void add_caches(reading& sum, const reading& more) {
    for (std::size_t k = 0; k < sum.size(); ++k)
        for (const auto f : cache_figures) sum[k].*f += more[k].*f;
}
inline void take_caches(reading& sum, const reading& last) {
    for (std::size_t k = 0; k < sum.size(); ++k)
        for (const auto f : cache_figures) sum[k].*f = last[k].*f;
}
/// The same scopes without work and cache: their parameters.
inline reading at_rest(reading r) {
    for (figures& f : r) {
        for (const auto member : work_figures) f.*member = count{};
        for (const auto member : cache_figures) f.*member = count{};
    }
    return r;
}

/// Sums a stretch: where a figure is linear in the past, its ends tell its sum.
class step_sum {
public:
    step_sum(const stretch& s, const measure& take) : load_(s.load), take_(take), first_(at(0)), sum_(at_rest(first_)) {
        const std::int64_t last = s.steps - 1;
        if (last == 0) {
            add_work(sum_, first_);
            take_caches(sum_, first_);
            return;
        }
        const reading end = at(last);
        add(0, first_, last, end);
        take_caches(sum_, end);
    }
    [[nodiscard]] const reading& sum() const noexcept { return sum_; }

private:
    static constexpr std::int64_t most_readings = 100'000;
    static constexpr std::int64_t walked = 12;  ///< stretches up to this long are read step by step

    reading at(std::int64_t step) {
        if (++readings_ > most_readings)
            throw error(errc::usage, "--output", "this model's figures change too often over so many tokens; ask for fewer");
        workload load = load_;
        load.past += step;
        return take_(load);
    }
    /// Adds steps a … b, whose readings are known. A bend between them changes the slope at an end or leaves the line
    /// inside; stretches with a bend are halved.
    void add(std::int64_t a, const reading& from, std::int64_t b, const reading& to) {
        const std::int64_t n = b - a;
        if (n < walked) {
            add_work(sum_, from);
            for (std::int64_t i = a + 1; i < b; ++i) add_work(sum_, at(i));
            add_work(sum_, to);
            return;
        }
        bool linear = true;
        for (const std::int64_t i : {std::int64_t{1}, n - 1, n / 2, n / 2 + 1, n * 2 / 7, n * 5 / 7})
            linear = linear && on_a_line(from, to, at(a + i), i, n);
        if (linear) {
            for (std::size_t k = 0; k < sum_.size(); ++k)
                for (const auto f : work_figures) sum_[k].*f += (from[k].*f + to[k].*f) * count(n + 1) / count(2);
            return;
        }
        const std::int64_t middle = a + n / 2;
        add(a, from, middle, at(middle));
        add(middle + 1, at(middle + 1), b, to);
    }

    workload load_;
    const measure& take_;
    std::int64_t readings_ = 0;
    reading first_;
    reading sum_;
};

}  // namespace detail

/// What a phase costs in all: work of its parts added, parameters once, the cache as it is in the end.
///
/// `before` is the reading of the phase in front, whose cache and parameters a phase without any step leaves as they are.
[[nodiscard]] inline reading sum_of(const phase& p, const measure& take, const reading& before = {}) {
    if (p.parts.empty()) {
        reading nothing = detail::at_rest(before);
        detail::take_caches(nothing, before);
        return nothing;
    }
    reading sum;
    for (const stretch& s : p.parts) {
        const reading r = detail::step_sum(s, take).sum();
        if (sum.empty()) {
            sum = r;
            continue;
        }
        detail::add_work(sum, r);
        p.in_order ? detail::take_caches(sum, r) : detail::add_caches(sum, r);
    }
    return sum;
}

/// What a job costs: phase by phase, and in all.
struct job_reading {
    std::vector<phase> phases;
    std::vector<reading> by_phase;
    reading total;
};

/// Reads every phase of a job.
[[nodiscard]] inline job_reading read_phases(std::vector<phase> phases, const measure& take) {
    job_reading out;
    for (const phase& p : phases) {
        out.by_phase.push_back(sum_of(p, take, out.total));
        const reading& last = out.by_phase.back();
        if (out.total.empty()) {
            out.total = last;
            continue;
        }
        detail::add_work(out.total, last);
        detail::take_caches(out.total, last);
    }
    out.phases = std::move(phases);
    return out;
}

}  // namespace llmcost::cli
