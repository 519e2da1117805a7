// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/string_ref.hpp>

// Prediction errors of a server's times compared with measured runs.
namespace llmcost {

/// Errors as log2(measured / predicted), from the 5 % to the 95 % quantile.
struct relative_interval {
    double low = 0;
    double high = 0;

    /// The error at a quantile: piecewise linear through (0.05, low), (0.5, 0) and (0.95, high).
    [[nodiscard]] constexpr double quantile(double share) const noexcept {
        const double from_middle = (share - 0.5) / 0.45;
        return from_middle < 0 ? -from_middle * low : from_middle * high;
    }
};

/// The evidence for the times of a model on a device with an engine. All but the last are in order, best first.
enum class serving_evidence : std::uint8_t {
    measured_runs,     ///< kernels and engine constants were measured on this device
    measured_kernels,  ///< kernels were measured on this device, engine constants on others
    fallback_kernels,  ///< kernels of another device or engine for more than a quarter of the time
    datasheet,         ///< kernels of half of the time were not measured
    calibrated_engine  ///< the constants of the engine were fitted to runs on this device (`engine_calibration`)
};

/// The evidence as text.
[[nodiscard]] constexpr literal description_of(serving_evidence e) noexcept {
    switch (e) {
        case serving_evidence::measured_runs: return "runs of other models there";
        case serving_evidence::measured_kernels: return "kernels measured there, runs of other devices";
        case serving_evidence::fallback_kernels: return "kernels of another device or other software";
        case serving_evidence::datasheet: return "the datasheet";
        case serving_evidence::calibrated_engine: return "a calibration of the engine by its own runs";
    }
    return "";
}

/// The errors of mean times of an engine: in closed form and simulated.
struct prediction_interval {
    string_ref engine{};
    serving_evidence evidence = serving_evidence::datasheet;
    relative_interval tpot{}, ttft{};
    relative_interval simulated_tpot{}, simulated_ttft{};
};

// Written by bench/fit_engines (docs/accuracy-serving.md), from runs of models outside of the fit. Runs on B200 use the
// constants of H100 and H200. All runs are repeated without the calibrations of their device, and without any.
inline constexpr prediction_interval serving_intervals[]{
    {.engine = "trtllm",
     .evidence = serving_evidence::measured_runs,
     .tpot = {-0.44, 0.26},
     .ttft = {-0.95, 1.11},
     .simulated_tpot = {-0.23, 0.49},
     .simulated_ttft = {-1.72, 1.02}},
    {.engine = "trtllm",
     .evidence = serving_evidence::measured_kernels,
     .tpot = {-0.44, 0.26},
     .ttft = {-0.95, 1.11},
     .simulated_tpot = {-0.31, 0.49},
     .simulated_ttft = {-1.72, 1.02}},
    {.engine = "trtllm",
     .evidence = serving_evidence::fallback_kernels,
     .tpot = {-0.44, 0.62},
     .ttft = {-0.95, 1.61},
     .simulated_tpot = {-0.38, 0.64},
     .simulated_ttft = {-1.72, 1.71}},
    {.engine = "trtllm",
     .evidence = serving_evidence::datasheet,
     .tpot = {-0.73, 0.62},
     .ttft = {-1.32, 1.61},
     .simulated_tpot = {-0.69, 0.64},
     .simulated_ttft = {-1.72, 1.71}},
    {.engine = "vllm",
     .evidence = serving_evidence::measured_runs,
     .tpot = {-0.52, 0.69},
     .ttft = {-0.38, 0.93},
     .simulated_tpot = {-0.59, 0.67},
     .simulated_ttft = {-1.23, 1.15}},
    {.engine = "vllm",
     .evidence = serving_evidence::measured_kernels,
     .tpot = {-0.52, 0.69},
     .ttft = {-0.38, 0.93},
     .simulated_tpot = {-0.59, 0.67},
     .simulated_ttft = {-1.23, 1.15}},
    {.engine = "vllm",
     .evidence = serving_evidence::fallback_kernels,
     .tpot = {-0.81, 0.69},
     .ttft = {-1.27, 1.05},
     .simulated_tpot = {-0.75, 0.67},
     .simulated_ttft = {-2.33, 1.15}},
    {.engine = "vllm",
     .evidence = serving_evidence::datasheet,
     .tpot = {-0.81, 0.77},
     .ttft = {-1.27, 1.07},
     .simulated_tpot = {-0.75, 0.75},
     .simulated_ttft = {-2.33, 1.15}},
    {.engine = "sglang",
     .evidence = serving_evidence::measured_runs,
     .tpot = {-0.37, 0.58},
     .ttft = {-0.30, 1.76},
     .simulated_tpot = {-0.36, 0.61},
     .simulated_ttft = {-0.34, 1.32}},
    {.engine = "sglang",
     .evidence = serving_evidence::measured_kernels,
     .tpot = {-0.37, 0.58},
     .ttft = {-0.30, 1.76},
     .simulated_tpot = {-0.36, 0.61},
     .simulated_ttft = {-0.34, 1.32}},
    {.engine = "sglang",
     .evidence = serving_evidence::fallback_kernels,
     .tpot = {-0.37, 0.58},
     .ttft = {-0.30, 1.76},
     .simulated_tpot = {-0.36, 0.61},
     .simulated_ttft = {-0.34, 1.32}},
    {.engine = "sglang",
     .evidence = serving_evidence::datasheet,
     .tpot = {-0.53, 0.58},
     .ttft = {-0.35, 4.31},
     .simulated_tpot = {-0.60, 0.61},
     .simulated_ttft = {-0.41, 4.89}},
};

/// The errors of an engine; zeros for an unknown engine.
[[nodiscard]] constexpr prediction_interval prediction_interval_of(string_ref engine,
                                                                   serving_evidence evidence) noexcept {
    for (const prediction_interval& i : serving_intervals)
        if (i.engine == engine && i.evidence == evidence) return i;
    return {};
}

}  // namespace llmcost
