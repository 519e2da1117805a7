// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/calibration_rows.hpp>

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
#include <llmcost/report/json_writer.hpp>
#include <llmcost/serving/calibration_fit.hpp>
#include <llmcost/serving/engine_calibration.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/prediction_intervals.hpp>
#include <llmcost/serving/server.hpp>
#include <llmcost/simulation/host_times.hpp>
#include <llmcost/simulation/scheduling_policy.hpp>
#include <llmcost/simulation/simulate.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

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
        if (const std::string problem = out_of_memory_message(target.server_with({}), row.load, *target.placed.device);
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

/// Throws: `usage` if a row of a table has another engine than the command line, or another device than the rows
/// before.
LLMCOST_INLINE void require_same_deployment(const benchmark_result& r, const benchmark_run& run, const engine& shipped,
                                            const calibration_rows& data) {
    if (!(run.target_engine->name == shipped.name)) {
        const std::string name(run.target_engine->name);
        throw_usage(r.location, "is a run of " + name + "; expected --engine " + name);
    }
    if (!data.device.empty() && run.target_device->names[0] != string_ref(data.device))
        throw_usage(r.location,
                    "is a run on " + printable(run.target_device->names[0]) + "; expected one device, " + data.device);
}

/// Fills a row of a table with its load and the costs of unchanged kernels. Returns why it cannot be predicted.
LLMCOST_INLINE std::string start_table_row(measured_load& row, const benchmark_result& r, const benchmark_run& run,
                                           const engine& shipped, calibration_rows& data) {
    const std::string problem = out_of_memory_message(*run.target_server, run.load, *run.target_device);
    if (!problem.empty()) return problem;
    row.name = r.location;
    row.load = run.load;
    row.has_routed_experts = run.subject->config.moe.num_experts > 1;
    row.measured = measurements_of(r);
    row.kernels = run.target_server->kernels(run.load);
    if (data.device.empty()) {
        data.device = std::string(run.target_device->names[0]);
        data.device_title = printable(run.target_device->title);
        data.shipped_interval =
            prediction_interval_of(shipped.name, find_evidence(*run.subject, run.target_server->execution_config(),
                                                               shipped, *run.target_device, *run.kernels, run.devices));
    }
    add_model(data.models, run.model);
    return {};
}

/// The differences of kernel times with the factor of a class 2.
LLMCOST_INLINE void add_kernel_probe(measured_load& row, const benchmark_run& run, std::size_t kernel_class) {
    const load_kernels k = run.target_server->kernels(run.load);
    row.prefill_seconds[kernel_class] = k.prefill.seconds - row.kernels.prefill.seconds;
    row.decode_seconds[kernel_class] = k.decode.seconds - row.kernels.decode.seconds;
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
                benchmark_run run;
                try {
                    run = table.current();
                } catch (const error& e) {
                    problems[i] = e.what();
                    continue;
                }
                if (probe == 0) require_same_deployment(results[i], run, shipped, data);
                try {
                    if (probe == 0)
                        problems[i] = start_table_row(row, results[i], run, shipped, data);
                    else
                        add_kernel_probe(row, run, probe - 1);
                } catch (const error& e) {
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

}  // namespace llmcost::cli::detail
