// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/pages/step_time.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/pages/device_table.hpp>
#include <llmcost/report/json_writer.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE std::string estimate_lines(const step_estimate& estimate, std::int64_t epoch_tokens) {
    if (estimate.seconds <= 0) return "Step time: not estimated: " + estimate.problem + '\n';
    const std::string devices = estimate.num_devices > 1 ? std::to_string(estimate.num_devices) + " x " : "";
    std::string out = "Step time on " + devices + estimate.device_title + ": " + duration(estimate.seconds) +
                      " (interval " + duration(estimate.lower) + " to " + duration(estimate.upper) + "), " +
                      grouped(formatted("%.0f", estimate.inputs_per_second)) + ' ' + estimate.inputs_name + "/s";
    if (estimate.model_flops_utilization > 0) out += formatted(", MFU %.1f %%", 100 * estimate.model_flops_utilization);
    if (estimate.watts > 0) out += formatted(", about %.0f W", estimate.watts);
    out += '\n';
    if (epoch_tokens > 0) {
        const double hours = estimate.hours_of(static_cast<double>(epoch_tokens));
        out += grouped(count(epoch_tokens)) + ' ' + estimate.inputs_name + ": " + formatted("%.3g hours", hours);
        if (estimate.watts > 0) out += formatted(", %.3g kWh", estimate.watts / 1000 * hours);
        out += estimate.price_per_hour > 0 ? formatted(", price %.4g", estimate.price_per_hour * hours)
                                           : std::string(" (for the price: --price)");
        out += '\n';
    } else if (estimate.price_per_hour > 0) {
        out += formatted("Price: %.3g per million ", estimate.price_per_million_inputs()) + estimate.inputs_name + '\n';
    }
    if (estimate.job) {
        out += training_time_lines(estimate.job->cost, estimate.optimizer);
        out += per_device_line(estimate.job->cost, estimate.job->peak).substr(1) + '\n';
        for (const std::string& line : estimate.job->assumptions) out += "Assumed: " + line + '\n';
    }
    return out + assumption_line(estimate);
}

LLMCOST_INLINE std::string assumption_line(const step_estimate& estimate) {
    std::string out = "Time: as in llmcost latency --training, ";
    if (estimate.job)
        out += "fused kernels at sustained clocks";
    else if (!estimate.is_torch)
        out += "fused kernels in a CUDA graph";
    else if (estimate.device_seconds > 0)
        out +=
            "--engine torch: device " + duration(estimate.device_seconds) + ", host " + duration(estimate.host_seconds);
    else
        out += "--engine torch: eager PyTorch";
    if (estimate.is_compiled) out += "; torch.compile, eager optimizer";
    return out + (estimate.omissions.empty() ? "" : "; without " + estimate.omissions) + '\n';
}

LLMCOST_INLINE std::string inference_assumption_line(const step_estimate& estimate) {
    return "Time: one step as in llmcost latency, with the kernels of the engine" +
           (estimate.type_note.empty() ? "" : "; " + estimate.type_note) + '\n';
}

LLMCOST_INLINE void write_estimate(json_writer& json, const step_estimate& estimate, std::int64_t epoch_tokens) {
    const auto member = [&](std::string_view name, double x) {
        json.key(name);
        x > 0 ? json.value(x) : json.null();
    };
    json.key("step_time").object();
    member("seconds", estimate.seconds);
    member("lower", estimate.lower);
    member("upper", estimate.upper);
    member("device_seconds", estimate.device_seconds);
    member("host_seconds", estimate.host_seconds);
    member("inputs_per_second", estimate.inputs_per_second);
    member("model_flops_utilization", estimate.model_flops_utilization);
    member("watts_of_all_devices", estimate.watts);
    member("price_per_million_inputs", estimate.price_per_million_inputs());
    const double hours = estimate.hours_of(static_cast<double>(epoch_tokens));
    member("epoch_hours", hours);
    member("epoch_kwh", estimate.watts / 1000 * hours);
    member("epoch_price", estimate.price_per_hour * hours);
    if (estimate.job) write_training_time(json, *estimate.job);
    json.key("problem");
    estimate.problem.empty() ? json.null() : json.value(estimate.problem);
    json.end_object();
}

LLMCOST_INLINE std::vector<device_figure> step_figures(std::string_view inputs_name, std::int64_t epoch_tokens) {
    const std::string inputs(inputs_name), input = inputs.substr(0, inputs.size() - 1);
    std::vector<device_figure> out{{"step_seconds", "step time", figure_unit::seconds},
                                   {inputs + "_per_second", inputs + "/s", figure_unit::per_second},
                                   {"joules_per_" + input, "J/" + input, figure_unit::joules},
                                   {"price_per_million_" + inputs, "price/million", figure_unit::price}};
    if (epoch_tokens > 0) {
        out.push_back({"epoch_hours", "hours", figure_unit::hours});
        out.push_back({"epoch_kwh", "kWh", figure_unit::number});
        out.push_back({"epoch_price", "price", figure_unit::price});
    }
    return out;
}

LLMCOST_INLINE std::vector<double> step_values(const step_estimate& estimate, std::int64_t epoch_tokens) {
    std::vector<double> out{estimate.seconds, estimate.inputs_per_second, estimate.joules_per_input(),
                            estimate.price_per_million_inputs()};
    if (epoch_tokens > 0) {
        const double hours = estimate.hours_of(static_cast<double>(epoch_tokens));
        out.push_back(hours);
        out.push_back(estimate.watts / 1000 * hours);
        out.push_back(estimate.price_per_hour * hours);
    }
    return out;
}

}  // namespace llmcost::cli::detail
