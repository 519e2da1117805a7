// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <llmcost/serving/step.hpp>

// Groups of requests of different lengths in one step.
namespace llmcost {

namespace detail {

/// Whether two kernels of one step belong to one module.
inline bool same_module(const model_kernel& a, const model_kernel& b) noexcept {
    return a.name == b.name && a.shape.variant == b.shape.variant;
}
/// Whether a size adds up where two kernels become one: rows and what goes with them; of sequences their number.
constexpr bool adds_up(const operator_family& family, std::size_t size) noexcept {
    return family.axes == 1 ? family.sizes[size].role != size_role::site : size == 0;
}
/// Whether kernels of two groups go in one launch: those of one module's layers of one kind, or what decodes in that of
/// prompts.
inline bool shares_launch(const model_kernel& a, const model_kernel& b, taken_decodes beside_prompts) noexcept {
    const operator_family &of_a = *a.shape.family, &of_b = *b.shape.family;
    bool same = of_a.axes > 1 && of_a.axes == of_b.axes && of_a.sites == of_b.sites && same_module(a, b);
    if (&of_a != &of_b)
        same = same && beside_prompts != taken_decodes::no;
    else
        same = same && a.shape.operand == b.shape.operand;
    for (std::size_t i = of_a.axes; same && i < of_a.axes + of_a.sites; ++i) same = a.shape.sizes[i] == b.shape.sizes[i];
    return same;
}
/// Whether a kernel is a chain of operations on elements, one of so many rows as good as one of more that are shorter.
inline bool maps(const model_kernel& k) noexcept { return k.shape.family->axes == 1 && k.shape.variant == "map"; }
/// Whether two kernels are one for all their rows or sequences.
inline bool joins(const model_kernel& a, const model_kernel& b) noexcept {
    bool same = a.shape.family == b.shape.family && a.shape.operand == b.shape.operand && same_module(a, b);
    for (std::size_t i = 0; same && i < a.shape.family->size_count; ++i)
        same = adds_up(*a.shape.family, i) || maps(a) || a.shape.sizes[i] == b.shape.sizes[i];
    return same;
}
/// A chain with as many elements in rows that are as wide as another's.
inline void match_rows(model_kernel& map, const operator_shape& other) {
    std::int64_t elements = 0, &rows = map.shape.sizes[0], &width = map.shape.sizes[1];
    if (__builtin_mul_overflow(rows, width, &elements)) report_overflow();
    rows = elements / other.sizes[1] + (elements % other.sizes[1] != 0 ? 1 : 0);
    width = other.sizes[1];
    map.of_parameters[0] = std::min(map.of_parameters[0], rows);
}
/// Adds one size of a kernel to that of another, what parameters alone make of it once.
inline void add_size(model_kernel& all, const model_kernel& k, std::size_t size) {
    std::int64_t &sum = all.shape.sizes[size], &shared = all.of_parameters[size];
    const std::int64_t own = sum - shared;
    shared = std::max(shared, k.of_parameters[size]);
    if (__builtin_add_overflow(own, k.shape.sizes[size] - k.of_parameters[size], &sum) ||
        __builtin_add_overflow(sum, shared, &sum))
        report_overflow();
}

/// Leaves a kernel of a step so many of its runs; the others stand behind it.
inline void split(std::vector<model_kernel>& step, std::vector<bool>& joined, std::size_t place, std::int64_t times) {
    model_kernel others = step[place];
    others.times -= times, step[place].times = times;
    const auto behind = static_cast<std::ptrdiff_t>(place) + 1;
    for (model_kernel& k : step)
        if (k.launch >= behind) ++k.launch;
    step.insert(step.begin() + behind, std::move(others));
    joined.insert(joined.begin() + behind, false);
}

}  // namespace detail

/// Adds the kernels of another group of requests to those of a step; throws where their rows need more than 64 bits.
///
/// Products, experts and chains go through all rows at once, attention through all sequences of the same lengths; sequences
/// of other lengths go in the launch of those before them, and those that decode in that of prompts where these take them.
inline void join_step(std::vector<model_kernel>& all, std::vector<model_kernel> more,
                      taken_decodes beside_prompts = taken_decodes::no) {
    std::vector<bool> joined(all.size());  // each kernel of those before with one of this group
    for (model_kernel& k : more) {
        // operations that look alike in one group are one kernel of more runs, in another they may differ
        const auto meet = [&](std::size_t i) {
            if (all[i].times > k.times) detail::split(all, joined, i, k.times);
            k.times -= all[i].times, joined[i] = true;
        };
        for (std::size_t i = 0; i < joined.size() && k.times > 0; ++i) {
            if (joined[i] || !detail::joins(all[i], k)) continue;
            meet(i);
            model_kernel part = k;
            if (detail::maps(part)) detail::match_rows(part, all[i].shape);
            for (std::size_t s = 0; s < part.shape.family->size_count; ++s)
                if (detail::adds_up(*part.shape.family, s)) detail::add_size(all[i], part, s);
        }
        for (std::size_t before = 0; before < joined.size() && k.times > 0; ++before) {
            if (joined[before] || all[before].launch != model_kernel::own_launch ||
                !detail::shares_launch(all[before], k, beside_prompts))
                continue;
            meet(before);
            model_kernel& part = all.emplace_back(k);
            part.times = all[before].times, part.launch = static_cast<std::ptrdiff_t>(before);
        }
        if (k.times > 0) all.push_back(std::move(k));
    }
}

/// What the kernels of these prompts do with sequences that decode beside them.
[[nodiscard]] inline taken_decodes take_decodes(const std::vector<model_kernel>& prompts, kernel_source& from) {
    for (const model_kernel& k : prompts)
        if (const kernel_calibration* known = from.find(k.shape);
            known != nullptr && known->takes_decodes != taken_decodes::no)
            return known->takes_decodes;
    return taken_decodes::no;
}

namespace detail {

/// Bytes of a kernel, those of tokens before a prompt as so many as take their time at the roofline's bandwidth.
[[nodiscard]] inline double bytes_by_roofline(const operator_shape& shape, const kernel_calibration* known) {
    const double all = work_of(shape, known).bytes;
    if (known == nullptr || known->past_bandwidth_efficiency == 0) return all;
    const double fresh = work_of(without_added(shape), known).bytes;
    return fresh + (all - fresh) * known->base.bandwidth_efficiency / known->past_bandwidth_efficiency;
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
        flops += std::max(w.flops, w.parts * w.smallest_part);
        most = std::max({most, occupied_flops(d, w), occupied_flops(d, so_far)});
    }
    return std::max(flops, most);
}

/// Kernels of one launch that compute alike: sequences of different lengths.
class sequences_together {
public:
    explicit sequences_together(const device& d) : on_(&d) {}

    /// Adds a kernel that takes so long alone.
    void add(const known_kernel& k, double seconds) {
        all_.push_back({&k.what.shape, seconds});
        known_ = k.known, where_ = k.where;
        base_ = k.known != nullptr ? &k.known->base : &typical_of(k.what.shape).base;
        alone_ += seconds;
        const kernel_work& work = works_.emplace_back(work_of(k.what.shape, k.known));
        done_.unit = work.unit, done_.flops += work.flops, done_.bytes += work.bytes;
    }
    [[nodiscard]] double alone() const noexcept { return alone_; }

    /// Seconds of all in a launch of their own: no more than one kernel behind the other, nor than as many sequences all as
    /// long as the longest; no less than those that are at least so long, whatever that is.
    [[nodiscard]] double seconds() const {
        if (all_.size() < 2) return alone_;
        double behind = 0, launch = 0;
        for (std::size_t i = 0; i < all_.size(); ++i) {
            const double saved = without(all_[i].alone, least_seconds(*on_, works_[i]));
            behind += all_[i].alone - saved;
            launch = std::max(launch, saved);
        }
        double seconds = behind + launch;
        if (works_.front().parts > 0) seconds = std::min(seconds, side_by_side());
        seconds = std::min(seconds, predicted(alike(sizes(1).back(), sizes(behind_site()).back(), 0)));
        return std::max({seconds, of_those_as_long(), least_seconds(*on_, done_)});
    }
    /// What they save of so many seconds in the launch of others.
    [[nodiscard]] double saved(double seconds) const noexcept {
        return all_.empty() ? 0 : without(seconds, least_seconds(*on_, done_));
    }

private:
    struct sequences {
        const operator_shape* shape;
        double alone;
    };
    [[nodiscard]] double without(double seconds, double least) const noexcept {
        return std::max(0.0, std::min(base_->launch, seconds - least));
    }
    /// The place of what stands behind axes and site; one that no family has where there is none.
    [[nodiscard]] std::size_t behind_site() const {
        const operator_family& family = *all_.front().shape->family;
        return family.axes + family.sites;
    }
    [[nodiscard]] double predicted(const operator_shape& shape) const {
        return predicted_seconds(*on_, shape, known_, where_);
    }
    /// The different sizes of one kind, rising.
    [[nodiscard]] std::vector<std::int64_t> sizes(std::size_t kind) const {
        std::vector<std::int64_t> found;
        for (const sequences& s : all_) found.push_back(s.shape->sizes[kind]);
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
        return found;
    }
    /// As many sequences as have a least length, all of one length behind as many tokens.
    [[nodiscard]] operator_shape alike(std::int64_t length, std::int64_t past, std::int64_t least) const {
        operator_shape shape = *all_.front().shape;
        shape.sizes[0] = 0, shape.sizes[1] = length, shape.sizes[behind_site()] = past;
        for (const sequences& s : all_)
            if (s.shape->sizes[1] >= least) shape.sizes[0] += s.shape->sizes[0];
        return shape;
    }
    /// The most seconds that as many sequences take as have at least a length behind at least so many tokens.
    [[nodiscard]] double of_those_as_long() const {
        std::vector<const operator_shape*> by_past;
        for (const sequences& s : all_) by_past.push_back(s.shape);
        const std::size_t past = behind_site();
        std::sort(by_past.begin(), by_past.end(),
                  [&](const auto* a, const auto* b) { return a->sizes[past] > b->sizes[past]; });
        double most = 0;
        for (const std::int64_t length : sizes(1)) {
            operator_shape some = alike(length, 0, INT64_MAX);
            bool has_length = false;  // else longer ones are as many
            const auto count_in = [&] {
                if (has_length) most = std::max(most, predicted(some));
            };
            for (const operator_shape* next : by_past) {
                if (next->sizes[1] < length) continue;
                if (next->sizes[past] != some.sizes[past]) count_in();  // of as many tokens the most sequences
                has_length = has_length || next->sizes[1] == length;
                some.sizes[0] += next->sizes[0], some.sizes[past] = next->sizes[past];
            }
            count_in();
        }
        return most;
    }
    [[nodiscard]] double by_roofline(const kernel_work& work) const {
        const datasheet_seconds s = seconds_of(*on_, work);
        return (*base_)(s.compute, s.memory);
    }
    /// Seconds of kernels that divide their work: all that they compute and move by the roofline, and how sequences that are
    /// at least as long as one deviate from it: by so many seconds where they take longer, by their share where they take
    /// less. The longest of these counts.
    ///
    /// Along the axes a deviation is made to rise (`risen`), so that more of any takes no less.
    [[nodiscard]] double side_by_side() const {
        const residual_table unmeasured, &deviations = known_ != nullptr ? known_->residual : unmeasured;
        kernel_work work{.flops = occupied_together(*on_, works_), .unit = works_.front().unit};
        for (const sequences& s : all_) work.bytes += bytes_by_roofline(*s.shape, known_);
        const double together = by_roofline(work);
        double longest = 0;
        for (const std::int64_t length : sizes(1)) {
            const auto log_seconds_at = [&](const operator_shape& at, std::size_t, std::size_t) {
                const double deviation = std::exp2(deviations(where_, at.sizes));
                if (deviation <= 1) return std::log2(together * deviation);
                return std::log2(together + (deviation - 1) * by_roofline(work_of(at, known_)));
            };
            longest = std::max(longest, std::exp2(risen(deviations, alike(length, 0, length), log_seconds_at)));
        }
        return longest;
    }

    const device* on_;
    const kernel_calibration* known_ = nullptr;
    residual_table::place_of_site where_{};
    const roofline* base_ = nullptr;
    std::vector<sequences> all_;
    std::vector<kernel_work> works_;
    kernel_work done_;
    double alone_ = 0;
};

}  // namespace detail

/// The times of a step's kernels; those in one launch share what it takes by their times alone.
[[nodiscard]] inline std::vector<latency_estimate> estimates_of(const device& d, const std::vector<known_kernel>& step) {
    std::vector<latency_estimate> all;
    for (const known_kernel& k : step) all.push_back(estimate(d, k));
    for (std::size_t i = 0; i < step.size(); ++i) {
        if (step[i].what.launch != model_kernel::own_launch) continue;
        std::vector<std::size_t> members{i};
        for (std::size_t j = i + 1; j < step.size(); ++j)
            if (step[j].what.launch == static_cast<std::ptrdiff_t>(i)) members.push_back(j);
        if (members.size() == 1) continue;
        detail::sequences_together kinds[]{detail::sequences_together(d), detail::sequences_together(d)};
        const auto is_other = [&](std::size_t j) { return step[j].what.shape.family != step[i].what.shape.family; };
        for (const std::size_t j : members) kinds[is_other(j)].add(step[j], all[j].seconds);
        double seconds[]{kinds[0].seconds(), kinds[1].seconds()};
        const double saved[]{kinds[0].saved(seconds[0]), kinds[1].saved(seconds[1])};
        const std::size_t saves = saved[0] < saved[1] ? 0 : 1;  // the other keeps its launch for both
        seconds[saves] -= saved[saves];
        for (const std::size_t j : members) {
            const double share = seconds[is_other(j)] / kinds[is_other(j)].alone();
            latency_estimate& e = all[j];
            e.seconds *= share, e.upper *= share;
            const double least = least_seconds(d, detail::work_of(step[j].what.shape, step[j].known));
            e.lower = std::min(e.seconds, std::max(e.lower * share, least));
            e.share_of_bound = e.share_of_bound < share ? e.share_of_bound / share : 1;
        }
    }
    return all;
}

}  // namespace llmcost
