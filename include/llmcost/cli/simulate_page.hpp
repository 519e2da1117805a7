// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

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

#include <llmcost/cli/latency.hpp>
#include <llmcost/cli/placement.hpp>
#include <llmcost/cli/sweep_plot.hpp>
#include <llmcost/report/chrome_trace.hpp>
#include <llmcost/simulation/simulate.hpp>

// The answers of `llmcost simulate`: a page, JSON, a row for each request, a timeline of steps, a picture.
namespace llmcost::cli {

/// A simulation with all that is told of it.
struct simulated_answer {
    const placement& where;
    const simulated_server& by;
    const simulated_deployment& as;
    const simulation_result& result;
    simulation_summary summary{};
    request_bounds bounds{};
    std::string load;         ///< in words
    double devices = 1;       ///< of all engines
    double joules = 0;        ///< of all devices
    std::int64_t engines = 1;
    std::int64_t shown_tokens = 0;  ///< of each prompt
};

namespace detail {

/// How an engine schedules, in words.
[[nodiscard]] inline std::string words_on_policy(const scheduling_policy& p) {
    std::string text = std::string(p.engine) + ' ' + std::string(p.version) + ": ";
    text += p.steps == step_rule::mixed ? "prompts beside those that write" : "prompts before those that write";
    text += ", " + grouped(count(p.tokens_per_step)) + (p.steps == step_rule::mixed ? " new tokens" : " tokens of prompts") +
            " a step" + (p.chunked ? "" : ", no prompt in parts") + ", at most " + grouped(count(p.sequences)) + " sequences";
    if (p.waits > 0) text += ", prompts wait " + std::to_string(p.waits) + " steps";
    return text;
}

[[nodiscard]] inline double money_of(const simulated_answer& a) {
    return a.where.price_per_hour * a.devices * a.result.seconds / 3600;
}

inline std::string simulated_text(const simulated_answer& a) {
    const simulation_summary& s = a.summary;
    std::string out = title_of_placement(a.where, a.as.stages) + '\n' + a.load + "\n\n";
    out += left("", 26) + right("mean", 11) + right("p50", 11) + right("p90", 11) + right("p95", 11) + right("p99", 11) + '\n';
    const auto row = [&](std::string_view name, const distribution& d) {
        out += "  " + left(name, 24);
        for (const double seconds : {d.mean, d.p50, d.p90, d.p95, d.p99}) out += right(duration(seconds), 11);
        out += '\n';
    };
    row("time to first token", s.ttft), row("time per output token", s.tpot), row("between two tokens", s.itl);
    row("whole answer", s.end_to_end);
    const auto line = [&](std::string_view name, const std::string& text) { out += "  " + left(name, 26) + text + '\n'; };
    out += '\n';
    const auto interval = [](double seconds, serving_error e) {
        return duration(seconds * std::exp2(e.low)) + " to " + duration(seconds * std::exp2(e.high));
    };
    line("measured runs say", "first token " + interval(s.ttft.mean, a.where.interval.simulated_ttft) + ", per token " +
                                  interval(s.tpot.mean, a.where.interval.simulated_tpot) + " (nine in ten means, by " +
                                  std::string(words_of(a.where.interval.by)) + ")");
    if (const std::string network = words_on_network(a.where, a.as.stages); !network.empty()) line("network", network);
    if (a.shown_tokens > 0)
        line("shown",
             grouped(count(a.shown_tokens)) + " tokens of each prompt; towers take " + duration(a.by.towers.seconds));
    if (a.as.writing_replicas > 0)
        line("behind prompts", formatted("%.4g GB/s of each device to those that write", a.as.network));
    line("requests", grouped(count(s.requests)) + " in " + duration(s.seconds) + formatted(", %.4g a second", s.requests_per_second) +
                         formatted(", %.4g at a time", s.mean_concurrency));
    line("tokens per second", formatted("%.0f written (%.0f per device), %.0f read", s.output_tokens_per_second,
                                        s.output_tokens_per_second / a.devices, s.input_tokens_per_second));
    if (a.bounds.any())
        line("keep to --slo", formatted("%.4g a second, %.1f %% of all", s.good_per_second, 100 * s.good_share));
    if (s.cached_share > 0) line("found in the cache", formatted("%.1f %% of the tokens of prompts", 100 * s.cached_share));
    if (s.preempted > 0) line("preempted", grouped(count(s.preempted)) + " times, and computed again");
    const double written = static_cast<double>(s.output_tokens);
    if (a.where.on->watts > 0)
        line("energy (about)", formatted("%.0f W per device, %.3g J per output token",
                                         a.joules / a.devices / a.result.seconds, a.joules / written));
    if (a.where.price_per_hour > 0)
        line("money", formatted("%.4g, %.3g per million output tokens", money_of(a), 1e6 * money_of(a) / written));
    if (a.where.grams_per_kwh > 0)
        line("carbon", formatted("%.3g g CO2 per million output tokens", 1e6 * a.joules / written / 3.6e6 * a.where.grams_per_kwh));
    line("simulated", grouped(count(a.result.engine_steps)) + " steps of " + words_on_policy(a.by.policy));
    if (const std::string measured = line_on_measurements(a.where); !measured.empty()) out += "  " + measured;
    return out;
}

inline std::string simulated_json(const simulated_answer& a) {
    const simulation_summary& s = a.summary;
    json_writer json;
    json.object();
    put_model(json, a.where);
    json.member("device", a.where.on->names[0]).member("engine", a.where.by.name).member("dtype", a.where.how.products->name);
    if (a.as.writing_replicas > 0 || !words_on_network(a.where, a.as.stages).empty())
        json.member("network_gbps_per_device", network_of(*a.where.on));
    if (a.shown_tokens > 0) json.member("shown_tokens", a.shown_tokens).member("tower_seconds", a.by.towers.seconds);
    json.member("load", a.load).member("devices", a.devices).member("engines", a.engines);
    for (const auto& [name, d] : {std::pair{"ttft", s.ttft}, {"tpot", s.tpot}, {"itl", s.itl}, {"end_to_end", s.end_to_end}}) {
        json.key(name).object().member("mean_seconds", d.mean).member("p50_seconds", d.p50).member("p90_seconds", d.p90);
        json.member("p95_seconds", d.p95).member("p99_seconds", d.p99).member("most_seconds", d.most).end_object();
    }
    for (const auto& [name, seconds, e] : {std::tuple{"ttft", s.ttft.mean, a.where.interval.simulated_ttft},
                                           {"tpot", s.tpot.mean, a.where.interval.simulated_tpot}})
        json.member(std::string(name) + "_mean_lower_seconds", seconds * std::exp2(e.low))
            .member(std::string(name) + "_mean_upper_seconds", seconds * std::exp2(e.high));
    json.member("method", "simulation").member("interval_stands_on", words_of(a.where.interval.by));
    json.member("requests", s.requests).member("seconds", s.seconds).member("requests_per_second", s.requests_per_second);
    json.member("mean_concurrency", s.mean_concurrency);
    json.member("output_tokens", s.output_tokens).member("input_tokens", s.input_tokens);
    json.member("output_tokens_per_second", s.output_tokens_per_second);
    json.member("input_tokens_per_second", s.input_tokens_per_second);
    if (a.bounds.any())
        json.member("good_requests_per_second", s.good_per_second).member("good_share", s.good_share);
    json.member("cached_share", s.cached_share).member("preemptions", s.preempted).member("steps", a.result.engine_steps);
    if (a.where.on->watts > 0)
        json.member("joules_of_all_devices", a.joules).member("joules_per_token", a.joules / static_cast<double>(s.output_tokens));
    if (a.where.price_per_hour > 0) json.member("price_of_all_devices", money_of(a));
    const scheduling_policy& p = a.by.policy;
    json.key("scheduler").object().member("engine", p.engine).member("version", p.version);
    json.member("tokens_per_step", p.tokens_per_step).member("sequences", p.sequences).member("chunked", p.chunked);
    json.member("page_tokens", p.block).member("prefix_caching", p.caches_prefixes).end_object();
    put_unmeasured(json, a.where);
    return json.end_object().text() + '\n';
}

/// A row for each request.
inline std::string simulated_csv(const simulated_answer& a) {
    std::string out = "request,sent,queued,scheduled,first_token,last_token,input,output,cached,preempted,engine\n";
    for (std::size_t i = 0; i < a.result.requests.size(); ++i) {
        const request_record& r = a.result.requests[i];
        out += std::to_string(i);
        for (const double t : {r.sent, r.queued, r.scheduled, r.first, r.last}) out += formatted(",%.9g", t);
        for (const std::int64_t n : {r.input, r.output, r.cached, r.preempted}) out += ',' + std::to_string(n);
        out += ',' + std::to_string(r.replica) + '\n';
    }
    return out;
}

/// Steps of each engine one behind the other, like ones together.
inline std::string simulated_timeline(const simulated_answer& a) {
    std::vector<std::string> engines;
    for (std::int64_t i = 0; i < a.engines; ++i) engines.push_back("engine " + std::to_string(i));
    std::vector<trace_span> spans;
    for (const simulated_steps& s : a.result.steps) {
        const char* what = s.prompt_tokens == 0 ? "writing" : s.writing == 0 ? "prompts" : "prompts and writing";
        spans.push_back({what, "step", s.replica, s.begin, s.end - s.begin,
                         {{"steps", static_cast<double>(s.steps)},
                          {"writing", static_cast<double>(s.writing)},
                          {"prompt_tokens", static_cast<double>(s.prompt_tokens)},
                          {"running", static_cast<double>(s.running)},
                          {"waiting", static_cast<double>(s.waiting)},
                          {"cache_share", s.pages}},
                         {}});
    }
    return chrome_trace("llmcost simulate: " + std::string(a.where.who.name), engines, spans);
}

/// Requests that run and that wait over time, over all engines: means of a few hundred equal parts of it.
inline swept_chart simulated_chart(const simulated_answer& a) {
    constexpr std::size_t parts = 240;
    const double wide = a.result.seconds / static_cast<double>(parts);
    std::array<std::vector<double>, 3> sums;
    for (auto& sum : sums) sum.assign(parts, 0);
    for (const simulated_steps& s : a.result.steps)
        for (auto i = static_cast<std::size_t>(s.begin / wide); i < parts && static_cast<double>(i) * wide < s.end; ++i) {
            const double from = std::max(s.begin, static_cast<double>(i) * wide),
                         to = std::min(s.end, static_cast<double>(i + 1) * wide);
            const double share = (to - from) / wide;
            sums[0][i] += share * static_cast<double>(s.running), sums[1][i] += share * static_cast<double>(s.waiting);
            sums[2][i] += share * 100 * s.pages / static_cast<double>(a.engines);
        }
    swept_chart chart;
    chart.title = "Requests over time, and the cache that they fill";
    chart.across.title = "seconds", chart.up.title = "requests, or % of the cache";
    const char* const names[]{"running", "waiting", "% of the cache"};
    for (std::size_t k = 0; k < sums.size(); ++k)
        for (std::size_t i = 0; i < parts; ++i)
            add_to_line(chart.lines, names[k], (static_cast<double>(i) + 0.5) * wide, sums[k][i]);
    for (chart_series& s : chart.lines) s.marked = false;
    chart.description = "At most " + formatted("%.0f", *std::max_element(sums[0].begin(), sums[0].end())) + " requests run, " +
                        formatted("%.0f", *std::max_element(sums[1].begin(), sums[1].end())) + " wait.";
    return chart;
}

}  // namespace detail

}  // namespace llmcost::cli
