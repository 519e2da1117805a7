// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/cli/scheduler_options.hpp>
#include <llmcost/cli/serve.hpp>
#include <llmcost/cli/simulate_page.hpp>
#include <llmcost/simulation/load.hpp>
#include <llmcost/simulation/random_stream.hpp>
#include <llmcost/simulation/request_trace.hpp>

// `llmcost simulate`: requests through an engine, step by step.
namespace llmcost::cli {

namespace option {

// clang-format off
inline constexpr option_row
    clients     {"--concurrency",     value_kind::number, "N",    "clients, each sends the next request behind an answer (16)", "Load"},
    trace       {"--trace",           value_kind::file,   "FILE", "recorded requests: CSV or JSON lines (docs/serving.md)"},
    lengths_in  {"--input",           value_kind::text,   "N|LOW..HIGH", "tokens of prompts (1024)"},
    lengths_out {"--output",          value_kind::text,   "N|LOW..HIGH", "tokens written for them (1024)"},
    how_many    {"--requests",        value_kind::number, "N",    "requests (ten of each client, else 1000)"},
    warm_up     {"--warm-up",         value_kind::number, "N",    "first requests that no figure is of (0)"},
    burstiness  {"--burstiness",      value_kind::number, "X",    "of --rate: 1 Poisson, less in bursts (1)"},
    turns       {"--turns",           value_kind::number, "N",    "of a conversation: each reads all before it (1)"},
    pause       {"--pause",           value_kind::number, "S",    "seconds before a next turn (0)"},
    seed        {"--seed",            value_kind::number, "N",    "of all that is drawn: the same gives the same (1)"},
    trace_block {"--trace-block",     value_kind::number, "N",    "tokens of a block of hash_ids (512)"},
    bounds      {"--slo",             value_kind::text,   "LIST", "ttft=0.5s,tpot=30ms,e2e=9s: how many keep to it"},
    replicas    {"--replicas",        value_kind::number, "N",    "engines behind a router (1)", "Engines"},
    prefill     {"--prefill",         value_kind::number, "N",    "engines that compute prompts only, beside --decode"},
    decode      {"--decode",          value_kind::number, "N",    "engines that write behind those"},
    router      {"--router",          value_kind::choice, "least|prefix", "whom a request goes to: least waiting, or its prefix cached"},
    proposes    {"--draft-model",     value_kind::text,   "NAME", "that proposes --draft tokens at its own cost (none)"},
    all_tokens  {"--ignore-eos",      value_kind::none,   "",     "clients ask for all tokens, and sglang knows it"},
    memory_share{"--memory-share",    value_kind::number, "X",    "of memory that the engine takes (0.9)"},
    drawn       {"--plot-of",         value_kind::choice, "time|rate|pareto", "of --plot: requests over time; first tokens over rates; throughput per device over speed per user"},
    timeline_to {"--timeline",        value_kind::file,   "FILE", "a Chrome trace of all steps"};
// clang-format on

}  // namespace option

inline constexpr std::array simulate_options =
    joined(std::array{option::clients,    option::rate,       option::trace,       option::lengths_in,  option::lengths_out,
                      option::how_many,   option::warm_up,    option::burstiness,  option::turns,       option::pause,
                      option::seed,       option::prefix_hit, option::trace_block, option::bounds,      option::draft,
                      option::acceptance, option::image,      option::images,      option::video,       option::videos,
                      option::audio,      option::replicas,   option::prefill,     option::decode,      option::pp,
                      option::router,     option::proposes,   option::all_tokens,  option::memory_share},
           scheduler_option_rows,
           std::array{option_row{"--format", value_kind::choice, "text|json|csv", "csv: a row for each request", "Output"},
                      option::plot, option::drawn, option::timeline_to},
           help_option, titled("Device", execution_options), model_options, std::array{option::quantization});

namespace detail {

/// Reads `1024` or `800..1024`.
inline length_range read_lengths(const arguments& args, const option_row& o) {
    if (!args.has(o)) return {};
    const std::string_view text = args.text(o);
    const std::size_t dots = text.find("..");
    length_range r;
    r.low = read_number(o.name, text.substr(0, dots), 1);
    r.high = dots == std::string_view::npos ? r.low : read_number(o.name, text.substr(dots + 2), 1);
    if (r.high < r.low) refuse(o.name, "expected LOW..HIGH, found " + in_quotes(std::string(text)));
    if (r.high > largest_input) refuse(o.name, "is more than 2147483647 tokens");
    return r;
}

/// Reads `ttft=0.5s,tpot=30ms,e2e=9s`.
inline request_bounds read_bounds(std::string_view list) {
    request_bounds b;
    std::string others;
    while (!list.empty()) {
        const std::string_view item = list.substr(0, list.find(','));
        list.remove_prefix(std::min(item.size() + 1, list.size()));
        if (item.starts_with("e2e=")) {
            if (b.end_to_end > 0) refuse("--slo", "e2e is given twice");
            b.end_to_end = read_service_level("ttft=" + std::string(item.substr(4))).ttft;
        } else {
            others += (others.empty() ? "" : ",") + std::string(item);
        }
    }
    if (others.empty() && b.any()) return b;
    const service_level level = read_service_level(others);
    b.ttft = level.ttft, b.tpot = level.tpot;
    return b;
}

/// What is sent, and how it is told.
struct asked_load {
    std::vector<simulated_request> requests;
    std::string words;
};

inline std::string words_of(length_range r) {
    return grouped(count(r.low)) + (r.high > r.low ? " to " + grouped(count(r.high)) : "");
}

inline std::string words_on_shown(std::int64_t tokens) {
    return tokens > 0 ? ", each shows " + grouped(count(tokens)) + " more" : std::string();
}

/// The requests of a command line, each of which shows so many tokens beside its text; sets how many clients send them.
inline asked_load read_load(const arguments& args, simulated_deployment& as, std::int64_t shown = 0) {
    asked_load out;
    as.clients = args.has(option::rate) || args.has(option::trace) ? 0 : 16;
    if (args.has(option::clients)) as.clients = args.number(option::clients, 16);
    if (args.has(option::clients) && args.has(option::rate))
        refuse("--rate", "cannot stand beside --concurrency: clients send as soon as they are answered");
    if (as.clients > 1'000'000) refuse("--concurrency", "expected at most 1000000 clients");
    if (args.has(option::burstiness) && !args.has(option::rate)) refuse("--burstiness", "needs --rate");
    if (args.has(option::trace)) {
        for (const option_row& o : {option::lengths_in, option::lengths_out, option::turns, option::seed, option::prefix_hit})
            if (args.has(o)) refuse(o.name, "cannot stand beside --trace, which says what is sent");
        as.block = args.number(option::trace_block, 512);
        request_trace trace = read_request_trace(std::string(args.text(option::trace)), as.block);
        if (!trace.timed && as.clients == 0 && !args.has(option::rate))
            refuse("--trace", "says no times of arrival: say how requests arrive, by --rate or --concurrency");
        if (args.has(option::how_many))
            trace.requests.resize(std::min(trace.requests.size(), static_cast<std::size_t>(args.number(option::how_many, 1))));
        if (args.has(option::rate)) {  // the trace's lengths, arriving anew
            random_stream random(1);
            double now = 0;
            const double rate = args.real(option::rate, 1, 1e-9, 1e9), shape = args.real(option::burstiness, 1, 1e-3, 1e6);
            for (simulated_request& r : trace.requests) r.at = now, now += random.gamma(shape) / rate;
        }
        out.words = grouped(count(trace.requests.size())) + " requests of " + printable(args.text(option::trace)) +
                    (as.clients > 0 ? ", sent by " + grouped(count(as.clients)) + " clients"
                     : args.has(option::rate) ? ", " + std::string(args.text(option::rate)) + " a second"
                                              : ", at their times");
        for (simulated_request& r : trace.requests) r.input += shown;
        out.requests = std::move(trace.requests);
        out.words += words_on_shown(shown);
        return out;
    }
    if (args.has(option::trace_block)) refuse("--trace-block", "needs --trace");
    simulated_load load;
    load.input = read_lengths(args, option::lengths_in), load.output = read_lengths(args, option::lengths_out);
    const length_range text = load.input;
    load.input.low += shown, load.input.high += shown;
    load.requests = args.number(option::how_many, as.clients > 0 ? 10 * as.clients : 1000);
    if (load.requests > 10'000'000) refuse("--requests", "expected at most 10000000");
    load.rate = args.has(option::rate) ? args.real(option::rate, 1, 1e-9, 1e9) : 0;
    load.burstiness = args.real(option::burstiness, 1, 1e-3, 1e6);
    load.cached = args.real(option::prefix_hit, 0, 0, 1);
    load.turns = args.number(option::turns, 1), load.pause = args.real(option::pause, 0, 0, 1e9);
    if (args.has(option::pause) && load.turns == 1) refuse("--pause", "needs --turns");
    if (load.turns * (load.input.high + load.output.high) > largest_input)
        refuse("--turns", "a conversation of more than 2147483647 tokens");
    load.seed = static_cast<std::uint64_t>(args.number(option::seed, 1, 0));
    load.block = as.block = 64;
    out.requests = requests_of(load);
    out.words =
        grouped(count(load.requests)) + " requests of " + words_of(text) + " tokens in, " + words_of(load.output) + " out; ";
    out.words += as.clients > 0 ? grouped(count(as.clients)) + (as.clients == 1 ? " client sends" : " clients send") +
                                      " the next behind each answer"
                                : std::string(args.text(option::rate)) + " a second";
    out.words += words_on_shown(shown);
    if (load.turns > 1) out.words += ", conversations of " + std::to_string(load.turns) + " turns";
    return out;
}

/// Says on a terminal how far a long simulation is.
class progress_line {
public:
    explicit progress_line(const streams& io) : io_(&io) {}
    void operator()(std::size_t done, std::size_t all) {
        if (!io_->out_is_terminal || done < next_) return;
        if (next_ > 0) io_->err << "\rllmcost: " << 100 * done / all << " % of " << all << " requests" << std::flush, shown_ = true;
        next_ = done + std::max<std::size_t>(100'000, all / 20);
    }
    ~progress_line() {
        if (shown_) io_->err << "\r\x1b[K";
    }
    progress_line(const progress_line&) = delete;
    progress_line& operator=(const progress_line&) = delete;

private:
    const streams* io_;
    std::size_t next_ = 0;
    bool shown_ = false;
};

/// Refuses requests that a group of devices could never hold or compute.
inline void check_requests(const std::vector<simulated_request>& requests, const simulated_server& by, std::int64_t stages) {
    std::int64_t longest = 0;
    for (const simulated_request& r : requests) {
        longest = std::max(longest, r.input + r.output);
        if (!by.policy.chunked && r.input > by.policy.tokens_per_step)
            refuse("--input", "a prompt of " + grouped(count(r.input)) + " tokens is more than the " +
                                  grouped(count(by.policy.tokens_per_step)) +
                                  " of a step, and " + std::string(by.policy.engine) + " computes it in one unless it is told to chunk");
    }
    if (cached_tokens(by, longest, stages) / static_cast<double>(stages) >= static_cast<double>(longest)) return;
    throw error(errc::does_not_fit, printable(by.on->on().names[0]),
                "has no room for a request of " + grouped(count(longest)) + " tokens beside " +
                    formatted("%.1f GB of weights", by.on->weights() / 1e9 / static_cast<double>(stages)) +
                    (stages > 1 ? " in each of " + std::to_string(stages) + " micro-batches" : ""));
}

/// The way of a cache from one device to another.
inline void use_network(simulated_deployment& as, const device& on) {
    as.network = network_of(on);
    as.network_latency = 50e-6;
}

/// First tokens over requests a second: the same requests at an eighth of what the simulated one answers up to all of it,
/// and a quarter more.
inline swept_chart chart_over_rates(const simulated_server& by, const simulated_deployment& deployed,
                                    std::vector<simulated_request> requests, double answered) {
    swept_chart chart;
    chart.title = "Time to the first token, over requests a second";
    chart.across.title = "requests a second", chart.up = {"seconds", axis_scale::linear, axis_unit::number};
    simulated_deployment as = deployed;
    as.clients = 0;
    for (int eighth = 1; eighth <= 10; ++eighth) {
        const double rate = answered * eighth / 8;
        random_stream random(1);
        double now = 0;
        for (simulated_request& r : requests)
            if (r.after == simulated_request::nobody) r.at = now, now += random.gamma(1) / rate;
        const simulation_summary s = summary_of(simulate(by, requests, as));
        for (const auto& [name, seconds] : {std::pair{"mean", s.ttft.mean}, {"p50", s.ttft.p50}, {"p99", s.ttft.p99}})
            add_to_line(chart.lines, name, rate, seconds);
    }
    settle(chart);
    chart.description = chart.title + formatted(", from %.3g to %.3g", answered / 8, answered * 10 / 8);
    return chart;
}

/// Output tokens a second of a device over those of a user, of 1, 2, 4 … clients, as long as more of them give more.
inline swept_chart chart_over_clients(const simulated_server& by, const simulated_deployment& deployed,
                                      const std::vector<simulated_request>& requests, double devices) {
    swept_chart chart;
    chart.title = "Tokens a second per device, over tokens a second per user";
    chart.across.title = "tokens a second per user", chart.up.title = "tokens a second per device";
    simulated_deployment as = deployed;
    double before = 0;
    for (as.clients = 1; as.clients <= 4096; as.clients *= 2) {
        std::vector<simulated_request> few;
        const auto many = static_cast<std::size_t>(std::max<std::int64_t>(10, 4 * as.clients));
        for (std::size_t i = 0; i < many; ++i) {
            few.push_back(requests[i % requests.size()]);
            few.back().after = simulated_request::nobody, few.back().at = 0;
        }
        const simulation_summary s = summary_of(simulate(by, few, as));
        if (s.tpot.mean <= 0) refuse("--plot-of", "pareto needs answers of more than one token");
        const double each = s.output_tokens_per_second / devices;
        if (each < 1.01 * before) break;
        add_to_line(chart.lines, std::string(by.policy.engine), 1 / s.tpot.mean, each), before = each;
    }
    settle(chart);
    chart.description = chart.title + ", of 1, 2, 4 and more clients; at most " + formatted("%.4g", before) + " per device";
    return chart;
}

/// The model that proposes tokens, on the same devices, in the types of its own checkpoint.
inline placement place_of_draft(arguments args, const program& io) {
    for (const option_row& o : {option::config, option::gguf, option::safetensors, option::part, option::as, option::set,
                                option::revision, option::quantization, option::linear_dtype, option::experts_dtype,
                                option::kept_dtype, option::routing, option::ep})
        args.leave_out(o);
    const std::string_view name = args.text(option::proposes);
    if (name.ends_with(".json"))
        args.leave_out(option::model), args.replace(option::config, name);
    else
        args.replace(option::model, name);
    placement p = io.place(args, io);
    check_writes(p.subject);
    return p;
}

}  // namespace detail

/// What `llmcost simulate …` prints.
[[nodiscard]] inline answered simulate_answer(const arguments& args, const program& io) {
    if (!args.has(option::engine)) refuse("--engine", "is missing: whose scheduler is simulated, vllm, sglang or trtllm");
    if (args.has(option::drawn) && !args.has(option::plot)) refuse("--plot-of", "needs --plot: where it is drawn");
    if (args.has(option::plot) && args.has(option::timeline_to)) refuse("--timeline", "one file at a time: --plot writes one");
    simulated_deployment as;
    as.replicas = args.number(option::replicas, 1);
    if (args.has(option::prefill) != args.has(option::decode))
        refuse(args.has(option::prefill) ? "--decode" : "--prefill", "is missing: engines for prompts need others that write");
    if (args.has(option::prefill)) {
        if (args.has(option::replicas)) refuse("--replicas", "cannot stand beside --prefill and --decode, which say how many");
        as.replicas = args.number(option::prefill, 1), as.writing_replicas = args.number(option::decode, 1);
    }
    if (as.replicas > 4096 || as.writing_replicas > 4096) refuse("--replicas", "expected at most 4096 engines");
    as.draft = args.number(option::draft, 0, 0), as.acceptance = args.real(option::acceptance, 0.7, 0, 1);
    if (as.draft > 64) refuse("--draft", "expected a number up to 64");
    if (as.draft == 0 && args.has(option::acceptance)) refuse("--acceptance", "needs --draft: tokens to keep");
    if (as.draft == 0 && args.has(option::proposes)) refuse("--draft-model", "needs --draft: how many tokens it proposes");
    as.stages = args.number(option::pp, 1);
    as.router = args.choice(option::router) == 1 ? router_rule::prefix : router_rule::least;
    const request_bounds bounds = args.has(option::bounds) ? detail::read_bounds(args.text(option::bounds)) : request_bounds{};

    placement p = io.place(args, io);
    const shown_media shown = detail::read_shown(args, p);
    const detail::asked_load load = detail::read_load(args, as, shown.tokens);
    if (as.writing_replicas > 0)
        detail::use_network(as, *p.on);
    else if (args.has(option::network) && p.how.shards.devices() * as.stages <= p.how.node)
        refuse("--network", "needs more devices than a node's links join, or --prefill and --decode");
    check_memory(*p.on);
    check_writes(p.subject);
    if (args.has(option::memory_share)) p.by.memory_share = args.real(option::memory_share, 0.9, 0.01, 1);
    check_stages("--pp", p.subject, as.stages);
    server on(p.subject, p.how, p.by, *p.on, *p.kernels);
    simulated_server by{&on,
                        with_options(policy_of(p.by.name, *p.on), p.by.name, args),
                        host_times_of(p.by.name),
                        p.subject.dims.moe.num_experts > 1,
                        {},
                        shown.towers};
    if (args.has(option::all_tokens)) {
        by.policy.output_share = by.policy.least_output_share = 1;
        by.policy.knows_ends = by.policy.admits == admission_rule::expected_output && !by.policy.caches_prefixes;
    }
    placement draft;
    std::unique_ptr<server> proposes;
    if (args.has(option::proposes)) {
        draft = detail::place_of_draft(args, io);
        draft.by.memory_share = p.by.memory_share;
        proposes = std::make_unique<server>(draft.subject, draft.how, draft.by, *draft.on, *draft.kernels);
        by.drafts.by = proposes.get();
    }
    detail::check_requests(load.requests, by, as.stages);
    judge(p, load.requests.front().input);
    const bool keeps_steps = args.has(option::plot) || args.has(option::timeline_to);
    simulation_result result = [&] {
        detail::progress_line progress(io);
        return simulate(by, load.requests, as, keeps_steps, progress);
    }();
    const auto warm_up = static_cast<std::size_t>(args.number(option::warm_up, 0, 0));
    if (warm_up >= result.requests.size())
        refuse("--warm-up", "leaves none of " + std::to_string(result.requests.size()) + " requests");
    const std::int64_t servers = as.replicas + as.writing_replicas;
    simulated_answer a{p, by, as, result, summary_of(result, bounds, warm_up), bounds, load.words};
    a.shown_tokens = shown.tokens;
    a.devices = static_cast<double>(servers * p.how.shards.devices() * as.stages);
    a.engines = (by.ranks_in_step ? servers : servers * on.groups()) * as.stages;
    a.joules = joules_of(result, *p.on, a.engines, a.devices / static_cast<double>(a.engines));
    answered out;
    switch (args.choice(option_row{"--format", value_kind::choice, "text|json|csv", ""})) {
        case 1: out.text = detail::simulated_json(a); break;
        case 2: out.text = detail::simulated_csv(a); break;
        default: out.text = detail::simulated_text(a);
    }
    if (args.has(option::timeline_to)) out.file = {std::string(args.text(option::timeline_to)), detail::simulated_timeline(a)};
    if (args.has(option::plot)) {
        if (args.text(option::plot).empty() && args.text(option::format, "text") != "text")
            refuse(option::plot.name, "in the terminal is text: name a file, or leave out --format");
        switch (args.choice(option::drawn)) {
            case 1:
                add_plot(out, args, detail::chart_over_rates(by, as, load.requests, a.summary.requests_per_second));
                break;
            case 2: add_plot(out, args, detail::chart_over_clients(by, as, load.requests, a.devices)); break;
            default: add_plot(out, args, detail::simulated_chart(a));
        }
    }
    std::int64_t longest = 0;
    for (const simulated_request& r : load.requests) longest = std::max(longest, r.input + r.output);
    put_notes(p, longest, io);
    return out;
}

inline constexpr std::array<example_row, 3> simulate_examples{{
    {"llmcost simulate --model Qwen/Qwen3-8B --device h200 --engine vllm --concurrency 64", "sixty-four clients"},
    {"llmcost simulate --model Qwen/Qwen3-8B --device h200 --engine sglang --rate 8 --input 500..2000 --output 100..400",
     "eight requests a second"},
    {"llmcost simulate --model Qwen/Qwen3-8B --device h200 --engine vllm --trace requests.csv --plot",
     "what was recorded, over time"},
}};

inline constexpr command simulate_command{
    .name = "simulate",
    .meaning = "requests through an engine's scheduler: percentiles",
    .usage = "(--model NAME | --config FILE) --device NAME --engine NAME\n[--concurrency N | --rate X | --trace FILE] [option]...",
    .about = "Time to first token, between tokens and of whole answers as percentiles: every step of an\n"
             "engine is composed as its scheduler composes it (docs/serving.md). `serve` answers at once\n"
             "by a closed form.\n",
    .options = simulate_options,
    .answer = simulate_answer,
    .examples = simulate_examples};

}  // namespace llmcost::cli
