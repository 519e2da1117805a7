// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/training_bounds.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/distributed/pipeline_memory.hpp>
#include <llmcost/distributed/pipeline_schedule.hpp>
#include <llmcost/distributed/schedule_formulas.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/serving/training_candidates.hpp>

namespace llmcost {

LLMCOST_INLINE double minimum_state_bytes(double dense, double experts, const training_variant& variant,
                                          const training_parallelism& parallel) noexcept {
    const auto tensor = static_cast<double>(parallel.tensor);
    const auto dense_ranks = static_cast<double>(parallel.data * parallel.context);
    const double dense_of_rank = dense / tensor;
    if (variant.is_fully_sharded()) {
        // experts with one data-parallel rank are not gathered
        const bool gathers_experts = parallel.expert_data() > parallel.data_replicate;
        const double gathered =
            dense_of_rank + (gathers_experts ? experts / (tensor * static_cast<double>(parallel.expert)) : 0);
        return 16 * (dense_of_rank + experts / tensor) / dense_ranks + (parallel.pipeline > 1 ? 2 * gathered : 0);
    }
    const double experts_of_rank = experts / static_cast<double>(parallel.expert * parallel.expert_tensor);
    if (!variant.settings.has_distributed_optimizer) return 18 * (dense_of_rank + experts_of_rank);
    const auto expert_ranks = static_cast<double>(std::max<std::int64_t>(parallel.expert_data(), 1));
    return 6 * (dense_of_rank + experts_of_rank) + 12 * (dense_of_rank / dense_ranks + experts_of_rank / expert_ranks);
}

LLMCOST_INLINE std::int64_t microbatches_in_flight(const distributed::pipeline_schedule& schedule,
                                                   std::size_t rank) noexcept {
    return distributed::alive_activations(schedule.kind, schedule.ranks, schedule.stages_per_rank,
                                          schedule.microbatches, static_cast<int>(rank));
}

LLMCOST_INLINE std::uint64_t minimum_peak_bytes(const std::vector<stage_memory>& stages,
                                                const distributed::pipeline_schedule& schedule) {
    using distributed::schedule_kind;
    const bool is_1f1b = schedule.kind == schedule_kind::one_forward_one_backward,
               is_interleaved = schedule.kind == schedule_kind::interleaved;
    const std::int64_t microbatches = schedule.microbatches, ranks = schedule.ranks, chunks = schedule.stages_per_rank;
    std::uint64_t largest = 0;
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(schedule.ranks); ++rank) {
        std::uint64_t state = 0, gathered = 0, gradients = 0, workspace = 0, step = 0;
        std::uint64_t saved = UINT64_MAX, forward = UINT64_MAX, first_backward = UINT64_MAX, backward = UINT64_MAX;
        for (std::size_t s = 0; s < stages.size(); ++s) {
            if (static_cast<std::size_t>(schedule.rank_of_stage(static_cast<int>(s))) != rank) continue;
            const stage_memory& m = stages[s];
            state += m.parameter_bytes + m.optimizer_bytes + m.buffer_bytes + m.input_bytes +
                     (m.has_gradient_buffers ? m.gradient_bytes : 0);
            gathered += m.gathered_bytes;
            gradients += m.has_gradient_buffers ? 0 : m.gradient_bytes;
            step += m.step_peak_bytes;
            workspace = std::max(workspace, m.workspace_bytes);
            saved = std::min(saved, m.saved_bytes);
            forward = std::min(forward, m.forward_peak_bytes);
            first_backward = std::min(first_backward, m.first_backward_peak_bytes);
            backward = std::min(backward, m.backward_peak_bytes);
        }
        const std::int64_t alive = microbatches_in_flight(schedule, rank);
        const std::uint64_t others = static_cast<std::uint64_t>(alive - 1) * saved;
        std::uint64_t peak = state + gathered + others + forward;
        // one forward follows each backward, so that as many activations exist after all gradients have been created
        const std::int64_t warmup = alive - 1, earlier_chunks = (chunks - 1) * ranks;
        const bool has_gradients = (is_1f1b && microbatches > alive) ||
                                   (is_interleaved && microbatches * chunks - warmup > earlier_chunks + 1);
        if (is_1f1b || is_interleaved) peak = std::max(peak, state + gathered + others + first_backward);
        if (has_gradients) peak = std::max(peak, state + gathered + gradients + others + std::max(forward, backward));
        peak = std::max(peak, state + gradients + step);
        largest = std::max(largest, peak + workspace);
    }
    return largest;
}

}  // namespace llmcost
