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

#include <llmcost/cli/adapter_option.hpp>
#include <llmcost/cli/job.hpp>
#include <llmcost/cli/op.hpp>
#include <llmcost/cli/placement.hpp>
#include <llmcost/cli/schedule_options.hpp>
#include <llmcost/cli/size_names.hpp>
#include <llmcost/cli/tables.hpp>
#include <llmcost/serving/power.hpp>
#include <llmcost/serving/timed_step.hpp>
#include <llmcost/serving/training.hpp>

// `llmcost latency`: the time of one step of a model, kernel by kernel.
namespace llmcost::cli {

namespace detail {

/// `m 16 n 1,280 k 8,192` and the like: the sizes of a kernel that say something.
inline std::string sizes_of(const operator_shape& shape) {
    std::string out;
    for (std::size_t i = 0; i < shape.family->size_count; ++i) {
        const operator_size& size = shape.family->sizes[i];
        const bool goes_without = size.role == size_role::given;
        if (!size.required && (goes_without || shape.sizes[i] == size.otherwise)) continue;
        out += (out.empty() ? "" : " ") + short_size_name(size.name) + ' ' + grouped(count(shape.sizes[i]));
    }
    return out;
}

/// The end of a path, which tells kernels apart: `self_attn.q_proj+k_proj+v_proj`.
inline std::string short_name(const model_kernel& k) {
    std::string name = k.name;
    for (std::size_t star = name.find(".*"); star != std::string::npos; star = name.find(".*")) name.erase(star, 2);
    if (name.empty()) return "(the model itself)";
    std::size_t at = name.rfind('.');
    if (at != std::string::npos && at > 0) at = name.rfind('.', at - 1);
    return at == std::string::npos ? name : name.substr(at + 1);
}
/// `gemm m 16 n 1,280 k 8,192`; names of families shortened.
inline std::string kernel_words(const operator_shape& shape) {
    // an operation has its own name; fused ones are a map
    if (shape.family == find_family("elementwise") && !(shape.variant == "map"))
        return std::string(shape.variant) + ' ' + sizes_of(shape);
    std::string family(shape.family->name);
    for (const auto& [whole, shorter] : {std::pair<std::string_view, std::string_view>{"generation_", ""},
                                         {"context_attention", "prompt_attention"},
                                         {"nccl", ""}})
        if (family.starts_with(whole)) family.replace(0, whole.size(), shorter);
    if (family.empty()) family = std::string(shape.variant);
    return family + ' ' + sizes_of(shape);
}

/// Behind a batch that each of several groups of devices has.
inline std::string in_each_group(const sharding& s) {
    return s.data == 1 ? "" : " in each of " + std::to_string(s.data) + " groups";
}

/// The same with the tokens in front of them, where a cache holds any.
inline std::string step_words(const model& m, const workload& load) {
    if (unit_of(m, load) != input_unit::token || (load.past == 0 && count_model(m, load).cache == count{}))
        return input_words(m, load);
    return input_words(m, load) + " after " + grouped(count(load.past)) + " cached";
}

/// What a step is asked for: the batch, or each group of requests.
inline void put_workload(json_writer& json, const model& m, const job& work) {
    if (work.kind != job_kind::requests) {
        json.member("batch", work.base.batch);
        if (unit_of(m, work.base) == input_unit::token)
            json.member("sequence", work.base.sequence).member("past", work.base.past);
        return;
    }
    json.key("requests").array();
    for (const request_group& g : work.groups) {
        json.object().member("sequence", g.sequence).member("past", g.past).member("count", g.how_many);
        json.end_object();
    }
    json.end_array();
}

/// `needed` of each device, and whether it is there.
inline void put_memory(json_writer& json, const placement& p, count needed, std::int64_t pipeline = 1) {
    json.member("needed", needed);
    put_room(json, room_of(p, pipeline), needed);
}

inline std::string latency_json(const placement& p, const job& work, const timed_step& step, count needed, double watts) {
    json_writer json;
    json.object().member("seconds", step.seconds).member("lower", step.lower).member("upper", step.upper);
    json.member("bound", name_of(step.bound))
        .member("flops_per_device", step.done.flops)
        .member("bytes_per_device", step.done.bytes);
    json.member("watts_per_device", watts)
        .member("joules_of_all_devices", watts * step.seconds * static_cast<double>(p.how.shards.devices()));
    put_model(json, p);
    json.member("device", p.on->names[0]).member("devices", p.how.shards.devices());
    json.member("dtype", p.how.products->name).member("cache_dtype", p.how.cache->name);
    json.member("launches_per_device", step.done.launches).member("host_seconds", step.host_seconds);
    json.member("weight_bytes_per_device", step.weights).member("cache_bytes_per_device", step.cache);
    put_memory(json, p, needed);
    json.member("groups", p.how.shards.data);
    put_workload(json, p.subject, work);
    json.key("ops").array();
    for (const timed_kernel& t : step.kernels) {
        const model_kernel& k = t.kernel.what;
        const auto times = static_cast<double>(k.times);
        const kernel_work work = llmcost::detail::work_of(k.shape, t.kernel.known);
        json.object().member("name", k.name).member("kind", k.shape.family->name).member("times", k.times);
        json.member("seconds", times * t.each.seconds).member("lower", times * t.each.lower);
        json.member("upper", times * t.each.upper).member("flops", times * work.flops).member("bytes", times * work.bytes);
        json.member("bound", name_of(t.each.bound)).member("share_of_bound", t.each.share_of_bound);
        json.member("calibrated", t.each.calibrated);
        if (const kernel_calibration* by = t.each.by; by != nullptr) {
            json.key("measured").object().member("device", by->device).member("software", by->software);
            json.member("version", by->version).member("kernel", by->kernel).member("operand", by->operand);
            json.member("variant", by->variant).end_object();
        }
        json.key("sizes").object();
        for (std::size_t i = 0; i < k.shape.family->size_count; ++i)
            json.member(k.shape.family->sizes[i].name, k.shape.sizes[i]);
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
        const operator_shape& shape = k.kernel.what.shape;
        const auto times = static_cast<double>(k.kernel.what.times);
        const kernel_work work = llmcost::detail::work_of(shape, k.kernel.known);
        std::string sizes;
        for (std::size_t i = 0; i < shape.family->size_count; ++i)
            sizes += (i == 0 ? "" : " ") + std::string(shape.family->sizes[i].name) + '=' + std::to_string(shape.sizes[i]);
        t.rows.push_back({k.kernel.what.name, std::string(shape.family->name), sizes, std::to_string(k.kernel.what.times),
                          exact(times * k.each.seconds), exact(times * k.each.lower), exact(times * k.each.upper),
                          exact(times * work.flops), exact(times * work.bytes), std::string(name_of(k.each.bound)),
                          k.each.calibrated ? "true" : "false"});
    }
    return csv(t);
}

inline std::string title_of_placement(const placement& p, std::int64_t pipeline = 1) {
    const std::int64_t n = p.how.shards.devices() * pipeline;
    const std::string as = p.who.type ? ", read as " + std::string(p.subject.kind->model_type) + "," : std::string();
    std::string out =
        printable(p.who.name) + as + " on " + (n > 1 ? std::to_string(n) + " x " : "") + printable(p.on->title);
    if (!p.by.name.empty()) out += ", " + std::string(p.by.name);
    if (!p.adapter.empty()) out += ", " + p.adapter;
    out += ", " + std::string(p.how.products->name);
    if (p.subject.dims.moe.num_experts > 1 && p.how.experts != p.how.products)
        out += ", experts " + std::string(p.how.experts->name);
    return out + ", cache " + std::string(p.how.cache->name);
}

inline std::string latency_text(const placement& p, const std::string& asked, const timed_step& step, count needed,
                                double watts) {
    std::string out = title_of_placement(p) + '\n' + asked + ": " + duration(step.seconds) + "  (" + duration(step.lower) +
                      " to " + duration(step.upper) + ", bound by " + std::string(name_of(step.bound)) + ")\n\n";
    std::size_t widest = 6, sizes = 6;
    for (const timed_kernel& t : step.kernels) {
        widest = std::max(widest, short_name(t.kernel.what).size());
        sizes = std::max(sizes, kernel_words(t.kernel.what.shape).size());
    }
    out += left("module", widest + 1) + left("kernel", sizes) + right("runs", 5) + right("each", 10) + right("share", 8) +
           "  bound\n";
    for (const timed_kernel& t : step.kernels) {
        const model_kernel& k = t.kernel.what;
        const double together = static_cast<double>(k.times) * t.each.seconds;
        const bool links = t.each.bound == bound_by::memory && k.shape.work().between_devices;
        out += left(printable(short_name(k)), widest + 1) + left(kernel_words(k.shape), sizes) +
               right(std::to_string(k.times), 5) + right(formatted("%.1f µs", 1e6 * t.each.seconds), 11) +
               right(formatted("%.1f %%", 100 * together / step.seconds), 8) + "  " +
               std::string(links ? "links" : name_of(t.each.bound)) + (t.each.calibrated ? "\n" : " *\n");
    }
    const auto devices = static_cast<double>(p.how.shards.devices());
    out += formatted("\neach device: %.1f TFLOP/s, %.0f GB/s of memory", step.done.flops / step.seconds / 1e12,
                     step.done.bytes / step.seconds / 1e9);
    if (p.on->watts > 0) {
        const double joules = watts * step.seconds * devices;
        out += formatted(", about %.0f W; %.3g J of all devices", watts, joules);
        if (p.grams_per_kwh > 0) out += formatted(", %.3g g CO2", joules / 3.6e6 * p.grams_per_kwh);
    }
    if (p.price_per_hour > 0)
        out += formatted("; %.3g per million steps", 1e6 * step.seconds / 3600 * p.price_per_hour * devices);
    if (step.calibrated < step.kernels.size())
        out += "\n* not measured on this device: estimated from another device or the datasheet";
    out += p.how.issued != issue::graph
               ? formatted("\n%.0f kernels issued one by one: %.3g ms of the host\n", step.done.launches,
                           1e3 * step.host_seconds)
               : "\nkernels run one after another in a CUDA graph; without the engine's own time (see llmcost serve)\n";
    if (const std::string network = words_on_network(p); !network.empty()) out += "network: " + network + '\n';
    return out + line_on_room(room_of(p), needed);
}

/// What a training step reads, in all groups of devices.
inline double inputs_of(const placement& p, const workload& load) {
    return static_cast<double>(count_inputs(p.subject, load)) * static_cast<double>(p.how.shards.data);
}

inline std::string training_json(const placement& p, const workload& load, const training_cost& t,
                                 const optimizer_row& optimizer, double watts) {
    json_writer json;
    json.object().member("seconds", t.whole.seconds).member("lower", t.whole.lower).member("upper", t.whole.upper);
    json.member("bound", name_of(t.whole.bound));
    for (const auto& [name, part] : {std::pair<std::string_view, const step_cost*>{"forward", &t.forward},
                                     {"backward", &t.backward},
                                     {"recomputed", &t.recomputed},
                                     {"reduction", &t.reduction},
                                     {"optimizer", &t.optimizer}}) {
        json.key(name).object().member("seconds", part->seconds).member("flops_per_device", part->flops);
        json.member("bytes_per_device", part->bytes).end_object();
    }
    json.member("optimizer_name", optimizer.name);
    const input_unit unit = unit_of(p.subject, load);
    json.member("model_flops_utilisation", t.model_flops_utilisation(*p.on, *p.how.products));
    json.member(std::string(inputs_name(p.subject, load)) + "_per_second", inputs_of(p, load) / t.whole.seconds)
        .member("watts_per_device", watts);
    json.member("joules_of_all_devices", watts * t.whole.seconds * static_cast<double>(p.how.shards.devices()));
    put_model(json, p);
    json.member("device", p.on->names[0]).member("devices", p.how.shards.devices());
    json.member("dtype", p.how.products->name).member("groups", p.how.shards.data).member("batch", load.batch);
    if (unit == input_unit::token) json.member("sequence", load.sequence);
    json.member("state_bytes_per_device", count(t.memory.states)).member("saved_bytes_per_device", count(t.memory.saved));
    put_memory(json, p, count(t.memory.peak.total));
    put_unmeasured(json, p);
    return json.end_object().text() + '\n';
}

inline std::string training_text(const placement& p, const workload& load, const training_cost& t,
                                 const optimizer_row& optimizer, double watts) {
    std::string out = title_of_placement(p) + "\na training step of " + input_words(p.subject, load) +
                      in_each_group(p.how.shards) + ": " + duration(t.whole.seconds) + "  (" + duration(t.whole.lower) +
                      " to " + duration(t.whole.upper) + ", bound by " + std::string(name_of(t.whole.bound)) + ")\n";
    const auto line = [&](std::string_view name, const step_cost& part) {
        out += "  " + left(name, 12) + right(duration(part.seconds), 10) +
               formatted("  %.1f TFLOP/s, %.0f GB/s\n", part.flops / part.seconds / 1e12, part.bytes / part.seconds / 1e9);
    };
    line("forward", t.forward), line("backward", t.backward);
    if (t.recomputed.seconds > 0) line("  of it again", t.recomputed);
    if (t.reduction.seconds > 0) line("all-reduce", t.reduction);
    if (t.optimizer.seconds > 0) line(optimizer.name, t.optimizer);
    const std::string inputs(inputs_name(p.subject, load));
    out += formatted("  MFU %.1f %%, %.0f ", 100 * t.model_flops_utilisation(*p.on, *p.how.products),
                     inputs_of(p, load) / t.whole.seconds) +
           inputs + "/s";
    if (p.on->watts > 0)
        out += formatted(p.how.shards.devices() > 1 ? ", about %.0f W per device" : ", about %.0f W", watts);
    if (p.price_per_hour > 0)
        out += formatted("; %.3g per million ", 1e6 / inputs_of(p, load) * t.whole.seconds / 3600 * p.price_per_hour *
                                                    static_cast<double>(p.how.shards.devices())) +
               inputs;
    out += "\n  memory " + in_bytes(count(t.memory.states)) + " of weights, gradients and the optimizer's state, " +
           in_bytes(count(t.memory.saved)) + " kept for backward\n";
    return out + line_on_measurements(p) + line_on_room(room_of(p), count(t.memory.peak.total));
}

}  // namespace detail

namespace option {

inline constexpr option_row layers_again{"--recompute", value_kind::choice, "none|full", "of --training: layers made again"};

}  // namespace option

inline constexpr std::array latency_options = joined(
    execution_options, std::array{option_row{"--format", value_kind::choice, "text|json|csv", "csv of a step's kernels"}},
    help_option,
    titled("Workload, which each of --dp groups has",
           std::array{option::batch, option_row{"--sequence", value_kind::number, "N", "new tokens per sequence (1)"},
                      option::past, option::encoder_sequence, option::image, option::images, option::video, option::videos,
                      option::audio, option::requests,
                      option_row{"--logits", value_kind::choice, "all|last|none", "positions that the head computes (last)"},
                      option_row{"--training", value_kind::none, "", "forward, backward and a step of --optimizer, instead"},
                      option::layers_again}),
    model_options, std::array{option::quantization, option::adapter, option::optimizer});

/// What `llmcost latency …` prints.
[[nodiscard]] inline answered latency_answer(const arguments& given, const program& io) {
    const std::string_view format = given.text(option::format, "text");
    const bool lists = format == "csv";
    if (lists && given.has(option::training)) refuse("--format", "expected one of text, json; found 'csv'");
    job work = read_job(given);
    work.base.head = static_cast<logits>(given.choice(option::logits, static_cast<int>(logits::last)));
    if (!given.has(option::sequence) && !given.has(option::requests)) work.base.sequence = 1;
    const placement p = io.place(given, io);
    complete_workload(p.subject, given, work.base);
    check_workload(p.subject, given, work);
    if (given.has(option::training)) {
        if (p.adapts != nullptr && !p.adapts->adapts().is_plain_lora())
            refuse("--adapter", "LoRA beside layers alone is timed in training: llmcost train has the memory of others");
        if (p.adapts != nullptr && p.how.shards.tensor > 1)
            refuse("--adapter", "its training is timed on whole layers: expected --tp 1");
        if (given.has(option::logits) && work.base.head != logits::all)
            refuse("--logits", "a training step computes those of all positions");
        if (!given.has(option::sequence)) work.base.sequence = 1024, complete_workload(p.subject, given, work.base);
        training_plan plan;
        plan.loss = usual_loss(p.subject);
        if (p.adapts != nullptr) plan.adapts = p.adapts->adapts();
        detail::read_optimizer(given.text(option::optimizer, "adamw"), plan.step);
        if (given.choice(option::layers_again) == 1) plan.step.recompute = recomputation::full;
        const training_cost t = training_of(p.subject, work.base, p.how, *p.on, *p.kernels, plan);
        put_notes(p, work.base.sequence, io);
        step_cost all = t.forward;
        all += t.backward, all += t.reduction, all += t.optimizer;
        const double watts = watts_of(*p.on, all, t.whole.seconds);
        return {format == "json" ? detail::training_json(p, work.base, t, *plan.step.optimizer, watts)
                                 : detail::training_text(p, work.base, t, *plan.step.optimizer, watts),
                code_of(room_of(p), count(t.memory.peak.total))};
    }
    for (const option_row& o : {option::layers_again, option::optimizer})
        if (given.has(o)) refuse(o.name, "needs --training");
    std::vector<workload> groups;
    std::string asked;
    const std::vector<phase> phases = phases_of(work);
    for (const phase& all : phases)
        for (const stretch& part : all.parts) {
            groups.push_back(part.load);
            asked += (asked.empty() ? "a step: " : " and ") + detail::step_words(p.subject, part.load);
        }
    asked += detail::in_each_group(p.how.shards);
    const timed_step step = time_step(p.subject, groups, p.how, *p.on, *p.kernels);
    put_notes(p, longest_of(work, phases), io);
    const count needed = memory_of_step(p.subject, groups, p.how, memory_of_engine(p.by), step.weights).total();
    const exit_code code = code_of(room_of(p), needed);
    if (lists) return {detail::latency_csv(step), code};
    const double watts = watts_of(*p.on, step.done, step.seconds);
    return {format == "json" ? detail::latency_json(p, work, step, needed, watts)
                             : detail::latency_text(p, asked, step, needed, watts),
            code};
}

inline constexpr std::array<example_row, 2> latency_examples{{
    {"llmcost latency --model Qwen/Qwen3-8B --device h200 --engine vllm --batch 16 --past 1000", "a step of 16 sequences"},
    {"llmcost latency --model Qwen/Qwen3-8B --device h200 --training --batch 4", "a training step"},
}};

inline constexpr command latency_command{.name = "latency",
                                         .meaning = "how long a step takes, kernel by kernel",
                                         .usage = "(--model NAME | --config FILE) --device NAME [option]...",
                                         .about = "The time of one step, kernel by kernel, as an engine fuses them.\n",
                                         .options = latency_options,
                                         .answer = latency_answer,
                                         .examples = latency_examples};

}  // namespace llmcost::cli
