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
#include <llmcost/cli/commands/plan_rl.hpp>
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
                   host_times_of(p.engine),
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
    if (detail::is_rl_plan(args)) return detail::run_rl_plan(args, io);
    if (detail::is_training_plan(args)) return detail::run_training_plan(args, io);
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
