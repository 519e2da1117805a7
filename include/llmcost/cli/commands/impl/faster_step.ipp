// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/faster_step.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/request/attention_option.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/cli/request/padded_vocabulary.hpp>
#include <llmcost/memory/optimizer.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/torch/compiled_memory.hpp>
#include <llmcost/torch/compiled_step.hpp>
#include <llmcost/torch/step.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE std::vector<faster_step> find_faster_steps(const deployment& p, const workload& load,
                                                          const training_plan& plan, const torch_step& step) {
    constexpr double min_saving = 0.01;
    model base_model = p.model;
    base_model.policy = nullptr;  // the plan contains the adapter
    std::vector<faster_step> out;
    const auto add_time = [&](std::string change, double seconds, double num_inputs) {
        const double relative_time = seconds / num_inputs / step.seconds();
        if (relative_time < 1 - min_saving) out.push_back({std::move(change), seconds, relative_time});
    };
    const auto fits = [&](const training_run& run) {
        const double memory = p.device->memory_bytes();
        return memory == 0 || static_cast<double>(run.memory.peak.bytes.total) <= memory;
    };
    const auto add = [&](std::string change, const model& m, const workload& changed_load, const training_plan& changed,
                         double num_inputs = 1) {
        if (!fits(train(m, changed_load, changed))) return;
        add_time(std::move(change),
                 time_training_step(m, changed_load, changed, *p.device, p.host_microseconds, p.tf32).seconds(),
                 num_inputs);
    };
    if (step.is_host_bound()) {
        add_time("CUDA graph (--execution graph)", step.device_seconds, 1);
        workload larger = load;
        larger.batch *= 2;
        add("--batch " + std::to_string(larger.batch), base_model, larger, plan, 2);
    }
    if (is_empty(compile_conflict(plan)) && fits(train_compiled(base_model, load, plan))) {
        for (const bool has_graph : {false, true}) {
            if (!has_graph && p.host_microseconds == 0) continue;
            const torch_step compiled = time_compiled_training_step(base_model, load, plan, *p.device,
                                                                    has_graph ? 0 : p.host_microseconds, p.tf32);
            const std::size_t num_changes = out.size();
            add_time(has_graph ? "torch.compile (--execution reduce-overhead)" : "torch.compile (--execution compile)",
                     compiled.seconds(), 1);
            if (out.size() > num_changes) {
                out.back().lower = compiled.lower;
                out.back().upper = compiled.upper;
            }
            if (!compiled.is_host_bound()) break;
        }
    }
    if (const optimizer_spec* const fused = find_optimizer(std::string(plan.schedule.optimizer->name) + ":fused")) {
        training_plan changed = plan;
        changed.schedule.optimizer = fused;
        add("--optimizer " + std::string(fused->name), base_model, load, changed);
    }
    if (load.implementation == attention_implementation::eager && has_fused_attention(base_model, load)) {
        workload changed = load;
        changed.implementation = attention_implementation::sdpa;
        add("--attention-implementation sdpa", base_model, changed, plan);
    }
    if (load.weights == dtype::float32 && !load.autocast) {
        workload changed = load;
        changed.autocast = true;
        add("--precision bf16-mixed", base_model, changed, plan);
        if (p.tf32 != tf32_mode::on)
            add_time(
                "--tf32 on (cuda.matmul.allow_tf32)",
                time_training_step(base_model, load, plan, *p.device, p.host_microseconds, tf32_mode::on).seconds(), 1);
    }
    if (const std::optional<model> padded = model_with_padded_vocabulary(base_model))
        add(padding_label(*padded), *padded, load, plan);
    std::ranges::stable_sort(out, {}, &faster_step::relative_time);
    return out;
}

LLMCOST_INLINE std::string faster_step_lines(const std::vector<faster_step>& steps) {
    if (steps.empty()) return {};
    std::string out = "Faster (time per input):\n";
    constexpr std::size_t width = 46;
    for (const faster_step& s : steps)
        out += "  " + left(s.change, width) + formatted("%+.0f %%", 100 * (s.relative_time - 1)) +
               (s.upper > 0 ? "  (interval " + duration(s.lower) + " to " + duration(s.upper) + ")\n" : "\n");
    return out;
}

LLMCOST_INLINE void write_faster_steps(json_writer& json, const std::vector<faster_step>& steps) {
    json.key("faster").array();
    for (const faster_step& s : steps) {
        json.object().member("change", s.change).member("seconds", s.seconds);
        json.member("relative_time", s.relative_time);
        if (s.upper > 0) json.member("lower", s.lower).member("upper", s.upper);
        json.end_object();
    }
    json.end_array();
}

}  // namespace llmcost::cli::detail
