// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/latency.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/input_labels.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/schedule_options.hpp>
#include <llmcost/cli/args/size_names.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/cli/commands/device_comparison.hpp>
#include <llmcost/cli/commands/faster_step.hpp>
#include <llmcost/cli/commands/llama_cpp_latency.hpp>
#include <llmcost/cli/commands/op.hpp>
#include <llmcost/cli/commands/timed_operations.hpp>
#include <llmcost/cli/commands/torch_latency.hpp>
#include <llmcost/cli/pages/device_table.hpp>
#include <llmcost/cli/pages/step_time.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/cli/request/training_job_options.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/latency/calibration.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/latency/roofline.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/adapter.hpp>
#include <llmcost/memory/adapter_policy.hpp>
#include <llmcost/memory/category.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/optimizer.hpp>
#include <llmcost/memory/parallel_config.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/memory.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/parallel_training.hpp>
#include <llmcost/serving/power.hpp>
#include <llmcost/serving/prediction_intervals.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/serving/timed_step.hpp>
#include <llmcost/serving/training.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/torch/compiled_step.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE latency_request parse_latency_request(const arguments& args) {
    latency_request request;
    request.is_training = args.has(option::training);
    request.format = static_cast<output_format>(args.choice(option::format));
    for (const option_spec& o : concatenate(std::array{option::recomputation, option::optimizer}, training_job_options))
        if (!request.is_training && args.has(o)) throw_usage(o.name, "requires --training");
    request.work = parse_workload(args);
    workload& load = request.work.base_workload;
    load.head = static_cast<logits>(args.choice(option::logits, static_cast<int>(logits::last)));
    if (!args.has(option::sequence) && !args.has(option::ragged_batch)) load.sequence = 1;
    if (request.is_training && args.has(option::logits) && load.head != logits::all)
        throw_usage("--logits", "a training step computes the logits of all positions; expected all");
    if (!request.is_training) return request;
    read_optimizer(args.text(option::optimizer, "adamw"), request.schedule);
    request.has_job = has_training_job(args);
    if (request.has_job) request.job = read_training_job(args, load.batch);
    read_recomputation(args.text(option::recomputation), request.schedule, request.job);
    return request;
}

LLMCOST_INLINE void complete_latency_workload(latency_request& request, const arguments& args,
                                              const deployment& deployment) {
    workload& load = request.work.base_workload;
    if (request.is_training && !request.has_job && args.number(option::dp, 1) > 1 &&
        deployment.model.config.moe.num_experts > 1) {  // each data-parallel rank has all experts
        request.has_job = true;
        request.job = read_training_job(args, load.batch);
    }
    complete_workload(deployment.model, args, load);
    require_supported_workload(deployment.model, args, request.work);
    if (request.is_training && !args.has(option::sequence)) {
        load.sequence = 1024;
        complete_workload(deployment.model, args, load);
    }
    if (!deployment.is_torch) {
        for (const option_spec& o : {option::torch_host, option::tf32, option::precision, option::implementation})
            if (args.has(o)) throw_usage(o.name, "requires --engine torch");
        return;
    }
    complete_torch_workload(args, deployment, request.is_training ? &request.schedule : nullptr, load);
    if (request.is_training) load.head = logits::all;
}

LLMCOST_INLINE void validate(const latency_request& request, const deployment& deployment) {
    if (deployment.is_torch) {
        const parallel_config& parallel = deployment.execution.parallel;
        if (request.job.parallel.pipeline > 1 || request.job.parallel.context > 1 || request.job.parallel.expert > 1 ||
            parallel.tensor_parallel_size > 1 || parallel.expert_parallel_size > 1 ||
            (!request.is_training && parallel.data_parallel_size > 1))
            throw_usage("--engine", request.is_training ? "torch supports data parallelism only; expected --tp 1 --ep 1"
                                                        : "torch runs a step on one device; expected --tp 1 --dp 1");
        if (request.work.kind == workload_kind::ragged_batch)
            throw_usage("--ragged", "not supported with --engine torch, which pads sequences");
        return;
    }
    if (request.has_job)
        if (const std::string problem =
                parallelism_error(request.job.parallel, deployment.model.config.num_hidden_layers,
                                  deployment.model.config.moe.num_experts);
            !problem.empty())
            throw_usage("--training", problem);
    if (!request.is_training || deployment.adapter_policy_of_model == nullptr) return;
    if (!deployment.adapter_policy_of_model->adapter_config().is_plain_lora())
        throw_usage("--adapter", "only plain LoRA is supported in a training step; for memory, use llmcost train");
}

LLMCOST_INLINE void set_training_watts(latency_training_response& response, const device& device) {
    step_cost all = response.cost.forward;
    all += response.cost.backward;
    all += response.cost.reduction;
    all += response.cost.optimizer;
    response.watts = watts_of(device, all, response.cost.total.seconds);
}

/// Whether the memory of a job is that of one device with all layers: no sharded states, stages or sequences.
[[nodiscard]] LLMCOST_INLINE bool has_memory_of_one_device(const training_job& job) {
    return job.parallel.pipeline == 1 && job.parallel.context == 1 && job.sharding == sharding_strategy::ddp &&
           !job.parallel.has_sequence_parallel;
}

/// The time of a job on many devices.
LLMCOST_INLINE void set_parallel_training(latency_training_response& response, const latency_request& request,
                                          const deployment& deployment) {
    const workload& load = request.work.base_workload;
    execution execution_of_job = deployment.execution;
    execution_of_job.has_fused_attention = request.job.attention != nullptr;
    const parallel_training_cost parallel = time_parallel_training(
        deployment.model, load, execution_of_job, *deployment.device, *deployment.kernels, response.plan, request.job);
    training_cost& cost = response.cost;
    cost.forward = parallel.forward;
    cost.backward = parallel.backward;
    cost.backward += parallel.recomputed;
    cost.recomputed = parallel.recomputed;
    cost.optimizer.seconds = parallel.optimizer_seconds;
    cost.freezes = deployment.model.policy != nullptr;
    cost.total = parallel.total;
    for (const training_communication& c : parallel.communication)
        if (c.axis == mesh_axis::data) cost.reduction.seconds = c.exposed_seconds;
    response.has_memory = has_memory_of_one_device(request.job);
    if (response.has_memory) {
        execution shard = deployment.execution;
        shard.parallel = {.tensor_parallel_size = request.job.parallel.tensor,
                          .expert_tensor_parallel_size = request.job.parallel.expert_tensor,
                          .expert_parallel_size = request.job.parallel.expert};
        cost.memory = training_memory_per_device(deployment.model, load, shard, response.plan);
        for (const model_kernel& k : update_kernels(*response.plan.schedule.optimizer, cost.memory))
            cost.optimizer.bytes +=
                cost_of(*deployment.device, match_kernels({k}, shard, *deployment.kernels).front()).bytes;
    }
    set_training_watts(response, *deployment.device);
    response.assumptions = assumptions_of(request.job, response.plan, execution_of_job);
    response.parallel = parallel;
    response.job = request.job;
}

LLMCOST_INLINE latency_training_response compute_training(const latency_request& request,
                                                          const deployment& deployment) {
    latency_training_response response;
    training_plan& plan = response.plan;
    plan = training_plan_of(deployment, request.schedule);
    if (deployment.is_torch) {
        if (request.plan != nullptr) plan = *request.plan;
        if (deployment.is_compiled && !is_empty(compile_conflict(plan)))
            throw_usage("--execution", std::string("compile cannot be combined with ") + compile_conflict(plan));
        response.torch = time_torch_step(deployment, request.work.base_workload, &plan);
        response.cost = torch_training_cost(deployment, request.work.base_workload, plan, *response.torch);
        set_training_watts(response, *deployment.device);
        if (request.plan == nullptr && !deployment.is_compiled)
            response.faster = find_faster_steps(deployment, request.work.base_workload, plan, *response.torch);
        return response;
    }
    if (request.has_job) {
        set_parallel_training(response, request, deployment);
        return response;
    }
    response.cost = training_of(deployment.model, request.work.base_workload, deployment.execution, *deployment.device,
                                *deployment.kernels, plan);
    set_training_watts(response, *deployment.device);
    response.faster = find_faster_padding(deployment, response.cost.total.seconds, [&](const model& padded) {
        return training_of(padded, request.work.base_workload, deployment.execution, *deployment.device,
                           *deployment.kernels, plan)
            .total.seconds;
    });
    return response;
}

LLMCOST_INLINE latency_response compute(const latency_request& request, const deployment& deployment) {
    std::vector<workload> groups;
    latency_response response;
    const std::vector<workload_phase> phases = phases_of(request.work);
    for (const workload_phase& phase : phases)
        for (const repeated_step& part : phase.parts) {
            groups.push_back(part.load);
            response.step_description +=
                (response.step_description.empty() ? "step of " : " and ") + step_label(deployment.model, part.load);
        }
    response.step_description += group_text(deployment.execution.parallel);
    if (deployment.is_torch) {
        const workload& load = groups.front();
        response.torch = time_torch_step(deployment, load, nullptr);
        response.step = torch_forward_cost(deployment, load, *response.torch);
    } else {
        const auto time_of = [&](const model& m) {
            return time_step(m, groups, deployment.execution, *deployment.device, *deployment.kernels);
        };
        response.step = time_of(deployment.model);
        response.faster = find_faster_padding(deployment, response.step.seconds,
                                              [&](const model& padded) { return time_of(padded).seconds; });
    }
    response.needed =
        inference_memory_per_device(deployment.model, groups, deployment.execution,
                                    memory_profile_of(deployment.engine, *deployment.device), response.step.weights)
            .total_bytes();
    response.watts = watts_of(*deployment.device, response.step.done, response.step.seconds);
    return response;
}

LLMCOST_INLINE std::string print(const latency_request& request, const latency_training_response& response,
                                 const deployment& deployment) {
    const workload& load = request.work.base_workload;
    switch (request.format) {
        case output_format::json: return training_json(deployment, load, response);
        case output_format::text: return training_text(deployment, load, response);
        default:
            return written(response.torch ? torch_kernel_table(*response.torch) : training_phase_table(response),
                           request.format);
    }
}

LLMCOST_INLINE std::string print(const latency_request& request, const latency_response& response,
                                 const deployment& deployment) {
    switch (request.format) {
        case output_format::json: return latency_json(deployment, request.work, response);
        case output_format::text: return latency_text(deployment, response);
        default:
            return written(response.torch ? torch_kernel_table(*response.torch) : latency_table(response.step),
                           request.format);
    }
}

/// The columns and values of a step on several devices.
LLMCOST_INLINE step_estimate step_estimate_of(const deployment& placed, const workload& load, const step_time& time,
                                              double watts) {
    const auto devices = static_cast<double>(placed.execution.parallel.world_size());
    step_estimate out;
    out.seconds = time.seconds;
    out.inputs_per_second = inputs_of(placed, load) / time.seconds;
    out.watts = placed.device->thermal_design_watts > 0 ? watts * devices : 0;
    out.price_per_hour = placed.price_per_hour * devices;
    return out;
}

/// Replaces the values that depend on the number of devices and microbatches by those of a job.
LLMCOST_INLINE void set_job_estimate(step_estimate& estimate, const deployment& placed, const workload& load,
                                     const latency_training_response& response) {
    const auto devices = static_cast<double>(response.job.parallel.world_size());
    estimate.num_devices = response.job.parallel.world_size();
    estimate.inputs_per_second = inputs_per_second(placed, load, response);
    estimate.watts = placed.device->thermal_design_watts > 0 ? response.watts * devices : 0;
    estimate.price_per_hour = placed.price_per_hour * devices;
}

/// One step on several devices.
LLMCOST_INLINE command_output run_latency_on_devices(const arguments& args, const program& io,
                                                     std::vector<std::string> devices) {
    device_comparison comparison;
    comparison.rows = device_runs(args, io, std::move(devices)).run([&](const arguments& one, const program& repeated) {
        latency_request request = parse_latency_request(one);
        const deployment placed = repeated.place(one, repeated);
        complete_latency_workload(request, one, placed);
        validate(request, placed);
        const workload& load = request.work.base_workload;
        comparison.model = printable(placed.name_of_model.name);
        comparison.figures = step_figures(inputs_name(placed.model, load));
        if (request.is_training) {
            const latency_training_response response = compute_training(request, placed);
            comparison.title =
                "training step of " + input_label(placed.model, load) + group_text(placed.execution.parallel) + '\n';
            step_estimate estimate = step_estimate_of(placed, load, response.cost.total, response.watts);
            if (response.parallel) set_job_estimate(estimate, placed, load, response);
            return device_row{{},
                              response.has_memory ? memory_limit_of(placed) : memory_limit{},
                              count(response.cost.memory.peak.total),
                              step_values(estimate)};
        }
        const latency_response response = compute(request, placed);
        comparison.title = response.step_description + '\n';
        double inputs = 0;
        for (const workload_phase& phase : phases_of(request.work))
            for (const repeated_step& part : phase.parts) inputs += inputs_of(placed, part.load);
        step_estimate estimate = step_estimate_of(placed, load, response.step, response.watts);
        estimate.inputs_per_second = inputs / response.step.seconds;
        return device_row{{}, memory_limit_of(placed), response.needed, step_values(estimate)};
    });
    return written_devices(comparison, static_cast<output_format>(args.choice(option::format)));
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE command_output run_latency(const arguments& args, const program& io) {
    if (args.text(option::engine) == detail::llama_cpp_engine_name) return detail::run_llama_cpp_latency(args, io);
    for (const option_spec& o : llama_cpp_time_options)
        if (args.has(o)) throw_usage(o.name, "requires --engine llama.cpp");
    if (std::vector<std::string> devices = detail::listed_devices(args); !devices.empty())
        return detail::run_latency_on_devices(args, io, std::move(devices));
    latency_request request = detail::parse_latency_request(args);
    const deployment deployment = io.place(args, io);
    detail::complete_latency_workload(request, args, deployment);
    detail::validate(request, deployment);
    if (request.is_training) {
        const latency_training_response response = detail::compute_training(request, deployment);
        print_warnings(deployment, request.work.base_workload.sequence, io);
        if (!response.has_memory) return {detail::print(request, response, deployment)};
        return {detail::print(request, response, deployment),
                exit_code_of_fit(memory_limit_of(deployment), count(response.cost.memory.peak.total))};
    }
    const latency_response response = detail::compute(request, deployment);
    print_warnings(deployment, longest_sequence(request.work, phases_of(request.work)), io);
    return {detail::print(request, response, deployment),
            exit_code_of_fit(memory_limit_of(deployment), response.needed)};
}

}  // namespace llmcost::cli
