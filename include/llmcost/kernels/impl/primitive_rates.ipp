// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/kernels/primitive_rates.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/kernels/kernel_database.hpp>
#include <llmcost/latency/calibration.hpp>
#include <llmcost/latency/operator_types.hpp>

namespace llmcost::detail {

/// Seconds of one more operation in each thread.
LLMCOST_INLINE double seconds_of_further_operation(const device& d, operator_shape shape,
                                                   const kernel_calibration* known) {
    std::int64_t shortest = 1024, longest = 8192;  // as llmcost-calibrate measures
    if (known != nullptr && known->correction.length[0] > 1) {
        shortest = known->correction.axis[0][0];
        longest = known->correction.axis[0][known->correction.length[0] - 1];
    }
    shape.sizes[0] = longest;
    const double seconds = estimate(d, shape, known).seconds;
    shape.sizes[0] = shortest;
    return (seconds - estimate(d, shape, known).seconds) / static_cast<double>(longest - shortest);
}

/// The largest measured number of threads; without a measurement, as many as multiprocessors of NVIDIA hold (2,048
/// each; CUDA C++ Programming Guide, "Compute Capabilities").
LLMCOST_INLINE std::int64_t num_filling_threads(const device& d, const kernel_calibration* known) {
    if (known != nullptr && known->correction.num_layer_shapes > 0)
        return *std::max_element(known->correction.sites, known->correction.sites + known->correction.num_layer_shapes);
    return 2048 * std::max<std::int64_t>(1, static_cast<std::int64_t>(d.num_compute_units));
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE primitive_rate find_primitive_rate(kernel_database& database, kernel_query query, string_ref operation) {
    query.variant = std::string(operation);
    const auto find_measured = [&](const char* kernel) {
        query.kernel = kernel;
        kernel_match found = database.find_kernel(query, "--dtype");
        if (found.calibration != nullptr && !(found.calibration->kernel == query.kernel)) found.calibration = nullptr;
        return found;
    };
    query.layer_shape[0] = 1;
    const kernel_match latency = find_measured("chained"), throughput = find_measured("interleaved");
    operator_shape shape{
        .type = &database.family(), .sizes = {1, 1}, .operand = latency.operand, .variant = latency.variant};
    const device& d = *latency.target_device;
    kernel_database::validate_operand(d, shape, "--dtype");
    primitive_rate rate{.operation = operation,
                        .operand = latency.operand,
                        .target_device = &d,
                        .latency_source = latency.calibration,
                        .throughput_source = throughput.calibration};
    rate.latency_seconds = detail::seconds_of_further_operation(d, shape, latency.calibration);
    shape.sizes[1] = detail::num_filling_threads(d, throughput.calibration);
    rate.operations_per_second =
        static_cast<double>(shape.sizes[1]) / detail::seconds_of_further_operation(d, shape, throughput.calibration);
    return rate;
}

}  // namespace llmcost
