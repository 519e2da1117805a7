// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/plan.hpp>

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
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/chart.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/report/ticks.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/multimodal_step.hpp>
#include <llmcost/serving/parallel_config.hpp>
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

[[nodiscard]] LLMCOST_INLINE std::string plan_text(const std::vector<deployed_engine>& candidates,
                                                   const search_result& found, const std::string& title) {
    std::string out = title + "\n\n";
    const bool is_feasible = !found.feasible.empty();
    const std::vector<evaluated_deployment>& deployments = is_feasible ? found.feasible : found.infeasible;
    if (!is_feasible) out += "No deployment meets the targets; the closest ones, with all devices:\n";
    if (deployments.empty())
        return out + "No candidate was simulated: out of memory, or too slow for a single request.\n";
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
    json.member("interval_stands_on", description_of(k.deployment_of_server().interval.evidence))
        .member("good_share", t.summary.slo_attainment);
    json.member("output_tokens_per_second", t.summary.output_tokens_per_second);
    if (k.deployment_of_server().price_per_hour > 0)
        json.member("price_per_million_tokens", price_per_million_output_tokens(k.deployment_of_server(), t));
    json.member("command", k.launch_command(t)).end_object();
}

/// The deployments as a table with exact numbers: those that meet the targets, otherwise the closest ones.
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
    json.member("need_more_devices", static_cast<std::int64_t>(found.num_exceeding_devices)).key("deployments").array();
    for (const evaluated_deployment& t : found.feasible.empty() ? found.infeasible : found.feasible)
        write_deployment(json, candidates[t.candidate_index], t);
    return json.end_array().end_object().text() + '\n';
}

/// Output throughput per device over output speed per user of all simulated deployments.
///
/// Each engine has points; the line is the Pareto front.
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

/// The parallel sizes to search: the value of the option, or powers of two up to `maximum`.
LLMCOST_INLINE std::vector<std::int64_t> parallel_sizes(const arguments& args, const option_spec& o,
                                                        std::int64_t maximum) {
    if (args.has(o)) return {args.number(o, 1)};
    std::vector<std::int64_t> all;
    for (std::int64_t n = 1; n <= maximum; n *= 2) all.push_back(n);
    return all;
}

/// The tensor, data and expert parallelism to search on at most `devices` devices of one node.
///
/// The expert-parallel size is 1 or all devices. With data parallelism it is all devices.
LLMCOST_INLINE std::vector<parallel_config> parallel_configs(const arguments& args, std::int64_t devices) {
    const std::int64_t maximum = std::min<std::int64_t>(devices, execution::default_devices_per_node);
    std::vector<parallel_config> all;
    for (const std::int64_t tensor : parallel_sizes(args, option::tp, maximum))
        for (const std::int64_t data : parallel_sizes(args, option::dp, std::max<std::int64_t>(1, maximum / tensor))) {
            std::vector<std::int64_t> experts{args.number(option::ep, tensor * data)};
            if (!args.has(option::ep) && data == 1 && tensor > 1) experts.insert(experts.begin(), 1);
            for (const std::int64_t expert : experts) all.push_back({tensor, data, 1, expert});
        }
    return all;
}

/// The element types of a list option; one empty name if the option is not set. Throws: `usage`.
LLMCOST_INLINE std::vector<std::string_view> operand_types_to_search(const arguments& args, const option_spec& o) {
    std::vector<std::string_view> all;
    std::string_view rest = args.text(o);
    for (bool has_more = true; has_more;) {
        const std::size_t comma = rest.find(',');
        all.push_back(rest.substr(0, comma));
        if (args.has(o)) (void)require_operand_type(o.name, all.back());
        has_more = comma != std::string_view::npos;
        if (has_more) rest.remove_prefix(comma + 1);
    }
    return all;
}

/// The type in which an engine runs the checkpoint without quantization; null if the checkpoint is not supported.
LLMCOST_INLINE const operand_type* as_stored(arguments args, const program& io) {
    for (const option_spec& o : {option::linear_dtype, option::kv_cache_dtype, option::tp, option::dp, option::ep})
        args.remove(o);
    try {
        return io.place(args, io).execution.linear_type;
    } catch (const error&) {
        return nullptr;
    }
}

LLMCOST_INLINE void deployment_collector::add(const arguments& args, const operand_type* stored) {
    try {
        deployed_server server{io_->place(args, *io_)};
        const deployment& p = server.deployment_of_server;
        has_experts_ = p.model.config.moe.num_experts > 1;
        require_known_memory(*p.device);
        require_autoregressive(p.model);
        server.multimodal_inputs = parse_multimodal_cost(args, p);
        server.quantizes_checkpoint = stored != nullptr && p.execution.linear_type != stored;
        servers_.push_back(std::move(server));
    } catch (const error& e) {  // another engine, parallel configuration or type may be supported
        if (e.code() != errc::usage) throw;
        if (problem_.empty()) problem_ = e.what();  // of the plainest deployment, which is tried first
    }
}

LLMCOST_INLINE bool deployment_collector::may_support(const engine& engine,
                                                      const parallel_config& parallel) const noexcept {
    const bool is_supported = parallel.data_parallel_size == 1 || parallel.tensor_parallel_size == 1 ||
                              !(engine.name == string_ref("trtllm"));  // attention DP has one device per rank
    return is_supported && (has_experts_ || parallel.expert_parallel_size == 1);
}

LLMCOST_INLINE std::deque<deployed_server> deployment_collector::take() {
    if (servers_.empty()) throw error(errc::usage, "plan", problem_);
    for (deployed_server& s : servers_)
        s.server.emplace(s.deployment_of_server.model, s.deployment_of_server.execution, s.deployment_of_server.engine,
                         *s.deployment_of_server.device, *s.deployment_of_server.kernels);
    return std::move(servers_);
}

/// All deployments to search on at most `devices` devices. `option_values` owns the texts of generated options.
///
/// Throws: `usage` if no deployment is supported.
LLMCOST_INLINE std::deque<deployed_server> servers_of(arguments args, const program& io, std::int64_t devices,
                                                      std::deque<std::string>& option_values) {
    deployment_collector collector(io);
    const engine* const selected_engine =
        args.has(option::engine) ? &require_engine("--engine", args.text(option::engine)) : nullptr;
    const std::vector<parallel_config> parallel_candidates = parallel_configs(args, devices);
    const std::vector<std::string_view> weight_types = operand_types_to_search(args, option::linear_dtype),
                                        cache_types = operand_types_to_search(args, option::kv_cache_dtype);
    const auto set = [&](const option_spec& o, std::int64_t n) {
        args.replace(o, option_values.emplace_back(std::to_string(n)));
    };
    for (const engine& e : engines) {
        if (selected_engine != nullptr && selected_engine != &e) continue;
        args.replace(option::engine, option_values.emplace_back(e.name));
        const operand_type* const stored = weight_types.front().empty() ? nullptr : as_stored(args, io);
        for (const parallel_config& s : parallel_candidates) {
            if (!collector.may_support(e, s)) continue;
            set(option::tp, s.tensor_parallel_size);
            set(option::dp, s.data_parallel_size);
            set(option::ep, s.expert_parallel_size);
            for (const std::string_view weight_type : weight_types)
                for (const std::string_view cache_type : cache_types) {
                    if (!weight_type.empty()) args.replace(option::linear_dtype, weight_type);
                    if (!cache_type.empty()) args.replace(option::kv_cache_dtype, cache_type);
                    collector.add(args, stored);
                }
        }
    }
    return collector.take();
}

/// The candidates: each server with the pipeline-parallel sizes that `devices` devices allow.
LLMCOST_INLINE std::vector<deployed_engine> make_candidates(std::deque<deployed_server>& servers, const arguments& args,
                                                            std::int64_t devices) {
    std::vector<deployed_engine> kinds;
    for (deployed_server& s : servers) {
        const std::int64_t maximum = std::min(devices / s.deployment_of_server.execution.parallel.world_size(),
                                              s.deployment_of_server.model.config.num_hidden_layers);
        for (const std::int64_t stages : parallel_sizes(args, option::pp_of_plan, std::max<std::int64_t>(1, maximum))) {
            require_stages("--pp", s.deployment_of_server.model, stages);
            kinds.push_back({&s, stages});
        }
    }
    return kinds;
}

/// The default limit of an engine, then the other limits to search.
LLMCOST_INLINE std::vector<std::int64_t> scheduler_limits(std::int64_t default_limit,
                                                          std::initializer_list<std::int64_t> others) {
    std::vector<std::int64_t> all{default_limit};
    for (const std::int64_t n : others)
        if (n != default_limit) all.push_back(n);
    return all;
}

/// Parses the command line of `llmcost plan`, without the workload and the candidates. Throws: `usage`.
LLMCOST_INLINE plan_request parse_plan_request(const arguments& args) {
    if (!args.has(option::bounds)) throw_usage("--slo", "required: latency targets, e.g. ttft=1s,tpot=30ms");
    if (args.has(option::save) && args.text(option::save).empty())
        throw_usage(option::save.name, "expected a directory, found ''");
    plan_request request;
    request.targets = parse_request_slo(args.text(option::bounds));
    request.targets_text = std::string(args.text(option::bounds));
    request.slo_quantile = parse_slo_quantile(args).value_or(0.95);
    request.devices = args.number(option::devices, 8);
    if (request.devices > 4096) throw_usage("--devices", "expected at most 4096");
    request.search.max_devices = static_cast<double>(request.devices);
    request.search.min_slo_attainment = args.real(option::min_slo_attainment, 0.99, 0, 1);
    request.search.allows_disaggregation = !args.has(option::no_disaggregation);
    request.search.never_stops_early = args.has(option::plot);
    request.search.num_results = static_cast<std::size_t>(args.number(option::top_of_plan, 5));
    request.format = static_cast<output_format>(args.choice(option::format));
    if (args.has(option::plot) && args.text(option::plot).empty() && request.format != output_format::text)
        throw_usage(option::plot.name, "requires a file name unless --format is text");
    return request;
}

/// The search space of a candidate: its engine, and the limits of its scheduler.
LLMCOST_INLINE deployment_search::engine_option engine_option_of(const deployed_engine& candidate,
                                                                 const plan_request& request) {
    const deployment& p = candidate.deployment_of_server();
    const scheduling_policy policy = default_policy(p.engine.name, *p.device);
    request_slo targets = request.targets;  // a measured latency may exceed a simulated one
    targets.ttft_safety_factor = std::exp2(p.interval.simulated_ttft.quantile(request.slo_quantile));
    targets.tpot_safety_factor = std::exp2(p.interval.simulated_tpot.quantile(request.slo_quantile));
    return {
        .engine = {&*candidate.server->server,
                   policy,
                   host_times_of(p.engine.name),
                   p.model.config.moe.num_experts > 1,
                   {},
                   candidate.server->multimodal_inputs.encoder_cost},
        .stages = candidate.pipeline_parallel_size,
        .max_num_batched_tokens_options = scheduler_limits(policy.max_num_batched_tokens, {2048, 4096, 8192, 16384}),
        .max_num_seqs_options = scheduler_limits(policy.max_num_seqs, {256, 64}),
        .bounds = targets};
}

/// Searches the candidates for deployments that meet the targets.
LLMCOST_INLINE search_result compute(const plan_request& request, const simulation_config& config,
                                     const requested_workload& load, const std::vector<deployed_engine>& candidates) {
    std::vector<deployment_search::engine_option> engine_options;
    for (const deployed_engine& candidate : candidates) engine_options.push_back(engine_option_of(candidate, request));
    return deployment_search(load.requests, config, request.search)(engine_options);
}

/// The title of the text output: model, devices, workload and targets.
LLMCOST_INLINE std::string plan_title(const plan_request& request, const deployment& p, const std::string& load) {
    return std::string(p.name_of_model.name) + ", at most " + grouped(count(request.devices)) + " x " +
           printable(p.device->title) + '\n' + load + "\nTargets: " + request.targets_text + " for " +
           formatted("%.4g", 100 * request.search.min_slo_attainment) + " % of the requests" +
           (request.slo_quantile == 0.5
                ? ""
                : formatted(", at quantile %.4g of the prediction interval", request.slo_quantile));
}

LLMCOST_INLINE std::string print(const plan_request& request, const search_result& found,
                                 const std::vector<deployed_engine>& candidates, const std::string& load) {
    switch (request.format) {
        case output_format::json: return plan_json(candidates, found);
        case output_format::text:
            return plan_text(candidates, found, plan_title(request, candidates.front().deployment_of_server(), load));
        default: return written(deployment_table(candidates, found), request.format);
    }
}

/// Adds the files of the first deployment that meets the targets to the output.
LLMCOST_INLINE void save_deployment(command_output& out, const arguments& args,
                                    const std::vector<deployed_engine>& candidates, const search_result& found) {
    if (found.feasible.empty()) return;
    const evaluated_deployment& best = found.feasible.front();
    const deployed_engine& k = candidates[best.candidate_index];
    const deployment& p = k.deployment_of_server();
    out.files = deployment_files(std::string(args.text(option::save)), p,
                                 {.command = k.launch_command(best),
                                  .replicas = best.replicas,
                                  .decode_workers = best.num_decode_workers,
                                  .devices = p.execution.parallel.world_size() * k.pipeline_parallel_size,
                                  .nodes = k.num_nodes()});
    if (args.choice(option::format) != static_cast<int>(output_format::text)) return;
    for (const output_file& f : out.files)
        out.text += (&f == out.files.data() ? "Written: " : ", ") + printable(f.name);
    out.text += '\n';
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE command_output run_plan(const arguments& args, const program& io) {
    const plan_request request = detail::parse_plan_request(args);
    simulation_config config;
    std::deque<std::string> option_values;
    std::deque<detail::deployed_server> servers = detail::servers_of(args, io, request.devices, option_values);
    const detail::requested_workload load =
        detail::parse_workload_source(args, config, servers.front().multimodal_inputs.num_tokens);
    for (detail::deployed_server& s : servers)
        set_prediction_interval(s.deployment_of_server, load.requests.front().input_tokens);
    const std::vector<detail::deployed_engine> candidates = detail::make_candidates(servers, args, request.devices);
    detail::set_network(config, *candidates.front().deployment_of_server().device);

    const search_result found = detail::compute(request, config, load, candidates);
    command_output out;
    out.text = detail::print(request, found, candidates, load.label);
    if (found.feasible.empty()) out.exit_status = exit_code::does_not_fit;
    if (args.has(option::plot)) add_plot(out, args, detail::plan_chart(candidates, found));
    if (args.has(option::save)) detail::save_deployment(out, args, candidates, found);
    return out;
}

}  // namespace llmcost::cli
