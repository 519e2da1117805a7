// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/serving/eager_listener.hpp>
#include <llmcost/serving/step.hpp>

// The time of each operation of a forward pass, in the order of a graph's operations.
namespace llmcost {

namespace detail {

/// Records the kernel index of each operation; -1: no kernel.
class numbering_listener final : public listener {
public:
    numbering_listener(std::vector<model_kernel>& kernels, std::vector<std::int32_t>& kernel_of,
                       const execution& execution)
        : kernels_(kernels), kernel_of_(kernel_of), inner_(kernels, execution) {}

    void on_module_enter(const recorder& r, const module_info& m) override { inner_.on_module_enter(r, m); }
    void on_module_leave(const recorder& r, const module_info& m) override { inner_.on_module_leave(r, m); }
    void on_storage_renamed(const recorder& r, std::int32_t old_storage, std::int32_t now) override {
        inner_.on_storage_renamed(r, old_storage, now);
    }
    void on_op(const recorder& r, const operation& o) override {
        const std::size_t num_kernels = kernels_.size();
        inner_.on_op(r, o);
        kernel_of_.push_back(kernels_.size() > num_kernels ? static_cast<std::int32_t>(num_kernels) : -1);
    }

private:
    std::vector<model_kernel>& kernels_;
    std::vector<std::int32_t>& kernel_of_;
    eager_listener inner_;
};

}  // namespace detail

/// Seconds of each operation of an eager forward pass, in the order of `graph_of`; 0 without a kernel.
///
/// `execution` must not split the model.
[[nodiscard]] inline std::vector<double> operation_seconds(const model& m, workload load, const execution& execution,
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
