// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <llmcost/base/workload.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/latency/vector_units.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/memory.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/step.hpp>

namespace llmcost {

/// Device seconds of the kernels of a module in a training step.
struct module_training_seconds {
    std::string module_path;  ///< as `model_kernel::module_path`
    double forward = 0;
    double backward = 0;  ///< with recomputation
};

/// The cost of a training step on one device: forward with loss, backward, gradient all-reduce and optimizer step.
struct training_cost {
    step_cost forward{};
    step_cost backward{};
    step_cost recomputed{};  ///< part of `backward`: recomputed layers
    step_cost reduction{};   ///< gradient all-reduce, after backward
    step_cost optimizer{};

    step_time total{};  ///< of all parts, or of kernel launches if the host is slower
    training_memory memory{};
    bool freezes = false;                            ///< only the adapter is trained
    std::vector<module_training_seconds> modules{};  ///< in the order of their first kernels, with the loss

    /// Model FLOPs utilization: 3 · forward FLOPs / (peak · seconds). 0 if the datasheet has no such peak.
    ///
    /// With an adapter, the FLOPs of forward and backward.
    /// Source: PaLM, arXiv 2204.02311, appendix B.
    [[nodiscard]] double model_flops_utilisation(const device& d, const operand_type& products) const noexcept;
};

/// Adds device seconds to those of a module.
void add_seconds(std::vector<module_training_seconds>& modules, const std::string& module_path, double forward,
                 double backward);

/// The kernels of an optimizer step: one fused elementwise kernel over all tensors, and the optimizer's products.
[[nodiscard]] std::vector<model_kernel> update_kernels(const optimizer_spec& optimizer, const training_memory& memory);

/// The backward products of a product (m, k) x (k, n).
///
/// Input gradient: (m, n) x (n, k). Weight gradient: (n, m) x (m, k), unless the weight is frozen.
[[nodiscard]] std::vector<model_kernel> products_of_backward(const model_kernel& k, bool frozen = false);

/// The cost of backward relative to forward, for kernels that are not products.
[[nodiscard]] constexpr double backward_factor(backward_rule rule) noexcept {
    return rule == backward_rule::attention ? 2.5 : rule == backward_rule::same_as_forward ? 1 : 2;
}

/// The all-reduce of the gradients of `parameters` trained parameters in float32 over data-parallel ranks.
[[nodiscard]] step_cost gradient_reduction_cost(std::int64_t parameters, const execution& execution,
                                                const device& device, kernel_source& kernels);

/// The cost of a training step, kernel by kernel.
///
/// The backward cost depends on `backward_rule`: two products for a product, 2.5 times the FLOPs for fused attention,
/// two times forward for experts and fusion groups, and one collective for a collective. Recomputation repeats the
/// kernels of layers. With an adapter, the frozen weights of layers have no gradients, but their inputs do.
[[nodiscard]] training_cost training_of(const model& full_model, workload load, const execution& execution,
                                        const device& device, kernel_source& kernels, const training_plan& plan = {});

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/training.ipp>  // IWYU pragma: export
#endif
