// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/simulate_page.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/commands/latency.hpp>
#include <llmcost/cli/commands/op.hpp>
#include <llmcost/cli/pages/sweep_plot.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/report/chart.hpp>
#include <llmcost/report/chrome_trace.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/report/ticks.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/prediction_intervals.hpp>
#include <llmcost/serving/stage_links.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/simulation/cluster.hpp>
#include <llmcost/simulation/replica.hpp>
#include <llmcost/simulation/request.hpp>
#include <llmcost/simulation/scheduling_policy.hpp>
#include <llmcost/simulation/simulate.hpp>
#include <llmcost/simulation/summary.hpp>

namespace llmcost::cli::detail {

/// A description of a scheduling policy.
[[nodiscard]] LLMCOST_INLINE std::string policy_label(const scheduling_policy& p) {
    std::string text = std::string(p.engine) + ' ' + std::string(p.version) + ": ";
    text += p.batching == batching_mode::mixed ? "mixed prefill/decode batches, " : "prefill before decode, ";
    text += grouped(count(p.max_num_batched_tokens)) +
            (p.batching == batching_mode::mixed ? " new tokens per step" : " prefill tokens per step") +
            (p.has_chunked_prefill ? "" : ", no chunked prefill") + ", at most " + grouped(count(p.max_num_seqs)) +
            " sequences";
    if (p.batch_wait_steps > 0) text += ", prefills wait " + std::to_string(p.batch_wait_steps) + " steps";
    return text;
}

/// The price of all devices for the duration of a simulation.
[[nodiscard]] LLMCOST_INLINE double price_of_all_devices(const simulation_response& a) {
    const double decode_price =
        a.decode_deployment != nullptr ? a.decode_deployment->price_per_hour * a.decode_devices : 0;
    return (a.deployment_of_server.price_per_hour * (a.devices - a.decode_devices) + decode_price) * a.result.seconds /
           3600;
}

/// A line of the text output: label and text.
LLMCOST_INLINE std::string simulation_line(std::string_view label, const std::string& text) {
    return "  " + left(label, 24) + text + '\n';
}

/// Mean and percentiles of TTFT, TPOT, ITL and end-to-end latency.
LLMCOST_INLINE std::string percentile_table(const simulation_summary& s) {
    std::string out = left("", 26) + right("mean", 11) + right("p50", 11) + right("p90", 11) + right("p95", 11) +
                      right("p99", 11) + '\n';
    for (const auto& [label, d] : {std::pair<std::string_view, const distribution*>{"TTFT", &s.ttft},
                                   {"TPOT", &s.tpot},
                                   {"ITL", &s.itl},
                                   {"end-to-end latency", &s.end_to_end}}) {
        out += "  " + left(label, 24);
        for (const double seconds : {d->mean, d->p50, d->p90, d->p95, d->p99}) out += right(duration(seconds), 11);
        out += '\n';
    }
    return out;
}

/// The tokens that were loaded from host memory and storage; empty without such memory.
LLMCOST_INLINE std::string loaded_note(const simulation_response& a) {
    if (a.config.tiers.empty()) return {};
    return formatted("; %.1f %% loaded at %.4g GB/s per device", 100 * a.summary.loaded_share,
                     a.config.tiers.front().bytes_per_second / 1e9) +
           (a.config.tiers.size() > 1 ? formatted(" or %.4g GB/s", a.config.tiers[1].bytes_per_second / 1e9) : "");
}

/// Throughput, goodput, prefix cache and preemptions.
LLMCOST_INLINE std::string throughput_lines(const simulation_response& a) {
    const simulation_summary& s = a.summary;
    std::string out = simulation_line("requests", grouped(count(s.requests)) + " in " + duration(s.seconds) +
                                                      formatted(", %.4g per second, mean concurrency %.4g",
                                                                s.requests_per_second, s.mean_concurrency));
    out += simulation_line("output throughput", formatted("%.0f tokens/s (%.0f per device)", s.output_tokens_per_second,
                                                          s.output_tokens_per_second / a.devices));
    out += simulation_line("input throughput", formatted("%.0f tokens/s", s.input_tokens_per_second));
    if (a.bounds.is_set())
        out += simulation_line("goodput", formatted("%.4g requests per second meet --slo, %.1f %% of all", s.goodput,
                                                    100 * s.slo_attainment));
    if (s.prefix_hit_rate > 0)
        out += simulation_line("prefix cache hits",
                               formatted("%.1f %% of the input tokens", 100 * s.prefix_hit_rate) + loaded_note(a));
    if (s.num_preemptions > 0)
        out += simulation_line("preemptions", grouped(count(s.num_preemptions)) + ", recomputed");
    return out;
}

/// Energy, price and CO2 of a simulation.
LLMCOST_INLINE std::string simulation_cost_lines(const simulation_response& a) {
    std::string out;
    const double output_tokens = static_cast<double>(a.summary.output_tokens);
    const deployment& p = a.deployment_of_server;
    if (p.device->thermal_design_watts > 0)
        out += simulation_line("energy (approximate)",
                               formatted("%.0f W per device, %.3g J per output token",
                                         a.joules / a.devices / a.result.seconds, a.joules / output_tokens));
    if (p.price_per_hour > 0)
        out += simulation_line("price", formatted("%.4g, %.3g per million output tokens", price_of_all_devices(a),
                                                  1e6 * price_of_all_devices(a) / output_tokens));
    if (p.grams_per_kwh > 0)
        out += simulation_line("CO2", formatted("%.3g g per million output tokens",
                                                1e6 * a.joules / output_tokens / 3.6e6 * p.grams_per_kwh));
    return out;
}

/// What concurrent clients do that a steady load does not: they start at once, and equal requests keep them in step.
LLMCOST_INLINE std::string client_notes(const simulation_response& a) {
    if (a.config.num_clients <= 1) return {};
    std::string out =
        "All clients start at once, so that their first prefills wait for each other. Steady load: llmcost serve "
        "--concurrency " +
        std::to_string(a.config.num_clients) + '\n';
    const request_record& first = a.result.requests.front();
    const bool are_equal = std::ranges::all_of(
        a.result.requests, [&](const request_record& r) { return r.input == first.input && r.output == first.output; });
    if (are_equal && first.output > 1)
        out +=
            "Requests of equal length keep clients in step, so that prefills wait for each other: a longer TTFT than "
            "in "
            "most measured runs. Lengths that differ: --output " +
            std::to_string(std::max<std::int64_t>(1, first.output * 4 / 5)) + ".." +
            std::to_string(first.output * 6 / 5) + '\n';
    return out;
}

/// The assumptions below a result: method, interval, missing measurements.
LLMCOST_INLINE std::string simulation_assumptions(const simulation_response& a) {
    const prediction_interval& interval = a.deployment_of_server.interval;
    const auto range = [](double seconds, relative_interval e) {
        return duration(seconds * std::exp2(e.low)) + " to " + duration(seconds * std::exp2(e.high));
    };
    return "Method: simulation of " + grouped(count(a.result.engine_steps)) + " steps, " +
           policy_label(a.simulated_engine.policy) + '\n' + client_notes(a) +
           "Interval: 90 % of measured means, TTFT " + range(a.summary.ttft.mean, interval.simulated_ttft) + ", TPOT " +
           range(a.summary.tpot.mean, interval.simulated_tpot) + "; based on " +
           std::string(evidence_label(a.deployment_of_server.simulated_evidence)) + '\n' +
           measurement_note(a.deployment_of_server);
}

LLMCOST_INLINE std::string simulated_text(const simulation_response& a) {
    const deployment& p = a.deployment_of_server;
    std::string out = deployment_title(p, a.config.pipeline_parallel_size) + '\n' + a.load + "\n\n" +
                      percentile_table(a.summary) + '\n' + throughput_lines(a);
    if (a.num_media_tokens > 0)
        out += simulation_line("multimodal inputs", grouped(count(a.num_media_tokens)) +
                                                        " tokens per request; the encoders take " +
                                                        duration(a.simulated_engine.encoder_cost.seconds));
    if (const std::string network = network_label(p, a.config.pipeline_parallel_size); !network.empty())
        out += simulation_line("network", network);
    if (a.decode_deployment != nullptr)
        out += simulation_line("decode workers",
                               std::to_string(a.config.num_decode_workers) + " x " +
                                   deployment_title(*a.decode_deployment, a.config.pipeline_parallel_size));
    if (a.config.num_decode_workers > 0)
        out += simulation_line("KV cache transfer", formatted("%.4g GB/s per device to the decode workers",
                                                              a.config.network_gigabytes_per_second));
    return out + simulation_cost_lines(a) + '\n' + simulation_assumptions(a);
}

LLMCOST_INLINE std::string simulated_json(const simulation_response& a) {
    const simulation_summary& s = a.summary;
    json_writer json;
    json.object();
    write_model(json, a.deployment_of_server);
    json.member("device", a.deployment_of_server.device->names[0])
        .member("engine", a.deployment_of_server.engine.name)
        .member("dtype", a.deployment_of_server.execution.linear_type->name);
    if (a.config.num_decode_workers > 0 ||
        !network_label(a.deployment_of_server, a.config.pipeline_parallel_size).empty())
        json.member("network_gbps_per_device", network_of(*a.deployment_of_server.device));
    if (a.num_media_tokens > 0)
        json.member("shown_tokens", a.num_media_tokens)
            .member("tower_seconds", a.simulated_engine.encoder_cost.seconds);
    json.member("load", a.load).member("devices", a.devices).member("engines", a.engines);
    if (a.decode_deployment != nullptr)
        json.member("decode_device", a.decode_deployment->device->names[0]).member("decode_devices", a.decode_devices);
    json.member("cache_available", a.result.kv_cache_bytes).member("cache_blocks", a.result.kv_cache_blocks);
    for (const auto& [name, d] :
         {std::pair{"ttft", s.ttft}, {"tpot", s.tpot}, {"itl", s.itl}, {"end_to_end", s.end_to_end}}) {
        json.key(name)
            .object()
            .member("mean_seconds", d.mean)
            .member("p50_seconds", d.p50)
            .member("p90_seconds", d.p90);
        json.member("p95_seconds", d.p95).member("p99_seconds", d.p99).member("most_seconds", d.max).end_object();
    }
    for (const auto& [name, seconds, e] :
         {std::tuple{"ttft", s.ttft.mean, a.deployment_of_server.interval.simulated_ttft},
          {"tpot", s.tpot.mean, a.deployment_of_server.interval.simulated_tpot}})
        json.member(std::string(name) + "_mean_lower_seconds", seconds * std::exp2(e.low))
            .member(std::string(name) + "_mean_upper_seconds", seconds * std::exp2(e.high));
    json.member("method", "simulation")
        .member("interval_stands_on", description_of(a.deployment_of_server.simulated_evidence));
    json.member("requests", s.requests)
        .member("seconds", s.seconds)
        .member("requests_per_second", s.requests_per_second);
    json.member("mean_concurrency", s.mean_concurrency);
    json.member("output_tokens", s.output_tokens).member("input_tokens", s.input_tokens);
    json.member("output_tokens_per_second", s.output_tokens_per_second);
    json.member("input_tokens_per_second", s.input_tokens_per_second);
    if (a.bounds.is_set()) json.member("good_requests_per_second", s.goodput).member("good_share", s.slo_attainment);
    if (!a.config.tiers.empty()) json.member("loaded_share", s.loaded_share);
    json.member("cached_share", s.prefix_hit_rate)
        .member("preemptions", s.num_preemptions)
        .member("steps", a.result.engine_steps);
    if (a.deployment_of_server.device->thermal_design_watts > 0)
        json.member("joules_of_all_devices", a.joules)
            .member("joules_per_token", a.joules / static_cast<double>(s.output_tokens));
    if (a.deployment_of_server.price_per_hour > 0) json.member("price_of_all_devices", price_of_all_devices(a));
    const scheduling_policy& p = a.simulated_engine.policy;
    json.key("scheduler").object().member("engine", p.engine).member("version", p.version);
    json.member("tokens_per_step", p.max_num_batched_tokens)
        .member("sequences", p.max_num_seqs)
        .member("chunked", p.has_chunked_prefill);
    json.member("page_tokens", p.page_size).member("prefix_caching", p.has_prefix_cache).end_object();
    write_unmeasured(json, a.deployment_of_server);
    return json.end_object().text() + '\n';
}

LLMCOST_INLINE std::string simulated_csv(const simulation_response& a) {
    std::string out = "request,sent,queued,scheduled,first_token,last_token,input,output,cached,preempted,engine\n";
    for (std::size_t i = 0; i < a.result.requests.size(); ++i) {
        const request_record& r = a.result.requests[i];
        out += std::to_string(i);
        for (const double t :
             {r.sent_seconds, r.queued_seconds, r.scheduled_seconds, r.first_token_seconds, r.last_token_seconds})
            out += formatted(",%.9g", t);
        for (const std::int64_t n : {r.input, r.output, r.num_cached_tokens, r.num_preemptions})
            out += ',' + std::to_string(n);
        out += ',' + std::to_string(r.replica) + '\n';
    }
    return out;
}

LLMCOST_INLINE std::string simulated_timeline(const simulation_response& a) {
    std::vector<std::string> engines;
    for (std::int64_t i = 0; i < a.engines; ++i) engines.push_back("engine " + std::to_string(i));
    std::vector<trace_span> spans;
    for (const simulated_steps& s : a.result.steps) {
        const char* phase = s.prefill_tokens == 0 ? "decode" : s.num_decodes == 0 ? "prefill" : "prefill and decode";
        spans.push_back({phase,
                         "step",
                         s.replica,
                         s.begin,
                         s.end - s.begin,
                         {{"steps", static_cast<double>(s.steps)},
                          {"writing", static_cast<double>(s.num_decodes)},
                          {"prompt_tokens", static_cast<double>(s.prefill_tokens)},
                          {"running", static_cast<double>(s.running)},
                          {"waiting", static_cast<double>(s.waiting)},
                          {"cache_share", s.kv_cache_utilization}},
                         {}});
    }
    return chrome_trace("llmcost simulate: " + std::string(a.deployment_of_server.name_of_model.name), engines, spans);
}

LLMCOST_INLINE swept_chart simulated_chart(const simulation_response& a) {
    constexpr std::size_t parts = 240;
    const double part_seconds = a.result.seconds / static_cast<double>(parts);
    std::array<std::vector<double>, 3> sums;
    for (auto& sum : sums) sum.assign(parts, 0);
    for (const simulated_steps& s : a.result.steps)
        for (auto i = static_cast<std::size_t>(s.begin / part_seconds);
             i < parts && static_cast<double>(i) * part_seconds < s.end; ++i) {
            const double part_begin = std::max(s.begin, static_cast<double>(i) * part_seconds),
                         to = std::min(s.end, static_cast<double>(i + 1) * part_seconds);
            const double share = (to - part_begin) / part_seconds;
            sums[0][i] += share * static_cast<double>(s.running);
            sums[1][i] += share * static_cast<double>(s.waiting);
            sums[2][i] += share * 100 * s.kv_cache_utilization / static_cast<double>(a.engines);
        }
    swept_chart chart;
    chart.title = "Requests and KV cache utilization over time";
    chart.x_axis.title = "seconds";
    chart.up.title = "requests, or % of the KV cache";
    const char* const names[]{"running", "waiting", "% of the KV cache"};
    for (std::size_t k = 0; k < sums.size(); ++k)
        for (std::size_t i = 0; i < parts; ++i)
            add_to_line(chart.lines, names[k], (static_cast<double>(i) + 0.5) * part_seconds, sums[k][i]);
    for (chart_series& s : chart.lines) s.marked = false;
    chart.description = "At most " + formatted("%.0f", *std::max_element(sums[0].begin(), sums[0].end())) +
                        " running requests, " + formatted("%.0f", *std::max_element(sums[1].begin(), sums[1].end())) +
                        " waiting.";
    return chart;
}

}  // namespace llmcost::cli::detail
