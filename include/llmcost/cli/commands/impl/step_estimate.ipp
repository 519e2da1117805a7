// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/step_estimate.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/args/engine_memory_options.hpp>
#include <llmcost/cli/args/input_labels.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/parallelism_options.hpp>
#include <llmcost/cli/args/schedule_options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/commands/latency.hpp>
#include <llmcost/cli/pages/step_time.hpp>
#include <llmcost/cli/request/adapter_option.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/cli/request/torch_options.hpp>
#include <llmcost/cli/request/training_job_options.hpp>
#include <llmcost/devices/all.hpp>
#include <llmcost/devices/cuda_capability.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/training.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE latency_command_line::latency_command_line(const arguments& args) {
    for (const option_spec& o : model_options)
        for (const std::string_view value : args.all(o))
            o.type == value_type::none ? add(o) : add(o, std::string(value));
    for (const option_spec& o : {option::device, option::network, option::price})
        if (args.has(o)) add(o, std::string(args.text(o)));
}

LLMCOST_INLINE arguments latency_command_line::parse() const {
    const std::vector<std::string_view> views(texts_.begin(), texts_.end());
    return {"latency", latency_options, views};
}

/// The name of `--dtype` of an element type. Throws: `usage` for types without products.
LLMCOST_INLINE std::string operand_name_of(dtype type) {
    if (type == dtype::float8_e4m3fn) return "fp8";
    const std::string name(name_of(type));
    if (find_operand_type(name) == nullptr) throw_usage("--dtype", "no kernels for products of " + name);
    return name;
}

/// The sizes of a workload, without the element types of another command.
LLMCOST_INLINE workload sizes_only(workload load) {
    load.weights = load.activations = load.cache = dtype::unspecified;
    load.training = load.uses_workload_dtypes = load.uses_cpu_kernels = load.has_dropout = load.autocast = false;
    load.implementation = workload{}.implementation;
    load.cuda_capability = 0;
    return load;
}

/// The workload of a training step with the kernels of a device.
LLMCOST_INLINE workload on_device(workload load, const training_schedule& schedule, const device& device) {
    load.uses_cpu_kernels = false;
    load.has_training_cache = schedule.recompute != recompute_mode::full;
    load.cuda_capability = cuda_capability_of(device);
    return load;
}

/// Deploys the model of a command line, then calls `measure`; errors become the problem of the estimate.
template <class Configure, class Measure>
step_estimate estimate_step(const arguments& args, const program& io, Configure configure, Measure measure) {
    step_estimate out;
    std::ostringstream notes;  // the calling command prints the warnings about the model
    const program quiet{streams{io.out, notes, io.in, io.get, io.out_is_terminal, io.in_is_terminal},
                        io.models,
                        io.bundled,
                        io.commands,
                        io.read,
                        io.place,
                        io.read_each,
                        io.verified,
                        io.chakra};
    try {
        for (const std::string_view file : args.all(option::config)) {
            if (file != "-") continue;
            io.in.clear();
            if (!io.in.seekg(0)) throw_usage("--config", "standard input can be read once; use a file");
        }
        latency_command_line line(args);
        configure(line);
        const arguments parsed = line.parse();
        const deployment placed = io.place(parsed, quiet);
        out.num_devices = placed.execution.parallel.world_size();
        out.device_title = printable(placed.device->title);
        out.type_note = placed.dtype_warning;
        out.price_per_hour = placed.price_per_hour * static_cast<double>(out.num_devices);
        measure(placed, parsed, out);
        if (placed.device->thermal_design_watts <= 0) out.watts = 0;
    } catch (const error& e) {
        if (e.code() != errc::usage && e.code() != errc::unsupported) throw;
        out = {};
        out.problem = e.what();
    }
    return out;
}

LLMCOST_INLINE std::int64_t parse_epoch_tokens(const arguments& args) {
    for (const option_spec& o : {option::torch_host, option::tf32})
        if (args.has(o) && !args.has(option::device)) throw_usage(o.name, "requires --device, for the time of a step");
    if (!args.has(option::tokens)) return 0;
    if (!args.has(option::device)) throw_usage(option::tokens.name, "requires --device, for the time of a step");
    return parse_integer(option::tokens.name, args.text(option::tokens), 1, 1'000'000'000'000'000'000);
}

LLMCOST_INLINE step_estimate estimate_inference_step(const arguments& args, const program& io, const workload& load,
                                                     std::int64_t tensor_parallel_size) {
    const auto configure = [&](latency_command_line& line) {
        const engine* const used_engine = find_engine(args.text(option::allocator, "vllm"));
        const device* const used_device = find_device(args.text(option::device));
        if (used_engine != nullptr && used_device != nullptr && supports_device(*used_engine, *used_device))
            line.add(option::engine, std::string(used_engine->name));
        if (args.has(option::dtype)) line.add(option::linear_dtype, operand_name_of(args.type(option::dtype)));
        if (args.has(option::cache_dtype))
            line.add(option::kv_cache_dtype, operand_name_of(args.type(option::cache_dtype)));
        if (args.has(option::quantization))
            line.add(option::quantization, std::string(args.text(option::quantization)));
        if (tensor_parallel_size > 1) line.add(option::tp, std::to_string(tensor_parallel_size));
    };
    return estimate_step(args, io, configure, [&](const deployment& placed, const arguments&, step_estimate& out) {
        latency_request request;
        request.work.base_workload = sizes_only(load);
        request.work.base_workload.head = logits::last;
        const latency_response response = compute(request, placed);
        out.seconds = response.step.seconds;
        out.lower = response.step.lower;
        out.upper = response.step.upper;
        out.inputs_per_second = inputs_of(placed, load) / out.seconds;
        out.inputs_name = inputs_name(placed.model, load);
        out.watts = response.watts * static_cast<double>(out.num_devices);
    });
}

/// What the time of a training step does not contain.
LLMCOST_INLINE std::string omissions_of(const training_plan& plan) {
    std::string out;
    const auto add = [&](bool is_omitted, std::string_view text) {
        if (is_omitted) out.append(out.empty() ? "" : ", ").append(text);
    };
    const training_schedule& s = plan.schedule;
    add(!plan.base_quantization.none(), "dequantization of the frozen weights");
    add(s.recompute == recompute_mode::selective, "recomputed attention");
    add(s.offloads_activations || s.offloads_optimizer, "transfers to the host");
    add(s.data_parallel_size > 1 && (s.sharding == sharding_strategy::fsdp || s.sharding == sharding_strategy::zero3),
        "all-gathers of sharded parameters");
    return out;
}

/// Whether `llmcost train` describes a job whose time is that of `time_parallel_training`.
[[nodiscard]] LLMCOST_INLINE bool is_divided_job(const arguments& args) {
    for (const option_spec& o :
         {option::training_tp, option::training_pp, option::training_cp, option::training_ep, option::training_etp})
        if (args.number(o, 1) > 1) return true;
    return args.has(option::microbatches);
}

LLMCOST_INLINE void add_training_job(latency_command_line& line, const arguments& args, const workload& load,
                                     std::int64_t data_parallel_size, dtype products) {
    const auto add_option = [&](const option_spec& o) {
        if (!args.has(o)) return;
        o.type == value_type::none ? line.add(o) : line.add(o, std::string(args.text(o)));
    };
    line.add(option::linear_dtype, operand_name_of(products));
    line.add(option::training);
    line.add(option::batch, std::to_string(load.batch));
    line.add(option::sequence, std::to_string(load.sequence));
    for (const option_spec& o : training_job_options) add_option(o);
    add_option(option::tp);
    add_option(option::ep);
    if (data_parallel_size > 1) line.add(option::dp, std::to_string(data_parallel_size));
    if (!args.has(option::microbatches) && args.has(option::accumulation)) {
        line.add(option::microbatches, std::string(args.text(option::accumulation)));
    }
    if (std::string modules(args.text(option::recompute_modules)); !modules.empty()) {
        std::ranges::replace(modules, ',', '+');
        line.add(option::recomputation, "selective:" + modules);
    } else if (args.has(option::recompute)) {
        line.add(option::recomputation, std::string(args.text(option::recompute)));
    }
    if (const std::string text = adapter_text(args); text != "none")
        line.add(option::adapter, text.starts_with("qlora") ? text.substr(1) : text);
}

/// The estimate of a job on many devices.
LLMCOST_INLINE void set_training_job(step_estimate& out, const arguments& args, const deployment& placed,
                                     latency_request request) {
    complete_latency_workload(request, args, placed);
    validate(request, placed);
    const workload& load = request.work.base_workload;
    const latency_training_response response = compute_training(request, placed);
    out.seconds = response.cost.total.seconds;
    out.lower = response.cost.total.lower;
    out.upper = response.cost.total.upper;
    out.inputs_name = inputs_name(placed.model, load);
    set_job_estimate(out, placed, load, response);
    out.model_flops_utilization = model_flops_utilization(placed, response);
    const double peak = placed.device->*placed.execution.linear_type->unit * 1e12;
    out.job = training_time{*response.parallel, peak, response.assumptions};
    out.optimizer = std::string(response.plan.schedule.optimizer->name);
}

LLMCOST_INLINE step_estimate estimate_training_step(const arguments& args, const program& io, const workload& load,
                                                    const training_plan& plan, dtype products) {
    const training_schedule& schedule = plan.schedule;
    const bool is_job = is_divided_job(args), is_torch = !is_job && products != dtype::float8_e4m3fn;
    const auto configure = [&](latency_command_line& line) {
        if (is_job) {
            add_training_job(line, args, load, schedule.data_parallel_size, products);
            return;
        }
        line.add(option::linear_dtype, operand_name_of(products));
        if (schedule.data_parallel_size > 1) line.add(option::dp, std::to_string(schedule.data_parallel_size));
        if (is_torch) {
            line.add(option::engine, std::string(torch_engine_name));
            for (const option_spec& o : {option::torch_host, option::tf32})
                if (args.has(o)) line.add(o, std::string(args.text(o)));
            if (is_compiled(args))
                line.add(option::torch_execution,
                         args.choice(option::compile_mode) == 1 ? "reduce-overhead" : "compile");
            return;
        }
        if (const std::string text = adapter_text(args); text != "none")  // QLoRA multiplies unpacked weights
            line.add(option::adapter, text.starts_with("qlora") ? text.substr(1) : text);
    };
    return estimate_step(
        args, io, configure, [&](const deployment& placed, const arguments& parsed, step_estimate& out) {
            if (is_job) {
                set_training_job(out, parsed, placed, parse_latency_request(parsed));
                return;
            }
            latency_request request;
            request.is_training = true;
            request.schedule = schedule;
            request.work.base_workload = is_torch ? on_device(load, schedule, *placed.device) : sizes_only(load);
            if (is_torch) request.plan = &plan;
            validate(request, placed);
            const latency_training_response response = compute_training(request, placed);
            const training_cost& cost = response.cost;
            const double passes = cost.forward.seconds + cost.backward.seconds;
            const double all = passes + cost.reduction.seconds + cost.optimizer.seconds;
            const auto accumulation = static_cast<double>(schedule.gradient_accumulation_steps);
            // only the passes are repeated; the kernels of PyTorch are those of all passes
            const double factor = is_torch ? 1 : 1 + (accumulation - 1) * passes / all;
            out.seconds = cost.total.seconds * factor;
            out.lower = cost.total.lower * factor;
            out.upper = cost.total.upper * factor;
            out.inputs_per_second = inputs_of(placed, load) * accumulation / out.seconds;
            out.inputs_name = inputs_name(placed.model, load);
            out.watts = response.watts * static_cast<double>(out.num_devices);
            out.model_flops_utilization =
                cost.model_flops_utilisation(*placed.device, *placed.execution.linear_type) * accumulation / factor;
            out.omissions = omissions_of(plan);
            out.is_torch = is_torch;
            out.is_compiled = placed.is_compiled;
            if (response.torch) {
                out.device_seconds = response.torch->device_seconds;
                out.host_seconds = response.torch->host_seconds;
            }
        });
}

}  // namespace llmcost::cli::detail
