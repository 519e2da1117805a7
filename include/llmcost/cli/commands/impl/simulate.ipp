// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/simulate.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/kv_tier_options.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/scheduler_options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/commands/draft_deployment.hpp>
#include <llmcost/cli/commands/serve.hpp>
#include <llmcost/cli/commands/serve_request.hpp>
#include <llmcost/cli/commands/simulate_page.hpp>
#include <llmcost/cli/commands/simulate_request.hpp>
#include <llmcost/cli/pages/sweep_plot.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/parallel_config.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/ticks.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/multimodal_step.hpp>
#include <llmcost/serving/server.hpp>
#include <llmcost/serving/stage_links.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/simulation/cluster.hpp>
#include <llmcost/simulation/host_times.hpp>
#include <llmcost/simulation/random_stream.hpp>
#include <llmcost/simulation/request.hpp>
#include <llmcost/simulation/request_trace.hpp>
#include <llmcost/simulation/scheduling_policy.hpp>
#include <llmcost/simulation/simulate.hpp>
#include <llmcost/simulation/step_cost_model.hpp>
#include <llmcost/simulation/summary.hpp>
#include <llmcost/simulation/synthetic_workload.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

/// Checks that the engine can run the longest request.
///
/// Throws: `usage` for prompts above the token limit of a step; `does_not_fit` for requests above the KV cache size.
LLMCOST_INLINE void require_fitting_requests(const std::vector<simulated_request>& requests,
                                             const simulated_engine& simulated_engine, std::int64_t stages) {
    std::int64_t longest = 0;
    for (const simulated_request& r : requests) {
        longest = std::max(longest, r.input_tokens + r.output_tokens);
        if (!simulated_engine.policy.has_chunked_prefill &&
            r.input_tokens > simulated_engine.policy.max_num_batched_tokens)
            throw_usage("--input", "a prompt of " + grouped(count(r.input_tokens)) + " tokens exceeds the " +
                                       grouped(count(simulated_engine.policy.max_num_batched_tokens)) +
                                       " tokens of a step; enable chunked prefill in " +
                                       std::string(simulated_engine.policy.engine));
    }
    if (fits_kv_cache(simulated_engine, longest, stages)) return;
    throw error(errc::does_not_fit, printable(simulated_engine.server->target_device().names[0]),
                "out of memory: the KV cache of a request of " + grouped(count(longest)) +
                    " tokens does not fit next to " +
                    formatted("%.1f GB weights per device",
                              simulated_engine.server->weight_bytes_per_device() / 1e9 / static_cast<double>(stages)) +
                    (stages > 1 ? ", in each of " + std::to_string(stages) + " microbatches" : ""));
}

LLMCOST_INLINE void set_network(simulation_config& config, const device& target_device) {
    config.network_gigabytes_per_second = network_of(target_device);
    config.network_latency_seconds = 50e-6;
}

/// TTFT over the request rate.
///
/// The rates are 1/8 to 10/8 of the throughput `answered` of the simulated requests.
LLMCOST_INLINE swept_chart chart_over_rates(const simulated_engine& simulated_engine, const simulation_config& deployed,
                                            std::vector<simulated_request> requests, double answered) {
    swept_chart chart;
    chart.title = "TTFT over request rate";
    chart.x_axis.title = "requests per second";
    chart.up = {"seconds", axis_scale::linear, axis_unit::number};
    simulation_config config = deployed;
    config.num_clients = 0;
    for (int eighth = 1; eighth <= 10; ++eighth) {
        const double rate = answered * eighth / 8;
        random_stream random(1);
        double now = 0;
        for (simulated_request& r : requests)
            if (r.previous_request == simulated_request::no_request) {
                r.arrival_seconds = now;
                now += random.gamma(1) / rate;
            }
        const simulation_summary s = summarize(simulate(simulated_engine, requests, config));
        for (const auto& [name, seconds] : {std::pair{"mean", s.ttft.mean}, {"p50", s.ttft.p50}, {"p99", s.ttft.p99}})
            add_to_line(chart.lines, name, rate, seconds);
    }
    settle(chart);
    chart.description = chart.title + formatted(", from %.3g to %.3g", answered / 8, answered * 10 / 8);
    return chart;
}

/// Output throughput per device over output speed per user, for 1, 2, 4 … clients until throughput stops growing.
LLMCOST_INLINE swept_chart chart_over_clients(const simulated_engine& simulated_engine,
                                              const simulation_config& deployed,
                                              const std::vector<simulated_request>& requests, double devices) {
    swept_chart chart;
    chart.title = "Throughput per device over speed per user";
    chart.x_axis.title = "tokens/s per user";
    chart.up.title = "tokens/s per device";
    simulation_config config = deployed;
    double previous = 0;
    for (config.num_clients = 1; config.num_clients <= 4096; config.num_clients *= 2) {
        std::vector<simulated_request> client_requests;
        const auto num_requests = static_cast<std::size_t>(std::max<std::int64_t>(10, 4 * config.num_clients));
        for (std::size_t i = 0; i < num_requests; ++i) {
            client_requests.push_back(requests[i % requests.size()]);
            client_requests.back().previous_request = simulated_request::no_request;
            client_requests.back().arrival_seconds = 0;
        }
        const simulation_summary s = summarize(simulate(simulated_engine, client_requests, config));
        if (s.tpot.mean <= 0) throw_usage("--plot-of", "pareto requires more than one output token per request");
        const double throughput_per_device = s.output_tokens_per_second / devices;
        if (throughput_per_device < 1.01 * previous) break;
        add_to_line(chart.lines, std::string(simulated_engine.policy.engine), 1 / s.tpot.mean, throughput_per_device);
        previous = throughput_per_device;
    }
    settle(chart);
    chart.description =
        chart.title + ", for 1, 2, 4 and more clients; at most " + formatted("%.4g", previous) + " per device";
    return chart;
}

/// The engine to simulate: server, scheduling policy, host times and encoder cost.
LLMCOST_INLINE simulated_engine make_simulated_engine(const arguments& args, const deployment& deployment,
                                                      server& server, const step_cost& encoder_cost) {
    simulated_engine engine{
        &server,
        with_options(default_policy(deployment.engine.name, *deployment.device), deployment.engine.name, args),
        host_times_of(deployment.engine),
        deployment.model.config.moe.num_experts > 1,
        {},
        encoder_cost};
    if (!args.has(option::all_tokens)) return engine;
    scheduling_policy& policy = engine.policy;
    policy.init_new_token_ratio = policy.min_new_token_ratio = 1;
    policy.has_known_finish_times = policy.admission == admission_mode::expected_output && !policy.has_prefix_cache;
    return engine;
}

/// Sets the network of the deployment. Throws: `usage` if `--network` has no effect.
LLMCOST_INLINE void configure_network(simulation_config& config, const arguments& args, const deployment& deployment) {
    if (config.num_decode_workers > 0)
        set_network(config, *deployment.device);
    else if (args.has(option::network) && deployment.execution.parallel.world_size() * config.pipeline_parallel_size <=
                                              deployment.execution.devices_per_node)
        throw_usage("--network", "requires more devices than one node has, or --prefill and --decode");
}

/// Decode workers on other devices than the prefill workers, or with another tensor-parallel size.
struct decode_workers {
    deployment placed;
    llmcost::server server;
    simulated_engine engine{};

    explicit decode_workers(deployment&& p)
        : placed(std::move(p)),
          server(placed.model, placed.execution, placed.engine, *placed.device, *placed.kernels) {}
};

/// The decode workers of `--decode-device` and `--decode-tp`; null without them. Throws: as `program::place`.
LLMCOST_INLINE std::unique_ptr<decode_workers> deploy_decode_workers(const arguments& args, const program& io) {
    if (!args.has(option::decode_device) && !args.has(option::decode_tp)) return nullptr;
    arguments placed = args;
    if (args.has(option::decode_device)) placed.replace(option::device, args.text(option::decode_device));
    if (args.has(option::decode_tp)) placed.replace(option::tp, args.text(option::decode_tp));
    if (const std::string_view prices = args.text(option::price); prices.find(',') != std::string_view::npos)
        placed.replace(option::price, prices.substr(prices.find(',') + 1));
    auto workers = std::make_unique<decode_workers>(io.place(placed, io));
    require_known_memory(*workers->placed.device);
    set_memory_share(workers->server, args);
    workers->engine = make_simulated_engine(args, workers->placed, workers->server, {});
    return workers;
}

/// The command line of the prefill workers: the first of two prices is theirs.
LLMCOST_INLINE arguments prefill_arguments(const arguments& args) {
    arguments placed = args;
    const std::string_view prices = args.text(option::price);
    if (args.has(option::decode_device) && prices.find(',') != std::string_view::npos)
        placed.replace(option::price, prices.substr(0, prices.find(',')));
    return placed;
}

/// Adds metrics, devices and energy to a simulation. Throws: `usage` if `--warm-up` excludes all requests.
LLMCOST_INLINE simulation_response compute(const simulate_request& request, const deployment& deployment,
                                           const simulated_engine& engine, const decode_workers* workers,
                                           const simulation_result& result) {
    const auto warm_up = static_cast<std::size_t>(request.warm_up);
    if (warm_up >= result.requests.size())
        throw_usage("--warm-up", "excludes all " + std::to_string(result.requests.size()) + " requests");
    const simulation_config& config = request.config;
    const llmcost::cli::deployment& decoding = workers != nullptr ? workers->placed : deployment;
    simulation_response response{deployment,      engine, config, result, summarize(result, request.targets, warm_up),
                                 request.targets, {}};
    struct worker_group {
        const llmcost::cli::deployment& placed;
        const simulated_engine& engine;
        std::int64_t replicas;
        const simulated_work& work;
    };
    const simulated_engine& decode_engine = workers != nullptr ? workers->engine : engine;
    response.devices = response.joules = 0;
    response.engines = 0;
    for (const worker_group& g :
         {worker_group{deployment, engine, config.num_replicas, result.work},
          worker_group{decoding, decode_engine, config.num_decode_workers, result.decode_work}}) {
        if (g.replicas == 0) continue;
        const std::int64_t stages = config.pipeline_parallel_size;
        const std::int64_t engines =
            (g.engine.has_synchronized_ranks ? g.replicas : g.replicas * g.engine.server->data_parallel_size()) *
            stages;
        const auto devices = static_cast<double>(g.replicas * g.placed.execution.parallel.world_size() * stages);
        response.devices += devices;
        response.engines += engines;
        response.joules +=
            joules_of(g.work, result.seconds, *g.placed.device, engines, devices / static_cast<double>(engines));
        if (workers != nullptr && &g.placed == &workers->placed) response.decode_devices = devices;
    }
    if (workers != nullptr) response.decode_deployment = &workers->placed;
    return response;
}

LLMCOST_INLINE std::string print(const simulate_request& request, const simulation_response& response) {
    switch (request.format) {
        case output_format::json: return simulated_json(response);
        case output_format::csv: return simulated_csv(response);
        default: return simulated_text(response);
    }
}

/// The chart of `--plot-of`.
LLMCOST_INLINE swept_chart simulation_plot(const arguments& args, const simulation_response& response,
                                           const std::vector<simulated_request>& requests) {
    const simulated_engine& engine = response.simulated_engine;
    switch (args.choice(option::drawn)) {
        case 1: return chart_over_rates(engine, response.config, requests, response.summary.requests_per_second);
        case 2: return chart_over_clients(engine, response.config, requests, response.devices);
        default: return simulated_chart(response);
    }
}

/// The number of tokens of the longest request.
LLMCOST_INLINE std::int64_t longest_request(const std::vector<simulated_request>& requests) {
    std::int64_t longest = 0;
    for (const simulated_request& r : requests) longest = std::max(longest, r.input_tokens + r.output_tokens);
    return longest;
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE detail::prepared_simulation::prepared_simulation(const arguments& args, const program& io)
    : request(parse_simulate_request(args)),
      placed(io.place(prefill_arguments(args), io)),
      multimodal_inputs(parse_multimodal_cost(args, placed)),
      load(parse_workload_source(args, request.config, multimodal_inputs.num_tokens)) {
    simulation_config& config = request.config;
    configure_network(config, args, placed);
    require_known_memory(*placed.device);
    require_autoregressive(placed.model);
    require_stages("--pp", placed.model, config.pipeline_parallel_size);
    simulated_server.emplace(placed.model, placed.execution, placed.engine, *placed.device, *placed.kernels);
    set_memory_share(*simulated_server, args);
    config.tiers = parse_kv_tiers(args, placed.engine.name, *placed.device,
                                  placed.execution.parallel.world_size() / simulated_server->data_parallel_size() *
                                      config.pipeline_parallel_size);
    engine = make_simulated_engine(args, placed, *simulated_server, multimodal_inputs.encoder_cost);
    draft = deploy_draft_server(args, io, config.num_draft_tokens);
    engine.draft_model = draft.config;
    require_fitting_requests(load.requests, engine, config.pipeline_parallel_size);
}

LLMCOST_INLINE command_output run_simulate(const arguments& args, const program& io) {
    detail::prepared_simulation prepared(args, io);
    simulate_request& request = prepared.request;
    deployment& deployment = prepared.placed;
    const detail::requested_workload& load = prepared.load;
    const std::unique_ptr<detail::decode_workers> workers = detail::deploy_decode_workers(args, io);
    if (workers != nullptr) {
        detail::require_fitting_requests(load.requests, workers->engine, request.config.pipeline_parallel_size);
        request.config.decode_engine = &workers->engine;
    }
    set_prediction_interval(deployment, load.requests.front().input_tokens);

    const simulation_result result = [&] {
        detail::progress_line progress(io);
        return simulate(prepared.engine, load.requests, request.config, request.has_plot || request.has_timeline,
                        progress);
    }();
    simulation_response response = detail::compute(request, deployment, prepared.engine, workers.get(), result);
    response.load = load.label;
    response.num_media_tokens = prepared.multimodal_inputs.num_tokens;

    command_output out;
    out.text = detail::print(request, response);
    if (request.has_timeline)
        out.file = {std::string(args.text(option::timeline_to)), detail::simulated_timeline(response)};
    if (request.has_plot) add_plot(out, args, detail::simulation_plot(args, response, load.requests));
    print_warnings(deployment, detail::longest_request(load.requests), io);
    return out;
}

}  // namespace llmcost::cli
