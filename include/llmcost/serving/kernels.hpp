// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <llmcost/analysis/layer_run.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/eager_listener.hpp>
#include <llmcost/serving/fused_listener.hpp>

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
inline void trace_kernels(const model& part, const workload& load, listener& listener, const loss_of_pass& loss) {
    trace t{load, &listener};
    const tensor scores = part.forward(t);
    if (loss) loss(part, t, scores);
}

/// The kernels of a model. Equal kernels are merged, in the order of the first.
[[nodiscard]] inline std::vector<model_kernel> folded_kernels(const model& part, const workload& load,
                                                              const execution& execution, const loss_of_pass& loss) {
    std::vector<model_kernel> all, folded;
    if (execution.launch == launch_mode::eager) {
        eager_listener listener(all, execution);
        trace_kernels(part, load, listener, loss);
    } else {
        fused_listener listener(all, execution);
        trace_kernels(part, load, listener, loss);
        listener.finish();
    }
    for (model_kernel& k : all) {
        const auto match = std::find(folded.begin(), folded.end(), k);
        if (match != folded.end())
            match->num_runs += k.num_runs;
        else
            folded.push_back(std::move(k));
    }
    return folded;
}

}  // namespace detail

/// The kernels of one forward pass on each device, as an engine fuses them or eagerly. Equal kernels are merged.
///
/// Repeated layers are traced with two and three repetitions, or one and two if a period has several layers. The
/// difference is extrapolated to the other repetitions.
/// All layers are traced if fewer layers are not a valid model (stages of an image encoder) or add no kernels (layers
/// shared between stacks). An adapter, which may target individual layers, also requires all layers.
///
/// `loss`: traced after the forward pass, if set.
[[nodiscard]] inline std::vector<model_kernel> kernels_of(const model& full_model, const workload& load,
                                                          const execution& execution, const loss_of_pass& loss = {}) {
    constexpr std::int64_t maximum = 2;
    const model part = shard_model(full_model, execution.parallel);
    const layer_run run = longest_layer_run(part.config.layers, part.config.num_hidden_layers, maximum + 1);
    // A period of several layers contains the transition between two periods, so that one and two repetitions suffice.
    for (std::int64_t num_periods = run.period > 1 ? 1 : maximum;
         full_model.policy == nullptr && num_periods <= maximum && run.repetitions > num_periods + 1; ++num_periods) {
        std::vector<model_kernel> shorter, all;
        try {
            shorter = detail::folded_kernels(with_repetitions(part, run, num_periods), load, execution, loss);
            all = detail::folded_kernels(with_repetitions(part, run, num_periods + 1), load, execution, loss);
        } catch (const description_error&) {
            break;
        }
        bool is_same_structure = shorter.size() == all.size(), adds = false;
        for (std::size_t i = 0; is_same_structure && i < all.size(); ++i) {
            is_same_structure = shorter[i] == all[i];
            adds = adds || all[i].num_runs != shorter[i].num_runs;
        }
        if (!is_same_structure || !adds) continue;
        for (std::size_t i = 0; i < all.size(); ++i)
            all[i].num_runs += (all[i].num_runs - shorter[i].num_runs) * (run.repetitions - num_periods - 1);
        return all;
    }
    return detail::folded_kernels(part, load, execution, loss);
}

}  // namespace llmcost
