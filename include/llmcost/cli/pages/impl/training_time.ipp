// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/pages/training_time.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/serving/parallel_training.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/trace/collective.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE std::string training_time_lines(const parallel_training_cost& cost, std::string_view optimizer) {
    std::string out;
    const auto line = [&](std::string_view name, double seconds, const std::string& note) {
        if (seconds > 0)
            out += "  " + left(name, 14) + right(duration(seconds), 10) +
                   formatted("  %4.1f %%", 100 * seconds / cost.total.seconds) + (note.empty() ? "" : "  " + note) +
                   '\n';
    };
    const auto rate = [](const step_cost& part) { return formatted("%.1f TFLOP/s", part.flops / part.seconds / 1e12); };
    line("forward", cost.forward.seconds, rate(cost.forward));
    line("backward", cost.backward.seconds, rate(cost.backward));
    if (cost.recomputed.seconds > 0) line("recomputed", cost.recomputed.seconds, rate(cost.recomputed));
    for (const training_communication& c : cost.communication)
        line(std::string(name_of(c.axis)) + ", exposed", c.exposed_seconds,
             "of " + duration(c.seconds) + ", " + in_bytes(count(static_cast<std::uint64_t>(c.bytes_sent))) + " sent" +
                 (c.crosses_nodes ? ", between nodes" : ""));
    line("bubble", cost.bubble_seconds, {});
    line("host", cost.host_seconds, {});
    line(optimizer, cost.optimizer_seconds, {});
    return out;
}

LLMCOST_INLINE std::string per_device_line(const parallel_training_cost& cost, double peak) {
    return formatted("\n  per device: %.0f tokens/s, %.1f TFLOP/s, HFU %.1f %%", cost.tokens_per_second_per_device,
                     cost.model_flops / cost.total.seconds / 1e12, 100 * cost.hardware_flops_utilization(peak));
}

LLMCOST_INLINE std::string assumption_lines(const std::vector<std::string>& assumptions) {
    std::string out;
    for (const std::string& line : assumptions) out += "Assumed: " + line + '\n';
    return out.empty() ? out : '\n' + out;
}

LLMCOST_INLINE void write_parallelism(json_writer& json, const training_parallelism& parallel) {
    json.key("parallelism").object();
    json.member("tp", parallel.tensor).member("cp", parallel.context).member("pp", parallel.pipeline);
    json.member("dp", parallel.data).member("dp_replicate", parallel.data_replicate);
    json.member("ep", parallel.expert).member("etp", parallel.expert_tensor);
    json.member("schedule", parallel.schedule).member("stages_per_rank", parallel.stages_per_rank);
    json.member("microbatches", parallel.microbatches).end_object();
}

LLMCOST_INLINE void write_training_time(json_writer& json, const training_time& time) {
    const parallel_training_cost& cost = time.cost;
    json.key("communication").array();
    for (const training_communication& c : cost.communication) {
        json.object().member("group", name_of(c.axis)).member("size", c.size);
        json.member("crosses_nodes", c.crosses_nodes).member("seconds", c.seconds);
        json.member("exposed_seconds", c.exposed_seconds).member("bytes_sent", c.bytes_sent);
        json.member("bytes_received", c.bytes_received).end_object();
    }
    json.end_array();
    json.member("exposed_seconds", cost.exposed_seconds()).member("bubble_seconds", cost.bubble_seconds);
    json.member("launch_seconds", cost.host_seconds);
    json.member("tokens_per_second_per_device", cost.tokens_per_second_per_device);
    json.member("tflops_per_device", cost.model_flops / cost.total.seconds / 1e12);
    json.member("hardware_flops_utilization", cost.hardware_flops_utilization(time.peak));
    json.key("assumptions").array();
    for (const std::string& line : time.assumptions) json.value(line);
    json.end_array();
}

}  // namespace llmcost::cli::detail
