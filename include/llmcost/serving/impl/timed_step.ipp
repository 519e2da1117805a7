// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/timed_step.hpp>

#include <cstddef>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/latency/calibration.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/serving/kernels.hpp>
#include <llmcost/serving/memory.hpp>
#include <llmcost/serving/mixed_batch.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/step.hpp>

namespace llmcost {

LLMCOST_INLINE timed_step time_step(const model& model, const std::vector<workload>& sequence_groups,
                                    execution execution, const device& device, kernel_source& measurements) {
    for (const workload& load : sequence_groups)
        if (load.sequence > 1 && execution.mixed_decode_mode == mixed_decode_kind::separate_kernel)
            execution.mixed_decode_mode = merge_decodes_into_prefill(kernels_of(model, load, execution), measurements);
    timed_step step;
    std::vector<model_kernel> kernels;
    for (const workload& load : sequence_groups) {
        merge_step(kernels, kernels_of(model, load, execution), execution.mixed_decode_mode);
        step.cache += cache_bytes(model, load, execution);
    }
    step.weights = weight_bytes(model, execution);
    std::vector<known_kernel> known = match_kernels(std::move(kernels), execution, measurements);
    const std::vector<latency_estimate> estimates = estimates_of(device, known);
    summed_time all;
    for (std::size_t i = 0; i < known.size(); ++i) {
        const latency_estimate& e = estimates[i];
        all.add(e, static_cast<double>(known[i].kernel.num_runs));
        step.done += cost_of(device, known[i]);
        step.calibrated += e.is_calibrated ? 1 : 0;
        step.kernels.push_back({std::move(known[i]), e});
    }
    step.host_seconds = step.done.launches * seconds_per_launch(execution, device, measurements);
    static_cast<step_time&>(step) = all.issued_in(step.host_seconds);
    return step;
}

}  // namespace llmcost
