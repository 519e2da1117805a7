// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/string_ref.hpp>

// How far a server's times are from measured runs, by what they stand on.
namespace llmcost {

/// How far predictions are from runs, as log2(measured / predicted): nine in ten lie between.
struct relative_interval {
    double low = 0;
    double high = 0;

    /// The error at a place of the interval: 0.5 none, 0.05 and 0.95 its ends, straight between.
    [[nodiscard]] constexpr double quantile(double share) const noexcept {
        const double from_middle = (share - 0.5) / 0.45;
        return from_middle < 0 ? -from_middle * low : from_middle * high;
    }
};

/// What the times of a model on a device under an engine stand on, the best first.
enum class serving_evidence : std::uint8_t {
    measured_runs,     ///< the engine's kernels were measured there, and its own constants are fitted to runs there
    measured_kernels,  ///< its kernels were measured there, its constants are those of other devices
    fallback_kernels,  ///< kernels of another device or of other software, for more than a quarter of the time
    datasheet          ///< nobody measured the kernels of half of the time
};

/// The same in words.
[[nodiscard]] constexpr literal description_of(serving_evidence e) noexcept {
    switch (e) {
        case serving_evidence::measured_runs: return "runs of other models there";
        case serving_evidence::measured_kernels: return "kernels measured there, runs of other devices";
        case serving_evidence::fallback_kernels: return "kernels of another device or other software";
        case serving_evidence::datasheet: return "the datasheet";
    }
    return "";
}

/// The errors of an engine's mean times: in closed form, and simulated.
struct prediction_interval {
    string_ref engine{};
    serving_evidence evidence = serving_evidence::datasheet;
    relative_interval tpot{}, ttft{};
    relative_interval simulated_tpot{}, simulated_ttft{};
};

// Written by bench/fit_engines (docs/accuracy-serving.md): runs of models that took no part in the fit, those of B200
// by constants of H100 and H200, and all of them once more without the calibrations of their own device, and without
// any.
// clang-format off
inline constexpr prediction_interval serving_intervals[]{
    {"trtllm", serving_evidence::measured_runs, {-0.45, 0.26}, {-0.83, 1.12}, {-0.25, 0.48}, {-1.81, 0.99}},
    {"trtllm", serving_evidence::measured_kernels, {-0.45, 0.26}, {-0.83, 1.12}, {-0.33, 0.48}, {-1.81, 0.99}},
    {"trtllm", serving_evidence::fallback_kernels, {-0.45, 0.62}, {-0.83, 1.61}, {-0.38, 0.64}, {-1.81, 1.71}},
    {"trtllm", serving_evidence::datasheet, {-0.73, 0.62}, {-1.32, 1.61}, {-0.71, 0.64}, {-1.81, 1.71}},
    {"vllm", serving_evidence::measured_runs, {-0.47, 0.70}, {-0.38, 1.07}, {-0.52, 0.67}, {-1.05, 1.16}},
    {"vllm", serving_evidence::measured_kernels, {-0.47, 0.70}, {-0.38, 1.07}, {-0.52, 0.67}, {-1.05, 1.16}},
    {"vllm", serving_evidence::fallback_kernels, {-0.81, 0.70}, {-1.27, 1.07}, {-0.75, 0.67}, {-2.33, 1.16}},
    {"vllm", serving_evidence::datasheet, {-0.81, 0.77}, {-1.27, 1.07}, {-0.75, 0.75}, {-2.33, 1.16}},
    {"sglang", serving_evidence::measured_runs, {-0.37, 0.58}, {-0.30, 1.76}, {-0.36, 0.61}, {-0.34, 1.32}},
    {"sglang", serving_evidence::measured_kernels, {-0.37, 0.58}, {-0.30, 1.76}, {-0.36, 0.61}, {-0.34, 1.32}},
    {"sglang", serving_evidence::fallback_kernels, {-0.37, 0.58}, {-0.30, 1.76}, {-0.36, 0.61}, {-0.34, 1.32}},
    {"sglang", serving_evidence::datasheet, {-0.53, 0.58}, {-0.35, 4.31}, {-0.60, 0.61}, {-0.41, 4.89}},
};
// clang-format on

/// The errors of an engine; none where it is not known.
[[nodiscard]] constexpr prediction_interval prediction_interval_of(string_ref engine,
                                                                   serving_evidence evidence) noexcept {
    for (const prediction_interval& i : serving_intervals)
        if (i.engine == engine && i.evidence == evidence) return i;
    return {};
}

}  // namespace llmcost
