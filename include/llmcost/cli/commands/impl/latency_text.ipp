// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/latency_text.hpp>

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
#include <llmcost/cli/commands/op.hpp>
#include <llmcost/cli/commands/torch_latency.hpp>
#include <llmcost/cli/pages/device_table.hpp>
#include <llmcost/cli/pages/step_time.hpp>
#include <llmcost/cli/pages/training_time.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/cli/request/request.hpp>
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
#include <llmcost/serving/power.hpp>
#include <llmcost/serving/prediction_intervals.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/serving/timed_step.hpp>
#include <llmcost/serving/training.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

/// The sizes of a kernel that differ from their defaults, e.g. `m 16 n 1,280 k 8,192`.
LLMCOST_INLINE std::string sizes_of(const operator_shape& shape) {
    std::string out;
    for (std::size_t i = 0; i < shape.type->size_count; ++i) {
        const operator_size& size = shape.type->sizes[i];
        const bool is_non_axis = size.role == size_role::work_only;
        if (!size.required && (is_non_axis || shape.sizes[i] == size.default_value)) continue;
        out += (out.empty() ? "" : " ") + short_size_name(size.name) + ' ' + grouped(count(shape.sizes[i]));
    }
    return out;
}

LLMCOST_INLINE std::string short_name(const model_kernel& k) {
    std::string name = k.module_path;
    for (std::size_t star = name.find(".*"); star != std::string::npos; star = name.find(".*")) name.erase(star, 2);
    if (name.empty()) return "(root module)";
    std::size_t dot = name.rfind('.');
    if (dot != std::string::npos && dot > 0) dot = name.rfind('.', dot - 1);
    return dot == std::string::npos ? name : name.substr(dot + 1);
}

LLMCOST_INLINE std::string kernel_label(const operator_shape& shape) {
    // a single elementwise operation has its own name; a fusion group is called map
    if (shape.type == find_operator_type("elementwise") && !(shape.variant == "map"))
        return std::string(shape.variant) + ' ' + sizes_of(shape);
    std::string family(shape.type->name);
    for (const auto& [prefix, shorter] : {std::pair<std::string_view, std::string_view>{"generation_", ""},
                                          {"context_attention", "prefill_attention"},
                                          {"nccl", ""}})
        if (family.starts_with(prefix)) family.replace(0, prefix.size(), shorter);
    if (family.empty()) family = std::string(shape.variant);
    return family + ' ' + sizes_of(shape);
}

LLMCOST_INLINE std::string group_text(const parallel_config& s) {
    return s.data_parallel_size == 1 ? ""
                                     : " on each of " + std::to_string(s.data_parallel_size) + " data-parallel ranks";
}

LLMCOST_INLINE std::string step_label(const model& m, const workload& load) {
    if (unit_of(m, load) != input_unit::token || (load.past == 0 && count_model(m, load).cache_elements == count{}))
        return input_label(m, load);
    return input_label(m, load) + " after " + grouped(count(load.past)) +
           (load.past == 1 ? " cached token" : " cached tokens");
}

/// Writes the workload of a step: the batch, or each group of requests.
LLMCOST_INLINE void write_requested_workload(json_writer& json, const model& m, const workload_request& work) {
    if (work.kind != workload_kind::ragged_batch) {
        json.member("batch", work.base_workload.batch);
        if (unit_of(m, work.base_workload) == input_unit::token)
            json.member("sequence", work.base_workload.sequence).member("past", work.base_workload.past);
        return;
    }
    json.key("requests").array();
    for (const request_group& g : work.request_groups) {
        json.object().member("sequence", g.sequence).member("past", g.past).member("count", g.num_requests);
        json.end_object();
    }
    json.end_array();
}

LLMCOST_INLINE void write_memory(json_writer& json, const deployment& p, count needed, std::int64_t pipeline) {
    json.member("needed", needed);
    write_memory_fit(json, memory_limit_of(p, pipeline), needed);
}

/// Writes a kernel of a step.
LLMCOST_INLINE void write_kernel(json_writer& json, const timed_kernel& t) {
    const model_kernel& k = t.kernel.kernel;
    const auto times = static_cast<double>(k.num_runs);
    const kernel_work work = llmcost::detail::work_of(k.shape, t.kernel.calibration);
    json.object().member("name", k.module_path).member("kind", k.shape.type->name).member("times", k.num_runs);
    json.member("seconds", times * t.estimate.seconds).member("lower", times * t.estimate.lower);
    json.member("upper", times * t.estimate.upper)
        .member("flops", times * work.flops)
        .member("bytes", times * work.bytes);
    json.member("bound", name_of(t.estimate.bound)).member("share_of_bound", t.estimate.roofline_efficiency);
    json.member("calibrated", t.estimate.is_calibrated);
    if (const kernel_calibration* calibration = t.estimate.calibration; calibration != nullptr) {
        json.key("measured").object().member("device", calibration->device).member("software", calibration->software);
        json.member("version", calibration->version)
            .member("kernel", calibration->kernel)
            .member("operand", calibration->operand);
        json.member("variant", calibration->variant).end_object();
    }
    json.key("sizes").object();
    for (std::size_t i = 0; i < k.shape.type->size_count; ++i)
        json.member(k.shape.type->sizes[i].name, k.shape.sizes[i]);
    json.end_object().end_object();
}

LLMCOST_INLINE std::string latency_json(const deployment& p, const workload_request& work,
                                        const latency_response& response) {
    const timed_step& step = response.step;
    const double watts = response.watts;
    json_writer json;
    json.object().member("seconds", step.seconds).member("lower", step.lower).member("upper", step.upper);
    json.member("bound", name_of(step.bound))
        .member("flops_per_device", step.done.flops)
        .member("bytes_per_device", step.done.bytes);
    json.member("watts_per_device", watts)
        .member("joules_of_all_devices", watts * step.seconds * static_cast<double>(p.execution.parallel.world_size()));
    write_model(json, p);
    json.member("device", p.device->names[0]).member("devices", p.execution.parallel.world_size());
    json.member("dtype", p.execution.linear_type->name).member("cache_dtype", p.execution.kv_cache_type->name);
    json.member("launches_per_device", step.done.launches).member("host_seconds", step.host_seconds);
    json.member("weight_bytes_per_device", step.weights).member("cache_bytes_per_device", step.cache);
    write_memory(json, p, response.needed);
    json.member("groups", p.execution.parallel.data_parallel_size);
    write_requested_workload(json, p.model, work);
    json.key("ops").array();
    for (const timed_kernel& t : step.kernels) write_kernel(json, t);
    json.end_array();
    if (response.torch) write_torch_step(json, *response.torch);
    if (!response.faster.empty()) write_faster_steps(json, response.faster);
    return json.end_object().text() + '\n';
}

LLMCOST_INLINE table latency_table(const timed_step& step) {
    table t;
    t.columns = {{"name"},
                 {"kind"},
                 {"sizes"},
                 {"times", false, true},
                 {"seconds", false, true},
                 {"lower", false, true},
                 {"upper", false, true},
                 {"flops", false, true},
                 {"bytes", false, true},
                 {"bound"},
                 {"calibrated"}};
    const auto exact = exact_number;
    for (const timed_kernel& k : step.kernels) {
        const operator_shape& shape = k.kernel.kernel.shape;
        const auto times = static_cast<double>(k.kernel.kernel.num_runs);
        const kernel_work work = llmcost::detail::work_of(shape, k.kernel.calibration);
        std::string sizes;
        for (std::size_t i = 0; i < shape.type->size_count; ++i)
            sizes +=
                (i == 0 ? "" : " ") + std::string(shape.type->sizes[i].name) + '=' + std::to_string(shape.sizes[i]);
        t.rows.push_back({k.kernel.kernel.module_path, std::string(shape.type->name), sizes,
                          std::to_string(k.kernel.kernel.num_runs), exact(times * k.estimate.seconds),
                          exact(times * k.estimate.lower), exact(times * k.estimate.upper), exact(times * work.flops),
                          exact(times * work.bytes), std::string(name_of(k.estimate.bound)),
                          k.estimate.is_calibrated ? "true" : "false"});
    }
    return t;
}

LLMCOST_INLINE std::string engine_title(const engine& engine) {
    const std::string name(engine.name);
    return name == "vllm" ? "vLLM" : name == "sglang" ? "SGLang" : name == "trtllm" ? "TensorRT-LLM" : name;
}

/// The parallel sizes above 1, e.g. ` (tp 4, pp 2)`; empty if there are none.
LLMCOST_INLINE std::string parallel_label(const parallel_config& parallel, std::int64_t pipeline) {
    std::string out;
    for (const auto& [name, size] : {std::pair{"tp", parallel.tensor_parallel_size},
                                     {"pp", pipeline},
                                     {"dp", parallel.data_parallel_size},
                                     {"ep", parallel.expert_parallel_size}})
        if (size > 1) out += (out.empty() ? "" : ", ") + std::string(name) + ' ' + std::to_string(size);
    return out.empty() ? out : " (" + out + ')';
}

LLMCOST_INLINE std::string deployment_title(const deployment& p, std::int64_t pipeline) {
    const std::int64_t n = p.execution.parallel.world_size() * pipeline;
    const std::string type_note =
        p.name_of_model.type ? " (as " + std::string(p.model.spec->model_type) + ')' : std::string();
    std::string out = printable(p.name_of_model.name) + type_note + ", " + (n > 1 ? std::to_string(n) + " x " : "") +
                      printable(p.device->title) + parallel_label(p.execution.parallel, pipeline);
    if (!p.engine.name.empty()) out += ", " + engine_title(p.engine);
    if (p.is_torch) out += ", PyTorch";
    if (!p.adapter_label.empty()) out += ", " + p.adapter_label;
    out += ", weights " + std::string(p.execution.linear_type->name);
    if (p.model.config.moe.num_experts > 1 && p.execution.expert_type != p.execution.linear_type)
        out += ", experts " + std::string(p.execution.expert_type->name);
    return has_kv_cache(p.model) ? out + ", KV cache " + std::string(p.execution.kv_cache_type->name) : out;
}

LLMCOST_INLINE std::string_view evidence_label(serving_evidence evidence) {
    switch (evidence) {
        case serving_evidence::measured_runs: return "measured runs of other models on this device";
        case serving_evidence::measured_kernels: return "kernels measured on this device, and runs on other devices";
        case serving_evidence::fallback_kernels: return "kernels measured on another device or with other software";
        case serving_evidence::datasheet: return "the datasheet of the device";
        case serving_evidence::calibrated_engine: return "runs of this engine on this device (llmcost calibrate)";
    }
    return {};
}

/// The kernels of a step as a table; `*` marks kernels without measurements on the device.
LLMCOST_INLINE std::string kernel_table(const timed_step& step) {
    std::size_t name_width = 6, label_width = 6;
    for (const timed_kernel& t : step.kernels) {
        name_width = std::max(name_width, short_name(t.kernel.kernel).size());
        label_width = std::max(label_width, kernel_label(t.kernel.kernel.shape).size());
    }
    std::string out = left("module", name_width + 1) + left("kernel", label_width) + right("calls", 6) +
                      right("each", 10) + right("share", 8) + "  bound\n";
    for (const timed_kernel& t : step.kernels) {
        const model_kernel& k = t.kernel.kernel;
        const double total_seconds = static_cast<double>(k.num_runs) * t.estimate.seconds;
        const bool links = t.estimate.bound == roofline_bound::memory && k.shape.work().uses_links;
        out += left(printable(short_name(k)), name_width + 1) + left(kernel_label(k.shape), label_width) +
               right(std::to_string(k.num_runs), 6) + right(formatted("%.1f µs", 1e6 * t.estimate.seconds), 11) +
               right(formatted("%.1f %%", 100 * total_seconds / step.seconds), 8) + "  " +
               std::string(links ? "links" : name_of(t.estimate.bound)) + (t.estimate.is_calibrated ? "\n" : " *\n");
    }
    return out;
}

/// Throughput, power, energy, CO2 and price of a step.
LLMCOST_INLINE std::string step_cost_line(const deployment& p, const timed_step& step, double watts) {
    const auto devices = static_cast<double>(p.execution.parallel.world_size());
    std::string out = formatted("Per device: %.1f TFLOP/s, memory bandwidth %.0f GB/s",
                                step.done.flops / step.seconds / 1e12, step.done.bytes / step.seconds / 1e9);
    if (p.device->thermal_design_watts > 0) {
        const double joules = watts * step.seconds * devices;
        out += formatted(", about %.0f W; energy of all devices %.3g J", watts, joules);
        if (p.grams_per_kwh > 0) out += formatted(", %.3g g CO2", joules / 3.6e6 * p.grams_per_kwh);
    }
    if (p.price_per_hour > 0)
        out += formatted("; price %.3g per million steps", 1e6 * step.seconds / 3600 * p.price_per_hour * devices);
    return out + '\n';
}

LLMCOST_INLINE std::string latency_text(const deployment& p, const latency_response& response) {
    const timed_step& step = response.step;
    std::string out = deployment_title(p) + '\n' + response.step_description + ": " + duration(step.seconds) +
                      "  (interval " + duration(step.lower) + " to " + duration(step.upper) + ", " +
                      std::string(name_of(step.bound)) + "-bound)\n\n" +
                      (response.torch ? torch_operator_table(*response.torch) : kernel_table(step)) + '\n' +
                      step_cost_line(p, step, response.watts);
    if (response.torch)
        return out + torch_method_line(*response.torch) + memory_fit_text(memory_limit_of(p), response.needed);
    out += faster_step_lines(response.faster);
    if (step.calibrated < step.kernels.size())
        out += "* Not measured on this device (estimated from another device or the datasheet)\n";
    out += tf32_note(p);
    out += p.execution.launch != launch_mode::cuda_graph
               ? formatted("Method: kernels launched one by one; %.0f launches, host time %.3g ms\n",
                           step.done.launches, 1e3 * step.host_seconds)
           : has_kv_cache(p.model)
               ? "Method: kernels run one after another in a CUDA graph, without the host overhead of the engine (see "
                 "llmcost serve)\n"
               : "Method: kernels run one after another in a CUDA graph, without host overhead\n";
    if (const std::string network = network_label(p); !network.empty()) out += "Network: " + network + '\n';
    return out + memory_fit_text(memory_limit_of(p), response.needed);
}

LLMCOST_INLINE double inputs_of(const deployment& p, const workload& load) {
    return static_cast<double>(count_inputs(p.model, load)) *
           static_cast<double>(p.execution.parallel.data_parallel_size);
}

/// Devices of a training step.
[[nodiscard]] LLMCOST_INLINE std::int64_t devices_of(const deployment& p, const latency_training_response& response) {
    return response.parallel ? response.job.parallel.world_size() : p.execution.parallel.world_size();
}

/// Peak FLOP/s of the products of a training step.
[[nodiscard]] LLMCOST_INLINE double product_peak(const deployment& p) {
    return p.device->*p.execution.linear_type->unit * 1e12;
}

LLMCOST_INLINE double inputs_per_second(const deployment& p, const workload& load,
                                        const latency_training_response& response) {
    const double seconds = response.cost.total.seconds;
    if (!response.parallel) return inputs_of(p, load) / seconds;
    const training_parallelism& parallel = response.job.parallel;
    return static_cast<double>(count_inputs(p.model, load)) *
           static_cast<double>(parallel.num_replicas() * parallel.microbatches) / seconds;
}

LLMCOST_INLINE double model_flops_utilization(const deployment& p, const latency_training_response& response) {
    return response.parallel ? response.parallel->model_flops_utilization(product_peak(p))
                             : response.cost.model_flops_utilisation(*p.device, *p.execution.linear_type);
}

/// The parallel sizes above 1 of a training job, e.g. ` (tp 8, pp 4, dp 2)`.
[[nodiscard]] LLMCOST_INLINE std::string job_label(const training_parallelism& parallel) {
    std::string out;
    for (const auto& [name, size] : {std::pair{"tp", parallel.tensor},
                                     {"cp", parallel.context},
                                     {"pp", parallel.pipeline},
                                     {"dp", parallel.data},
                                     {"dp-replicate", parallel.data_replicate},
                                     {"ep", parallel.expert},
                                     {"etp", parallel.expert_tensor}})
        if (size > 1) out += (out.empty() ? "" : ", ") + std::string(name) + ' ' + std::to_string(size);
    return out.empty() ? out : " (" + out + ')';
}

LLMCOST_INLINE std::string training_json(const deployment& p, const workload& load,
                                         const latency_training_response& response) {
    const training_cost& t = response.cost;
    const double watts = response.watts;
    json_writer json;
    json.object().member("seconds", t.total.seconds).member("lower", t.total.lower).member("upper", t.total.upper);
    json.member("bound", name_of(t.total.bound));
    for (const auto& [name, part] : {std::pair<std::string_view, const step_cost*>{"forward", &t.forward},
                                     {"backward", &t.backward},
                                     {"recomputed", &t.recomputed},
                                     {"reduction", &t.reduction},
                                     {"optimizer", &t.optimizer}}) {
        json.key(name).object().member("seconds", part->seconds).member("flops_per_device", part->flops);
        json.member("bytes_per_device", part->bytes).end_object();
    }
    json.member("optimizer_name", response.plan.schedule.optimizer->name);
    const input_unit unit = unit_of(p.model, load);
    json.member("model_flops_utilisation", model_flops_utilization(p, response));
    json.member(std::string(inputs_name(p.model, load)) + "_per_second", inputs_per_second(p, load, response))
        .member("watts_per_device", watts);
    json.member("joules_of_all_devices", watts * t.total.seconds * static_cast<double>(devices_of(p, response)));
    write_model(json, p);
    json.member("device", p.device->names[0]).member("devices", devices_of(p, response));
    json.member("dtype", p.execution.linear_type->name)
        .member("groups", p.execution.parallel.data_parallel_size)
        .member("batch", load.batch);
    if (unit == input_unit::token) json.member("sequence", load.sequence);
    if (response.has_memory) {
        json.member("state_bytes_per_device", count(t.memory.states))
            .member("saved_bytes_per_device", count(t.memory.saved));
        write_memory(json, p, count(t.memory.peak.total));
    }
    if (response.parallel) {
        write_parallelism(json, response.job.parallel);
        write_training_time(json, {*response.parallel, product_peak(p), response.assumptions});
    }
    if (response.torch) {
        write_torch_step(json, *response.torch);
        write_faster_steps(json, response.faster);
    } else {
        if (!response.faster.empty()) write_faster_steps(json, response.faster);
        write_unmeasured(json, p);
    }
    return json.end_object().text() + '\n';
}

LLMCOST_INLINE std::string training_phase_lines(const training_cost& t, const optimizer_spec& optimizer) {
    const auto line = [](std::string_view name, const step_cost& part) {
        return "  " + left(name, 14) + right(duration(part.seconds), 10) +
               formatted("  %.1f TFLOP/s, %.0f GB/s\n", part.flops / part.seconds / 1e12,
                         part.bytes / part.seconds / 1e9);
    };
    std::string out = line("forward", t.forward) + line("backward", t.backward);
    if (t.recomputed.seconds > 0) out += line("  recomputed", t.recomputed);
    if (t.reduction.seconds > 0) out += line("all-reduce", t.reduction);
    if (t.optimizer.seconds > 0) out += line(optimizer.name, t.optimizer);
    return out;
}

LLMCOST_INLINE table training_phase_table(const latency_training_response& response) {
    table t{{{"phase"}, {"seconds", false, true}, {"flops", false, true}, {"bytes", false, true}}, {}};
    const training_cost& cost = response.cost;
    for (const auto& [name, part] : {std::pair<std::string_view, const step_cost*>{"forward", &cost.forward},
                                     {"backward", &cost.backward},
                                     {"recomputed", &cost.recomputed},
                                     {"reduction", &cost.reduction},
                                     {"optimizer", &cost.optimizer}})
        t.rows.push_back(
            {std::string(name), exact_number(part->seconds), exact_number(part->flops), exact_number(part->bytes)});
    if (response.parallel) {
        for (const training_communication& c : response.parallel->communication)
            t.rows.push_back({std::string(name_of(c.axis)) + " exposed", exact_number(c.exposed_seconds), "",
                              exact_number(c.bytes_sent)});
        t.rows.push_back({"bubble", exact_number(response.parallel->bubble_seconds), "", ""});
        t.rows.push_back({"launches", exact_number(response.parallel->host_seconds), "", ""});
    }
    t.rows.push_back({"total", exact_number(cost.total.seconds), "", ""});
    return t;
}

/// `meta-llama/Llama-3.1-70B, 64 x H100 SXM (tp 8, pp 4, dp 2), weights bfloat16`.
[[nodiscard]] LLMCOST_INLINE std::string job_title(const deployment& p, const latency_training_response& response) {
    const std::int64_t devices = devices_of(p, response);
    return printable(p.name_of_model.name) + ", " + (devices > 1 ? std::to_string(devices) + " x " : std::string()) +
           printable(p.device->title) + job_label(response.job.parallel) +
           (p.adapter_label.empty() ? std::string() : ", " + p.adapter_label) + ", weights " +
           std::string(p.execution.linear_type->name);
}

/// `4 microbatches of 1 x 8,192 tokens on each of 2 data-parallel ranks`.
[[nodiscard]] LLMCOST_INLINE std::string microbatch_label(const deployment& p, const workload& load,
                                                          const training_parallelism& parallel) {
    std::string out = input_label(p.model, load);
    if (parallel.microbatches > 1) out = std::to_string(parallel.microbatches) + " microbatches of " + out;
    return parallel.num_replicas() == 1
               ? out
               : out + " on each of " + std::to_string(parallel.num_replicas()) + " data-parallel ranks";
}

LLMCOST_INLINE std::string training_text(const deployment& p, const workload& load,
                                         const latency_training_response& response) {
    const training_cost& t = response.cost;
    std::string out =
        (response.parallel ? job_title(p, response) : deployment_title(p)) + "\ntraining step of " +
        (response.parallel ? microbatch_label(p, load, response.job.parallel)
                           : input_label(p.model, load) + group_text(p.execution.parallel)) +
        ": " + duration(t.total.seconds) + "  (interval " + duration(t.total.lower) + " to " + duration(t.total.upper) +
        ", " + std::string(name_of(t.total.bound)) + "-bound)\n\n" +
        (response.parallel ? training_time_lines(*response.parallel, response.plan.schedule.optimizer->name)
                           : training_phase_lines(t, *response.plan.schedule.optimizer));
    const std::string inputs(inputs_name(p.model, load));
    out += formatted("  MFU %.1f %%, %.0f ", 100 * model_flops_utilization(p, response),
                     inputs_per_second(p, load, response)) +
           inputs + "/s";
    if (p.device->thermal_design_watts > 0)
        out += formatted(devices_of(p, response) > 1 ? ", about %.0f W per device" : ", about %.0f W", response.watts);
    if (p.price_per_hour > 0)
        out += formatted("; price %.3g per million ", 1e6 / inputs_per_second(p, load, response) / 3600 *
                                                          p.price_per_hour *
                                                          static_cast<double>(devices_of(p, response))) +
               inputs;
    if (response.parallel) out += per_device_line(*response.parallel, product_peak(p));
    if (!response.has_memory) return out + "\n" + assumption_lines(response.assumptions) + measurement_note(p);
    out += "\n  memory " + in_bytes(count(t.memory.states)) + " weights, gradients and optimizer state, " +
           in_bytes(count(t.memory.saved)) + " saved for backward\n\n";
    out += response.torch ? torch_operator_table(*response.torch) + '\n' + faster_step_lines(response.faster) +
                                torch_method_line(*response.torch)
                          : faster_step_lines(response.faster) + assumption_lines(response.assumptions) +
                                measurement_note(p) + tf32_note(p);
    return out + memory_fit_text(memory_limit_of(p), count(t.memory.peak.total));
}

}  // namespace llmcost::cli::detail
