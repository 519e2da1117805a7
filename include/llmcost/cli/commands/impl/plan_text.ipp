// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/plan_text.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/commands/latency.hpp>
#include <llmcost/cli/commands/op.hpp>
#include <llmcost/cli/commands/serve_request.hpp>
#include <llmcost/cli/commands/simulate.hpp>
#include <llmcost/cli/commands/simulate_request.hpp>
#include <llmcost/cli/pages/deployment_files.hpp>
#include <llmcost/cli/pages/device_table.hpp>
#include <llmcost/cli/pages/engine_command.hpp>
#include <llmcost/cli/pages/sweep_plot.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/kernels/kernel_names.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/parallel_config.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/chart.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/report/ticks.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/multimodal_step.hpp>
#include <llmcost/serving/prediction_intervals.hpp>
#include <llmcost/simulation/deployment_search.hpp>
#include <llmcost/simulation/host_times.hpp>
#include <llmcost/simulation/request.hpp>
#include <llmcost/simulation/scheduling_policy.hpp>
#include <llmcost/simulation/simulate.hpp>
#include <llmcost/simulation/summary.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE std::string deployed_engine::launch_command(const evaluated_deployment& t) const {
    return cli::launch_command(deployment_of_server(), pipeline_parallel_size, t.policy, server->quantizes_checkpoint);
}

LLMCOST_INLINE std::string deployed_engine::launch_remark() const {
    std::string text;
    if (num_nodes() > 1) text += "on " + std::to_string(num_nodes()) + " nodes";
    if (server->quantizes_checkpoint && is_empty(load_time_quantization(deployment_of_server(), true)))
        text += (text.empty() ? "" : ", ") + std::string("needs a checkpoint in ") +
                std::string(deployment_of_server().execution.linear_type->name);
    return text.empty() ? text : "  (" + text + ')';
}

LLMCOST_INLINE std::int64_t deployed_engine::num_nodes() const noexcept {
    return (deployment_of_server().execution.parallel.world_size() * pipeline_parallel_size +
            deployment_of_server().execution.devices_per_node - 1) /
           deployment_of_server().execution.devices_per_node;
}

[[nodiscard]] LLMCOST_INLINE double price_per_million_output_tokens(const deployment& p,
                                                                    const evaluated_deployment& t) {
    return 1e6 / t.summary.output_tokens_per_second / 3600 * p.price_per_hour * t.devices;
}

/// The weight type and the KV cache type of a candidate.
[[nodiscard]] LLMCOST_INLINE std::string types_label(const deployed_engine& k) {
    return std::string(k.deployment_of_server().execution.linear_type->name) + ", " +
           std::string(k.deployment_of_server().execution.kv_cache_type->name);
}

/// The width of the column of element types; 0 if all candidates have the same types.
[[nodiscard]] LLMCOST_INLINE std::size_t types_width(const std::vector<deployed_engine>& candidates) {
    std::size_t width = 0;
    for (const deployed_engine& k : candidates)
        if (types_label(k) != types_label(candidates.front()))
            width = std::max({width, types_label(k).size(), types_label(candidates.front()).size()});
    return width > 0 ? std::max<std::size_t>(width, 17) + 2 : 0;
}

/// A row of the table of deployments.
[[nodiscard]] LLMCOST_INLINE std::string plan_row(std::size_t number, const deployed_engine& k,
                                                  const evaluated_deployment& t, std::size_t width) {
    const deployment& p = k.deployment_of_server();
    const parallel_config& s = p.execution.parallel;
    const std::string replicas = t.is_disaggregated()
                                     ? std::to_string(t.replicas) + " + " + std::to_string(t.num_decode_workers)
                                     : std::to_string(t.replicas);
    return right(std::to_string(number), 3) + right(formatted("%.0f", t.devices), 8) + "  " + left(p.engine.name, 8) +
           (width > 0 ? left(types_label(k), width) : "") + right(std::to_string(s.tensor_parallel_size), 3) +
           right(std::to_string(k.pipeline_parallel_size), 4) + right(std::to_string(s.data_parallel_size), 4) +
           right(std::to_string(s.expert_parallel_size), 4) + right(replicas, 10) +
           right(grouped(count(t.policy.max_num_batched_tokens)), 13) + right(duration(t.summary.ttft.p99), 12) +
           right(duration(t.summary.tpot.p99), 12) + right(formatted("%.1f %%", 100 * t.summary.slo_attainment), 12) +
           right(formatted("%.0f", t.summary.output_tokens_per_second), 10) +
           (p.price_per_hour > 0 ? right(formatted("%.3g", price_per_million_output_tokens(p, t)), 15) : "") + '\n';
}

/// The deployments as a table.
[[nodiscard]] LLMCOST_INLINE std::string plan_table(const std::vector<deployed_engine>& candidates,
                                                    const std::vector<evaluated_deployment>& deployments) {
    const bool has_price = candidates.front().deployment_of_server().price_per_hour > 0;
    const std::size_t width = types_width(candidates);
    std::string out = right("devices", 11) + "  " + left("engine", 8) +
                      (width > 0 ? left("weights, KV cache", width) : "") + right("tp", 3) + right("pp", 4) +
                      right("dp", 4) + right("ep", 4) + right("replicas", 10) + right("tokens/step", 13) +
                      right("TTFT p99", 12) + right("TPOT p99", 12) + right("meet --slo", 12) + right("tokens/s", 10) +
                      (has_price ? right("price/million", 15) : "") + '\n';
    for (std::size_t i = 0; i < deployments.size(); ++i)
        out += plan_row(i + 1, candidates[deployments[i].candidate_index], deployments[i], width);
    return out;
}

/// The launch commands of the engines of each deployment.
[[nodiscard]] LLMCOST_INLINE std::string launch_lines(const std::vector<deployed_engine>& candidates,
                                                      const std::vector<evaluated_deployment>& deployments) {
    std::string out = "Launch command of each engine:\n";
    for (std::size_t i = 0; i < deployments.size(); ++i) {
        const deployed_engine& k = candidates[deployments[i].candidate_index];
        out += right(std::to_string(i + 1), 3) + "  " + k.launch_command(deployments[i]) + k.launch_remark() + '\n';
    }
    for (std::size_t i = 0; i < deployments.size(); ++i)
        if (deployments[i].is_disaggregated())
            out += right(std::to_string(i + 1), 3) + "  (prefill workers + decode workers: disaggregated serving of " +
                   engine_title(candidates[deployments[i].candidate_index].deployment_of_server().engine) + ")\n";
    return out;
}

/// How many candidates the search evaluated and excluded.
[[nodiscard]] LLMCOST_INLINE std::string search_line(const search_result& found) {
    std::string out = "Search: " + grouped(count(found.num_candidates)) + " candidates, " +
                      grouped(count(found.num_simulations)) + " simulations";
    if (found.num_out_of_memory > 0) out += "; " + grouped(count(found.num_out_of_memory)) + " out of memory";
    if (found.num_too_slow > 0) out += "; " + grouped(count(found.num_too_slow)) + " too slow for a single request";
    if (found.num_exceeding_devices > 0)
        out += "; " + grouped(count(found.num_exceeding_devices)) + " need more devices";
    return out + '\n';
}

/// The lowest latency of a single request: what targets can be reached at all.
[[nodiscard]] LLMCOST_INLINE std::string lowest_latency_lines(const std::vector<deployed_engine>& candidates,
                                                              const search_result& found) {
    std::string out;
    for (const auto& [name, lowest] : {std::pair<std::string_view, const lowest_latency&>{"TTFT", found.ttft},
                                       {"TPOT", found.tpot},
                                       {"end-to-end latency", found.end_to_end}}) {
        if (lowest.seconds <= 0) continue;
        const deployed_engine& k = candidates[lowest.candidate_index];
        const deployment& p = k.deployment_of_server();
        out += "  " + left(name, 20) + right(duration(lowest.seconds), 10) + ", " +
               duration(lowest.seconds_at_quantile) + " at the quantile: " + std::string(p.engine.name) + ' ' +
               types_label(k) + " --tp " + std::to_string(p.execution.parallel.tensor_parallel_size) +
               (k.pipeline_parallel_size > 1 ? " --pp " + std::to_string(k.pipeline_parallel_size) : "") + '\n';
    }
    return out.empty() ? out : "Lowest latency of a single request:\n" + out;
}

[[nodiscard]] LLMCOST_INLINE std::string plan_text(const std::vector<deployed_engine>& candidates,
                                                   const search_result& found, const std::string& title) {
    std::string out = title + "\n\n";
    const bool is_feasible = !found.feasible.empty();
    const std::vector<evaluated_deployment>& deployments = is_feasible ? found.feasible : found.infeasible;
    const std::string lowest = lowest_latency_lines(candidates, found);
    if (lowest.empty()) return out + "No candidate has enough memory\n\n" + search_line(found);
    if (deployments.empty())
        return out + "No deployment meets the targets, not even for a single request\n\n" + lowest + '\n' +
               search_line(found);
    if (!is_feasible)
        out += "No deployment meets the targets\n\n" + lowest + "\nThe closest deployments, with all devices:\n";
    return out + plan_table(candidates, deployments) + '\n' + launch_lines(candidates, deployments) + '\n' +
           search_line(found);
}

/// Writes a deployment.
LLMCOST_INLINE void write_deployment(json_writer& json, const deployed_engine& k, const evaluated_deployment& t) {
    const parallel_config& s = k.deployment_of_server().execution.parallel;
    json.object().member("devices", t.devices).member("engine", k.deployment_of_server().engine.name);
    json.member("tensor_parallel", s.tensor_parallel_size)
        .member("pipeline_parallel", k.pipeline_parallel_size)
        .member("data_parallel", s.data_parallel_size);
    json.member("dtype", k.deployment_of_server().execution.linear_type->name)
        .member("cache_dtype", k.deployment_of_server().execution.kv_cache_type->name);
    json.member("expert_parallel", s.expert_parallel_size).member("nodes_of_engine", k.num_nodes());
    json.member("engines", t.replicas).member("writing_engines", t.num_decode_workers);
    json.member("tokens_per_step", t.policy.max_num_batched_tokens).member("sequences", t.policy.max_num_seqs);
    for (const auto& [name, d] : {std::pair<std::string, const distribution&>{"ttft", t.summary.ttft},
                                  {"tpot", t.summary.tpot},
                                  {"end_to_end", t.summary.end_to_end}})
        json.member(name + "_mean_seconds", d.mean)
            .member(name + "_p50_seconds", d.p50)
            .member(name + "_p90_seconds", d.p90)
            .member(name + "_p95_seconds", d.p95)
            .member(name + "_p99_seconds", d.p99);
    json.member("interval_stands_on", description_of(k.deployment_of_server().simulated_evidence))
        .member("good_share", t.summary.slo_attainment);
    json.member("output_tokens_per_second", t.summary.output_tokens_per_second);
    if (k.deployment_of_server().price_per_hour > 0)
        json.member("price_per_million_tokens", price_per_million_output_tokens(k.deployment_of_server(), t));
    json.member("cache_blocks", t.kv_cache_blocks);
    json.member("command", k.launch_command(t)).end_object();
}

[[nodiscard]] LLMCOST_INLINE table deployment_table(const std::vector<deployed_engine>& candidates,
                                                    const search_result& found) {
    table t;
    for (const char* name : {"engine", "dtype", "cache_dtype"}) t.columns.push_back({name});
    for (const char* name : {"devices", "tensor_parallel", "pipeline_parallel", "data_parallel", "expert_parallel",
                             "engines", "writing_engines", "tokens_per_step", "sequences", "ttft_p99_seconds",
                             "tpot_p99_seconds", "good_share", "output_tokens_per_second", "price_per_million_tokens"})
        t.columns.push_back({name, false, true});
    for (const char* name : {"meets_targets", "command"}) t.columns.push_back({name});
    const bool is_feasible = !found.feasible.empty();
    for (const evaluated_deployment& d : is_feasible ? found.feasible : found.infeasible) {
        const deployed_engine& k = candidates[d.candidate_index];
        const deployment& p = k.deployment_of_server();
        const parallel_config& s = p.execution.parallel;
        t.rows.push_back({std::string(p.engine.name), std::string(p.execution.linear_type->name),
                          std::string(p.execution.kv_cache_type->name), exact_number(d.devices),
                          std::to_string(s.tensor_parallel_size), std::to_string(k.pipeline_parallel_size),
                          std::to_string(s.data_parallel_size), std::to_string(s.expert_parallel_size),
                          std::to_string(d.replicas), std::to_string(d.num_decode_workers),
                          std::to_string(d.policy.max_num_batched_tokens), std::to_string(d.policy.max_num_seqs),
                          exact_number(d.summary.ttft.p99), exact_number(d.summary.tpot.p99),
                          exact_number(d.summary.slo_attainment), exact_number(d.summary.output_tokens_per_second),
                          p.price_per_hour > 0 ? exact_number(price_per_million_output_tokens(p, d)) : "",
                          is_feasible ? "true" : "false", k.launch_command(d)});
    }
    return t;
}

[[nodiscard]] LLMCOST_INLINE std::string plan_json(const std::vector<deployed_engine>& candidates,
                                                   const search_result& found) {
    json_writer json;
    json.object();
    if (!candidates.empty()) write_model(json, candidates.front().deployment_of_server());
    json.member("keeps", !found.feasible.empty()).member("candidates", static_cast<std::int64_t>(found.num_candidates));
    json.member("simulated", static_cast<std::int64_t>(found.num_simulations));
    json.member("without_room", static_cast<std::int64_t>(found.num_out_of_memory));
    json.member("too_slow_alone", static_cast<std::int64_t>(found.num_too_slow));
    json.member("need_more_devices", static_cast<std::int64_t>(found.num_exceeding_devices));
    json.key("single_request").object();
    for (const auto& [name, lowest] : {std::pair<std::string, const lowest_latency&>{"ttft", found.ttft},
                                       {"tpot", found.tpot},
                                       {"end_to_end", found.end_to_end}})
        if (lowest.seconds > 0)
            json.member(name + "_lowest_seconds", lowest.seconds)
                .member(name + "_lowest_at_quantile_seconds", lowest.seconds_at_quantile);
    json.end_object().key("deployments").array();
    for (const evaluated_deployment& t : found.feasible.empty() ? found.infeasible : found.feasible)
        write_deployment(json, candidates[t.candidate_index], t);
    return json.end_array().end_object().text() + '\n';
}

[[nodiscard]] LLMCOST_INLINE swept_chart plan_chart(const std::vector<deployed_engine>& kinds,
                                                    const search_result& found) {
    swept_chart chart;
    chart.title = "Throughput per device over speed per user";
    chart.x_axis.title = "tokens/s per user";
    chart.up.title = "tokens/s per device";
    std::vector<std::pair<double, double>> all;
    for (const evaluated_deployment& t : found.evaluated) {
        if (t.summary.tpot.mean <= 0) continue;
        all.emplace_back(1 / t.summary.tpot.mean, t.summary.output_tokens_per_second / t.devices);
        add_to_line(chart.lines, std::string(kinds[t.candidate_index].deployment_of_server().engine.name),
                    all.back().first, all.back().second);
    }
    if (all.empty())
        throw_usage(option::plot.name, "no data: requires simulated requests with more than one output token");
    for (chart_series& s : chart.lines) s.has_line = false;
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    double maximum = 0;
    for (const auto& [user, device] : all)
        if (device > maximum) {
            add_to_line(chart.lines, "best", user, device);
            maximum = device;
        }
    settle(chart);
    for (chart_series& s : chart.lines) s.marked = !s.has_line;  // for any number of points
    chart.description = chart.title + ": " + std::to_string(all.size()) + " deployments; at most " +
                        formatted("%.4g", maximum) + " per device, " + formatted("%.4g", all.front().first) +
                        " per user";
    return chart;
}

}  // namespace llmcost::cli::detail
