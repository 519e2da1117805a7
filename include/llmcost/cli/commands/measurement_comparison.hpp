// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/latency/calibration.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/serving/model_kernel.hpp>

// `llmcost-calibrate --model`: measures every distinct operator of a model at its real size on the local device.
namespace llmcost::cli {

/// The measurement of an operator.
struct timed_operator {
    double seconds = 0;
    std::string target;             ///< name of the executed kernel
    std::int64_t memory_bytes = 0;  ///< device memory, including the CUDA context of the process
};
/// Measures one operator; none if the device or its libraries do not support it.
using operator_timer = std::function<std::optional<timed_operator>(const operator_shape&)>;

/// A kernel of a model with its measured and predicted time.
struct profiled_kernel {
    model_kernel kernel{};
    std::string target{};
    std::optional<double> forward{}, backward{};  ///< seconds per call; none if it was not measured
    bool backward_was_run = false;                ///< false: `backward` is derived from the forward time
    latency_estimate predicted{};                 ///< predicted forward time
};

/// The kernels of a model; each distinct operator is measured once.
struct profiled_model {
    std::vector<profiled_kernel> kernels;
    std::size_t distinct = 0;       ///< number of measured operators
    std::int64_t memory_bytes = 0;  ///< peak device memory

    /// Total seconds of all calls of the measured kernels: measured forward, predicted forward, backward.
    struct sums {
        double forward = 0, predicted = 0, backward = 0;
        std::int64_t left_out = 0;  ///< kernels without a measurement
    };
    [[nodiscard]] sums total() const;
};

namespace detail {

/// Whether two kernels are the same operator, independent of their module.
std::string key_of(const operator_shape& shape);

}  // namespace detail

inline constexpr std::array measured_options = concatenate(
    execution_options,
    std::array{option::text_json_or_csv_format, option::batch, option::sequence, option::past, option::logits},
    model_options);

/// Runs `llmcost-calibrate --model NAME` on one device.
///
/// The options are those of `llmcost latency`; the default of `--execution` is eager. Throws: `usage`.
[[nodiscard]] std::string run_measured(std::span<const std::string_view> args, const operator_timer& run,
                                       const program& io);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/measurement_comparison.ipp>  // IWYU pragma: export
#endif
