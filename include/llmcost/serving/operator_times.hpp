// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <llmcost/base/workload.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/eager_listener.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/module_listener.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/trace/listener.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>

namespace llmcost {

/// Seconds of the operations of a trace, in its order, each as a separate kernel.
struct operator_times {
    std::vector<double> forward, backward;
    std::size_t kernels = 0;  ///< kernel launches of the forward pass
    double device_seconds = 0;
    double host_seconds = 0;  ///< of kernel launches; the longer of device and host counts
};

namespace detail {

/// An operation of a trace and its kernel.
struct traced_operation {
    static constexpr std::ptrdiff_t none = -1;

    op kind{};
    shape sizes{};
    bool casts = false;
    std::ptrdiff_t kernel = none;
    double runs = 0;

    [[nodiscard]] bool is(const traced_operation& o) const noexcept;
};

/// Records the kernel of each operation.
class operation_listener final : public listener {
public:
    explicit operation_listener(const execution& execution) : eager_(emitted_kernels_, execution) {}

    void on_module_enter(const recorder& r, const module_info& m) override { eager_.on_module_enter(r, m); }
    void on_module_leave(const recorder& r, const module_info& m) override { eager_.on_module_leave(r, m); }
    void on_storage_renamed(const recorder& r, std::int32_t old_storage, std::int32_t new_storage) override {
        eager_.on_storage_renamed(r, old_storage, new_storage);
    }
    void on_op(const recorder& r, const operation& o) override;

    std::vector<model_kernel> kernels;  ///< distinct kernels, with one run each
    std::vector<traced_operation> operations;

private:
    std::ptrdiff_t place_of(model_kernel k);

    std::vector<model_kernel> emitted_kernels_;
    eager_listener eager_;
};

}  // namespace detail

/// The time of every operation of a forward and backward pass, in the order of the graph of the workload.
[[nodiscard]] operator_times operator_times_of(const model& m, workload load, const execution& execution,
                                               const device& device, kernel_source& kernels);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/operator_times.ipp>  // IWYU pragma: export
#endif
