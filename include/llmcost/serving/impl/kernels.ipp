// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/kernels.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <llmcost/analysis/layer_run.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/parallel_config.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/eager_listener.hpp>
#include <llmcost/serving/fused_listener.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost::detail {

LLMCOST_INLINE void trace_kernels(const model& part, const workload& load, listener& listener,
                                  const loss_of_pass& loss) {
    trace t{load, &listener};
    const tensor scores = part.forward(t);
    if (loss) loss(part, t, scores);
}

LLMCOST_INLINE std::vector<model_kernel> folded_kernels(const model& part, const workload& load,
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

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE std::vector<model_kernel> kernels_of(const model& full_model, const workload& load,
                                                    const execution& execution, const loss_of_pass& loss) {
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
