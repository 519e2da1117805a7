// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/serve_text.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/commands/latency.hpp>
#include <llmcost/cli/commands/op.hpp>
#include <llmcost/cli/commands/serve_request.hpp>
#include <llmcost/cli/commands/serve_table.hpp>
#include <llmcost/cli/pages/device_table.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/memory/parallel_config.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/multimodal_step.hpp>
#include <llmcost/serving/power.hpp>
#include <llmcost/serving/prediction_intervals.hpp>
#include <llmcost/serving/server.hpp>
#include <llmcost/serving/step.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE double price_per_million_tokens(const deployment& deployment, const serving_metrics& metrics) {
    return 1e6 / metrics.tokens_per_second / 3600 * deployment.price_per_hour * metrics.num_devices;
}

LLMCOST_INLINE double co2_grams_per_million_tokens(const deployment& deployment, const serving_metrics& metrics) {
    return 1e6 * metrics.joules_per_output_token / 3.6e6 * deployment.grams_per_kwh;
}

/// Writes the members of one result.
LLMCOST_INLINE void write_serving_metrics(json_writer& json, const deployment& p,
                                          const serve_response::result& result) {
    const auto& [load, f] = result;
    json.member("method", "closed form").member("concurrency", load.concurrency);
    json.member("ttft_seconds", f.ttft_seconds)
        .member("ttft_unloaded_seconds", f.unloaded_ttft_seconds)
        .member("tpot_seconds", f.tpot_seconds);
    for (const auto& [name, seconds, error] :
         {std::tuple{"ttft", f.ttft_seconds, p.interval.ttft}, {"tpot", f.tpot_seconds, p.interval.tpot}})
        if (!p.engine.name.empty())
            json.member(std::string(name) + "_lower_seconds", seconds * std::exp2(error.low))
                .member(std::string(name) + "_upper_seconds", seconds * std::exp2(error.high));
    if (!p.engine.name.empty()) json.member("interval_stands_on", description_of(p.interval.evidence));
    json.member("tokens_per_second", f.tokens_per_second);
    json.member("tokens_per_second_per_device", f.tokens_per_second / f.num_devices);
    json.member("tokens_per_second_per_request", 1 / f.tpot_seconds);
    json.member("requests_per_second", f.tokens_per_second / static_cast<double>(load.output_tokens));
    json.member("running", f.num_running).member("capacity", f.max_num_running).member("devices", f.num_devices);
    json.member("groups", p.execution.parallel.data_parallel_size);
    const relative_interval power_error = power_model_of(*p.device).error;
    json.member("watts_per_device", f.watts_per_device)
        .member("watts_per_device_lower", f.watts_per_device * std::exp2(power_error.low))
        .member("watts_per_device_upper",
                std::fmin(f.watts_per_device * std::exp2(power_error.high), p.device->thermal_design_watts))
        .member("joules_per_token", f.joules_per_output_token);
    json.member("compute_utilization", f.utilization.compute)
        .member("low_precision_compute_utilization", f.utilization.low_precision_compute)
        .member("memory_utilization", f.utilization.memory)
        .member("link_utilization", f.utilization.links);
    if (p.price_per_hour > 0) json.member("price_per_million_tokens", price_per_million_tokens(p, f));
    if (p.grams_per_kwh > 0) json.member("grams_co2_per_million_tokens", co2_grams_per_million_tokens(p, f));
}

LLMCOST_INLINE std::string serve_json(const serve_response& response, const deployment& p) {
    const serve_response::result& result = response.results.front();
    const serving_load& load = result.load;
    json_writer json;
    json.object();
    write_serving_metrics(json, p, result);
    json.member("input", load.input_tokens).member("output", load.output_tokens);
    if (load.multimodal_inputs.num_tokens > 0)
        json.member("shown_tokens", load.multimodal_inputs.num_tokens)
            .member("tower_seconds", load.multimodal_inputs.encoder_cost.seconds)
            .member("shown_in_text_tokens", response.equivalent_text_tokens);
    write_model(json, p);
    json.member("device", p.device->names[0])
        .member("engine", p.engine.name)
        .member("dtype", p.execution.linear_type->name);
    json.member("cache_dtype", p.execution.kv_cache_type->name)
        .member("weight_bytes_per_device", response.weight_bytes_per_device);
    if (response.kv_cache)
        json.member("cache_available", response.kv_cache->bytes)
            .member("cache_blocks", response.kv_cache->num_blocks)
            .member("activations_peak", response.kv_cache->activation_bytes);
    write_memory(json, p, response.bytes_per_device, load.pipeline_parallel_size);
    write_unmeasured(json, p);
    return json.end_object().text() + '\n';
}

LLMCOST_INLINE std::string sweep_json(const serve_response& response, const deployment& deployment) {
    json_writer json;
    write_model(json.object(), deployment);
    json.member("device", deployment.device->names[0]).key("sweep").array();
    for (const serve_response::result& result : response.results) {
        json.object();
        write_serving_metrics(json, deployment, result);
        json.end_object();
    }
    json.end_array();
    write_unmeasured(json, deployment);
    return json.end_object().text() + '\n';
}

/// `1,024 input tokens, 1,024 output tokens, concurrency 17`, and a line for multimodal inputs.
LLMCOST_INLINE std::string load_lines(const serving_load& load, std::int64_t equivalent_text_tokens) {
    std::string out = grouped(count(load.input_tokens)) + " input tokens, " + grouped(count(load.output_tokens)) +
                      " output tokens, concurrency " + formatted("%.4g", load.concurrency) + '\n';
    if (load.multimodal_inputs.num_tokens > 0)
        out += grouped(count(load.multimodal_inputs.num_tokens)) +
               " input tokens are multimodal inputs: the encoders take " +
               duration(load.multimodal_inputs.encoder_cost.seconds) + ", the prefill takes as long as " +
               grouped(count(equivalent_text_tokens)) + " text tokens\n";
    return out;
}

/// A line of the text output: label and text.
LLMCOST_INLINE std::string labeled_line(std::string_view label, const std::string& text) {
    return "  " + left(label, 25) + text + '\n';
}

/// `90 % interval 104.5 ms to 285.5 ms`.
LLMCOST_INLINE std::string interval_text(double seconds, relative_interval interval) {
    return "90 % interval " + duration(seconds * std::exp2(interval.low)) + " to " +
           duration(seconds * std::exp2(interval.high));
}

/// The number of requests whose KV cache fits into the memory of the devices.
LLMCOST_INLINE std::string capacity_text(const deployment& deployment, const serve_response& response) {
    const serving_metrics& metrics = response.results.front().metrics;
    const auto ranks = static_cast<double>(deployment.execution.parallel.data_parallel_size);
    const double per_rank = std::round(metrics.max_num_running / ranks);
    return formatted("%.1f GB weights; KV cache for ", response.weight_bytes_per_device / 1e9) +
           grouped(count(static_cast<std::uint64_t>(per_rank))) + (per_rank < 1.5 ? " request" : " requests") +
           (ranks > 1 ? formatted(" in each of %.0f data-parallel ranks, ", ranks) +
                            grouped(count(static_cast<std::uint64_t>(ranks * per_rank))) + " in total"
                      : "");
}

/// The rule of `capacity_text`: that of `llmcost memory` and `llmcost fit`.
///
///     each of 1,536 tokens (input, half of the output), in 0.92 of memory without weights,
///     activations of the profile run (1.81 GiB) and the engine
LLMCOST_INLINE std::string capacity_rule(const serve_response& response) {
    const serving_load& load = response.results.front().load;
    const engine_memory_profile& profile = response.profile;
    const double fraction = response.kv_cache ? response.kv_cache->memory_fraction : profile.gpu_memory_utilization;
    std::string out = "each of " + grouped(count(load.input_tokens) + count(load.output_tokens / 2)) +
                      " tokens (input, half of the output), in " + formatted("%.3g", fraction) +
                      (profile.is_fraction_of_free_memory ? " of what is left by" : " of memory without");
    if (!response.kv_cache || profile.has_token_pools) return out + " weights";
    return out + " weights,\n" + std::string(27, ' ') +
           (profile.max_num_seqs > 0 ? "activations of the profile run (" : "activations of a step (") +
           in_bytes(response.kv_cache->activation_bytes) + ") and the engine";
}

/// The lines of latency and throughput.
LLMCOST_INLINE std::string latency_lines(const deployment& p, const serving_metrics& f) {
    const bool has_engine = !p.engine.name.empty();
    const auto interval = [&](double seconds, relative_interval error) {
        return has_engine ? interval_text(seconds, error) + "; " : std::string{};
    };
    return labeled_line("TTFT", left(duration(f.ttft_seconds), 12) + '(' + interval(f.ttft_seconds, p.interval.ttft) +
                                    "unloaded " + duration(f.unloaded_ttft_seconds) + ')') +
           labeled_line("TPOT", left(duration(f.tpot_seconds), 12) + '(' + interval(f.tpot_seconds, p.interval.tpot) +
                                    formatted("%.1f tokens/s per request)", 1 / f.tpot_seconds)) +
           labeled_line("output throughput",
                        grouped(count(static_cast<std::uint64_t>(std::nearbyint(f.tokens_per_second)))) +
                            formatted(" tokens/s  (%.0f per device)", f.tokens_per_second / f.num_devices));
}

/// The lines of energy, price and CO2.
LLMCOST_INLINE std::string cost_lines(const deployment& deployment, const serving_metrics& metrics) {
    std::string out;
    if (const double maximum = deployment.device->thermal_design_watts; maximum > 0) {
        const relative_interval error = power_model_of(*deployment.device).error;
        out += labeled_line("energy (approximate)",
                            formatted("%.0f W per device (90 %% interval %.0f W to %.0f W), ", metrics.watts_per_device,
                                      metrics.watts_per_device * std::exp2(error.low),
                                      std::fmin(maximum, metrics.watts_per_device * std::exp2(error.high))) +
                                formatted("%.3g J per output token", metrics.joules_per_output_token));
    }
    if (deployment.price_per_hour > 0)
        out += labeled_line("price",
                            formatted("%.3g per million output tokens", price_per_million_tokens(deployment, metrics)));
    if (deployment.grams_per_kwh > 0)
        out += labeled_line(
            "CO2", formatted("%.3g g per million output tokens", co2_grams_per_million_tokens(deployment, metrics)));
    return out;
}

/// The assumptions below a result: method, interval, missing measurements.
LLMCOST_INLINE std::string assumption_lines(const deployment& deployment) {
    std::string out =
        "Method: closed form, mean of a steady load (default: concurrency 1)\n"
        "For bursts and percentiles: llmcost simulate (default: 16 clients that start at once)\n";
    if (deployment.engine.name.empty())
        out += "Engine: none; kernels only, without host overhead (see --engine)\n";
    else
        out += "Interval: based on " + std::string(evidence_label(deployment.interval.evidence)) + '\n';
    return out + measurement_note(deployment);
}

LLMCOST_INLINE std::string serve_text(const serve_response& response, const deployment& deployment) {
    const auto& [load, metrics] = response.results.front();
    std::string out = deployment_title(deployment, load.pipeline_parallel_size) + '\n' +
                      load_lines(load, response.equivalent_text_tokens) + '\n' + latency_lines(deployment, metrics) +
                      labeled_line("memory per device", capacity_text(deployment, response)) +
                      labeled_line("", capacity_rule(response));
    if (const std::string network = network_label(deployment, load.pipeline_parallel_size); !network.empty())
        out += labeled_line("network", network);
    if (load.concurrency - metrics.num_running >= 0.5) {
        // each data-parallel rank runs an integral number of requests
        const auto ranks = static_cast<double>(deployment.execution.parallel.data_parallel_size);
        const double running = metrics.num_running < metrics.max_num_running
                                   ? metrics.num_running
                                   : ranks * std::round(metrics.max_num_running / ranks);
        out += labeled_line("queue",
                            formatted("%.0f waiting requests, %.0f running", load.concurrency - running, running));
    }
    return out + cost_lines(deployment, metrics) + '\n' + assumption_lines(deployment) +
           memory_fit_text(memory_limit_of(deployment, load.pipeline_parallel_size), response.bytes_per_device);
}

/// The results as a table: one row per concurrency, with exact numbers.
LLMCOST_INLINE table serving_metrics_table(const serve_response& response, const deployment& p) {
    table t;
    for (const char* name : {"concurrency", "ttft_seconds", "tpot_seconds", "tokens_per_second",
                             "tokens_per_second_per_device", "running", "capacity", "devices", "watts_per_device",
                             "joules_per_token", "price_per_million_tokens", "grams_co2_per_million_tokens"})
        t.columns.push_back({name, false, true});
    for (const auto& [load, f] : response.results)
        t.rows.push_back({exact_number(load.concurrency), exact_number(f.ttft_seconds), exact_number(f.tpot_seconds),
                          exact_number(f.tokens_per_second), exact_number(f.tokens_per_second / f.num_devices),
                          exact_number(f.num_running), exact_number(f.max_num_running), exact_number(f.num_devices),
                          exact_number(f.watts_per_device), exact_number(f.joules_per_output_token),
                          p.price_per_hour > 0 ? exact_number(price_per_million_tokens(p, f)) : "",
                          p.grams_per_kwh > 0 ? exact_number(co2_grams_per_million_tokens(p, f)) : ""});
    return t;
}

LLMCOST_INLINE std::string sweep_text(const serve_response& response, const deployment& p) {
    std::string out = deployment_title(p, response.results.front().load.pipeline_parallel_size) + "\n\n" +
                      right("concurrency", 11) + right("TTFT", 12) + right("TPOT", 12) + right("tokens/s", 11) +
                      right("per device", 12) + right("J/token", 10) +
                      (p.price_per_hour > 0 ? right("price/million", 15) : "") +
                      (p.grams_per_kwh > 0 ? right("g CO2/million", 15) : "") + '\n';
    for (const auto& [load, f] : response.results)
        out += right(formatted("%.0f", load.concurrency), 11) + right(duration(f.ttft_seconds), 12) +
               right(duration(f.tpot_seconds), 12) + right(formatted("%.0f", f.tokens_per_second), 11) +
               right(formatted("%.0f", f.tokens_per_second / f.num_devices), 12) +
               right(formatted("%.3g", f.joules_per_output_token), 10) +
               (p.price_per_hour > 0 ? right(formatted("%.3g", price_per_million_tokens(p, f)), 15) : "") +
               (p.grams_per_kwh > 0 ? right(formatted("%.3g", co2_grams_per_million_tokens(p, f)), 15) : "") + '\n';
    return out + '\n' + assumption_lines(p);
}

LLMCOST_INLINE std::string print(const serve_request& request, const serve_response& response,
                                 const deployment& deployment) {
    const bool is_sweep = request.mode == load_mode::sweep;
    if (request.format != output_format::json && request.format != output_format::text)
        return written(serving_metrics_table(response, deployment), request.format);
    if (request.format == output_format::json)
        return is_sweep ? sweep_json(response, deployment) : serve_json(response, deployment);
    return is_sweep ? sweep_text(response, deployment) : serve_text(response, deployment);
}

}  // namespace llmcost::cli::detail
