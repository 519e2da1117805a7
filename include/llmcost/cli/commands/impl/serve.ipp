// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/serve.hpp>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/maybe.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/args/llama_cpp_device_options.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/commands/device_comparison.hpp>
#include <llmcost/cli/commands/draft_deployment.hpp>
#include <llmcost/cli/commands/latency.hpp>
#include <llmcost/cli/commands/llama_cpp_latency.hpp>
#include <llmcost/cli/commands/llama_cpp_serve.hpp>
#include <llmcost/cli/commands/op.hpp>
#include <llmcost/cli/commands/serve_request.hpp>
#include <llmcost/cli/commands/serve_table.hpp>
#include <llmcost/cli/commands/serve_text.hpp>
#include <llmcost/cli/pages/device_table.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/multimodal_step.hpp>
#include <llmcost/serving/prediction_intervals.hpp>
#include <llmcost/serving/server.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

/// Checks that the deployment supports the request.
///
/// Throws: `usage` for unsupported options; `does_not_fit` if one request exceeds the device memory.
LLMCOST_INLINE void validate(const serve_request& request, const deployment& deployment, server& server) {
    const serving_load& load = request.load;
    if (request.slo_quantile && deployment.engine.name.empty())
        throw_usage(option::slo_at.name, "requires --engine: only engines have a prediction interval");
    if (load.chunk_tokens > 0 && load.input_tokens / load.chunk_tokens > 4096)
        throw_usage("--chunk", "expected at most 4,096 chunks per prompt");
    if (const std::string problem = out_of_memory_message(server, load, *deployment.device); !problem.empty())
        throw error(errc::does_not_fit, printable(deployment.device->names[0]), problem);
}

/// The highest concurrency for which the device memory holds the KV cache, with half of the output generated.
LLMCOST_INLINE double max_concurrency_of(server& server, const serving_load& load) {
    const double per_rank =
        server.max_sequences_per_rank(load.input_tokens + load.output_tokens / 2, load.pipeline_parallel_size);
    return std::floor(per_rank * static_cast<double>(server.data_parallel_size()));
}

/// The highest concurrency that meets the targets; 0 if a single request does not.
LLMCOST_INLINE double highest_concurrency(server& server, serving_load load, const latency_targets& targets) {
    const auto meets_targets = [&](double concurrency) {
        load.concurrency = concurrency;
        return targets.are_met_by(server(load));
    };
    const double max_concurrency = max_concurrency_of(server, load);
    if (max_concurrency < 1 || !meets_targets(1)) return 0;
    double low = 1, high = max_concurrency;
    if (meets_targets(high)) return high;
    while (high - low > 1) {
        const double middle = std::floor((low + high) / 2);
        (meets_targets(middle) ? low : high) = middle;
    }
    return low;
}

/// A positive number with four significant digits, rounded down.
LLMCOST_INLINE std::string round_down(double x) {
    const double unit = std::pow(10, std::floor(std::log10(x)) - 3);
    return formatted("%.4g", std::floor(x / unit) * unit);
}

/// The memory used on each device by `num_requests` requests of `tokens` tokens, with the weights and the engine.
LLMCOST_INLINE count bytes_per_device(server& server, double num_requests, std::int64_t tokens, std::int64_t stages) {
    const maybe<kv_cache_capacity> capacity = server.kv_cache(tokens, stages);
    if (!capacity) return count(static_cast<std::uint64_t>(server.weight_bytes_per_device()));
    const double request_bytes = static_cast<double>(capacity->request_bytes.to_64());
    return capacity->used_bytes + count(static_cast<std::uint64_t>(num_requests * request_bytes));
}

/// The results for 1, 2, 4, ... concurrent requests, up to the memory limit.
LLMCOST_INLINE serve_response compute_sweep(const serve_request& request, server& server) {
    const double max_concurrency = max_concurrency_of(server, request.load);
    serve_response response;
    for (double concurrency = 1;; concurrency = concurrency * 2 < max_concurrency ? concurrency * 2 : max_concurrency) {
        serving_load load = request.load;
        load.concurrency = concurrency;
        response.results.push_back({load, server(load)});
        if (concurrency >= max_concurrency) return response;
    }
}

/// The result for the highest concurrency that meets the targets. Throws: `usage` if none does.
LLMCOST_INLINE serve_response::result compute_highest_concurrency(const serve_request& request,
                                                                  const deployment& deployment, server& server) {
    const double quantile = request.slo_quantile.value_or(deployment.engine.name.empty() ? 0.5 : 0.95);
    latency_targets targets = request.targets;
    targets.ttft_safety_factor = std::exp2(deployment.interval.ttft.quantile(quantile));
    targets.tpot_safety_factor = std::exp2(deployment.interval.tpot.quantile(quantile));
    serving_load load = request.load;
    load.concurrency = highest_concurrency(server, load, targets);
    if (load.concurrency > 0) return {load, server(load)};
    load.concurrency = 1;
    const serving_metrics single = server(load);
    throw_usage("--slo", "no concurrency meets the targets; a single request has TTFT " +
                             duration(single.ttft_seconds * targets.ttft_safety_factor) + " and TPOT " +
                             duration(single.tpot_seconds * targets.tpot_safety_factor) +
                             (quantile > 0.5 ? formatted(" at quantile %.4g (see --slo-at)", quantile) : ""));
}

/// The result for an arrival rate. Throws: `usage` if the rate exceeds the capacity of the server.
LLMCOST_INLINE serve_response::result compute_at_rate(const serve_request& request, server& server) {
    serving_load load = request.load;
    const std::optional<serving_metrics> metrics = server.evaluate_at_rate(load, request.request_rate);
    if (!metrics)
        throw_usage("--rate", "exceeds the capacity of the server, " + round_down(server.max_request_rate(load)) +
                                  " requests per second");
    load.concurrency = request.request_rate *
                       (metrics->ttft_seconds + static_cast<double>(load.output_tokens - 1) * metrics->tpot_seconds);
    return {load, *metrics};
}

/// The load to report: as requested, derived from the arrival rate, or the highest that meets the targets.
///
/// Throws: `usage` if no concurrency meets the targets, or if the arrival rate exceeds the capacity.
LLMCOST_INLINE serve_response::result compute_single(const serve_request& request, const deployment& deployment,
                                                     server& server) {
    switch (request.mode) {
        case load_mode::slo: return compute_highest_concurrency(request, deployment, server);
        case load_mode::rate: return compute_at_rate(request, server);
        case load_mode::concurrency:
        case load_mode::sweep: break;
    }
    return {request.load, server(request.load)};
}

/// Evaluates the server for the requested load. Throws: as `compute_single`.
LLMCOST_INLINE serve_response compute(const serve_request& request, const deployment& deployment, server& server) {
    if (request.mode == load_mode::sweep) return compute_sweep(request, server);
    const serve_response::result result = compute_single(request, deployment, server);
    const serving_load& load = result.load;
    const std::int64_t tokens = load.input_tokens + load.output_tokens / 2, stages = load.pipeline_parallel_size;
    const double num_running_per_rank = result.metrics.num_running / static_cast<double>(server.data_parallel_size());
    serve_response response{.results = {result},
                            .bytes_per_device = bytes_per_device(server, num_running_per_rank, tokens, stages)};
    response.weight_bytes_per_device = server.weight_bytes_per_device() / static_cast<double>(stages);
    if (load.multimodal_inputs.num_tokens > 0) response.equivalent_text_tokens = server.equivalent_text_tokens(load);
    response.kv_cache = server.kv_cache(tokens, stages);
    response.profile = server.memory_profile();
    return response;
}

/// A server on several devices.
LLMCOST_INLINE command_output run_serve_on_devices(const arguments& args, const program& io,
                                                   std::vector<std::string> devices) {
    reject_with_device_list(args, option::sweep);
    device_comparison comparison;
    comparison.figures = {{"tpot_seconds", "TPOT", figure_unit::seconds},
                          {"ttft_seconds", "TTFT", figure_unit::seconds},
                          {"tokens_per_second", "tokens/s", figure_unit::per_second},
                          {"concurrency", "concurrency", figure_unit::number},
                          {"joules_per_token", "J/token", figure_unit::joules},
                          {"price_per_million_tokens", "price/million", figure_unit::price}};
    comparison.rows = device_runs(args, io, std::move(devices)).run([&](const arguments& one, const program& repeated) {
        serve_request request = parse_serve_request(one);
        deployment placed = repeated.place(one, repeated);
        require_known_memory(*placed.device);
        require_stages("--pp", placed.model, request.load.pipeline_parallel_size);
        require_autoregressive(placed.model);
        add_multimodal_inputs(request.load, one, placed);
        const serving_load& load = request.load;
        comparison.model = printable(placed.name_of_model.name);
        comparison.title = grouped(count(load.input_tokens)) + " input tokens, " + grouped(count(load.output_tokens)) +
                           " output tokens" + (placed.engine.name.empty() ? "" : ", " + engine_title(placed.engine)) +
                           '\n';
        server server(placed.model, placed.execution, placed.engine, *placed.device, *placed.kernels);
        set_memory_share(server, one);
        const deployed_draft draft = deploy_draft_server(one, repeated, load.num_draft_tokens);
        server.set_draft_model(draft.config);
        device_row row;
        row.limit = memory_limit_of(placed, load.pipeline_parallel_size);
        if (!out_of_memory_message(server, load, *placed.device).empty()) {  // what one request needs
            row.needed =
                bytes_per_device(server, 1, load.input_tokens + load.output_tokens, load.pipeline_parallel_size);
            row.is_out_of_memory = true;
            return row;
        }
        validate(request, placed, server);
        set_prediction_interval(placed, load.input_tokens);
        const serve_response response = compute(request, placed, server);
        const auto& [result_load, f] = response.results.front();
        row.needed = response.bytes_per_device;
        row.figures = {f.tpot_seconds,
                       f.ttft_seconds,
                       f.tokens_per_second,
                       result_load.concurrency,
                       placed.device->thermal_design_watts > 0 ? f.joules_per_output_token : 0,
                       placed.price_per_hour > 0 ? price_per_million_tokens(placed, f) : 0};
        return row;
    });
    return written_devices(comparison, static_cast<output_format>(args.choice(option::format)));
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

/// Predicts each row of a table of benchmark runs (`--configs`). Throws: `usage`.
[[nodiscard]] LLMCOST_INLINE command_output run_serve_table(const arguments& args, const program& io) {
    for (const option_spec& o : args.options())
        if (!o.is(option::configs) && !o.is(option::calibration) && !o.is(option::offline) && !o.is(option::network) &&
            args.has(o))
            throw_usage(o.name, "cannot be combined with --configs; set it in the columns of RUNS.csv");
    const double network =
        args.has(option::network) ? parse_network(option::network.name, args.text(option::network)) : 0;
    return serve_table(std::string(args.text(option::configs)), std::string(args.text(option::calibration)), io.models,
                       network, io.bundled)
        .write_predictions(io.in, io.err);
}

LLMCOST_INLINE command_output run_serve(const arguments& args, const program& io) {
    if (args.has(option::configs)) return run_serve_table(args, io);
    if (args.text(option::engine) == detail::llama_cpp_engine_name) return detail::run_llama_cpp_serve(args, io);
    for (const option_spec& o : llama_cpp_serve_options)
        if (args.has(o)) throw_usage(o.name, "requires --engine llama.cpp");
    if (std::vector<std::string> devices = detail::listed_devices(args); !devices.empty())
        return detail::run_serve_on_devices(args, io, std::move(devices));
    serve_request request = detail::parse_serve_request(args);
    deployment deployment = io.place(args, io);
    require_known_memory(*deployment.device);
    require_stages("--pp", deployment.model, request.load.pipeline_parallel_size);
    require_autoregressive(deployment.model);
    detail::add_multimodal_inputs(request.load, args, deployment);
    server server(deployment.model, deployment.execution, deployment.engine, *deployment.device, *deployment.kernels);
    detail::set_memory_share(server, args);
    const detail::deployed_draft draft = detail::deploy_draft_server(args, io, request.load.num_draft_tokens);
    server.set_draft_model(draft.config);

    detail::validate(request, deployment, server);
    set_prediction_interval(deployment, request.load.input_tokens);
    const serve_response response = detail::compute(request, deployment, server);
    std::string text = detail::print(request, response, deployment);
    print_warnings(deployment, request.load.input_tokens + request.load.output_tokens, io);
    return text;
}

}  // namespace llmcost::cli
