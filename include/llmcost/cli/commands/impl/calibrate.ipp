// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/calibrate.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/commands/latency.hpp>
#include <llmcost/cli/commands/serve_table.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/files/benchmark_results.hpp>
#include <llmcost/kernels/kernel_library.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/serving/calibration_fit.hpp>
#include <llmcost/serving/engine_calibration.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/prediction_intervals.hpp>
#include <llmcost/serving/server.hpp>
#include <llmcost/simulation/host_times.hpp>
#include <llmcost/simulation/scheduling_policy.hpp>
#include <llmcost/simulation/simulate.hpp>
#include <llmcost/simulation/summary.hpp>
#include <llmcost/simulation/synthetic_workload.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

/// The files of `--from` and those after it. Throws: `usage`.
LLMCOST_INLINE std::vector<std::string> result_files(const arguments& args) {
    std::vector<std::string> files;
    for (const std::string_view file : args.all(option::from)) files.emplace_back(file);
    if (files.empty())
        throw_usage(option::from.name,
                    "required: a result of vllm bench serve, SGLang bench_serving, AIPerf, InferenceX or "
                    "another benchmark (docs/calibrate-engine.md)");
    for (const std::string_view file : args.positional()) files.emplace_back(file);
    return files;
}

/// Lengths with this mean as InferenceX draws them, between four fifths and all of the longest
/// (`--random-range-ratio 0.8`). Clients with equal lengths would run in lockstep.
LLMCOST_INLINE length_range drawn_lengths(std::int64_t mean) {
    return {std::max<std::int64_t>(1, mean * 8 / 9), std::max<std::int64_t>(1, mean * 10 / 9)};
}

/// The mean latencies of a simulated row, with the defaults of `llmcost simulate`.
LLMCOST_INLINE load_measurements simulate_row(const measured_load& row, const engine& fitted, server& server) {
    constexpr std::int64_t max_requests = 1000;
    const simulated_engine engine{
        &server, default_policy(fitted.name, server.target_device()), host_times_of(fitted), row.has_routed_experts, {},
        {}};
    simulation_config config;
    synthetic_workload load{.input = drawn_lengths(row.load.input_tokens),
                            .output = drawn_lengths(row.load.output_tokens),
                            .num_requests = max_requests,
                            .request_rate = row.request_rate};
    if (row.request_rate == 0) {
        config.num_clients = std::max<std::int64_t>(1, std::llround(row.load.concurrency));
        const double per_client = std::clamp(1 / row.load.initial_burst_fraction, 1.0, 10.0);
        load.num_requests = std::llround(per_client * static_cast<double>(config.num_clients));
    }
    load.prefix_block_tokens = config.prefix_block_tokens = 64;
    config.pipeline_parallel_size = row.load.pipeline_parallel_size;
    const simulation_summary summary = summarize(simulate(engine, generate_requests(load), config));
    return {summary.ttft.mean, summary.tpot.mean, 0, summary.output_tokens_per_second};
}

/// Errors of simulations with constants that were fitted without the row. Static batches have no server.
LLMCOST_INLINE log_errors simulate_held_out(const calibration_rows& data, const std::vector<held_out_fit>& fits) {
    log_errors errors;
    for (const held_out_fit& fit : fits) {
        std::vector<std::size_t> rows;
        for (const std::size_t i : fit.rows) {
            const load_measurements& m = data.rows[i].measured;
            if (!data.rows[i].is_static_batch && (m.ttft_seconds > 0 || m.tpot_seconds > 0)) rows.push_back(i);
        }
        const engine fitted = with_constants(*data.shipped, fit.constants);
        data.for_each_server(factors_of(fit.constants), rows, [&](std::size_t i, server& server) {
            const measured_load& row = data.rows[i];
            errors.add(simulate_row(row, fitted, server), row.measured);
        });
    }
    return errors;
}

LLMCOST_INLINE calibrate_response compute_calibration(calibration_rows data, const std::string& version,
                                                      const std::string& source) {
    calibrate_response out;
    std::vector<const measured_load*> all;
    for (const measured_load& row : data.rows) {
        all.push_back(&row);
        out.shipped.add(predict(*data.shipped, shipped_constants(*data.shipped), row), row.measured);
    }
    const cross_validation validated = cross_validate(*data.shipped, data.rows);
    out.held_out = validated.errors;
    out.prior_scale = validated.prior_scale;
    out.simulated = simulate_held_out(data, validated.fits);
    engine_calibration& c = out.calibration;
    c.engine = std::string(data.shipped->name);
    c.version = version;
    c.device = data.device;
    c.source = source;
    c.models = data.models;
    c.rows = static_cast<std::int64_t>(data.rows.size());
    c.constants = fit_constants(*data.shipped, all, validated.prior_scale);
    c.tpot = held_out_error_of(out.held_out.tpot, data.shipped_interval.tpot);
    c.ttft = held_out_error_of(out.held_out.ttft, data.shipped_interval.ttft);
    c.simulated_tpot = held_out_error_of(out.simulated.tpot, data.shipped_interval.simulated_tpot);
    c.simulated_ttft = held_out_error_of(out.simulated.ttft, data.shipped_interval.simulated_ttft);
    out.data = std::move(data);
    return out;
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE command_output run_calibrate(const arguments& args, const program& io) {
    if (!args.has(option::engine)) throw_usage(option::engine.name, "required: vllm, sglang or trtllm");
    const engine& shipped = detail::require_engine(option::engine.name, args.text(option::engine));
    const std::vector<std::string> files = detail::result_files(args);
    detail::calibration_rows data;
    if (args.has(option::configs)) {
        data = detail::read_table_rows(args, io, files);
    } else {
        std::vector<benchmark_result> results;
        for (const std::string& file : files)
            for (benchmark_result& r : read_benchmark_results(file)) results.push_back(std::move(r));
        data = detail::read_deployed_rows(args, io, std::move(results));
    }
    if (data.rows.empty()) throw_usage(option::from.name, "contains no run that can be predicted");
    data.shipped = &shipped;
    std::string source;
    for (const std::string& file : files) source += (source.empty() ? "" : ", ") + printable(file);
    const detail::calibrate_response response =
        detail::compute_calibration(std::move(data), std::string(args.text(option::engine_version)), source);
    command_output out;
    const std::string_view out_file = args.text(option::calibration_out);
    switch (static_cast<output_format>(args.choice(option::format))) {
        case output_format::text: out.text = detail::calibrate_text(response, out_file); break;
        case output_format::json: out.text = detail::calibrate_json(response); break;
        default:
            out.text =
                written(detail::constants_table(response), static_cast<output_format>(args.choice(option::format)));
    }
    if (!out_file.empty()) out.file = {std::string(out_file), detail::calibration_json(response.calibration)};
    return out;
}

}  // namespace llmcost::cli
