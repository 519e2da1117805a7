// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <charconv>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/cli/args/schedule_options.hpp>
#include <llmcost/cli/args/size_names.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/cli/commands/op.hpp>
#include <llmcost/cli/request/adapter_option.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/serving/power.hpp>
#include <llmcost/serving/timed_step.hpp>
#include <llmcost/serving/training.hpp>

// `llmcost latency`: the time of one step of a model, kernel by kernel.
namespace llmcost::cli {

namespace detail {

/// `m 16 n 1,280 k 8,192` and the like: the sizes of a kernel that say something.
inline std::string sizes_of(const operator_shape& shape) {
    std::string out;
    for (std::size_t i = 0; i < shape.type->size_count; ++i) {
        const operator_size& size = shape.type->sizes[i];
        const bool is_non_axis = size.role == size_role::work_only;
        if (!size.required && (is_non_axis || shape.sizes[i] == size.default_value)) continue;
        out += (out.empty() ? "" : " ") + short_size_name(size.name) + ' ' + grouped(count(shape.sizes[i]));
    }
    return out;
}

/// The end of a path, which tells kernels apart: `self_attn.q_proj+k_proj+v_proj`.
inline std::string short_name(const model_kernel& k) {
    std::string name = k.module_path;
    for (std::size_t star = name.find(".*"); star != std::string::npos; star = name.find(".*")) name.erase(star, 2);
    if (name.empty()) return "(the model itself)";
    std::size_t at = name.rfind('.');
    if (at != std::string::npos && at > 0) at = name.rfind('.', at - 1);
    return at == std::string::npos ? name : name.substr(at + 1);
}
/// `gemm m 16 n 1,280 k 8,192`; names of families shortened.
inline std::string kernel_label(const operator_shape& shape) {
    // an operation has its own name; fused ones are a map
    if (shape.type == find_operator_type("elementwise") && !(shape.variant == "map"))
        return std::string(shape.variant) + ' ' + sizes_of(shape);
    std::string family(shape.type->name);
    for (const auto& [prefix, shorter] : {std::pair<std::string_view, std::string_view>{"generation_", ""},
                                          {"context_attention", "prompt_attention"},
                                          {"nccl", ""}})
        if (family.starts_with(prefix)) family.replace(0, prefix.size(), shorter);
    if (family.empty()) family = std::string(shape.variant);
    return family + ' ' + sizes_of(shape);
}

/// Behind a batch that each of several groups of devices has.
inline std::string in_each_group(const parallel_config& s) {
    return s.data_parallel_size == 1 ? "" : " in each of " + std::to_string(s.data_parallel_size) + " groups";
}

/// The same with the tokens in front of them, where a cache holds any.
inline std::string step_label(const model& m, const workload& load) {
    if (unit_of(m, load) != input_unit::token || (load.past == 0 && count_model(m, load).cache_elements == count{}))
        return input_label(m, load);
    return input_label(m, load) + " after " + grouped(count(load.past)) + " cached";
}

/// What a step is asked for: the batch, or each group of requests.
inline void write_requested_workload(json_writer& json, const model& m, const workload_request& work) {
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

/// `needed` of each device, and whether it is there.
inline void write_memory(json_writer& json, const deployment& p, count needed, std::int64_t pipeline = 1) {
    json.member("needed", needed);
    write_memory_fit(json, memory_limit_of(p, pipeline), needed);
}

inline std::string latency_json(const deployment& p, const workload_request& work, const timed_step& step, count needed,
                                double watts) {
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
    write_memory(json, p, needed);
    json.member("groups", p.execution.parallel.data_parallel_size);
    write_requested_workload(json, p.model, work);
    json.key("ops").array();
    for (const timed_kernel& t : step.kernels) {
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
            json.key("measured")
                .object()
                .member("device", calibration->device)
                .member("software", calibration->software);
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
    json.end_array().end_object();
    return json.text() + '\n';
}

inline std::string latency_csv(const timed_step& step) {
    table t;
    t.columns = {{"name"},  {"kind"},  {"sizes"}, {"times"}, {"seconds"},   {"lower"},
                 {"upper"}, {"flops"}, {"bytes"}, {"bound"}, {"calibrated"}};
    const auto exact = [](double x) {
        std::array<char, 32> digits{};
        return std::string(digits.data(), std::to_chars(digits.begin(), digits.end(), x).ptr);
    };
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
    return csv(t);
}

inline std::string deployment_title(const deployment& p, std::int64_t pipeline = 1) {
    const std::int64_t n = p.execution.parallel.world_size() * pipeline;
    const std::string type_note =
        p.name_of_model.type ? ", read as " + std::string(p.model.spec->model_type) + "," : std::string();
    std::string out = printable(p.name_of_model.name) + type_note + " on " + (n > 1 ? std::to_string(n) + " x " : "") +
                      printable(p.device->title);
    if (!p.engine.name.empty()) out += ", " + std::string(p.engine.name);
    if (!p.adapter_label.empty()) out += ", " + p.adapter_label;
    out += ", " + std::string(p.execution.linear_type->name);
    if (p.model.config.moe.num_experts > 1 && p.execution.expert_type != p.execution.linear_type)
        out += ", experts " + std::string(p.execution.expert_type->name);
    return out + ", cache " + std::string(p.execution.kv_cache_type->name);
}

inline std::string latency_text(const deployment& p, const std::string& step_description, const timed_step& step,
                                count needed, double watts) {
    std::string out = deployment_title(p) + '\n' + step_description + ": " + duration(step.seconds) + "  (" +
                      duration(step.lower) + " to " + duration(step.upper) + ", bound by " +
                      std::string(name_of(step.bound)) + ")\n\n";
    std::size_t widest = 6, sizes = 6;
    for (const timed_kernel& t : step.kernels) {
        widest = std::max(widest, short_name(t.kernel.kernel).size());
        sizes = std::max(sizes, kernel_label(t.kernel.kernel.shape).size());
    }
    out += left("module", widest + 1) + left("kernel", sizes) + right("runs", 5) + right("each", 10) +
           right("share", 8) + "  bound\n";
    for (const timed_kernel& t : step.kernels) {
        const model_kernel& k = t.kernel.kernel;
        const double total_seconds = static_cast<double>(k.num_runs) * t.estimate.seconds;
        const bool links = t.estimate.bound == roofline_bound::memory && k.shape.work().uses_links;
        out += left(printable(short_name(k)), widest + 1) + left(kernel_label(k.shape), sizes) +
               right(std::to_string(k.num_runs), 5) + right(formatted("%.1f µs", 1e6 * t.estimate.seconds), 11) +
               right(formatted("%.1f %%", 100 * total_seconds / step.seconds), 8) + "  " +
               std::string(links ? "links" : name_of(t.estimate.bound)) + (t.estimate.is_calibrated ? "\n" : " *\n");
    }
    const auto devices = static_cast<double>(p.execution.parallel.world_size());
    out += formatted("\neach device: %.1f TFLOP/s, %.0f GB/s of memory", step.done.flops / step.seconds / 1e12,
                     step.done.bytes / step.seconds / 1e9);
    if (p.device->thermal_design_watts > 0) {
        const double joules = watts * step.seconds * devices;
        out += formatted(", about %.0f W; %.3g J of all devices", watts, joules);
        if (p.grams_per_kwh > 0) out += formatted(", %.3g g CO2", joules / 3.6e6 * p.grams_per_kwh);
    }
    if (p.price_per_hour > 0)
        out += formatted("; %.3g per million steps", 1e6 * step.seconds / 3600 * p.price_per_hour * devices);
    if (step.calibrated < step.kernels.size())
        out += "\n* not measured on this device: estimated from another device or the datasheet";
    out += p.execution.launch != launch_mode::cuda_graph
               ? formatted("\n%.0f kernels issued one by one: %.3g ms of the host\n", step.done.launches,
                           1e3 * step.host_seconds)
               : "\nkernels run one after another in a CUDA graph; without the engine's own time (see llmcost serve)\n";
    if (const std::string network = network_label(p); !network.empty()) out += "network: " + network + '\n';
    return out + memory_fit_text(memory_limit_of(p), needed);
}

/// What a training step reads, in all groups of devices.
inline double inputs_of(const deployment& p, const workload& load) {
    return static_cast<double>(count_inputs(p.model, load)) *
           static_cast<double>(p.execution.parallel.data_parallel_size);
}

inline std::string training_json(const deployment& p, const workload& load, const training_cost& t,
                                 const optimizer_spec& optimizer, double watts) {
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
    json.member("optimizer_name", optimizer.name);
    const input_unit unit = unit_of(p.model, load);
    json.member("model_flops_utilisation", t.model_flops_utilisation(*p.device, *p.execution.linear_type));
    json.member(std::string(inputs_name(p.model, load)) + "_per_second", inputs_of(p, load) / t.total.seconds)
        .member("watts_per_device", watts);
    json.member("joules_of_all_devices",
                watts * t.total.seconds * static_cast<double>(p.execution.parallel.world_size()));
    write_model(json, p);
    json.member("device", p.device->names[0]).member("devices", p.execution.parallel.world_size());
    json.member("dtype", p.execution.linear_type->name)
        .member("groups", p.execution.parallel.data_parallel_size)
        .member("batch", load.batch);
    if (unit == input_unit::token) json.member("sequence", load.sequence);
    json.member("state_bytes_per_device", count(t.memory.states))
        .member("saved_bytes_per_device", count(t.memory.saved));
    write_memory(json, p, count(t.memory.peak.total));
    write_unmeasured(json, p);
    return json.end_object().text() + '\n';
}

inline std::string training_text(const deployment& p, const workload& load, const training_cost& t,
                                 const optimizer_spec& optimizer, double watts) {
    std::string out = deployment_title(p) + "\na training step of " + input_label(p.model, load) +
                      in_each_group(p.execution.parallel) + ": " + duration(t.total.seconds) + "  (" +
                      duration(t.total.lower) + " to " + duration(t.total.upper) + ", bound by " +
                      std::string(name_of(t.total.bound)) + ")\n";
    const auto line = [&](std::string_view name, const step_cost& part) {
        out +=
            "  " + left(name, 12) + right(duration(part.seconds), 10) +
            formatted("  %.1f TFLOP/s, %.0f GB/s\n", part.flops / part.seconds / 1e12, part.bytes / part.seconds / 1e9);
    };
    line("forward", t.forward);
    line("backward", t.backward);
    if (t.recomputed.seconds > 0) line("  of it again", t.recomputed);
    if (t.reduction.seconds > 0) line("all-reduce", t.reduction);
    if (t.optimizer.seconds > 0) line(optimizer.name, t.optimizer);
    const std::string inputs(inputs_name(p.model, load));
    out += formatted("  MFU %.1f %%, %.0f ", 100 * t.model_flops_utilisation(*p.device, *p.execution.linear_type),
                     inputs_of(p, load) / t.total.seconds) +
           inputs + "/s";
    if (p.device->thermal_design_watts > 0)
        out += formatted(p.execution.parallel.world_size() > 1 ? ", about %.0f W per device" : ", about %.0f W", watts);
    if (p.price_per_hour > 0)
        out += formatted("; %.3g per million ", 1e6 / inputs_of(p, load) * t.total.seconds / 3600 * p.price_per_hour *
                                                    static_cast<double>(p.execution.parallel.world_size())) +
               inputs;
    out += "\n  memory " + in_bytes(count(t.memory.states)) + " of weights, gradients and the optimizer's state, " +
           in_bytes(count(t.memory.saved)) + " kept for backward\n";
    return out + measurement_note(p) + memory_fit_text(memory_limit_of(p), count(t.memory.peak.total));
}

}  // namespace detail

namespace option {

inline constexpr option_spec recompute_layers{"--recompute", value_type::choice, "none|full",
                                              "of --training: layers made again"};

}  // namespace option

inline constexpr std::array latency_options = concatenate(
    execution_options,
    std::array{option_spec{"--format", value_type::choice, "text|json|csv", "csv of a step's kernels"}}, help_option,
    with_section(
        "Workload, which each of --dp groups has",
        std::array{
            option::batch, option_spec{"--sequence", value_type::number, "N", "new tokens per sequence (1)"},
            option::past, option::encoder_sequence, option::image, option::images, option::video, option::videos,
            option::audio, option::ragged_batch,
            option_spec{"--logits", value_type::choice, "all|last|none", "positions that the head computes (last)"},
            option_spec{"--training", value_type::none, "", "forward, backward and a step of --optimizer, instead"},
            option::recompute_layers}),
    model_options, std::array{option::quantization, option::adapter, option::optimizer});

/// What `llmcost latency …` prints.
[[nodiscard]] inline command_output run_latency(const arguments& args, const program& io) {
    const std::string_view format = args.text(option::format, "text");
    const bool lists = format == "csv";
    if (lists && args.has(option::training)) throw_usage("--format", "expected one of text, json; found 'csv'");
    workload_request work = parse_workload(args);
    work.base_workload.head = static_cast<logits>(args.choice(option::logits, static_cast<int>(logits::last)));
    if (!args.has(option::sequence) && !args.has(option::ragged_batch)) work.base_workload.sequence = 1;
    const deployment p = io.place(args, io);
    complete_workload(p.model, args, work.base_workload);
    require_supported_workload(p.model, args, work);
    if (args.has(option::training)) {
        if (p.adapter_policy_of_model != nullptr && !p.adapter_policy_of_model->adapter_config().is_plain_lora())
            throw_usage("--adapter",
                        "LoRA beside layers alone is timed in training: llmcost train has the memory of others");
        if (p.adapter_policy_of_model != nullptr && p.execution.parallel.tensor_parallel_size > 1)
            throw_usage("--adapter", "its training is timed on whole layers: expected --tp 1");
        if (args.has(option::logits) && work.base_workload.head != logits::all)
            throw_usage("--logits", "a training step computes those of all positions");
        if (!args.has(option::sequence)) {
            work.base_workload.sequence = 1024;
            complete_workload(p.model, args, work.base_workload);
        }
        training_plan plan;
        plan.loss = default_loss(p.model);
        if (p.adapter_policy_of_model != nullptr) plan.adapter_config = p.adapter_policy_of_model->adapter_config();
        detail::read_optimizer(args.text(option::optimizer, "adamw"), plan.schedule);
        if (args.choice(option::recompute_layers) == 1) plan.schedule.recompute = recompute_mode::full;
        const training_cost t = training_of(p.model, work.base_workload, p.execution, *p.device, *p.kernels, plan);
        print_warnings(p, work.base_workload.sequence, io);
        step_cost all = t.forward;
        all += t.backward;
        all += t.reduction;
        all += t.optimizer;
        const double watts = watts_of(*p.device, all, t.total.seconds);
        return {format == "json" ? detail::training_json(p, work.base_workload, t, *plan.schedule.optimizer, watts)
                                 : detail::training_text(p, work.base_workload, t, *plan.schedule.optimizer, watts),
                exit_code_of_fit(memory_limit_of(p), count(t.memory.peak.total))};
    }
    for (const option_spec& o : {option::recompute_layers, option::optimizer})
        if (args.has(o)) throw_usage(o.name, "needs --training");
    std::vector<workload> groups;
    std::string step_description;
    const std::vector<workload_phase> phases = phases_of(work);
    for (const workload_phase& all : phases)
        for (const repeated_step& part : all.parts) {
            groups.push_back(part.load);
            step_description +=
                (step_description.empty() ? "a step: " : " and ") + detail::step_label(p.model, part.load);
        }
    step_description += detail::in_each_group(p.execution.parallel);
    const timed_step step = time_step(p.model, groups, p.execution, *p.device, *p.kernels);
    print_warnings(p, longest_sequence(work, phases), io);
    const count needed =
        inference_memory_per_device(p.model, groups, p.execution, engine_memory_profile_of(p.engine), step.weights)
            .total_bytes();
    const exit_code code = exit_code_of_fit(memory_limit_of(p), needed);
    if (lists) return {detail::latency_csv(step), code};
    const double watts = watts_of(*p.device, step.done, step.seconds);
    return {format == "json" ? detail::latency_json(p, work, step, needed, watts)
                             : detail::latency_text(p, step_description, step, needed, watts),
            code};
}

inline constexpr std::array<command_example, 2> latency_examples{{
    {"llmcost latency --model Qwen/Qwen3-8B --device h200 --engine vllm --batch 16 --past 1000",
     "a step of 16 sequences"},
    {"llmcost latency --model Qwen/Qwen3-8B --device h200 --training --batch 4", "a training step"},
}};

inline constexpr command latency_command{
    .name = "latency",
    .summary = "how long a step takes, kernel by kernel",
    .usage = "(--model NAME | --config FILE) --device NAME [option]...",
    .description = "The time of one step, kernel by kernel, as an engine fuses them.\n",
    .options = latency_options,
    .run = run_latency,
    .examples = latency_examples};

}  // namespace llmcost::cli
