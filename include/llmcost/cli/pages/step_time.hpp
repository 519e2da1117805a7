// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/cli/pages/device_table.hpp>
#include <llmcost/cli/pages/training_time.hpp>
#include <llmcost/report/json_writer.hpp>

// The output of an estimated step time: text lines, JSON members, columns of a device table.
namespace llmcost::cli {

/// The estimated time, energy and price of a step on a device.
struct step_estimate {
    double seconds = 0;  ///< 0: not estimated
    double lower = 0;
    double upper = 0;
    double inputs_per_second = 0;        ///< of all data-parallel ranks
    double watts = 0;                    ///< of all devices; 0: unknown
    double price_per_hour = 0;           ///< of all devices; 0: unknown
    double model_flops_utilization = 0;  ///< of a training step; 0: unknown
    double device_seconds = 0;           ///< of a training step of PyTorch; 0: not estimated
    double host_seconds = 0;             ///< to launch its kernels
    bool is_torch = false;               ///< PyTorch instead of fused kernels
    bool is_compiled = false;            ///< PyTorch with `torch.compile`
    std::optional<training_time> job{};  ///< of a training job on many devices
    std::string optimizer{};             ///< of a job: its name
    std::int64_t num_devices = 1;
    std::string inputs_name{};   ///< `tokens`
    std::string device_title{};  ///< printable
    std::string problem{};       ///< why there is no estimate
    std::string omissions{};     ///< what the time does not contain; empty: nothing
    std::string type_note{};     ///< why kernels have another type than the weights; empty: they have not

    [[nodiscard]] double joules_per_input() const noexcept {
        return inputs_per_second > 0 ? watts / inputs_per_second : 0;
    }
    [[nodiscard]] double price_per_million_inputs() const noexcept {
        return inputs_per_second > 0 ? 1e6 / inputs_per_second / 3600 * price_per_hour : 0;
    }
    /// Hours for `inputs` tokens, images, recordings or samples.
    [[nodiscard]] double hours_of(double inputs) const noexcept {
        return inputs_per_second > 0 ? inputs / inputs_per_second / 3600 : 0;
    }
};

namespace detail {

/// The lines of a training step: step time, throughput, and the cost of `epoch_tokens` tokens.
std::string estimate_lines(const step_estimate& estimate, std::int64_t epoch_tokens);

/// How the time of a training step is estimated, and what it does not contain.
std::string assumption_line(const step_estimate& estimate);

/// How the time of an inference step is estimated.
std::string inference_assumption_line(const step_estimate& estimate);

/// Writes `"step_time"`: null values where there is no estimate.
void write_estimate(json_writer& json, const step_estimate& estimate, std::int64_t epoch_tokens);

/// The columns of a step in a device table.
std::vector<device_figure> step_figures(std::string_view inputs_name, std::int64_t epoch_tokens = 0);

/// The values of `step_figures`.
std::vector<double> step_values(const step_estimate& estimate, std::int64_t epoch_tokens = 0);

}  // namespace detail

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/pages/impl/step_time.ipp>  // IWYU pragma: export
#endif
