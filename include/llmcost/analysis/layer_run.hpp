// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/model/architecture.hpp>

// Layers that come again and again, of which a few stand for all.
namespace llmcost {

/// Layers that come again and again: from the first of them, so many at a time.
struct layer_run {
    std::int64_t first = 0, period = 1, times = 0;
};

/// The run that stands for most layers when only so many of its times are walked.
[[nodiscard]] constexpr layer_run longest_run(const layer_plan& plan, std::int64_t layers, std::int64_t walked) noexcept {
    if (!plan.mixed()) return {0, 1, layers};
    constexpr std::int64_t longest_period = 16;
    layer_run best;
    std::int64_t spared = 0;
    for (std::int64_t period = 1; period <= longest_period; ++period)
        for (std::int64_t first = 0, end = 0; first + period < layers; first = end + 1) {
            for (end = first; end + period < layers && plan.number(end) == plan.number(end + period);) ++end;
            const layer_run run{first, period, (end - first) / period + 1};
            if ((run.times - walked) * period > spared) best = run, spared = (run.times - walked) * period;
        }
    return best;
}
/// The same model, its run so many times.
[[nodiscard]] constexpr model repeated(model m, const layer_run& run, std::int64_t times) noexcept {
    const std::int64_t gone = (run.times - times) * run.period;
    m.dims.num_hidden_layers -= gone;
    if (m.dims.layers.mixed())
        for (std::int64_t i = run.first + times * run.period; i < m.dims.num_hidden_layers; ++i)
            m.dims.layers.numbers[i] = m.dims.layers.numbers[i + gone];
    return m;
}

}  // namespace llmcost
