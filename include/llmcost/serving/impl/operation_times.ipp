// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/operation_times.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/eager_listener.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost::detail {

LLMCOST_INLINE void numbering_listener::on_op(const recorder& r, const operation& o) {
    const std::size_t num_kernels = kernels_.size();
    inner_.on_op(r, o);
    kernel_indices_.push_back(kernels_.size() > num_kernels ? static_cast<std::int32_t>(num_kernels) : -1);
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE std::vector<double> operation_seconds(const model& m, workload load, const execution& execution,
                                                     const device& device, kernel_source& measurements) {
    const storage_types types = storage_types_of(m, load);
    load.uses_workload_dtypes = true;
    std::vector<model_kernel> kernels;
    std::vector<std::int32_t> kernel_of;
    detail::numbering_listener listener{kernels, kernel_of, execution};
    trace t{with_storage_types(load, types), &listener};
    (void)m.forward(t);
    const auto is_same_shape = [](const operator_shape& a, const operator_shape& b) {
        return a.type == b.type && a.operand == b.operand && a.variant == b.variant &&
               std::equal(a.sizes, a.sizes + a.type->size_count, b.sizes);
    };
    std::vector<std::pair<operator_shape, double>> known;  // layers repeat a few dozen kernels
    std::vector<double> seconds;
    for (const std::int32_t k : kernel_of) {
        if (k < 0) {
            seconds.push_back(0);
            continue;
        }
        const model_kernel& kernel = kernels[static_cast<std::size_t>(k)];
        auto found = std::find_if(known.begin(), known.end(),
                                  [&](const auto& entry) { return is_same_shape(entry.first, kernel.shape); });
        if (found == known.end()) {
            const std::vector<known_kernel> one = match_kernels({kernel}, execution, measurements);
            found = known.insert(known.end(), {kernel.shape, predicted_seconds(device, one.front())});
        }
        seconds.push_back(static_cast<double>(kernel.num_runs) * found->second);
    }
    return seconds;
}

}  // namespace llmcost
