// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <llmcost/base/workload.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/eager_listener.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/module_listener.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/trace/listener.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/scope.hpp>

// The time of each operation of a forward pass, in the order of a graph's operations.
namespace llmcost {

namespace detail {

/// Records the kernel index of each operation; -1: no kernel.
class numbering_listener final : public listener {
public:
    numbering_listener(std::vector<model_kernel>& kernels, std::vector<std::int32_t>& kernel_of,
                       const execution& execution)
        : kernels_(kernels), kernel_indices_(kernel_of), inner_(kernels, execution) {}

    void on_module_enter(const recorder& r, const module_info& m) override { inner_.on_module_enter(r, m); }
    void on_module_leave(const recorder& r, const module_info& m) override { inner_.on_module_leave(r, m); }
    void on_storage_renamed(const recorder& r, std::int32_t old_storage, std::int32_t new_storage) override {
        inner_.on_storage_renamed(r, old_storage, new_storage);
    }
    void on_op(const recorder& r, const operation& o) override;

private:
    std::vector<model_kernel>& kernels_;
    std::vector<std::int32_t>& kernel_indices_;
    eager_listener inner_;
};

}  // namespace detail

/// Seconds of each operation of an eager forward pass, in the order of `graph_of`; 0 without a kernel.
///
/// `execution` must not split the model.
[[nodiscard]] std::vector<double> operation_seconds(const model& m, workload load, const execution& execution,
                                                    const device& device, kernel_source& measurements);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/operation_times.ipp>  // IWYU pragma: export
#endif
