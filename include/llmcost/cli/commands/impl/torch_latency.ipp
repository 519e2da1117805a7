// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/torch_latency.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/schedule_options.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/pages/train_page.hpp>
#include <llmcost/cli/request/attention_option.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/devices/cuda_capability.hpp>
#include <llmcost/memory/category.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/serving/memory.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/serving/timed_step.hpp>
#include <llmcost/serving/training.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/torch/compiled_memory.hpp>
#include <llmcost/torch/kernel.hpp>
#include <llmcost/torch/operators.hpp>
#include <llmcost/torch/step.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE void complete_torch_workload(const arguments& args, const deployment& p,
                                            const training_schedule* schedule, workload& load) {
    const dtype type = dtype_from(std::string_view(p.execution.linear_type->name));
    if (type != dtype::float32 && type != dtype::bfloat16 && type != dtype::float16)
        throw_usage("--dtype", "torch has products of float32, bfloat16 and float16; not of " +
                                   std::string(p.execution.linear_type->name));
    const int precision = args.choice(option::precision, precision_auto);
    load.autocast = precision == precision_bf16_mixed || precision == precision_fp16_mixed;
    load.weights = load.activations = precision == precision_fp32 || load.autocast ? dtype::float32
                                      : precision == precision_bf16                ? dtype::bfloat16
                                      : precision == precision_fp16                ? dtype::float16
                                                                                   : type;
    load.cache = load.activations;
    load.cuda_capability = cuda_capability_of(*p.device);
    load.has_training_cache = schedule != nullptr && schedule->recompute != recompute_mode::full;
    load.implementation = attention_implementation_of(args, p.model, load);
}

/// Whether kernels that compute, or kernels that move data, take most of the time; or the launches by the host.
[[nodiscard]] LLMCOST_INLINE roofline_bound bound_of(const torch_step& step) {
    if (step.is_host_bound()) return roofline_bound::launch;
    double compute = 0;
    for (const timed_torch_kernel& row : step.kernels)
        if (row.kernel.flops > 0) compute += row.launches * row.seconds;
    return 2 * compute > step.device_seconds ? roofline_bound::compute : roofline_bound::memory;
}

[[nodiscard]] LLMCOST_INLINE step_time step_time_of(const torch_step& step) {
    return {.seconds = step.seconds(), .lower = step.lower, .upper = step.upper, .bound = bound_of(step)};
}

/// The cost of a phase. `is_wide`: its products have at least 16 bits.
[[nodiscard]] LLMCOST_INLINE step_cost step_cost_of(const deployment& p, const torch_phase_cost& phase) {
    step_cost out;
    out.seconds = phase.device_seconds;
    out.flops = phase.flops;
    out.bytes = phase.bytes;
    out.launches = phase.launches;
    const double peak = p.device->*p.execution.linear_type->unit * 1e12;
    out.high_precision_busy = peak > 0 ? std::min(phase.flops / peak, phase.device_seconds) : 0;
    out.memory_busy = p.device->memory_bandwidth > 0
                          ? std::min(phase.bytes / (p.device->memory_bandwidth * 1e9), phase.device_seconds)
                          : 0;
    return out;
}

LLMCOST_INLINE training_cost torch_training_cost(const deployment& p, const workload& load, const training_plan& plan,
                                                 const torch_step& step) {
    using category = memory_category;
    training_cost out;
    out.forward = step_cost_of(p, step.phase(step_phase::forward));
    out.recomputed = step_cost_of(p, step.phase(step_phase::recompute));
    out.backward = step_cost_of(p, step.phase(step_phase::backward));
    out.backward += out.recomputed;
    out.optimizer = step_cost_of(p, step.phase(step_phase::optimizer));
    out.freezes = plan.adapter_config.kind != adapter_kind::none;
    out.total = step_time_of(step);
    model base_model = p.model;
    base_model.policy = nullptr;  // the plan contains the adapter
    const memory_timeline memory = (p.is_compiled ? train_compiled : train)(base_model, load, plan).memory;
    out.memory.peak = memory.peak.bytes;
    out.memory.saved = memory.saved_bytes;
    out.memory.trained = memory.num_trainable;
    for (const category c : {category::parameters, category::gradients, category::optimizer})
        out.memory.states += memory.peak_by_category[c];
    if (p.execution.parallel.data_parallel_size > 1) {
        out.reduction = gradient_reduction_cost(static_cast<std::int64_t>(memory.num_trainable), p.execution, *p.device,
                                                *p.kernels);
        out.total.seconds += out.reduction.seconds;
        out.total.lower += out.reduction.seconds / 2;
        out.total.upper += out.reduction.seconds * 2;
    }
    return out;
}

LLMCOST_INLINE timed_step torch_forward_cost(const deployment& p, const workload& load, const torch_step& step) {
    timed_step out;
    static_cast<step_time&>(out) = step_time_of(step);
    out.done = step_cost_of(p, step.phase(step_phase::forward));
    out.host_seconds = step.host_seconds;
    out.weights = weight_bytes(p.model, p.execution);
    out.cache = cache_bytes(p.model, load, p.execution);
    return out;
}

LLMCOST_INLINE std::string torch_operator_table(const torch_step& step) {
    constexpr std::size_t max_rows = 16, name_width = 44;
    std::vector<torch_operator> rows = torch_operators_of(step, torch_operator_key::name);
    std::ranges::stable_sort(rows, std::ranges::greater{}, &torch_operator::seconds);
    const auto line = [&](std::string_view name, double launches, double seconds) {
        return left(name, name_width) + right(formatted("%.0f", launches), 8) + right(duration(seconds), 14) +
               right(formatted("%.1f %%", 100 * seconds / step.device_seconds), 9) + '\n';
    };
    std::string out =
        left("operator", name_width) + right("calls", 8) + right("device time", 14) + right("share", 9) + '\n';
    double other_launches = 0, other_seconds = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i < max_rows) {
            out += line(profile_name_of(rows[i].kernel).substr(0, name_width - 2), rows[i].launches, rows[i].seconds);
            continue;
        }
        other_launches += rows[i].launches;
        other_seconds += rows[i].seconds;
    }
    if (other_launches > 0) out += line("others", other_launches, other_seconds);
    return out;
}

LLMCOST_INLINE table torch_kernel_table(const torch_step& step) {
    table t{{{"operator"},
             {"phase"},
             {"dtype"},
             {"operands"},
             {"calls", true},
             {"seconds", false, true},
             {"seconds_of_all", false, true}},
            {}};
    for (const timed_torch_kernel& row : step.kernels)
        t.rows.push_back(
            {profile_name_of(row.kernel), std::string(step_phase_names[static_cast<std::size_t>(row.kernel.phase)]),
             std::string(name_of(row.kernel.type)), operands_label(row.kernel), formatted("%.0f", row.launches),
             exact_number(row.seconds), exact_number(row.launches * row.seconds)});
    return t;
}

LLMCOST_INLINE void write_operands(json_writer& json, const torch_kernel& k) {
    json.key("operands").array();
    for (int i = 0; i < k.num_operands; ++i) {
        json.array();
        for (int d = 0; d < k.operands[i].rank; ++d) json.value(k.operands[i].size[d]);
        json.end_array();
    }
    json.end_array();
}

LLMCOST_INLINE void write_torch_step(json_writer& json, const torch_step& step) {
    json.member("device_seconds", step.device_seconds).member("host_seconds", step.host_seconds);
    json.member("launches", step.num_launches());
    json.key("kernels").array();
    for (const timed_torch_kernel& row : step.kernels) {
        const torch_kernel& k = row.kernel;
        json.object().member("operator", profile_name_of(k));
        json.member("phase", step_phase_names[static_cast<std::size_t>(k.phase)]).member("dtype", name_of(k.type));
        write_operands(json, k);
        json.member("calls", row.launches).member("seconds", row.seconds);
        json.member("bytes", count(k.bytes())).member("flops", count(k.flops)).end_object();
    }
    json.end_array();
}

LLMCOST_INLINE std::string torch_method_line(const torch_step& step) {
    std::string out =
        step.is_compiled ? "Method: torch.compile, PyTorch 2.15; device " : "Method: eager PyTorch 2.11; device ";
    out += duration(step.device_seconds);
    if (step.host_seconds > 0)
        out += ", host " + duration(step.host_seconds) + formatted(" for %.0f kernels; the ", step.num_launches()) +
               (step.is_host_bound() ? "host" : "device") + " limits the step";
    else
        out += " in a CUDA graph";
    return out + '\n';
}

}  // namespace llmcost::cli::detail
