// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/timeline.hpp>

#include <cstddef>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/latency/calibration.hpp>
#include <llmcost/memory/parallel_config.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/eager_listener.hpp>
#include <llmcost/serving/fused_listener.hpp>
#include <llmcost/serving/kernels.hpp>
#include <llmcost/serving/mixed_batch.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/step.hpp>

namespace llmcost::detail {

/// The kernels of one forward pass on one device, layer by layer.
[[nodiscard]] LLMCOST_INLINE std::vector<model_kernel> kernels_in_execution_order(const model& full_model,
                                                                                  const workload& load,
                                                                                  const execution& execution) {
    std::vector<model_kernel> all;
    const model part = shard_model(full_model, execution.parallel);
    const auto run_trace = [&](auto& inner) {
        kernel_order_listener listener(all, inner);
        trace_kernels(part, load, listener, {});
        return listener;
    };
    if (execution.launch == launch_mode::eager) {
        eager_listener inner(all, execution);
        (void)run_trace(inner);
    } else {
        fused_listener inner(all, execution);
        run_trace(inner).emit_kernel([&] { inner.finish(); });
    }
    return all;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE std::vector<timeline_kernel> timeline_of(const model& full_model, const workload& load,
                                                        const execution& execution, const device& device,
                                                        kernel_source& kernels) {
    std::vector<known_kernel> known =
        match_kernels(detail::kernels_in_execution_order(full_model, load, execution), execution, kernels);
    const std::vector<latency_estimate> estimates = estimates_of(device, known);
    const double per_launch = seconds_per_launch(execution, device, kernels);
    std::vector<timeline_kernel> out;
    double free = 0, issued = 0;
    for (std::size_t i = 0; i < known.size(); ++i) {
        const auto times = static_cast<double>(known[i].kernel.num_runs);
        timeline_kernel k{{std::move(known[i]), estimates[i]}};
        k.host = times * per_launch;
        k.issued = issued += k.host;
        k.begins = free > issued ? free : issued;
        k.duration = times * estimates[i].seconds;
        free = k.begins + k.duration;
        out.push_back(std::move(k));
    }
    return out;
}

}  // namespace llmcost
