// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <llmcost/analysis/layer_run.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/eager_listener.hpp>
#include <llmcost/serving/fused_listener.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/trace/listener.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost {

/// A non-owning reference to a loss `f(model, trace, output)` that is traced after a forward pass, or nothing.
class loss_of_pass {
public:
    constexpr loss_of_pass() noexcept = default;
    template <class F>
    constexpr loss_of_pass(const F& f) noexcept
        : function_(&f), call_([](const void* function, const model& m, trace& t, const tensor& x) {
              (*static_cast<const F*>(function))(m, t, x);
          }) {}

    [[nodiscard]] constexpr explicit operator bool() const noexcept { return call_ != nullptr; }
    void operator()(const model& m, trace& t, const tensor& x) const { call_(function_, m, t, x); }

private:
    const void* function_ = nullptr;
    void (*call_)(const void*, const model&, trace&, const tensor&) = nullptr;
};

namespace detail {

/// Traces a model with a listener that records kernels.
void trace_kernels(const model& part, const workload& load, listener& listener, const loss_of_pass& loss);

/// The kernels of a model. Equal kernels are merged, in the order of the first.
[[nodiscard]] std::vector<model_kernel> folded_kernels(const model& part, const workload& load,
                                                       const execution& execution, const loss_of_pass& loss);

}  // namespace detail

/// The kernels of one forward pass on each device, as an engine fuses them or eagerly. Equal kernels are merged.
///
/// Repeated layers are traced with two and three repetitions, or one and two if a period has several layers. The
/// difference is extrapolated to the other repetitions.
/// All layers are traced if fewer layers are not a valid model (stages of an image encoder) or add no kernels (layers
/// shared between stacks). An adapter, which may target individual layers, also requires all layers.
///
/// `loss`: traced after the forward pass, if set.
[[nodiscard]] std::vector<model_kernel> kernels_of(const model& full_model, const workload& load,
                                                   const execution& execution, const loss_of_pass& loss = {});

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/kernels.ipp>  // IWYU pragma: export
#endif
