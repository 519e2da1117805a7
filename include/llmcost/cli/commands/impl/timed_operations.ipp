// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/timed_operations.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/schedule_options.hpp>
#include <llmcost/cli/commands/torch_latency.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/cli/request/torch_options.hpp>
#include <llmcost/memory/adapter_policy.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/serving/memory.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/torch/compiled_step.hpp>
#include <llmcost/torch/fusion_group.hpp>
#include <llmcost/torch/kernel.hpp>
#include <llmcost/torch/kernel_list.hpp>
#include <llmcost/torch/step.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE bool has_torch_engine(const arguments& args) {
    if (args.text(option::operations_engine) == torch_engine_name) {
        if (!args.has(option::device)) throw_usage(option::operations_engine.name, "torch requires --device");
        return true;
    }
    if (args.has(option::operations_engine))
        throw_usage(option::operations_engine.name,
                    "expected torch, found " + quote(args.text(option::operations_engine)) +
                        "; for the kernels of an inference engine, use llmcost latency");
    for (const option_spec& o : {option::torch_execution, option::torch_host, option::tf32, option::precision,
                                 option::implementation, option::training, option::optimizer})
        if (args.has(o)) throw_usage(o.name, "requires --engine torch");
    return false;
}

LLMCOST_INLINE training_plan training_plan_of(const deployment& p, const training_schedule& schedule) {
    training_plan plan;
    plan.loss = default_loss(p.model);
    plan.schedule = schedule;
    if (p.adapter_policy_of_model != nullptr) plan.adapter_config = p.adapter_policy_of_model->adapter_config();
    return plan;
}

LLMCOST_INLINE torch_step time_torch_step(const deployment& p, const workload& load, const training_plan* plan) {
    if (plan == nullptr)
        return (p.is_compiled ? time_compiled_forward_pass : time_forward_pass)(p.model, load, *p.device,
                                                                                p.host_microseconds, p.tf32);
    model base_model = p.model;
    base_model.policy = nullptr;  // the plan contains the adapter
    return (p.is_compiled ? time_compiled_training_step : time_training_step)(base_model, load, *plan, *p.device,
                                                                              p.host_microseconds, p.tf32);
}

LLMCOST_INLINE std::vector<torch_kernel> list_torch_kernels(const deployment& p, const workload& load,
                                                            const training_plan* plan) {
    const inductor_device device = inductor_device_of(*p.device);
    if (plan == nullptr)
        return p.is_compiled ? compiled_forward_kernels(p.model, load, device) : forward_kernels(p.model, load);
    model base_model = p.model;
    base_model.policy = nullptr;  // the plan contains the adapter
    return p.is_compiled ? compiled_training_kernels(base_model, load, *plan, device)
                         : training_kernels(base_model, load, *plan);
}

LLMCOST_INLINE void complete_torch_graph_workload(const arguments& args, const deployment& p, workload& load) {
    for (const option_spec& o : {option::activation_dtype, option::cache_dtype})
        if (args.has(o)) throw_usage(o.name, "cannot be combined with --engine torch; use --precision");
    const training_schedule schedule;
    complete_torch_workload(args, p, load.training ? &schedule : nullptr, load);
    if (!load.training) return;
    // as the recorded training step
    load.head = logits::all;
    load.is_train_mode = load.keeps_float32_parameters = true;
}

LLMCOST_INLINE timed_operations time_torch_operations(const arguments& args, const deployment& p, const workload& load,
                                                      std::size_t num_operations) {
    training_schedule schedule;
    if (load.training) read_optimizer(args.text(option::optimizer, "adamw"), schedule);
    const training_plan plan = training_plan_of(p, schedule);
    timed_operations out;
    out.torch = time_torch_step(p, load, load.training ? &plan : nullptr);
    out.loss_seconds = out.torch->loss_seconds(num_operations);
    out.optimizer_seconds = out.torch->phase(step_phase::optimizer).device_seconds;
    out.times.forward = out.torch->forward_seconds;
    out.times.backward = out.torch->backward_seconds;
    out.times.forward.resize(num_operations);
    out.times.backward.resize(num_operations);
    out.times.kernels = static_cast<std::size_t>(out.torch->num_launches());
    out.times.device_seconds = out.torch->device_seconds;
    out.times.host_seconds = out.torch->host_seconds;
    return out;
}

LLMCOST_INLINE torch_step time_torch_pass(const arguments& args, const deployment& p, workload load) {
    complete_torch_graph_workload(args, p, load);
    return time_torch_step(p, load, nullptr);
}

}  // namespace llmcost::cli::detail
