// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/devices/device.hpp>
#include <llmcost/latency/calibration.hpp>
#include <llmcost/latency/correction_factors.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/latency/roofline.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/step.hpp>

// Requests of different lengths in one step.
namespace llmcost {

namespace detail {

/// Whether a size is summed when kernels are merged: rows and everything proportional to them; sequences in attention.
constexpr bool is_additive(const operator_type& family, std::size_t size) noexcept {
    return family.num_axes == 1 ? family.sizes[size].role != size_role::layer_shape : size == 0;
}

}  // namespace detail

/// Merges the kernels of another group of requests into a step.
///
/// Products, experts and fusion groups process all rows at once. Attention processes sequences of equal length.
/// Sequences of other lengths share the launch. Decodes share that of prefills, depending on `mixed_decode_mode`.
/// Throws: `overflow_error` if sizes need more than 64 bits.
void merge_step(std::vector<model_kernel>& all, std::vector<model_kernel> added,
                mixed_decode_kind mixed_decode_mode = mixed_decode_kind::separate_kernel);

/// How the kernels of prefills treat decodes of the same step.
[[nodiscard]] mixed_decode_kind merge_decodes_into_prefill(const std::vector<model_kernel>& prompts,
                                                           kernel_source& kernels);

namespace detail {

/// Attention kernels of one launch, for sequences of different lengths.
class mixed_batch {
public:
    explicit mixed_batch(const device& d) : device_(&d) {}

    /// Adds a kernel with its time in a separate launch.
    void add(const known_kernel& k, double seconds);
    [[nodiscard]] double time_without_merging() const noexcept { return separate_seconds_; }

    /// Seconds of all kernels in one launch.
    ///
    /// At most the sum of separate launches, and at most the time if all sequences had the maximum length.
    /// At least the time of the sequences of any minimum length.
    [[nodiscard]] double seconds() const;
    /// The part of `seconds` that is saved in the launch of other kernels.
    [[nodiscard]] double saved(double seconds) const noexcept {
        return sequences_.empty() ? 0 : subtract_seconds(seconds, roofline_seconds(*device_, total_work_));
    }

private:
    struct sequences {
        const operator_shape* shape;
        double separate_seconds;
    };
    [[nodiscard]] double subtract_seconds(double seconds, double minimum) const noexcept {
        return std::max(0.0, std::min(base_->launch, seconds - minimum));
    }
    /// Index of the size after axes and layer shape.
    [[nodiscard]] std::size_t variant_after_site() const;
    [[nodiscard]] double predicted(const operator_shape& shape) const {
        return predicted_seconds(*device_, shape, calibration_, layer_shape_position_);
    }
    /// The distinct values of one size, in ascending order.
    [[nodiscard]] std::vector<std::int64_t> sizes(std::size_t kind) const;
    /// The sequences with at least `minimum` tokens, all with `length` new and `past` cached tokens.
    [[nodiscard]] operator_shape group_equal_lengths(std::int64_t length, std::int64_t past,
                                                     std::int64_t minimum) const;
    /// Maximum over all minimum lengths of the time of the sequences that have them, in new and cached tokens.
    [[nodiscard]] double longest_kernels_seconds() const;
    [[nodiscard]] double roofline_time(const kernel_work& work) const;
    /// Seconds of kernels that share their work: the roofline of the sum, times or plus a deviation.
    ///
    /// A deviation is measured for sequences with at least one of the lengths. A slower measurement adds its seconds, a
    /// faster one multiplies. The longest result counts. Deviations are made monotonic along the axes.
    [[nodiscard]] double side_by_side() const;

    const device* device_;
    const kernel_calibration* calibration_ = nullptr;
    correction_table::layer_shape_position layer_shape_position_{};
    const roofline* base_ = nullptr;
    std::vector<sequences> sequences_;
    std::vector<kernel_work> kernel_works_;
    kernel_work total_work_;
    double separate_seconds_ = 0;
};

}  // namespace detail

/// The times of the kernels of a step. Kernels in one launch share its time in proportion to their separate times.
[[nodiscard]] std::vector<latency_estimate> estimates_of(const device& d, const std::vector<known_kernel>& step);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/mixed_batch.ipp>  // IWYU pragma: export
#endif
