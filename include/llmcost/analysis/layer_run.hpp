// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/model/model_spec.hpp>

// Repeated groups of layers, of which a few represent all.
namespace llmcost {

/// A run of repeated layers: `repetitions` groups of `period` layers, from layer `first` on.
struct layer_run {
    std::int64_t first = 0, period = 1, repetitions = 0;
};

/// The run that saves the most layers if only `max_repetitions` groups of it are traced.
[[nodiscard]] constexpr layer_run longest_layer_run(const layer_plan& plan, std::int64_t layers,
                                                    std::int64_t max_repetitions) noexcept {
    if (!plan.is_heterogeneous()) return {0, 1, layers};
    constexpr std::int64_t longest_period = 16;
    layer_run best;
    std::int64_t spared = 0;
    for (std::int64_t period = 1; period <= longest_period; ++period)
        for (std::int64_t first = 0, end = 0; first + period < layers; first = end + 1) {
            for (end = first; end + period < layers && plan.spec_index(end) == plan.spec_index(end + period);) ++end;
            const layer_run run{first, period, (end - first) / period + 1};
            if ((run.repetitions - max_repetitions) * period > spared) {
                best = run;
                spared = (run.repetitions - max_repetitions) * period;
            }
        }
    return best;
}
/// Returns the model with `times` repetitions of the run.
[[nodiscard]] constexpr model with_repetitions(model m, const layer_run& run, std::int64_t times) noexcept {
    const std::int64_t num_removed_layers = (run.repetitions - times) * run.period;
    m.config.num_hidden_layers -= num_removed_layers;
    if (m.config.layers.is_heterogeneous())
        for (std::int64_t i = run.first + times * run.period; i < m.config.num_hidden_layers; ++i)
            m.config.layers.spec_indices[i] = m.config.layers.spec_indices[i + num_removed_layers];
    return m;
}

}  // namespace llmcost
