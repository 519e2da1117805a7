// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/mixed_batch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/latency/calibration.hpp>
#include <llmcost/latency/correction_factors.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/latency/roofline.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/step.hpp>

namespace llmcost::detail {

/// Whether two kernels of one step belong to one module.
LLMCOST_INLINE bool same_module(const model_kernel& a, const model_kernel& b) noexcept {
    return a.module_path == b.module_path && a.shape.variant == b.shape.variant;
}

/// Whether kernels of two groups share a launch: attention of one module and layer shape, or decode in prefill
/// attention.
LLMCOST_INLINE bool is_merged_launch(const model_kernel& a, const model_kernel& b,
                                     mixed_decode_kind mixed_decode_mode) noexcept {
    const operator_type &of_a = *a.shape.type, &of_b = *b.shape.type;
    bool is_same = of_a.num_axes > 1 && of_a.num_axes == of_b.num_axes &&
                   of_a.num_layer_shape_sizes == of_b.num_layer_shape_sizes && same_module(a, b);
    if (&of_a != &of_b)
        is_same = is_same && mixed_decode_mode != mixed_decode_kind::separate_kernel;
    else
        is_same = is_same && a.shape.operand == b.shape.operand;
    for (std::size_t i = of_a.num_axes; is_same && i < of_a.num_axes + of_a.num_layer_shape_sizes; ++i)
        is_same = a.shape.sizes[i] == b.shape.sizes[i];
    return is_same;
}

/// Whether a kernel is an elementwise fusion group, for which the row width is arbitrary.
LLMCOST_INLINE bool maps(const model_kernel& k) noexcept {
    return k.shape.type->num_axes == 1 && k.shape.variant == "map";
}

/// Whether two kernels are merged into one over all their rows or sequences.
LLMCOST_INLINE bool joins(const model_kernel& a, const model_kernel& b) noexcept {
    bool is_same = a.shape.type == b.shape.type && a.shape.operand == b.shape.operand && same_module(a, b);
    for (std::size_t i = 0; is_same && i < a.shape.type->size_count; ++i)
        is_same = is_additive(*a.shape.type, i) || maps(a) || a.shape.sizes[i] == b.shape.sizes[i];
    return is_same;
}

/// Reshapes an elementwise kernel to the row width of another one.
LLMCOST_INLINE void match_rows(model_kernel& map, const operator_shape& reference) {
    std::int64_t elements = 0, &rows = map.shape.sizes[0], &width = map.shape.sizes[1];
    if (__builtin_mul_overflow(rows, width, &elements)) throw_overflow_error();
    rows = elements / reference.sizes[1] + (elements % reference.sizes[1] != 0 ? 1 : 0);
    width = reference.sizes[1];
    map.parameter_sizes[0] = std::min(map.parameter_sizes[0], rows);
}

/// Adds one size of a kernel to that of another. The part that depends only on parameters counts once.
LLMCOST_INLINE void add_size(model_kernel& all, const model_kernel& k, std::size_t size) {
    std::int64_t &sum = all.shape.sizes[size], &shared = all.parameter_sizes[size];
    const std::int64_t unshared = sum - shared;
    shared = std::max(shared, k.parameter_sizes[size]);
    if (__builtin_add_overflow(unshared, k.shape.sizes[size] - k.parameter_sizes[size], &sum) ||
        __builtin_add_overflow(sum, shared, &sum))
        throw_overflow_error();
}

/// Splits a kernel of a step: `times` runs remain, the others follow it.
LLMCOST_INLINE void split(std::vector<model_kernel>& step, std::vector<bool>& is_merged, std::size_t place,
                          std::int64_t times) {
    model_kernel others = step[place];
    others.num_runs -= times;
    step[place].num_runs = times;
    const auto next_index = static_cast<std::ptrdiff_t>(place) + 1;
    for (model_kernel& k : step)
        if (k.shared_launch_index >= next_index) ++k.shared_launch_index;
    step.insert(step.begin() + next_index, std::move(others));
    is_merged.insert(is_merged.begin() + next_index, false);
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE void merge_step(std::vector<model_kernel>& all, std::vector<model_kernel> added,
                               mixed_decode_kind mixed_decode_mode) {
    std::vector<bool> is_merged(all.size());  // kernels that are already merged with one of `added`
    for (model_kernel& k : added) {
        // Equal operations of one group are one kernel with several runs. In another group they may differ.
        const auto merge_runs = [&](std::size_t i) {
            if (all[i].num_runs > k.num_runs) detail::split(all, is_merged, i, k.num_runs);
            k.num_runs -= all[i].num_runs;
            is_merged[i] = true;
        };
        for (std::size_t i = 0; i < is_merged.size() && k.num_runs > 0; ++i) {
            if (is_merged[i] || !detail::joins(all[i], k)) continue;
            merge_runs(i);
            model_kernel part = k;
            if (detail::maps(part)) detail::match_rows(part, all[i].shape);
            for (std::size_t s = 0; s < part.shape.type->size_count; ++s)
                if (detail::is_additive(*part.shape.type, s)) detail::add_size(all[i], part, s);
        }
        for (std::size_t previous = 0; previous < is_merged.size() && k.num_runs > 0; ++previous) {
            if (is_merged[previous] || all[previous].shared_launch_index != model_kernel::separate_launch ||
                !detail::is_merged_launch(all[previous], k, mixed_decode_mode))
                continue;
            merge_runs(previous);
            model_kernel& part = all.emplace_back(k);
            part.num_runs = all[previous].num_runs;
            part.shared_launch_index = static_cast<std::ptrdiff_t>(previous);
        }
        if (k.num_runs > 0) all.push_back(std::move(k));
    }
}

LLMCOST_INLINE mixed_decode_kind merge_decodes_into_prefill(const std::vector<model_kernel>& prompts,
                                                            kernel_source& kernels) {
    for (const model_kernel& k : prompts)
        if (const kernel_calibration* known = kernels.find(k.shape);
            known != nullptr && known->mixed_decode_mode != mixed_decode_kind::separate_kernel)
            return known->mixed_decode_mode;
    return mixed_decode_kind::separate_kernel;
}

}  // namespace llmcost

namespace llmcost::detail {

/// Bytes of a kernel. Bytes of cached tokens are scaled to the bandwidth of the roofline.
[[nodiscard]] LLMCOST_INLINE double bytes_by_roofline(const operator_shape& shape, const kernel_calibration* known) {
    const double all = work_of(shape, known).bytes;
    if (known == nullptr || known->past_bandwidth_efficiency == 0) return all;
    const double fresh = work_of(without_added(shape), known).bytes;
    return fresh + (all - fresh) * known->roofline_model.bandwidth_efficiency / known->past_bandwidth_efficiency;
}

/// FLOPs of kernels that share a launch, scaled by occupancy: the busiest unit times all units.
///
/// Tiles of one kernel fill units that another leaves idle. Full waves of the largest tiles are a lower bound, as are
/// those of the largest and the next, and so on. For one kernel, equal to `flops_with_occupancy`.
[[nodiscard]] LLMCOST_INLINE double occupied_together(const device& d, std::vector<kernel_work> works) {
    std::sort(works.begin(), works.end(),
              [](const kernel_work& a, const kernel_work& b) { return a.min_tile_flops > b.min_tile_flops; });
    kernel_work so_far;
    double flops = 0, maximum = 0;
    for (const kernel_work& w : works) {
        so_far.num_tiles += w.num_tiles;
        so_far.min_tile_flops = w.min_tile_flops;
        flops += std::max(w.flops, w.num_tiles * w.min_tile_flops);
        maximum = std::max({maximum, flops_with_occupancy(d, w), flops_with_occupancy(d, so_far)});
    }
    return std::max(flops, maximum);
}

LLMCOST_INLINE void mixed_batch::add(const known_kernel& k, double seconds) {
    sequences_.push_back({&k.kernel.shape, seconds});
    calibration_ = k.calibration;
    layer_shape_position_ = k.layer_shape_position;
    base_ = k.calibration != nullptr ? &k.calibration->roofline_model : &typical_of(k.kernel.shape).roofline_model;
    separate_seconds_ += seconds;
    const kernel_work& work = kernel_works_.emplace_back(work_of(k.kernel.shape, k.calibration));
    total_work_.compute_unit = work.compute_unit;
    total_work_.flops += work.flops;
    total_work_.bytes += work.bytes;
}

LLMCOST_INLINE double mixed_batch::seconds() const {
    if (sequences_.size() < 2) return separate_seconds_;
    double work_seconds = 0, launch = 0;
    for (std::size_t i = 0; i < sequences_.size(); ++i) {
        const double saved =
            subtract_seconds(sequences_[i].separate_seconds, roofline_seconds(*device_, kernel_works_[i]));
        work_seconds += sequences_[i].separate_seconds - saved;
        launch = std::max(launch, saved);
    }
    double seconds = work_seconds + launch;
    if (kernel_works_.front().num_tiles > 0) seconds = std::min(seconds, side_by_side());
    seconds = std::min(seconds, predicted(group_equal_lengths(sizes(1).back(), sizes(variant_after_site()).back(), 0)));
    return std::max({seconds, longest_kernels_seconds(), roofline_seconds(*device_, total_work_)});
}

LLMCOST_INLINE std::size_t mixed_batch::variant_after_site() const {
    const operator_type& family = *sequences_.front().shape->type;
    return family.num_axes + family.num_layer_shape_sizes;
}

LLMCOST_INLINE std::vector<std::int64_t> mixed_batch::sizes(std::size_t kind) const {
    std::vector<std::int64_t> found;
    for (const sequences& s : sequences_) found.push_back(s.shape->sizes[kind]);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

LLMCOST_INLINE operator_shape mixed_batch::group_equal_lengths(std::int64_t length, std::int64_t past,
                                                               std::int64_t minimum) const {
    operator_shape shape = *sequences_.front().shape;
    shape.sizes[0] = 0;
    shape.sizes[1] = length;
    shape.sizes[variant_after_site()] = past;
    for (const sequences& s : sequences_)
        if (s.shape->sizes[1] >= minimum) shape.sizes[0] += s.shape->sizes[0];
    return shape;
}

LLMCOST_INLINE double mixed_batch::longest_kernels_seconds() const {
    std::vector<const operator_shape*> by_past;
    for (const sequences& s : sequences_) by_past.push_back(s.shape);
    const std::size_t past = variant_after_site();
    std::sort(by_past.begin(), by_past.end(),
              [&](const auto* a, const auto* b) { return a->sizes[past] > b->sizes[past]; });
    double maximum = 0;
    for (const std::int64_t length : sizes(1)) {
        operator_shape shape = group_equal_lengths(length, 0, INT64_MAX);
        bool has_length = false;  // otherwise, a greater length has as many sequences
        const auto count_in = [&] {
            if (has_length) maximum = std::max(maximum, predicted(shape));
        };
        for (const operator_shape* next : by_past) {
            if (next->sizes[1] < length) continue;
            if (next->sizes[past] != shape.sizes[past])
                count_in();  // the maximum number of sequences with so many cached tokens
            has_length = has_length || next->sizes[1] == length;
            shape.sizes[0] += next->sizes[0];
            shape.sizes[past] = next->sizes[past];
        }
        count_in();
    }
    return maximum;
}

LLMCOST_INLINE double mixed_batch::roofline_time(const kernel_work& work) const {
    const datasheet_seconds s = roofline_terms(*device_, work);
    return (*base_)(s.compute, s.memory);
}

LLMCOST_INLINE double mixed_batch::side_by_side() const {
    const correction_table unmeasured, &deviations = calibration_ != nullptr ? calibration_->correction : unmeasured;
    kernel_work work{.flops = occupied_together(*device_, kernel_works_),
                     .compute_unit = kernel_works_.front().compute_unit};
    for (const sequences& s : sequences_) work.bytes += bytes_by_roofline(*s.shape, calibration_);
    const double combined_seconds = roofline_time(work);
    double longest = 0;
    for (const std::int64_t length : sizes(1)) {
        const auto log_seconds_at = [&](const operator_shape& point, std::size_t, std::size_t) {
            const double deviation = std::exp2(deviations(layer_shape_position_, point.sizes));
            if (deviation <= 1) return std::log2(combined_seconds * deviation);
            return std::log2(combined_seconds + (deviation - 1) * roofline_time(work_of(point, calibration_)));
        };
        longest = std::max(
            longest, std::exp2(monotonic_seconds(deviations, group_equal_lengths(length, 0, length), log_seconds_at)));
    }
    return longest;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE std::vector<latency_estimate> estimates_of(const device& d, const std::vector<known_kernel>& step) {
    std::vector<latency_estimate> all;
    for (const known_kernel& k : step) all.push_back(estimate(d, k));
    for (std::size_t i = 0; i < step.size(); ++i) {
        if (step[i].kernel.shared_launch_index != model_kernel::separate_launch) continue;
        std::vector<std::size_t> members{i};
        for (std::size_t j = i + 1; j < step.size(); ++j)
            if (step[j].kernel.shared_launch_index == static_cast<std::ptrdiff_t>(i)) members.push_back(j);
        if (members.size() == 1) continue;
        detail::mixed_batch kinds[]{detail::mixed_batch(d), detail::mixed_batch(d)};
        const auto is_other = [&](std::size_t j) { return step[j].kernel.shape.type != step[i].kernel.shape.type; };
        for (const std::size_t j : members) kinds[is_other(j)].add(step[j], all[j].seconds / step[j].time_factor);
        double seconds[]{kinds[0].seconds(), kinds[1].seconds()};
        const double saved[]{kinds[0].saved(seconds[0]), kinds[1].saved(seconds[1])};
        const std::size_t saves = saved[0] < saved[1] ? 0 : 1;  // the other one includes the launch
        seconds[saves] -= saved[saves];
        for (const std::size_t j : members) {
            const double share = seconds[is_other(j)] / kinds[is_other(j)].time_without_merging();
            latency_estimate& e = all[j];
            e.seconds *= share;
            e.upper *= share;
            const double minimum = roofline_seconds(d, detail::work_of(step[j].kernel.shape, step[j].calibration));
            e.lower = std::min(e.seconds, std::max(e.lower * share, minimum));
            e.roofline_efficiency = e.roofline_efficiency < share ? e.roofline_efficiency / share : 1;
        }
    }
    return all;
}

}  // namespace llmcost
