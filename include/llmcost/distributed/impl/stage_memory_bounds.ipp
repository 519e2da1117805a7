// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/distributed/stage_memory_bounds.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <llmcost/analysis/layer_run.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/distributed/pipeline_memory.hpp>
#include <llmcost/distributed/stage_tape.hpp>
#include <llmcost/distributed/training_memory.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost::detail {

inline constexpr std::int64_t most_repetitions = 4;                    ///< of a stage
inline constexpr std::int64_t cut_repetitions = most_repetitions + 2;  ///< of a model with a stage in its middle

/// f(n), from f(most_repetitions) and f(most_repetitions − 1).
[[nodiscard]] LLMCOST_INLINE stage_memory extrapolated(const stage_memory& last, const stage_memory& previous,
                                                       std::int64_t n) {
    stage_memory out = last;
    constexpr std::uint64_t stage_memory::*members[]{
        &stage_memory::num_parameters,  &stage_memory::parameter_bytes,
        &stage_memory::gathered_bytes,  &stage_memory::gradient_bytes,
        &stage_memory::optimizer_bytes, &stage_memory::saved_bytes,
        &stage_memory::buffer_bytes,    &stage_memory::input_bytes,
        &stage_memory::workspace_bytes, &stage_memory::forward_peak_bytes,
        &stage_memory::step_peak_bytes, &stage_memory::backward_peak_bytes,
        &stage_memory::received_bytes,  &stage_memory::first_backward_peak_bytes,
        &stage_memory::sent_bytes};
    for (std::uint64_t stage_memory::*const member : members) {
        const auto larger = static_cast<std::int64_t>(last.*member),
                   smaller = static_cast<std::int64_t>(previous.*member);
        out.*member =
            static_cast<std::uint64_t>(std::max<std::int64_t>(larger + (n - most_repetitions) * (larger - smaller), 0));
    }
    return out;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE stage_memory_bounds::stage_memory_bounds(const model& m, workload load, training_plan plan,
                                                        const training_parallelism& parallel,
                                                        const megatron_settings& settings)
    : model_(m),
      load_(std::move(load)),
      plan_(std::move(plan)),
      parallel_(parallel),
      settings_(settings),
      run_(longest_layer_run(m.config.layers, m.config.num_hidden_layers, detail::cut_repetitions)) {}

LLMCOST_INLINE bool stage_memory_bounds::has_bounds(const model& m) noexcept {
    const layer_run run = longest_layer_run(m.config.layers, m.config.num_hidden_layers, detail::cut_repetitions);
    return m.policy == nullptr && run.period == 1 && run.repetitions > detail::cut_repetitions;
}

LLMCOST_INLINE void stage_memory_bounds::set_schedule(const training_schedule& schedule,
                                                      const megatron_settings& settings) {
    schedule_ = schedule;
    settings_ = settings;
}

LLMCOST_INLINE recorded_job& stage_memory_bounds::job_of(std::int64_t repetitions) {
    auto found = jobs_.find(repetitions);
    if (found == jobs_.end())
        found = jobs_
                    .emplace(repetitions, record_job(with_repetitions(model_, run_, repetitions), load_, plan_,
                                                     parallel_, settings_))
                    .first;
    recorded_job& job = found->second;
    job.settings = settings_;
    job.schedule.recompute = schedule_.recompute;
    job.schedule.sync = schedule_.sync;
    job.schedule.fsdp = schedule_.fsdp;
    return job;
}

LLMCOST_INLINE stage_memory stage_memory_bounds::shortened(const stage_layers& layers, std::int64_t n,
                                                           const training_parallelism& parallel) {
    const std::int64_t run_end = run_.first + run_.repetitions;
    const bool has_start = layers.first <= run_.first, has_end = layers.end >= run_end;
    const std::int64_t repetitions = has_start && has_end ? n : detail::cut_repetitions;
    recorded_job& job = job_of(repetitions);
    const std::int64_t removed = run_.repetitions - repetitions;
    stage_layers part = layers;
    if (layers.first >= run_end)  // after the run
        part = {layers.first - removed, layers.end - removed};
    else if (layers.end > run_.first)
        part = has_start ? stage_layers{layers.first, has_end ? layers.end - removed : run_.first + n}
               : has_end ? stage_layers{run_end - removed - n, layers.end - removed}
                         : stage_layers{run_.first + 1, run_.first + 1 + n};
    return stage_memory_of(job, part, parallel, stage_schedule_of(job, parallel), false);
}

LLMCOST_INLINE std::vector<stage_memory> stage_memory_bounds::stages(const training_parallelism& parallel) {
    const std::int64_t run_end = run_.first + run_.repetitions;
    std::vector<stage_memory> out;
    stage_layers previous;
    for (const stage_layers& layers :
         divide_layers(model_.config.num_hidden_layers, parallel.pipeline * parallel.stages_per_rank)) {
        // stages within the run are equal if they have as many layers
        if (previous.first > run_.first && layers.end < run_end && previous.size() == layers.size()) {
            out.push_back(out.back());
        } else {
            const std::int64_t n =
                std::max<std::int64_t>(std::min(layers.end, run_end) - std::max(layers.first, run_.first), 0);
            const std::int64_t measured = std::min(n, detail::most_repetitions);
            stage_memory memory = shortened(layers, measured, parallel);
            if (n > measured) memory = detail::extrapolated(memory, shortened(layers, measured - 1, parallel), n);
            out.push_back(memory);
        }
        previous = layers;
    }
    // rounding of shards of a layer: less than an element of float32 parameters and two moments
    if (parallel.rules == split_rules::megatron)
        for (stage_memory& memory : out) {
            const auto rounding = static_cast<std::uint64_t>(24 * run_.repetitions);
            memory.optimizer_bytes -= std::min(memory.optimizer_bytes, rounding);
        }
    return out;
}

LLMCOST_INLINE std::vector<std::uint64_t> stage_memory_bounds::saved_bytes_of_layers(
    const training_parallelism& parallel) {
    // a stage within the run, which has neither its first nor its last layer
    const stage_layers middle{run_.first + 1, run_.first + run_.repetitions - 1};
    const std::uint64_t more = shortened(middle, detail::most_repetitions, parallel).saved_bytes,
                        less = shortened(middle, detail::most_repetitions - 1, parallel).saved_bytes;
    std::vector<std::uint64_t> out(static_cast<std::size_t>(model_.config.num_hidden_layers));
    for (std::int64_t i = 0; i < run_.repetitions; ++i)
        out[static_cast<std::size_t>(run_.first + i)] = more > less ? more - less : 0;
    return out;
}

}  // namespace llmcost
