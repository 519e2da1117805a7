// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/serving/parallel_training.hpp>

// The output of the time of a training job on many devices.
namespace llmcost::cli {

/// The time of a training job.
struct training_time {
    parallel_training_cost cost{};
    double peak = 0;  ///< FLOP/s of the products of a device
    std::vector<std::string> assumptions{};
};

namespace detail {

/// What the time of a job consists of, on the slowest pipeline rank: a line for each part.
std::string training_time_lines(const parallel_training_cost& cost, std::string_view optimizer);

/// Tokens, model FLOPs and HFU of a device.
std::string per_device_line(const parallel_training_cost& cost, double peak);

/// A line for each assumption.
std::string assumption_lines(const std::vector<std::string>& assumptions);

/// Writes `"parallelism"`.
void write_parallelism(json_writer& json, const training_parallelism& parallel);

/// Writes `"communication"`, `"exposed_seconds"`, `"bubble_seconds"`, rates of a device and `"assumptions"`.
void write_training_time(json_writer& json, const training_time& time);

}  // namespace detail

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/pages/impl/training_time.ipp>  // IWYU pragma: export
#endif
