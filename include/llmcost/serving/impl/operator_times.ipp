// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/operator_times.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/latency/calibration.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/eager_listener.hpp>
#include <llmcost/serving/mixed_batch.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/serving/training.hpp>
#include <llmcost/trace/listener.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost::detail {

LLMCOST_INLINE bool traced_operation::is(const traced_operation& o) const noexcept {
    if (kind != o.kind || sizes.rank != o.sizes.rank) return false;
    for (int i = 0; i < sizes.rank; ++i)
        if (sizes.size[i] != o.sizes.size[i]) return false;
    return true;
}

LLMCOST_INLINE void operation_listener::on_op(const recorder& r, const operation& o) {
    traced_operation w{o.kind};
    for (int i = 0; i < o.output.rank; ++i) w.sizes.size[w.sizes.rank++] = o.output.size[i];
    w.casts = o.kind == op::copy && o.inputs[0]->type != o.output.type;
    eager_.on_op(r, o);
    if (!emitted_kernels_.empty()) {
        w.runs = static_cast<double>(std::exchange(emitted_kernels_.front().num_runs, 1));
        w.kernel = place_of(std::move(emitted_kernels_.front()));
    }
    emitted_kernels_.clear();
    operations.push_back(w);
}

LLMCOST_INLINE std::ptrdiff_t operation_listener::place_of(model_kernel k) {
    const auto match = std::find(kernels.begin(), kernels.end(), k);
    const std::ptrdiff_t index = match - kernels.begin();
    if (match == kernels.end()) kernels.push_back(std::move(k));
    return index;
}

/// Maps each operation of a trace in one element type to a trace in several, which has additional casts.
///
/// A copy that a cast replaces maps to the operation before it.
[[nodiscard]] LLMCOST_INLINE std::vector<std::size_t> places_among(const std::vector<traced_operation>& plain,
                                                                   const std::vector<traced_operation>& typed) {
    constexpr std::size_t max_distance = 64;
    std::vector<std::size_t> places;
    std::size_t next = 0;
    for (const traced_operation& o : plain) {
        std::size_t index = next;
        while (index < typed.size() && index < next + max_distance && !(typed[index].is(o) && !typed[index].casts))
            ++index;
        bool only_casts = index < typed.size() && index < next + max_distance;
        for (std::size_t i = next; only_casts && i < index; ++i) only_casts = typed[i].casts;
        if (only_casts) next = index + 1;
        places.push_back(next > 0 ? next - 1 : 0);
    }
    return places;
}

/// Seconds of the backward pass of a kernel, as in `training_of`.
[[nodiscard]] LLMCOST_INLINE double backward_seconds(const device& device, const known_kernel& k, double forward,
                                                     const execution& execution, kernel_source& kernels) {
    const backward_rule rule = k.kernel.shape.type->backward;
    if (rule != backward_rule::products) return backward_factor(rule) * forward;
    double seconds = 0;
    for (const known_kernel& backward_kernel : match_kernels(products_of_backward(k.kernel), execution, kernels))
        seconds += cost_of(device, backward_kernel).seconds;
    return seconds;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE operator_times operator_times_of(const model& m, workload load, const execution& execution,
                                                const device& device, kernel_source& kernels) {
    const auto run_trace = [&](const workload& step_load, detail::operation_listener& listener) {
        trace t{step_load, &listener};
        (void)m.forward(t);
    };
    workload typed_load = with_storage_types(load, storage_types_of(m, load));
    typed_load.uses_workload_dtypes = true;
    load.activations = dtype::float32;  // a step is timed with all tensors in one type
    detail::operation_listener typed(execution), plain(execution);
    run_trace(typed_load, typed);
    run_trace(load, plain);
    const std::vector<std::size_t> places = detail::places_among(plain.operations, typed.operations);
    const std::vector<known_kernel> known = match_kernels(plain.kernels, execution, kernels);
    const std::vector<latency_estimate> estimates = estimates_of(device, known);
    std::vector<double> backward_times;
    for (std::size_t k = 0; k < known.size(); ++k)
        backward_times.push_back(
            load.training ? detail::backward_seconds(device, known[k], estimates[k].seconds, execution, kernels) : 0);
    operator_times out;
    out.forward.resize(typed.operations.size());
    out.backward.resize(typed.operations.size());
    for (std::size_t i = 0; i < plain.operations.size(); ++i) {
        const detail::traced_operation& o = plain.operations[i];
        if (o.kernel == detail::traced_operation::none) continue;
        const auto k = static_cast<std::size_t>(o.kernel);
        out.forward[places[i]] += o.runs * estimates[k].seconds;
        out.backward[places[i]] += o.runs * backward_times[k];
        out.device_seconds += o.runs * estimates[k].seconds;
        out.kernels += static_cast<std::size_t>(o.runs);
    }
    out.host_seconds = static_cast<double>(out.kernels) * seconds_per_launch(execution, device, kernels);
    return out;
}

}  // namespace llmcost
