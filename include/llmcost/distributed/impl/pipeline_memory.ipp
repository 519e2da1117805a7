// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/distributed/pipeline_memory.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/distributed/pipeline_action.hpp>
#include <llmcost/distributed/stage_tape.hpp>
#include <llmcost/memory/category.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/memory/timeline.hpp>

namespace llmcost {

LLMCOST_INLINE stage_memory stage_memory_of(const tape& stage, training_schedule plan, bool has_accumulation) {
    plan.num_steps = 2;
    plan.gradient_accumulation_steps = 1;
    const memory_timeline first = replay_training(stage, plan);
    stage_memory out;
    for (const tape_parameter& p : stage.parameters) out.num_parameters += p.elements;
    const memory_bytes& before = first.before_forward;
    out.parameter_bytes = before[memory_category::parameters];
    out.gradient_bytes = first.after_backward[memory_category::gradients];
    out.optimizer_bytes = before[memory_category::optimizer];
    out.buffer_bytes = before[memory_category::buffers];
    out.has_gradient_buffers = before[memory_category::gradients] == out.gradient_bytes;
    out.received_bytes = tensor_bytes(stage, stage.received);
    out.input_bytes = before[memory_category::others] - out.received_bytes;
    out.workspace_bytes = first.library_workspace_bytes;
    out.sent_bytes = tensor_bytes(stage, stage.sent);
    out.gathered_bytes = first.after_forward[memory_category::parameters] - before[memory_category::parameters];
    const auto above = [&](const memory_bytes& now, const memory_bytes& start) {
        const std::uint64_t bytes = now.total - start.total + out.received_bytes;
        return bytes > out.gathered_bytes ? bytes - out.gathered_bytes : 0;
    };
    out.saved_bytes = above(first.after_forward, before);
    out.forward_peak_bytes = above(first.forward_peak, before);
    out.first_backward_peak_bytes = above(first.backward_peak, before);
    out.backward_peak_bytes = out.first_backward_peak_bytes;
    // the step begins with the gradients
    const std::uint64_t at_step = before.total + (out.has_gradient_buffers ? 0 : out.gradient_bytes);
    out.step_peak_bytes = first.step_peak.total > at_step ? first.step_peak.total - at_step : 0;
    if (!out.has_gradient_buffers && has_accumulation) {
        plan.gradient_accumulation_steps = 2;
        const memory_timeline later = replay_training(stage, plan);
        out.gradient_bytes = std::max(out.gradient_bytes, later.before_forward[memory_category::gradients]);
        out.backward_peak_bytes = above(later.backward_peak, later.before_forward);
    }
    return out;
}

}  // namespace llmcost

namespace llmcost::detail {

/// Follows the memory of a rank over the actions of a step.
class rank_replay {
public:
    rank_replay(const std::vector<stage_memory>& stages, rank_training_memory& out)
        : stages_(stages), out_(out), has_gradients_(stages.size()) {
        for (std::size_t i = 0; i < stages.size(); ++i) has_gradients_[i] = stages[i].has_gradient_buffers;
        for (const int stage : out.stages)
            if (has_gradients_[static_cast<std::size_t>(stage)]) gradient_bytes_ += memory_of(stage).gradient_bytes;
    }

    void run(const distributed::pipeline_action& action) {
        const stage_memory& s = memory_of(action.stage);
        if (action.kind == distributed::action_kind::forward) {
            record(s.forward_peak_bytes, "forward", action);
            saved_ += s.saved_bytes;
            out_.saved_bytes = std::max(out_.saved_bytes, saved_);
        } else if (distributed::has_weight_gradient(action.kind) || distributed::has_input_gradient(action.kind)) {
            const auto index = static_cast<std::size_t>(action.stage);
            const bool is_first = !has_gradients_[index] && distributed::has_weight_gradient(action.kind);
            saved_ -= s.saved_bytes;
            record(is_first ? s.first_backward_peak_bytes : s.backward_peak_bytes, "backward", action);
            if (!distributed::has_weight_gradient(action.kind)) saved_ += s.saved_bytes;
            if (is_first) {
                has_gradients_[index] = true;
                gradient_bytes_ += s.gradient_bytes;
            }
        }
    }
    void step() {
        std::uint64_t temporaries = 0;
        for (const int stage : out_.stages) temporaries += memory_of(stage).step_peak_bytes;
        record(temporaries, "step", {});
    }

private:
    [[nodiscard]] const stage_memory& memory_of(int stage) const { return stages_[static_cast<std::size_t>(stage)]; }
    void record(std::uint64_t transient, std::string_view phase, const distributed::pipeline_action& action) {
        memory_bytes now;
        now.add(memory_category::parameters, out_.parameter_bytes + (phase == "step" ? 0 : out_.gathered_bytes));
        now.add(memory_category::buffers, out_.buffer_bytes);
        now.add(memory_category::gradients, gradient_bytes_);
        now.add(memory_category::optimizer, out_.optimizer_bytes);
        now.add(memory_category::activations, saved_);
        now.add(phase == "step" ? memory_category::optimizer : memory_category::temporaries, transient);
        now.add(memory_category::others, out_.input_bytes + out_.workspace_bytes);
        if (now.total <= out_.peak.total) return;
        out_.peak = now;
        out_.phase = phase;
        out_.stage = action.stage;
        out_.microbatch = action.microbatch;
    }

    const std::vector<stage_memory>& stages_;
    rank_training_memory& out_;
    std::vector<bool> has_gradients_;
    std::uint64_t gradient_bytes_ = 0, saved_ = 0;
};

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE rank_training_memory rank_memory_of(const std::vector<stage_memory>& stages,
                                                   const distributed::rank_actions& actions) {
    rank_training_memory out;
    for (const distributed::pipeline_action& action : actions)
        distributed::for_each_part(action, [&](const distributed::pipeline_action& part) {
            if (part.stage >= 0 && std::ranges::find(out.stages, part.stage) == out.stages.end())
                out.stages.push_back(part.stage);
        });
    std::ranges::sort(out.stages);
    for (const int stage : out.stages) {
        const stage_memory& s = stages[static_cast<std::size_t>(stage)];
        out.num_parameters += s.num_parameters;
        out.parameter_bytes += s.parameter_bytes;
        out.gathered_bytes += s.gathered_bytes;
        out.gradient_bytes += s.gradient_bytes;
        out.optimizer_bytes += s.optimizer_bytes;
        out.buffer_bytes += s.buffer_bytes;
        out.input_bytes += s.input_bytes;
        out.workspace_bytes = std::max(out.workspace_bytes, s.workspace_bytes);
    }
    detail::rank_replay replay(stages, out);
    for (const distributed::pipeline_action& action : actions)
        distributed::for_each_part(action, [&](const distributed::pipeline_action& part) {
            if (part.stage >= 0 && distributed::is_compute(part.kind)) replay.run(part);
        });
    replay.step();
    return out;
}

}  // namespace llmcost
