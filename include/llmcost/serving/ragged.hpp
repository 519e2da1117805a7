// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <llmcost/serving/step.hpp>

// Groups of requests of different lengths in one step.
namespace llmcost {

namespace detail {

/// Whether two kernels of one step belong to one module and compute alike.
inline bool same_module(const model_kernel& a, const model_kernel& b) noexcept {
    return a.shape.family == b.shape.family && a.name == b.name && a.times == b.times &&
           a.shape.operand == b.shape.operand && a.shape.variant == b.shape.variant;
}
/// Whether a size adds up where two kernels become one: rows and what goes with them; of sequences their number.
constexpr bool adds_up(const operator_family& family, std::size_t size) noexcept {
    return family.axes == 1 ? family.sizes[size].role != size_role::site : size == 0;
}
/// Whether two kernels of groups go in one launch: those of one module's layers of one kind.
inline bool shares_launch(const model_kernel& a, const model_kernel& b) noexcept {
    bool same = a.shape.family->axes > 1 && same_module(a, b);
    for (std::size_t i = a.shape.family->axes; same && i < a.shape.family->axes + a.shape.family->sites; ++i)
        same = a.shape.sizes[i] == b.shape.sizes[i];
    return same;
}
/// Whether two kernels are one for all their rows or sequences.
inline bool joins(const model_kernel& a, const model_kernel& b) noexcept {
    bool same = same_module(a, b);
    for (std::size_t i = 0; same && i < a.shape.family->size_count; ++i)
        same = adds_up(*a.shape.family, i) || a.shape.sizes[i] == b.shape.sizes[i];
    return same;
}

}  // namespace detail

/// Adds the kernels of another group of requests to those of a step; throws where their rows need more than 64 bits.
///
/// Products, experts and chains go through all rows at once, attention through all sequences of the same lengths; sequences
/// of other lengths go in the launch of those before them.
inline void join_step(std::vector<model_kernel>& all, std::vector<model_kernel> more) {
    std::vector<bool> joined(all.size());
    for (model_kernel& k : more) {
        std::size_t i = 0;
        while (i < joined.size() && (joined[i] || !detail::joins(all[i], k))) ++i;
        if (i < joined.size()) {
            joined[i] = true;
            for (std::size_t s = 0; s < k.shape.family->size_count; ++s)
                if (detail::adds_up(*k.shape.family, s) &&
                    __builtin_add_overflow(all[i].shape.sizes[s], k.shape.sizes[s], &all[i].shape.sizes[s]))
                    report_overflow();
            continue;
        }
        for (std::size_t before = 0; before < joined.size(); ++before)  // not its own group's: those are other layers
            k.beside_another = k.beside_another || detail::shares_launch(all[before], k);
        all.push_back(std::move(k));
    }
}

/// Whether a kernel of these prompts also takes sequences that decode beside them.
[[nodiscard]] inline bool take_decodes(const std::vector<model_kernel>& prompts, kernel_source& from) {
    for (const model_kernel& k : prompts)
        if (const kernel_calibration* known = from.find(k.shape); known != nullptr && known->takes_decodes) return true;
    return false;
}

namespace detail {

[[nodiscard]] inline const roofline& roofline_of(const known_kernel& k) noexcept {
    return k.known != nullptr ? k.known->base : typical_of(k.what.shape).base;
}

/// Bytes of a kernel, those of tokens before a prompt as so many as take their time at the roofline's bandwidth.
[[nodiscard]] inline double bytes_by_roofline(const known_kernel& k) {
    const double all = work_of(k.what.shape, k.known).bytes;
    if (k.known == nullptr || k.known->past_bandwidth_efficiency == 0) return all;
    const double fresh = work_of(without_added(k.what.shape), k.known).bytes;
    return fresh + (all - fresh) * k.known->base.bandwidth_efficiency / k.known->past_bandwidth_efficiency;
}

/// FLOPs that keep the unit busy which computes longest, times all units, of kernels in one launch that divide their work:
/// parts of one fill units that another leaves idle. As `occupied_flops` of one; waves of the largest parts bound it, of
/// the largest and the next, and so on.
[[nodiscard]] inline double occupied_together(const device& d, std::vector<kernel_work> works) {
    std::sort(works.begin(), works.end(),
              [](const kernel_work& a, const kernel_work& b) { return a.smallest_part > b.smallest_part; });
    kernel_work so_far;
    double flops = 0, most = 0;
    for (const kernel_work& w : works) {
        so_far.parts += w.parts, so_far.smallest_part = w.smallest_part;
        flops += w.flops > w.parts * w.smallest_part ? w.flops : w.parts * w.smallest_part;
        for (const double bound : {occupied_flops(d, w), occupied_flops(d, so_far)})
            if (bound > most) most = bound;
    }
    return flops > most ? flops : most;
}

/// Seconds of kernels in one launch that divide their work: the longest of what each takes alone and, by its roofline, what
/// all compute and move more than it does; no more than all take one behind the other.
[[nodiscard]] inline double seconds_together(const device& d, const std::vector<known_kernel>& step,
                                             const std::vector<std::size_t>& launch,
                                             const std::vector<latency_estimate>& alone) {
    std::vector<kernel_work> works;
    kernel_work done, all;
    double behind = 0, longest = 0;
    for (const std::size_t i : launch) {
        const kernel_work& w = works.emplace_back(work_of(step[i].what.shape, step[i].known));
        done.unit = all.unit = w.unit;
        done.flops += w.flops, done.bytes += w.bytes, all.bytes += bytes_by_roofline(step[i]);
        behind += alone[i].seconds;
    }
    all.flops = occupied_together(d, works);
    for (std::size_t n = 0; n < launch.size(); ++n) {
        const known_kernel& k = step[launch[n]];
        const auto by_roofline = [&](const kernel_work& w) {
            const datasheet_seconds s = seconds_of(d, w);
            return roofline_of(k)(s.compute, s.memory);
        };
        works[n].bytes = bytes_by_roofline(k);
        const double with_others = alone[launch[n]].seconds + by_roofline(all) - by_roofline(works[n]);
        if (with_others > longest) longest = with_others;
    }
    const double seconds = longest < behind ? longest : behind, least = least_seconds(d, done);
    return seconds < least ? least : seconds;
}

/// An estimate for a kernel that goes in the launch of another, which takes `other` seconds by itself: without a launch of
/// its own, as far as both have one.
[[nodiscard]] inline latency_estimate without_launch(latency_estimate e, const device& d, const known_kernel& k,
                                                     double other) {
    const double launch = roofline_of(k).launch, least = least_seconds(d, work_of(k.what.shape, k.known));
    double saved = launch < other ? launch : other;
    if (e.seconds - saved < least) saved = e.seconds - least;
    e.share_of_bound *= e.seconds / (e.seconds - saved);
    e.seconds -= saved, e.upper -= saved, e.lower = e.lower - saved < least ? least : e.lower - saved;
    return e;
}

}  // namespace detail

/// The times of a step's kernels; those in one launch share what it takes by their times alone.
[[nodiscard]] inline std::vector<latency_estimate> estimates_of(const device& d, const std::vector<known_kernel>& step) {
    std::vector<latency_estimate> all;
    for (const known_kernel& k : step) all.push_back(estimate(d, k));
    for (std::size_t i = 0; i < step.size(); ++i) {
        if (step[i].what.beside_another) continue;
        std::vector<std::size_t> launch{i};
        for (std::size_t j = i + 1; j < step.size(); ++j)
            if (step[j].what.beside_another && detail::shares_launch(step[i].what, step[j].what)) launch.push_back(j);
        if (launch.size() == 1) continue;
        if (step[i].what.shape.work().parts == 0) {
            for (std::size_t n = 1; n < launch.size(); ++n)
                all[launch[n]] = detail::without_launch(all[launch[n]], d, step[launch[n]], all[i].seconds);
            continue;
        }
        double alone = 0;
        for (const std::size_t j : launch) alone += all[j].seconds;
        const double share = detail::seconds_together(d, step, launch, all) / alone;
        for (const std::size_t j : launch) {
            latency_estimate& e = all[j];
            e.seconds *= share, e.lower *= share, e.upper *= share;
            e.share_of_bound = e.share_of_bound < share ? e.share_of_bound / share : 1;
        }
    }
    return all;
}

}  // namespace llmcost
