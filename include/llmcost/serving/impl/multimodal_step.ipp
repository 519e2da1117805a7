// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/multimodal_step.hpp>

#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/model/multimodal_inputs.hpp>
#include <llmcost/serving/kernels.hpp>
#include <llmcost/serving/step.hpp>

namespace llmcost {

LLMCOST_INLINE multimodal_cost compute_multimodal_cost(const model& model, workload load, const execution& execution,
                                                       const device& device, kernel_source& kernels) {
    multimodal_cost out;
    if (model.spec->compute_media_shapes == nullptr || !load.has_multimodal_inputs()) return out;
    out.num_tokens = model.spec->compute_media_shapes(model, load).num_tokens(load);
    const auto all = [&](const workload& step_load) {
        step_cost sum;
        for (const known_kernel& k : match_kernels(kernels_of(model, step_load, execution), execution, kernels))
            sum += cost_of(device, k);
        return sum;
    };
    load.batch = 1;
    load.sequence = 1;
    load.past = 0;
    load.head = logits::last;
    workload text = load.without_multimodal_inputs();
    text.sequence = 1 + out.num_tokens;
    const step_cost total_cost = all(load), read = all(text);
    const auto difference = [](double total, double baseline) { return total > baseline ? total - baseline : 0; };
    out.encoder_cost = {difference(total_cost.seconds, read.seconds),
                        difference(total_cost.flops, read.flops),
                        difference(total_cost.bytes, read.bytes),
                        difference(total_cost.launches, read.launches),
                        difference(total_cost.high_precision_busy, read.high_precision_busy),
                        difference(total_cost.low_precision_busy, read.low_precision_busy),
                        difference(total_cost.memory_busy, read.memory_busy),
                        difference(total_cost.link_busy, read.link_busy)};
    return out;
}

}  // namespace llmcost
