// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/server.hpp>
#include <llmcost/serving/size_polynomials.hpp>
#include <llmcost/serving/stage_links.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/simulation/host_times.hpp>
#include <llmcost/simulation/replica.hpp>
#include <llmcost/simulation/scheduling_policy.hpp>
#include <llmcost/simulation/step_batch.hpp>

namespace llmcost {

/// A draft model or a draft head, which proposes tokens for each sequence of a step.
struct draft_model_config {
    std::int64_t num_draft_tokens = 0;
    server* draft_server = nullptr;      ///< generates the draft tokens; null: no cost
    draft_kind kind = draft_kind::none;  ///< of a draft head; none: a separate model, one token after the other
};

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
    /// The cost of the draft tokens of a decode step.
    ///
    /// With n draft tokens:
    ///  - a separate model: n passes over one token;
    ///  - `sequential`: a pass over the hidden states of the n + 1 tokens of the last verification, then n − 1 passes
    ///    over one token;
    ///  - `one_per_head`: one pass over one position;
    ///  - `one_per_query`: one pass, whose context are the n + 1 tokens of the last verification.
    ///
    /// Source: vllm, v1/spec_decode/eagle.py, `propose`; v1/spec_decode/medusa.py, `propose`.
    [[nodiscard]] step_cost draft_cost(const step_shape& decodes) const;

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
