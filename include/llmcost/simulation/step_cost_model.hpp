// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/draft_model.hpp>
#include <llmcost/serving/server.hpp>
#include <llmcost/serving/size_polynomials.hpp>
#include <llmcost/serving/stage_links.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/simulation/host_times.hpp>
#include <llmcost/simulation/replica.hpp>
#include <llmcost/simulation/scheduling_policy.hpp>
#include <llmcost/simulation/step_batch.hpp>

namespace llmcost {

/// The cost of a step of an engine.
///
/// - All decodes have the mean length. Prefills of similar length form a group of their mean length.
/// - A decode batch is padded to the next captured CUDA graph. With prefills, graphs are piecewise around attention.
///   Source: vllm, v1/cudagraph_dispatcher.py.
/// - Above the largest captured size, the host launches layer by layer. The slower of host and device counts.
/// - Multimodal inputs are encoded in the first step of a request, on the first stage.
///   Source: vllm, v1/worker/gpu_model_runner.py, `_execute_mm_encoder`.
class step_cost_model {
public:
    step_cost_model(server& server, const scheduling_policy& policy, const host_times& host,
                    draft_model_config drafts = {}, stage_links links = {}, const step_cost& towers = {});

    [[nodiscard]] simulated_step_cost operator()(const step_batch& b, double past);

private:
    /// Adds a prefill to a group of similar lengths: at most a factor of 2 plus 16 tokens. A group stores sums.
    void add(const prefill_chunk& c);

    server* server_;
    scheduling_policy policy_;
    host_times host_;
    double layers_;
    draft_model_config draft_model_;
    stage_links links_;
    step_cost encoder_cost_;  ///< of multimodal inputs, per request
    std::vector<step_shape> groups_;
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/simulation/impl/step_cost_model.ipp>  // IWYU pragma: export
#endif
