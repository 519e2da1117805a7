// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <llmcost/serving/memory.hpp>
#include <llmcost/serving/ragged.hpp>

namespace llmcost {

/// A kernel of a step with its time.
struct timed_kernel {
    known_kernel kernel;
    latency_estimate each{};
};

/// A step, priced kernel by kernel.
struct timed_step : step_time {
    std::vector<timed_kernel> kernels;
    step_cost done{};
    std::size_t calibrated = 0;
    double weights = 0, cache = 0;  ///< bytes that each device holds at its end
    double host_seconds = 0;        ///< of issuing kernels, which the device waits for where they are more
};

/// The time of one step in which groups of sequences are computed together, each group of one workload.
[[nodiscard]] inline timed_step time_step(const model& whole, const std::vector<workload>& groups, execution how,
                                          const device& on, kernel_source& from) {
    for (const workload& load : groups)
        if (load.sequence > 1 && how.beside_prompts == taken_decodes::no)
            how.beside_prompts = take_decodes(kernels_of(whole, load, how), from);
    timed_step step;
    std::vector<model_kernel> kernels;
    for (const workload& load : groups) {
        join_step(kernels, kernels_of(whole, load, how), how.beside_prompts);
        step.cache += cache_bytes(whole, load, how);
    }
    step.weights = weight_bytes(whole, how);
    std::vector<known_kernel> known = with_measurements(std::move(kernels), how, from);
    const std::vector<latency_estimate> estimates = estimates_of(on, known);
    summed_time all;
    for (std::size_t i = 0; i < known.size(); ++i) {
        const latency_estimate& e = estimates[i];
        all.add(e, static_cast<double>(known[i].what.times));
        step.done += cost_of(on, known[i]);
        step.calibrated += e.calibrated ? 1 : 0;
        step.kernels.push_back({std::move(known[i]), e});
    }
    step.host_seconds = step.done.launches * seconds_per_launch(how, on, from);
    static_cast<step_time&>(step) = all.issued_in(step.host_seconds);
    return step;
}

}  // namespace llmcost
