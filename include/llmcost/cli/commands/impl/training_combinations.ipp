// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/training_combinations.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/analysis/minimal_workload.hpp>
#include <llmcost/base/config_view.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/maybe.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/input_labels.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/cli/pages/device_table.hpp>
#include <llmcost/cli/pages/step_time.hpp>
#include <llmcost/cli/request/adapter_option.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/cli/request/stored_weights.hpp>
#include <llmcost/json.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/adapter.hpp>
#include <llmcost/memory/adapter_targets.hpp>
#include <llmcost/memory/category.hpp>
#include <llmcost/memory/fit.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/optimizer.hpp>
#include <llmcost/memory/parallel_config.hpp>
#include <llmcost/memory/quantization_names.hpp>
#include <llmcost/memory/read_quantization.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/report/stored_bytes.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/trace/scope.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE std::vector<suggestion> training_suggestions::all() {
    add_attention_implementation();
    add_recompute();
    add_gradient_accumulation();
    if (load_.weights == dtype::float32) {
        workload load = load_;
        load.weights = load.activations = dtype::bfloat16;
        load.autocast = false;
        add("--precision bf16", load, plan_);
    }
    if (plan_.schedule.optimizer->state == optimizer_state::two) {
        training_plan plan = plan_;
        plan.schedule.optimizer = find_optimizer("adamw8bit");
        add("--optimizer adamw8bit", load_, plan);
    }
    add_sharding();
    if (plan_.adapter_config.kind == adapter_kind::none) add_lora();
    return std::move(out_);
}

LLMCOST_INLINE void training_suggestions::add(std::string change, const workload& load, const training_plan& plan) {
    try {
        const count needed(train(model_, load, plan).memory.peak.bytes.total);
        out_.push_back({std::move(change), needed, needed <= count(bytes_)});
    } catch (const description_error&) {  // sdpa and selective recompute require a fused attention
    }
}

LLMCOST_INLINE void training_suggestions::add_attention_implementation() {
    if (load_.implementation != attention_implementation::eager) return;
    workload load = load_;
    load.implementation = attention_implementation::sdpa;
    add("--attention-implementation sdpa", load, plan_);
}

LLMCOST_INLINE void training_suggestions::add_recompute() {
    if (plan_.schedule.recompute != recompute_mode::none) return;
    for (const auto& [recompute, option_text] : {std::pair{recompute_mode::selective, "--recompute selective"},
                                                 std::pair{recompute_mode::full, "--recompute full"}}) {
        training_plan plan = plan_;
        plan.schedule.recompute = recompute;
        add(option_text, load_, plan);
    }
}

LLMCOST_INLINE void
training_suggestions::add_gradient_accumulation() {  // the same number of sequences per step, one after another
    if (load_.batch <= 1) return;
    workload load = load_;
    load.batch = 1;
    training_plan plan = plan_;
    plan.schedule.gradient_accumulation_steps *= load_.batch;
    add("--batch 1 --gradient-accumulation " + std::to_string(plan.schedule.gradient_accumulation_steps), load, plan);
}

LLMCOST_INLINE bool training_suggestions::can_shard() const {
    const training_schedule& s = plan_.schedule;
    return s.data_parallel_size == 1 && s.optimizer->is_elementwise() && !s.has_optimizer_in_backward &&
           !s.has_master_weights && !s.has_float32_gradients && !s.offloads_optimizer;
}

LLMCOST_INLINE std::vector<training_combination> training_suggestions::combinations_on(std::int64_t devices) const {
    training_combination base{.load = load_, .plan = plan_};
    std::string free_changes;
    if (load_.implementation == attention_implementation::eager) {
        base.load.implementation = attention_implementation::sdpa;
        free_changes += " --attention-implementation sdpa";
    }
    if (load_.batch > 1) {
        base.load.batch = 1;
        base.plan.schedule.gradient_accumulation_steps *= load_.batch;
        free_changes +=
            " --batch 1 --gradient-accumulation " + std::to_string(base.plan.schedule.gradient_accumulation_steps);
    }
    if (devices > 1) {
        base.plan.schedule.sharding = sharding_strategy::fsdp;
        base.plan.schedule.data_parallel_size = devices;
        free_changes += " --fsdp --shards " + std::to_string(devices);
    }
    const bool may_adapt = plan_.adapter_config.kind == adapter_kind::none;
    // the bits of a combination: bf16, 8-bit optimizer, recompute, LoRA, QLoRA
    constexpr unsigned bf16 = 1, optimizer = 2, recompute = 4, lora = 8, qlora = 16, all = 31;
    std::vector<unsigned> fitting;
    std::vector<training_combination> out;
    for (unsigned set = 0; set <= all; ++set) {
        const bool contains_fitting =
            std::any_of(fitting.begin(), fitting.end(), [&](unsigned smaller) { return (set & smaller) == smaller; });
        if (contains_fitting || (set & (lora | qlora)) == (lora | qlora)) continue;
        training_combination c = base;
        std::string changes = free_changes;
        if ((set & bf16) != 0) {
            if (load_.weights != dtype::float32 || load_.autocast) continue;
            c.load.weights = c.load.activations = dtype::bfloat16;
            changes += " --precision bf16";
        }
        if ((set & optimizer) != 0) {
            if (plan_.schedule.optimizer->state != optimizer_state::two || devices > 1) continue;
            c.plan.schedule.optimizer = find_optimizer("adamw8bit");
            changes += " --optimizer adamw8bit";
        }
        if ((set & recompute) != 0) {
            if (plan_.schedule.recompute != recompute_mode::none) continue;
            c.plan.schedule.recompute = recompute_mode::full;
            changes += " --recompute full";
        }
        if ((set & (lora | qlora)) != 0) {
            if (!may_adapt) continue;
            c.is_qlora = (set & qlora) != 0;
            if (c.is_qlora &&
                (c.load.weights != dtype::bfloat16 || c.load.autocast || devices > 1 || read_.subject.config.quantized))
                continue;
            c.lora = "r=16,targets=all-linear";
            requested_adapter adapter = read_adapter_option((c.is_qlora ? "qlora:" : "lora:") + std::string(c.lora));
            try {
                std::ostringstream notes;
                resolve_adapter(adapter, model_, notes);
            } catch (const error&) {  // the model has no linear layers that PEFT adapts
                continue;
            }
            c.plan.adapter_config = adapter.file.adapts;
            c.plan.base_quantization = base_of(adapter, read_, c.load);
            changes += (c.is_qlora ? " --qlora --lora " : " --lora ") + c.lora;
        }
        if (changes.empty()) continue;
        try {
            c.change = {changes.substr(1), count(train(model_, c.load, c.plan).memory.peak.bytes.total), true, devices};
        } catch (const description_error&) {  // sdpa requires a fused attention
            continue;
        }
        if (c.change.needed > count(bytes_)) continue;
        c.cost = static_cast<double>(set);
        fitting.push_back(set);
        out.push_back(std::move(c));
    }
    return out;
}

LLMCOST_INLINE std::vector<training_combination> training_suggestions::combinations() const {
    std::vector<training_combination> out = combinations_on(1);
    const bool needs_devices = out.empty();
    bool has_sharded = false;
    for (std::int64_t devices = 2; can_shard() && !has_sharded && devices <= 64; devices *= 2)
        for (training_combination& c : combinations_on(devices)) {
            // sharding is worthwhile for full fine-tuning, or if nothing else fits
            if (!c.lora.empty() && !needs_devices) continue;
            out.push_back(std::move(c));
            has_sharded = true;
        }
    return out;
}

LLMCOST_INLINE std::optional<fitting_change> find_fitting_change(const parsed_model& read, const workload& load,
                                                                 const training_plan& plan, std::uint64_t bytes) {
    const std::vector<training_combination> found = training_suggestions(read, load, plan, bytes).combinations();
    if (found.empty()) return {};
    return fitting_change{found.front().change.change, found.front().change.needed};
}

LLMCOST_INLINE void training_suggestions::add_sharding() {
    if (!can_shard()) return;
    training_plan plan = plan_;
    training_schedule& sharded = plan.schedule;
    sharded.sharding = sharding_strategy::fsdp;
    for (sharded.data_parallel_size = 2; sharded.data_parallel_size < 64; sharded.data_parallel_size *= 2)
        if (count(train(model_, load_, plan).memory.peak.bytes.total) <= count(bytes_)) break;
    const std::size_t previous_size = out_.size();
    add("--fsdp --shards " + std::to_string(sharded.data_parallel_size), load_, plan);
    if (out_.size() > previous_size) out_.back().devices = sharded.data_parallel_size;
}

LLMCOST_INLINE void training_suggestions::add_lora() {
    training_plan plan = plan_;
    plan.adapter_config.kind = adapter_kind::lora;
    plan.adapter_config.rank = 16;
    plan.adapter_config.all_linear = true;
    std::string missing;
    plan.adapter_config =
        with_fused_experts(std::move(plan.adapter_config), std::string_view(model_.spec->model_type), missing);
    add("--adapter lora:r=16,targets=all-linear", load_, plan);
    plan.schedule.recompute = recompute_mode::full;
    workload load = load_;
    load.weights = load.activations = dtype::bfloat16;
    add("--adapter lora:r=16,targets=all-linear --precision bf16 --recompute full", load, plan);
}

}  // namespace llmcost::cli::detail
