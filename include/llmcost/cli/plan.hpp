// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/cli/simulate.hpp>
#include <llmcost/simulation/search.hpp>

// `llmcost plan`: which engines on how many devices keep to bounds under a load.
namespace llmcost::cli {

namespace option {

// clang-format off
inline constexpr option_row
    devices      {"--devices",      value_kind::number, "N",    "devices that there are (8)", "Deployment"},
    keep_share   {"--keep",         value_kind::number, "X",    "share of requests that keeps to --slo (0.99)"},
    engines_tried{"--engine",       value_kind::text,   "ENGINE", "only this one: trtllm, vllm, sglang (all that run there)", {}, detail::engine_words},
    together     {"--no-separate",  value_kind::none,   "",     "no engines for prompts beside engines that write"},
    top_of_plan  {"--top",          value_kind::number, "N",    "of the best (5)"},
    tp_of_plan   {"--tp",           value_kind::number, "N",    "only so many devices that share each layer (1, 2, 4, 8)"};
// clang-format on

}  // namespace option

inline constexpr std::array plan_options =
    joined(std::array{option::bounds,
                      option::slo_at,
                      option::clients,
                      option::rate,
                      option::trace,
                      option::lengths_in,
                      option::lengths_out,
                      option::how_many,
                      option::burstiness,
                      option::turns,
                      option::pause,
                      option::seed,
                      option::prefix_hit,
                      option::trace_block,
                      option::devices,
                      option::keep_share,
                      option::together,
                      option::top_of_plan,
                      option_row{"--format", value_kind::choice, "text|json", "numbers of json are exact"},
                      option::plot},
           help_option,
           titled("Device", std::array{option::device, option::engines_tried, option::engine_version, option::calibration,
                                       option::linear_dtype, option::experts_dtype, option::kept_dtype, option::routing,
                                       option::execution, option::tp_of_plan, option::dp, option::ep, option::network,
                                       option::price, option::carbon}),
           model_options, std::array{option::quantization});

namespace detail {

/// A kind of engine that is tried: its placement outlives its server.
struct placed_kind {
    placement where;
    std::unique_ptr<server> on;
};

/// How an engine is started so.
[[nodiscard]] inline std::string start_command(const placed_kind& k, const tried_deployment& t) {
    const std::string model(k.where.who.name), tp = std::to_string(k.where.how.shards.tensor);
    const std::string tokens = std::to_string(t.policy.tokens_per_step), sequences = std::to_string(t.policy.sequences);
    const bool experts = k.where.how.shards.expert > 1;
    if (k.where.by.name == string_ref("vllm"))
        return "vllm serve " + model + " --tensor-parallel-size " + tp + (experts ? " --enable-expert-parallel" : "") +
               " --max-num-batched-tokens " + tokens + " --max-num-seqs " + sequences;
    if (k.where.by.name == string_ref("sglang"))
        return "python -m sglang.launch_server --model-path " + model + " --tp " + tp +
               (experts ? " --ep-size " + std::to_string(k.where.how.shards.expert) : "") + " --chunked-prefill-size " + tokens +
               " --max-running-requests " + sequences;
    return "trtllm-serve " + model + " --tp_size " + tp +
           (experts ? " --ep_size " + std::to_string(k.where.how.shards.expert) : "") + " --max_num_tokens " + tokens +
           " --max_batch_size " + sequences;
}

[[nodiscard]] inline double money_per_million(const placement& p, const tried_deployment& t) {
    return 1e6 / t.summary.output_tokens_per_second / 3600 * p.price_per_hour * t.devices;
}

[[nodiscard]] inline std::string plan_text(const std::vector<placed_kind>& kinds, const search_result& found,
                                           const std::string& title) {
    std::string out = title + "\n\n";
    const bool keeps = !found.keeping.empty();
    const std::vector<tried_deployment>& list = keeps ? found.keeping : found.others;
    if (!keeps) out += "None keeps to it; the nearest, with all devices:\n";
    if (list.empty()) return out + "Nothing could be tried: the model has no room, or one request alone is too slow.\n";
    const placement& any = kinds.front().where;
    out += right("devices", 8) + "  " + left("engine", 8) + right("tp", 3) + right("ep", 4) + right("engines", 14) +
           right("a step", 9) + right("first token p99", 17) + right("per token p99", 15) + right("keep", 8) +
           right("tokens/s", 10) + (any.price_per_hour > 0 ? right("per million", 13) : "") + '\n';
    for (const tried_deployment& t : list) {
        const placement& p = kinds[t.kind].where;
        out += right(formatted("%.0f", t.devices), 8) + "  " + left(p.by.name, 8) +
               right(std::to_string(p.how.shards.tensor), 3) + right(std::to_string(p.how.shards.expert), 4) +
               right(t.writing_replicas > 0 ? std::to_string(t.replicas) + " + " + std::to_string(t.writing_replicas)
                                            : std::to_string(t.replicas),
                     14) +
               right(grouped(count(t.policy.tokens_per_step)), 9) + right(duration(t.summary.ttft.p99), 17) +
               right(duration(t.summary.tpot.p99), 15) + right(formatted("%.1f %%", 100 * t.summary.good_share), 8) +
               right(formatted("%.0f", t.summary.output_tokens_per_second), 10) +
               (any.price_per_hour > 0 ? right(formatted("%.3g", money_per_million(p, t)), 13) : "") + '\n';
    }
    out += "\nThe first, an engine of it:\n  " + start_command(kinds[list.front().kind], list.front()) + '\n';
    if (list.front().writing_replicas > 0)
        out += "  (engines for prompts + engines that write, joined as " + std::string(kinds[list.front().kind].where.by.name) +
               "'s disaggregated serving)\n";
    out += "\n" + grouped(count(found.simulated)) + " simulated";
    if (found.without_room > 0) out += "; " + grouped(count(found.without_room)) + " have no room";
    if (found.too_slow > 0) out += "; on " + grouped(count(found.too_slow)) + " one request alone is too slow";
    return out + '\n';
}

[[nodiscard]] inline std::string plan_json(const std::vector<placed_kind>& kinds, const search_result& found) {
    json_writer json;
    json.object();
    if (!kinds.empty()) put_model(json, kinds.front().where);
    json.member("keeps", !found.keeping.empty()).member("simulated", static_cast<std::int64_t>(found.simulated));
    json.member("without_room", static_cast<std::int64_t>(found.without_room));
    json.member("too_slow_alone", static_cast<std::int64_t>(found.too_slow)).key("deployments").array();
    for (const tried_deployment& t : found.keeping.empty() ? found.others : found.keeping) {
        const placed_kind& k = kinds[t.kind];
        json.object().member("devices", t.devices).member("engine", k.where.by.name);
        json.member("tensor_parallel", k.where.how.shards.tensor).member("expert_parallel", k.where.how.shards.expert);
        json.member("engines", t.replicas).member("writing_engines", t.writing_replicas);
        json.member("tokens_per_step", t.policy.tokens_per_step).member("sequences", t.policy.sequences);
        for (const auto& [name, d] : {std::pair<std::string, const distribution&>{"ttft", t.summary.ttft},
                                      {"tpot", t.summary.tpot},
                                      {"end_to_end", t.summary.end_to_end}})
            json.member(name + "_mean_seconds", d.mean)
                .member(name + "_p50_seconds", d.p50)
                .member(name + "_p90_seconds", d.p90)
                .member(name + "_p95_seconds", d.p95)
                .member(name + "_p99_seconds", d.p99);
        json.member("interval_stands_on", words_of(k.where.interval.by)).member("good_share", t.summary.good_share);
        json.member("output_tokens_per_second", t.summary.output_tokens_per_second);
        if (k.where.price_per_hour > 0) json.member("price_per_million_tokens", money_per_million(k.where, t));
        json.member("command", start_command(k, t)).end_object();
    }
    return json.end_array().end_object().text() + '\n';
}

/// Output tokens a second of a device over those of a user, of all that was tried: points of each engine, and the line of
/// those that no other is better than in both.
[[nodiscard]] inline swept_chart plan_chart(const std::vector<placed_kind>& kinds, const search_result& found) {
    swept_chart chart;
    chart.title = "Tokens a second per device, over tokens a second per user";
    chart.across.title = "tokens a second per user", chart.up.title = "tokens a second per device";
    std::vector<std::pair<double, double>> all;
    for (const tried_deployment& t : found.tried) {
        if (t.summary.tpot.mean <= 0) continue;
        all.emplace_back(1 / t.summary.tpot.mean, t.summary.output_tokens_per_second / t.devices);
        add_to_line(chart.lines, std::string(kinds[t.kind].where.by.name), all.back().first, all.back().second);
    }
    if (all.empty()) refuse(option::plot.name, "nothing to draw: nothing was simulated with answers of more than one token");
    for (chart_series& s : chart.lines) s.joined = false;
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    double most = 0;
    for (const auto& [user, device] : all)
        if (device > most) add_to_line(chart.lines, "best", user, device), most = device;
    settle(chart);
    for (chart_series& s : chart.lines) s.marked = !s.joined;  // however many there are
    chart.description = chart.title + ": " + std::to_string(all.size()) + " deployments; at most " +
                        formatted("%.4g", most) + " per device, " + formatted("%.4g", all.front().first) + " per user";
    return chart;
}

/// Engines on so many devices that share layers, each with its experts divided or not, that the model can be split over.
inline std::vector<placed_kind> kinds_of(arguments args, const program& io, std::int64_t devices, std::int64_t input,
                                         std::deque<std::string>& words) {
    std::vector<placed_kind> kinds;
    std::string problem;
    const bool one_engine = args.has(option::engine), one_tp = args.has(option::tp), one_ep = args.has(option::ep);
    const std::int64_t only_tp = args.number(option::tp, 0, 0);
    const engine* const only = one_engine ? &engine_of("--engine", args.text(option::engine)) : nullptr;
    for (const engine& e : engines) {
        if (only != nullptr && only != &e) continue;
        for (std::int64_t tp = 1; tp <= std::min<std::int64_t>(devices, execution::most_devices_of_a_node); tp *= 2)
            for (const std::int64_t ep : {std::int64_t{1}, tp}) {
                if ((one_tp && tp != only_tp) || (one_ep && ep > 1)) continue;
                args.replace(option::engine, words.emplace_back(e.name));
                args.replace(option::tp, words.emplace_back(std::to_string(tp)));
                if (!one_ep) args.replace(option::ep, words.emplace_back(std::to_string(ep)));
                try {
                    placed_kind k{io.place(args, io), nullptr};
                    if (ep > 1 && k.where.how.shards.expert != ep) continue;
                    check_memory(*k.where.on), check_writes(k.where.subject), judge(k.where, input);
                    kinds.push_back(std::move(k));
                } catch (const error& refused) {  // another engine or split may do
                    if (refused.code() != errc::usage) throw;
                    problem = refused.what();
                }
                if (tp == 1) break;
            }
    }
    if (kinds.empty()) throw error(errc::usage, "plan", problem.empty() ? "expected --tp 1, 2, 4 or 8" : problem);
    for (placed_kind& k : kinds)
        k.on = std::make_unique<server>(k.where.subject, k.where.how, k.where.by, *k.where.on, *k.where.kernels);
    return kinds;
}

}  // namespace detail

/// What `llmcost plan …` prints.
[[nodiscard]] inline answered plan_answer(const arguments& args, const program& io) {
    if (!args.has(option::bounds)) refuse("--slo", "is missing: what the plan has to keep, as ttft=1s,tpot=30ms");
    const request_bounds bounds = detail::read_bounds(args.text(option::bounds));
    simulated_deployment as;
    const detail::asked_load load = detail::read_load(args, as);
    search_limits limits;
    const std::int64_t devices = args.number(option::devices, 8);
    if (devices > 4096) refuse("--devices", "expected at most 4096");
    limits.devices = static_cast<double>(devices), limits.good_share = args.real(option::keep_share, 0.99, 0, 1);
    limits.separated = !args.has(option::together);
    std::deque<std::string> words;
    const std::vector<detail::placed_kind> placed = detail::kinds_of(args, io, devices, load.requests.front().input, words);
    const double at = detail::read_slo_at(args, true);
    detail::use_network(as, *placed.front().where.on);
    std::vector<deployment_search::kind> kinds;
    for (const detail::placed_kind& k : placed) {
        const scheduling_policy policy = policy_of(k.where.by.name, *k.where.on);
        std::vector<std::int64_t> budgets{2048, 4096, 8192, 16384};
        request_bounds own = bounds;  // a measured run may take longer than a simulated one
        own.ttft_longer = std::exp2(k.where.interval.simulated_ttft.at(at));
        own.tpot_longer = std::exp2(k.where.interval.simulated_tpot.at(at));
        kinds.push_back({{k.on.get(), policy, host_times_of(k.where.by.name), k.where.subject.dims.moe.num_experts > 1, {}},
                         std::move(budgets),
                         own});
    }
    deployment_search search(load.requests, as, limits);
    search.offer(kinds);
    const search_result found = search.best(kinds, static_cast<std::size_t>(args.number(option::top_of_plan, 5)));
    const placement& any = placed.front().where;
    const std::string title =
        std::string(any.who.name) + " on at most " + grouped(count(devices)) + " x " + printable(any.on->title) + "; " +
        load.words + "; " + formatted("%.4g", 100 * limits.good_share) + " % keep " +
        std::string(args.text(option::bounds)) + (at == 0.5 ? "" : formatted(" at the %.4g quantile of measured runs", at));
    answered out;
    out.text = args.text(option::format, "text") == "text" ? detail::plan_text(placed, found, title)
                                                          : detail::plan_json(placed, found);
    if (found.keeping.empty()) out.code = exit_code::does_not_fit;
    if (args.has(option::plot) && args.text(option::plot).empty() && args.text(option::format, "text") != "text")
        refuse(option::plot.name, "in the terminal is text: name a file, or leave out --format");
    if (args.has(option::plot)) add_plot(out, args, detail::plan_chart(placed, found));
    return out;
}

inline constexpr std::array<example_row, 2> plan_examples{{
    {"llmcost plan --model Qwen/Qwen3-8B --device h200 --rate 20 --slo ttft=1s,tpot=30ms", "twenty requests a second"},
    {"llmcost plan --model Qwen/Qwen3-8B --device h200 --devices 16 --trace requests.csv --slo ttft=1s,tpot=30ms", "as recorded"},
}};

inline constexpr command plan_command{
    .name = "plan",
    .meaning = "the fewest devices that keep to bounds under a load",
    .usage = "(--model NAME | --config FILE) --device NAME --slo LIST\n[--concurrency N | --rate X | --trace FILE] [option]...",
    .about = "Tries engines, devices that share layers, divided experts, budgets of a step, and engines\n"
             "for prompts beside engines that write; simulates each (llmcost simulate) and prints the\n"
             "best with the engine's own command. Exit code 8: none keeps to it.\n",
    .options = plan_options,
    .answer = plan_answer,
    .examples = plan_examples};

}  // namespace llmcost::cli
