// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/kernels/evidence.hpp>

#include <cstdint>
#include <string_view>

#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/kernels/kernel_database.hpp>
#include <llmcost/latency/calibration.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/kernels.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/prediction_intervals.hpp>
#include <llmcost/serving/step.hpp>

namespace llmcost {

LLMCOST_INLINE serving_evidence find_evidence(const model& model, const execution& execution_config,
                                              const engine& engine, const device& device, kernel_source& kernels,
                                              std::int64_t devices, std::int64_t tokens) {
    constexpr std::int64_t sequences = 16;
    double all = 0, measured_seconds = 0, none = 0;
    for (const bool writes : {false, true}) {
        execution step_execution = execution_config;
        step_execution.is_decode_step = writes;
        const workload step = writes ? workload{.batch = sequences, .sequence = 1, .past = tokens, .head = logits::last}
                                     : workload{.sequence = tokens, .past = 0, .head = logits::last};
        for (const known_kernel& k : match_kernels(kernels_of(model, step, step_execution), step_execution, kernels)) {
            const double seconds = cost_of(device, k).seconds *
                                   (writes ? static_cast<double>(tokens) / static_cast<double>(sequences) : 1);
            all += seconds;
            if (k.calibration == nullptr)
                none += seconds;
            else if (!k.calibration->is_fallback_device &&
                     !is_fallback(*k.kernel.shape.type, std::string_view(engine.kernel_software), k.calibration))
                measured_seconds += seconds;
        }
    }
    if (none > all / 2 || devices > execution_config.devices_per_node)
        return serving_evidence::datasheet;  // no multi-node run was measured
    if (measured_seconds < 0.75 * all) return serving_evidence::fallback_kernels;
    return has_measured_runs(device, devices) ? serving_evidence::measured_runs : serving_evidence::measured_kernels;
}

}  // namespace llmcost
