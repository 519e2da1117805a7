// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/calibrate.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
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
#include <llmcost/devices/all.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/files/benchmark_results.hpp>
#include <llmcost/kernels/evidence.hpp>
#include <llmcost/kernels/kernel_library.hpp>
#include <llmcost/memory/parallel_config.hpp>
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

// ---- parse

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

/// Sets lengths and concurrency that a file does not have. Throws: `usage` if no option has them.
LLMCOST_INLINE void complete_result(benchmark_result& r, const arguments& args) {
    const auto complete = [&](double& value, const option_spec& o, std::string_view meaning) {
        if (value > 0) return;
        if (!args.has(o))
            throw_usage(r.location, "has no " + std::string(meaning) + " (" + std::string(r.format) + "); use " +
                                        std::string(o.name));
        value = static_cast<double>(args.number(o, 1));
    };
    const auto limit = [&](double value, std::string_view meaning) {
        if (!(value <= static_cast<double>(max_input)))
            throw_usage(r.location, std::string(meaning) + " exceeds 2147483647");
    };
    complete(r.input_tokens, option::input, "input length");
    complete(r.output_tokens, option::output, "output length");
    const double latency = r.ttft.mean + (r.output_tokens - 1) * r.tpot.mean;
    if (r.concurrency == 0 && r.request_rate > 0) r.concurrency = r.request_rate * latency;  // Little's law
    complete(r.concurrency, option::concurrency, "concurrency");
    limit(r.input_tokens, "input length");
    limit(r.output_tokens, "output length");
    limit(r.concurrency, "concurrency");
    if (r.format == "vllm bench throughput")
        r.tokens_per_second *= r.output_tokens / (r.input_tokens + r.output_tokens);
    const bool is_measured = r.ttft.mean > 0 || r.tpot.mean > 0 || r.batch_seconds > 0 || r.tokens_per_second > 0;
    if (!is_measured)
        throw_usage(r.location, "expected a time to first token, a time per output token or a throughput");
}

/// The load of a result, without pipeline stages.
LLMCOST_INLINE serving_load load_of_result(const benchmark_result& r) {
    serving_load load;
    load.input_tokens = std::max<std::int64_t>(1, std::llround(r.input_tokens));
    load.output_tokens = std::max<std::int64_t>(1, std::llround(r.output_tokens));
    load.concurrency = std::max(1.0, r.concurrency);
    if (r.request_rate > 0)
        load.initial_burst_fraction = 0;  // independent arrivals
    else if (r.num_requests > 0)
        load.initial_burst_fraction = std::min(1.0, load.concurrency / r.num_requests);
    return load;
}

LLMCOST_INLINE load_measurements measurements_of(const benchmark_result& r) {
    return {r.ttft.mean, r.tpot.mean, r.batch_seconds, r.tokens_per_second};
}

/// Throws: `usage` if a result is of another engine or device.
LLMCOST_INLINE void require_same_engine(const benchmark_result& r, const engine& e, const device& target) {
    if (const engine* recorded = find_engine(r.engine); recorded != nullptr && !(recorded->name == e.name))
        throw_usage(r.location, "is a run of " + r.engine + "; expected --engine " + r.engine);
    if (const device* recorded = r.device.empty() ? nullptr : find_device(r.device);
        recorded != nullptr && recorded->names[0] != target.names[0])
        throw_usage(r.location, "is a run on " + printable(recorded->names[0]) + "; expected --device " +
                                    printable(recorded->names[0]));
}

// ---- compute

/// The kernel costs of a load with the server's kernels; a static batch runs one prefill of all of its requests.
LLMCOST_INLINE load_kernels kernels_of_row(server& server, const measured_load& row) {
    load_kernels k = server.kernels(row.load);
    if (row.is_static_batch) {
        const double per_rank = row.load.concurrency / static_cast<double>(server.data_parallel_size());
        k.prefill =
            server.prefill_step_model()(std::max<std::int64_t>(1, std::llround(per_rank)), row.load.input_tokens, 0);
    }
    return k;
}

LLMCOST_INLINE void add_model(std::vector<std::string>& models, const std::string& model) {
    if (std::find(models.begin(), models.end(), model) == models.end()) models.push_back(model);
}

/// Servers of one deployment: with all factors 1, and with the factor of each class 2.
struct probed_deployment {
    deployment placed{};
    std::map<std::array<double, kernel_class_count>, std::unique_ptr<server>> servers{};

    server& server_with(const kernel_time_factors& factors) {
        std::unique_ptr<server>& known = servers[factors.values];
        if (known == nullptr) {
            placed.kernels->set_time_factors(factors);
            known = std::make_unique<server>(placed.model, placed.execution, placed.engine, *placed.device,
                                             *placed.kernels);
        }
        placed.kernels->set_time_factors(factors);  // kernels of a region are found when a load needs it
        return *known;
    }
};

/// Why a row cannot be predicted; empty if it can.
LLMCOST_INLINE std::string row_problem(server& server, const serving_load& load, const device& target) {
    return out_of_memory_message(server, load, target);
}

/// The rows of results, with the deployment of the command line. Sizes of a result replace those of options.
LLMCOST_INLINE calibration_rows read_deployed_rows(const arguments& args, const program& io,
                                                   std::vector<benchmark_result> results) {
    calibration_rows data;
    const auto deployments = std::make_shared<std::map<std::array<std::int64_t, 4>, probed_deployment>>();
    std::vector<probed_deployment*> deployment_of_row;
    std::deque<std::string> option_values;
    for (benchmark_result& r : results) {
        complete_result(r, args);
        const auto size = [&](std::int64_t recorded, const option_spec& o) {
            return recorded > 0 ? recorded : args.number(o, 1);
        };
        const std::array sizes{size(r.tensor_parallel_size, option::tp), size(r.data_parallel_size, option::dp),
                               size(r.expert_parallel_size, option::ep), size(r.pipeline_parallel_size, option::pp)};
        const auto [known, is_new] = deployments->try_emplace(sizes);
        probed_deployment& target = known->second;
        if (is_new) {
            arguments placed = args;
            placed.remove(option::input);
            placed.remove(option::output);
            placed.replace(option::tp, option_values.emplace_back(std::to_string(sizes[0])));
            placed.replace(option::dp, option_values.emplace_back(std::to_string(sizes[1])));
            placed.replace(option::ep, option_values.emplace_back(std::to_string(sizes[2])));
            target.placed = io.place(placed, io);
            target.placed.engine = require_engine(option::engine.name, args.text(option::engine));
            target.placed.calibration = nullptr;
            require_known_memory(*target.placed.device);
            require_stages("--pp", target.placed.model, sizes[3]);
            require_autoregressive(target.placed.model);
        }
        require_same_engine(r, target.placed.engine, *target.placed.device);
        measured_load row{.name = r.location,
                          .load = load_of_result(r),
                          .is_static_batch = r.is_static_batch,
                          .request_rate = r.request_rate};
        row.load.pipeline_parallel_size = sizes[3];
        row.measured = measurements_of(r);
        row.has_routed_experts = target.placed.model.config.moe.num_experts > 1;
        if (const std::string problem = row_problem(target.server_with({}), row.load, *target.placed.device);
            !problem.empty())
            throw error(errc::does_not_fit, r.location, problem);
        measure_kernel_classes(
            row, [&](const kernel_time_factors& factors) { return kernels_of_row(target.server_with(factors), row); });
        if (data.rows.empty()) {
            deployment& p = target.placed;
            p.kernels->set_time_factors({});
            set_prediction_interval(p, row.load.input_tokens);
            data.shipped_interval = p.interval;
            data.device = std::string(p.device->names[0]);
            data.device_title = printable(p.device->title);
            add_model(data.models, p.name_of_model.name);
        }
        data.rows.push_back(std::move(row));
        deployment_of_row.push_back(&target);
    }
    data.for_each_server = [deployments, deployment_of_row](const kernel_time_factors& factors,
                                                            const std::vector<std::size_t>& rows,
                                                            const std::function<void(std::size_t, server&)>& visit) {
        for (auto& [sizes, target] : *deployments) target.servers.clear();
        for (const std::size_t i : rows) visit(i, deployment_of_row[i]->server_with(factors));
    };
    return data;
}

/// The text of a file. Throws: `io`.
LLMCOST_INLINE std::string text_of_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in) throw error(errc::io, printable(path), "cannot be read");
    return text.str();
}

/// The rows of CSV files with models (`serve --configs`). Rows that cannot be predicted are left out, with a warning.
LLMCOST_INLINE calibration_rows read_table_rows(const arguments& args, const program& io,
                                                const std::vector<std::string>& files) {
    calibration_rows data;
    const std::string folder(args.text(option::configs)), kernels(args.text(option::calibration));
    const double network =
        args.has(option::network) ? parse_network(option::network.name, args.text(option::network)) : 0;
    const engine& shipped = require_engine(option::engine.name, args.text(option::engine));
    std::size_t num_skipped = 0;
    std::vector<std::string> texts;
    std::vector<std::pair<std::size_t, std::size_t>> places;  // file and row of each row
    for (const std::string& file : files) {
        const std::vector<benchmark_result> results = read_benchmark_results(file);
        if (results.front().format != "CSV") throw_usage(file, "--configs requires CSV files with a column model_path");
        const std::string text = text_of_file(file);
        std::vector<measured_load> rows(results.size());
        std::vector<std::string> problems(results.size());
        for (std::size_t probe = 0; probe <= kernel_class_count; ++probe) {
            kernel_time_factors factors;
            if (probe > 0) factors.values[probe - 1] = 2;
            serve_table table(folder, kernels, io.models, network);
            table.set_time_factors(factors);
            std::istringstream in(text);
            (void)table.read_header(in);
            for (std::size_t i = 0; i < results.size() && table.next(in); ++i) {
                if (!problems[i].empty()) continue;
                measured_load& row = rows[i];
                try {
                    const benchmark_run run = table.current();
                    if (probe == 0) {
                        require_same_engine({.location = results[i].location,
                                             .format = {},
                                             .model = {},
                                             .engine = std::string(run.target_engine->name),
                                             .device = {}},
                                            shipped, *run.target_device);
                        if (!data.device.empty() && run.target_device->names[0] != string_ref(data.device))
                            throw_usage(results[i].location, "is a run on " + printable(run.target_device->names[0]) +
                                                                 "; expected one device, " + data.device);
                        problems[i] = row_problem(*run.target_server, run.load, *run.target_device);
                        if (!problems[i].empty()) continue;
                        row.name = results[i].location;
                        row.load = run.load;
                        row.has_routed_experts = run.subject->config.moe.num_experts > 1;
                        row.measured = measurements_of(results[i]);
                        row.kernels = run.target_server->kernels(run.load);
                        if (data.device.empty()) {
                            data.device = std::string(run.target_device->names[0]);
                            data.device_title = printable(run.target_device->title);
                            data.shipped_interval = prediction_interval_of(
                                shipped.name, find_evidence(*run.subject, run.target_server->execution_config(),
                                                            shipped, *run.target_device, *run.kernels, run.devices));
                        }
                        add_model(data.models, run.model);
                        continue;
                    }
                    const load_kernels k = run.target_server->kernels(run.load);
                    row.prefill_seconds[probe - 1] = k.prefill.seconds - row.kernels.prefill.seconds;
                    row.decode_seconds[probe - 1] = k.decode.seconds - row.kernels.decode.seconds;
                } catch (const error& e) {
                    if (probe == 0 && std::string_view(e.what()).find("expected --engine") != std::string_view::npos)
                        throw;
                    if (probe == 0 && std::string_view(e.what()).find("expected one device") != std::string_view::npos)
                        throw;
                    problems[i] = e.what();
                }
            }
        }
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (problems[i].empty()) {
                data.rows.push_back(std::move(rows[i]));
                places.push_back({texts.size(), i});
            } else if (++num_skipped == 1)
                io.err << "llmcost: warning: " << results[i].location << ": left out: " << problems[i] << '\n';
        }
        texts.push_back(text);
    }
    data.for_each_server = [folder, kernels, network, models = io.models, texts, places](
                               const kernel_time_factors& factors, const std::vector<std::size_t>& rows,
                               const std::function<void(std::size_t, server&)>& visit) {
        for (std::size_t file = 0; file < texts.size(); ++file) {
            serve_table table(folder, kernels, models, network);
            table.set_time_factors(factors);
            std::istringstream in(texts[file]);
            (void)table.read_header(in);
            for (std::size_t line = 0; table.next(in); ++line)
                for (const std::size_t row : rows)
                    if (places[row] == std::pair{file, line}) visit(row, *table.current().target_server);
        }
    };
    if (num_skipped > 1) io.err << "llmcost: warning: " << num_skipped << " rows left out\n";
    return data;
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

// ---- print

LLMCOST_INLINE void write_held_out_error(json_writer& json, std::string_view name, const held_out_error& e) {
    json.key(name).object().member("rows", e.rows).member("median", e.median);
    json.member("low", e.interval.low).member("high", e.interval.high).end_object();
}

LLMCOST_INLINE std::string calibration_json(const engine_calibration& c) {
    json_writer json;
    json.object().member("engine", c.engine);
    if (!c.version.empty()) json.member("version", c.version);
    json.member("device", c.device).member("source", c.source).key("models").array(true);
    for (const std::string& model : c.models) json.value(model);
    json.end_array().member("rows", c.rows).key("constants").object();
    for (std::size_t i = 0; i < calibrated_constant_count; ++i)
        json.member(std::string_view(calibrated_constants[i].name), c.constants[i]);
    json.end_object().key("held_out").object();
    write_held_out_error(json, "tpot", c.tpot);
    write_held_out_error(json, "ttft", c.ttft);
    if (c.simulated_tpot.rows > 0) write_held_out_error(json, "simulated_tpot", c.simulated_tpot);
    if (c.simulated_ttft.rows > 0) write_held_out_error(json, "simulated_ttft", c.simulated_ttft);
    json.end_object().end_object();
    return json.text() + "\n";
}

/// Whether a prediction of the rows changes by more than 0.1 % if a constant moves by the width of its prior.
LLMCOST_INLINE bool affects_rows(const calibration_rows& data, std::size_t index) {
    const constant_values shipped = shipped_constants(*data.shipped);
    constant_values moved = shipped;
    const calibrated_constant& c = calibrated_constants[index];
    moved[index] = c.is_logarithmic ? moved[index] * std::exp(c.width) : moved[index] + c.width;
    for (const measured_load& row : data.rows) {
        const load_measurements a = predict(*data.shipped, shipped, row), b = predict(*data.shipped, moved, row);
        const auto differs = [](double before, double after) { return std::fabs(after / before - 1) > 1e-3; };
        if (row.measured.ttft_seconds > 0 && differs(a.ttft_seconds, b.ttft_seconds)) return true;
        if (differs(a.tpot_seconds, b.tpot_seconds)) return true;
    }
    return false;
}

/// One sentence about a constant: how far it moved, and what the difference consists of.
LLMCOST_INLINE std::string constant_reason(const calibrate_response& r, std::size_t index) {
    const calibrated_constant& c = calibrated_constants[index];
    const double shipped = shipped_constants(*r.data.shipped)[index], fitted = r.calibration.constants[index];
    if (!affects_rows(r.data, index)) return "no run depends on it";
    const double distance = prior_distance(index, fitted, shipped);
    if (std::fabs(distance) < 0.1) return "the runs agree with the shipped value";
    const std::string direction = distance > 0 ? "longer" : "shorter", about = std::string(c.description);
    return direction + ": " + about;
}

/// The value of a constant with its unit.
LLMCOST_INLINE std::string constant_text(std::size_t index, double value) {
    return calibrated_constants[index].is_logarithmic ? formatted("%.3f", value) : value == 0 ? "0" : duration(value);
}

LLMCOST_INLINE std::string percent_of(double share) { return formatted("%.1f %%", 100 * share); }

/// The interval of a metric as factors of an estimate.
LLMCOST_INLINE std::string factor_range(const relative_interval& e) {
    return formatted("%.2f to %.2f", std::exp2(e.low), std::exp2(e.high));
}

LLMCOST_INLINE table constants_table(const calibrate_response& r) {
    table t{{{"constant"},
             {"shipped", false, true},
             {"fitted", false, true},
             {"moved by prior widths", false, true},
             {"reason"}},
            {}};
    const constant_values shipped = shipped_constants(*r.data.shipped);
    for (std::size_t i = 0; i < calibrated_constant_count; ++i)
        t.rows.push_back({std::string(calibrated_constants[i].name), constant_text(i, shipped[i]),
                          constant_text(i, r.calibration.constants[i]),
                          formatted("%+.2f", prior_distance(i, r.calibration.constants[i], shipped[i])),
                          constant_reason(r, i)});
    return t;
}

LLMCOST_INLINE table errors_table(const calibrate_response& r) {
    table t{{{"metric"}, {"runs", true}, {"shipped", false, true}, {"held out", false, true}, {"90 % interval"}}, {}};
    const auto add = [&](std::string name, const std::vector<double>& shipped, const held_out_error& e) {
        if (e.rows > 0)
            t.rows.push_back({std::move(name), std::to_string(e.rows),
                              shipped.empty() ? "" : percent_of(median_error(shipped)), percent_of(e.median),
                              factor_range(e.interval) + " of the estimate"});
    };
    add("TTFT", r.shipped.ttft, r.calibration.ttft);
    add("TPOT", r.shipped.tpot, r.calibration.tpot);
    add("TTFT, simulated", {}, r.calibration.simulated_ttft);
    add("TPOT, simulated", {}, r.calibration.simulated_tpot);
    return t;
}

LLMCOST_INLINE std::string calibrate_text(const calibrate_response& r, std::string_view out_file) {
    const engine_calibration& c = r.calibration;
    std::string models;
    for (const std::string& model : c.models) models += (models.empty() ? "" : ", ") + printable(model);
    std::string text = c.engine + (c.version.empty() ? "" : ' ' + printable(c.version)) + " on " + r.data.device_title +
                       ", " + grouped(count(c.rows)) + (c.rows == 1 ? " run of " : " runs of ") + models + "\n\n" +
                       plain(constants_table(r)) + "Priors: " + formatted("%g", r.prior_scale) +
                       " times their widths, which predicts held-out runs best\n" +
                       "\nMedian error, shipped and fitted without the predicted run:\n" + plain(errors_table(r));
    if (c.rows == 1) text += "One run cannot be held out against itself: the error is that of the shipped constants\n";
    text += out_file.empty()
                ? "\nNot written (see --out)\n"
                : "\nWritten: " + printable(out_file) + "; use --calibration " + printable(out_file) + '\n';
    return text;
}

LLMCOST_INLINE std::string calibrate_json(const calibrate_response& r) {
    const constant_values shipped = shipped_constants(*r.data.shipped);
    json_writer json;
    json.object().member("engine", r.calibration.engine).member("device", r.calibration.device);
    json.member("rows", r.calibration.rows).member("prior_scale", r.prior_scale).key("constants").array();
    for (std::size_t i = 0; i < calibrated_constant_count; ++i) {
        json.object().member("name", std::string_view(calibrated_constants[i].name)).member("shipped", shipped[i]);
        json.member("fitted", r.calibration.constants[i]);
        json.member("moved_by_prior_widths", prior_distance(i, r.calibration.constants[i], shipped[i]));
        json.member("reason", constant_reason(r, i)).end_object();
    }
    json.end_array();
    json.key("shipped_error").object().member("tpot", median_error(r.shipped.tpot));
    json.member("ttft", median_error(r.shipped.ttft)).end_object().key("held_out").object();
    write_held_out_error(json, "tpot", r.calibration.tpot);
    write_held_out_error(json, "ttft", r.calibration.ttft);
    json.end_object().end_object();
    return json.text() + "\n";
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
