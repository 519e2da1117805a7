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

#include <llmcost/cli/args/scheduler_options.hpp>
#include <llmcost/cli/commands/serve.hpp>
#include <llmcost/cli/commands/simulate_page.hpp>
#include <llmcost/simulation/random_stream.hpp>
#include <llmcost/simulation/request_trace.hpp>
#include <llmcost/simulation/synthetic_workload.hpp>

// `llmcost simulate`: requests through an engine, step by step.
namespace llmcost::cli {

namespace option {

// clang-format off
inline constexpr option_spec
    clients     {"--concurrency",     value_type::number, "N",    "clients, each sends the next request behind an answer (16)", "Load"},
    trace       {"--trace",           value_type::file,   "FILE", "recorded requests: CSV or JSON lines (docs/serving.md)"},
    lengths_in  {"--input",           value_type::text,   "N|LOW..HIGH", "tokens of prompts (1024)"},
    lengths_out {"--output",          value_type::text,   "N|LOW..HIGH", "tokens written for them (1024)"},
    num_requests    {"--requests",        value_type::number, "N",    "requests (ten of each client, else 1000)"},
    warm_up     {"--warm-up",         value_type::number, "N",    "first requests that no figure is of (0)"},
    burstiness  {"--burstiness",      value_type::number, "X",    "of --rate: 1 Poisson, less in bursts (1)"},
    turns       {"--turns",           value_type::number, "N",    "of a conversation: each reads all before it (1)"},
    pause       {"--pause",           value_type::number, "S",    "seconds before a next turn (0)"},
    seed        {"--seed",            value_type::number, "N",    "of all that is drawn: the same gives the same (1)"},
    trace_block {"--trace-block",     value_type::number, "N",    "tokens of a block of hash_ids (512)"},
    bounds      {"--slo",             value_type::text,   "LIST", "ttft=0.5s,tpot=30ms,e2e=9s: how many keep to it"},
    replicas    {"--replicas",        value_type::number, "N",    "engines behind a router (1)", "Engines"},
    prefill     {"--prefill",         value_type::number, "N",    "engines that compute prompts only, beside --decode"},
    decode      {"--decode",          value_type::number, "N",    "engines that write behind those"},
    router      {"--router",          value_type::choice, "least|prefix", "whom a request goes to: least waiting, or its prefix cached"},
    proposes    {"--draft-model",     value_type::text,   "NAME", "that proposes --draft tokens at its own cost (none)"},
    all_tokens  {"--ignore-eos",      value_type::none,   "",     "clients ask for all tokens, and sglang knows it"},
    memory_share{"--memory-share",    value_type::number, "X",    "of memory that the engine takes (0.9)"},
    drawn       {"--plot-of",         value_type::choice, "time|rate|pareto", "of --plot: requests over time; first tokens over rates; throughput per device over speed per user"},
    timeline_to {"--timeline",        value_type::file,   "FILE", "a Chrome trace of all steps"};
// clang-format on

}  // namespace option

inline constexpr std::array simulate_options = concatenate(
    std::array{option::clients,      option::rate,       option::trace,       option::lengths_in,  option::lengths_out,
               option::num_requests, option::warm_up,    option::burstiness,  option::turns,       option::pause,
               option::seed,         option::prefix_hit, option::trace_block, option::bounds,      option::draft,
               option::acceptance,   option::image,      option::images,      option::video,       option::videos,
               option::audio,        option::replicas,   option::prefill,     option::decode,      option::pp,
               option::router,       option::proposes,   option::all_tokens,  option::memory_share},
    scheduler_option_rows,
    std::array{option_spec{"--format", value_type::choice, "text|json|csv", "csv: a row for each request", "Output"},
               option::plot, option::drawn, option::timeline_to},
    help_option, with_section("Device", execution_options), model_options, std::array{option::quantization});

namespace detail {

/// Reads `1024` or `800..1024`.
inline length_range parse_length_range(const arguments& args, const option_spec& o) {
    if (!args.has(o)) return {};
    const std::string_view text = args.text(o);
    const std::size_t dots = text.find("..");
    length_range r;
    r.low = parse_integer(o.name, text.substr(0, dots), 1);
    r.high = dots == std::string_view::npos ? r.low : parse_integer(o.name, text.substr(dots + 2), 1);
    if (r.high < r.low) throw_usage(o.name, "expected LOW..HIGH, found " + quote(std::string(text)));
    if (r.high > max_input) throw_usage(o.name, "is more than 2147483647 tokens");
    return r;
}

/// Reads `ttft=0.5s,tpot=30ms,e2e=9s`.
inline request_slo parse_request_slo(std::string_view list) {
    request_slo b;
    std::string others;
    while (!list.empty()) {
        const std::string_view item = list.substr(0, list.find(','));
        list.remove_prefix(std::min(item.size() + 1, list.size()));
        if (item.starts_with("e2e=")) {
            if (b.end_to_end > 0) throw_usage("--slo", "e2e is given twice");
            b.end_to_end = parse_latency_targets("ttft=" + std::string(item.substr(4))).ttft_seconds;
        } else {
            others += (others.empty() ? "" : ",") + std::string(item);
        }
    }
    if (others.empty() && b.is_set()) return b;
    const latency_targets level = parse_latency_targets(others);
    b.ttft = level.ttft_seconds;
    b.tpot = level.tpot_seconds;
    return b;
}

/// What is sent, and how it is told.
struct requested_workload {
    std::vector<simulated_request> requests;
    std::string label;
};

inline std::string workload_label(length_range r) {
    return grouped(count(r.low)) + (r.high > r.low ? " to " + grouped(count(r.high)) : "");
}

inline std::string media_tokens_note(std::int64_t tokens) {
    return tokens > 0 ? ", each shows " + grouped(count(tokens)) + " more" : std::string();
}

/// The requests of a command line, each of which shows so many tokens beside its text; sets how many clients send them.
inline requested_workload parse_workload_source(const arguments& args, simulation_config& config,
                                                std::int64_t num_media_tokens = 0) {
    requested_workload out;
    config.num_clients = args.has(option::rate) || args.has(option::trace) ? 0 : 16;
    if (args.has(option::clients)) config.num_clients = args.number(option::clients, 16);
    if (args.has(option::clients) && args.has(option::rate))
        throw_usage("--rate", "cannot stand beside --concurrency: clients send as soon as they are answered");
    if (config.num_clients > 1'000'000) throw_usage("--concurrency", "expected at most 1000000 clients");
    if (args.has(option::burstiness) && !args.has(option::rate)) throw_usage("--burstiness", "needs --rate");
    if (args.has(option::trace)) {
        for (const option_spec& o :
             {option::lengths_in, option::lengths_out, option::turns, option::seed, option::prefix_hit})
            if (args.has(o)) throw_usage(o.name, "cannot stand beside --trace, which says what is sent");
        config.prefix_block_tokens = args.number(option::trace_block, 512);
        request_trace trace = read_request_trace(std::string(args.text(option::trace)), config.prefix_block_tokens);
        if (!trace.timed && config.num_clients == 0 && !args.has(option::rate))
            throw_usage("--trace", "says no times of arrival: say how requests arrive, by --rate or --concurrency");
        if (args.has(option::num_requests))
            trace.requests.resize(
                std::min(trace.requests.size(), static_cast<std::size_t>(args.number(option::num_requests, 1))));
        if (args.has(option::rate)) {  // the trace's lengths, arriving anew
            random_stream random(1);
            double now = 0;
            const double rate = args.real(option::rate, 1, 1e-9, 1e9),
                         shape = args.real(option::burstiness, 1, 1e-3, 1e6);
            for (simulated_request& r : trace.requests) {
                r.arrival_seconds = now;
                now += random.gamma(shape) / rate;
            }
        }
        out.label = grouped(count(trace.requests.size())) + " requests of " + printable(args.text(option::trace)) +
                    (config.num_clients > 0   ? ", sent by " + grouped(count(config.num_clients)) + " clients"
                     : args.has(option::rate) ? ", " + std::string(args.text(option::rate)) + " a second"
                                              : ", at their times");
        for (simulated_request& r : trace.requests) r.input_tokens += num_media_tokens;
        out.requests = std::move(trace.requests);
        out.label += media_tokens_note(num_media_tokens);
        return out;
    }
    if (args.has(option::trace_block)) throw_usage("--trace-block", "needs --trace");
    synthetic_workload load;
    load.input = parse_length_range(args, option::lengths_in);
    load.output = parse_length_range(args, option::lengths_out);
    const length_range text = load.input;
    load.input.low += num_media_tokens;
    load.input.high += num_media_tokens;
    load.num_requests = args.number(option::num_requests, config.num_clients > 0 ? 10 * config.num_clients : 1000);
    if (load.num_requests > 10'000'000) throw_usage("--requests", "expected at most 10000000");
    load.request_rate = args.has(option::rate) ? args.real(option::rate, 1, 1e-9, 1e9) : 0;
    load.burstiness = args.real(option::burstiness, 1, 1e-3, 1e6);
    load.prefix_hit_rate = args.real(option::prefix_hit, 0, 0, 1);
    load.turns_per_conversation = args.number(option::turns, 1);
    load.pause_seconds = args.real(option::pause, 0, 0, 1e9);
    if (args.has(option::pause) && load.turns_per_conversation == 1) throw_usage("--pause", "needs --turns");
    if (load.turns_per_conversation * (load.input.high + load.output.high) > max_input)
        throw_usage("--turns", "a conversation of more than 2147483647 tokens");
    load.seed = static_cast<std::uint64_t>(args.number(option::seed, 1, 0));
    load.prefix_block_tokens = config.prefix_block_tokens = 64;
    out.requests = generate_requests(load);
    out.label = grouped(count(load.num_requests)) + " requests of " + workload_label(text) + " tokens in, " +
                workload_label(load.output) + " out; ";
    out.label += config.num_clients > 0 ? grouped(count(config.num_clients)) +
                                              (config.num_clients == 1 ? " client sends" : " clients send") +
                                              " the next behind each answer"
                                        : std::string(args.text(option::rate)) + " a second";
    out.label += media_tokens_note(num_media_tokens);
    if (load.turns_per_conversation > 1)
        out.label += ", conversations of " + std::to_string(load.turns_per_conversation) + " turns";
    return out;
}

/// Says on a terminal how far a long simulation is.
class progress_line {
public:
    explicit progress_line(const streams& io) : io_(&io) {}
    void operator()(std::size_t done, std::size_t all) {
        if (!io_->out_is_terminal || done < next_) return;
        if (next_ > 0) {
            io_->err << "\rllmcost: " << 100 * done / all << " % of " << all << " requests" << std::flush;
            is_visible_ = true;
        }
        next_ = done + std::max<std::size_t>(100'000, all / 20);
    }
    ~progress_line() {
        if (is_visible_) io_->err << "\r\x1b[K";
    }
    progress_line(const progress_line&) = delete;
    progress_line& operator=(const progress_line&) = delete;

private:
    const streams* io_;
    std::size_t next_ = 0;
    bool is_visible_ = false;
};

/// Refuses requests that a group of devices could never hold or compute.
inline void require_fitting_requests(const std::vector<simulated_request>& requests,
                                     const simulated_engine& simulated_engine, std::int64_t stages) {
    std::int64_t longest = 0;
    for (const simulated_request& r : requests) {
        longest = std::max(longest, r.input_tokens + r.output_tokens);
        if (!simulated_engine.policy.has_chunked_prefill &&
            r.input_tokens > simulated_engine.policy.max_num_batched_tokens)
            throw_usage("--input", "a prompt of " + grouped(count(r.input_tokens)) + " tokens is more than the " +
                                       grouped(count(simulated_engine.policy.max_num_batched_tokens)) +
                                       " of a step, and " + std::string(simulated_engine.policy.engine) +
                                       " computes it in one unless it is told to chunk");
    }
    if (max_cached_tokens(simulated_engine, longest, stages) / static_cast<double>(stages) >=
        static_cast<double>(longest))
        return;
    throw error(errc::does_not_fit, printable(simulated_engine.server->target_device().names[0]),
                "has no room for a request of " + grouped(count(longest)) + " tokens beside " +
                    formatted("%.1f GB of weights",
                              simulated_engine.server->weight_bytes_per_device() / 1e9 / static_cast<double>(stages)) +
                    (stages > 1 ? " in each of " + std::to_string(stages) + " micro-batches" : ""));
}

/// The way of a cache from one device to another.
inline void set_network(simulation_config& config, const device& target_device) {
    config.network_gigabytes_per_second = network_of(target_device);
    config.network_latency_seconds = 50e-6;
}

/// First tokens over requests a second: the same requests at an eighth of what the simulated one answers up to all of
/// it, and a quarter more.
inline swept_chart chart_over_rates(const simulated_engine& simulated_engine, const simulation_config& deployed,
                                    std::vector<simulated_request> requests, double answered) {
    swept_chart chart;
    chart.title = "Time to the first token, over requests a second";
    chart.x_axis.title = "requests a second";
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

/// Output tokens a second of a device over those of a user, of 1, 2, 4 … clients, as long as more of them give more.
inline swept_chart chart_over_clients(const simulated_engine& simulated_engine, const simulation_config& deployed,
                                      const std::vector<simulated_request>& requests, double devices) {
    swept_chart chart;
    chart.title = "Tokens a second per device, over tokens a second per user";
    chart.x_axis.title = "tokens a second per user";
    chart.up.title = "tokens a second per device";
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
        if (s.tpot.mean <= 0) throw_usage("--plot-of", "pareto needs answers of more than one token");
        const double throughput_per_device = s.output_tokens_per_second / devices;
        if (throughput_per_device < 1.01 * previous) break;
        add_to_line(chart.lines, std::string(simulated_engine.policy.engine), 1 / s.tpot.mean, throughput_per_device);
        previous = throughput_per_device;
    }
    settle(chart);
    chart.description =
        chart.title + ", of 1, 2, 4 and more clients; at most " + formatted("%.4g", previous) + " per device";
    return chart;
}

/// The model that proposes tokens, on the same devices, in the types of its own checkpoint.
inline deployment deploy_draft_model(arguments args, const program& io) {
    for (const option_spec& o :
         {option::config, option::gguf, option::safetensors, option::nested_config, option::read_as_type, option::set,
          option::revision, option::quantization, option::linear_dtype, option::experts_dtype, option::kv_cache_dtype,
          option::routing, option::ep})
        args.remove(o);
    const std::string_view name = args.text(option::proposes);
    if (name.ends_with(".json")) {
        args.remove(option::model);
        args.replace(option::config, name);
    } else
        args.replace(option::model, name);
    deployment p = io.place(args, io);
    require_autoregressive(p.model);
    return p;
}

}  // namespace detail

/// What `llmcost simulate …` prints.
[[nodiscard]] inline command_output run_simulate(const arguments& args, const program& io) {
    if (!args.has(option::engine))
        throw_usage("--engine", "is missing: whose scheduler is simulated, vllm, sglang or trtllm");
    if (args.has(option::drawn) && !args.has(option::plot)) throw_usage("--plot-of", "needs --plot: where it is drawn");
    if (args.has(option::plot) && args.has(option::timeline_to))
        throw_usage("--timeline", "one file at a time: --plot writes one");
    simulation_config config;
    config.num_replicas = args.number(option::replicas, 1);
    if (args.has(option::prefill) != args.has(option::decode))
        throw_usage(args.has(option::prefill) ? "--decode" : "--prefill",
                    "is missing: engines for prompts need others that write");
    if (args.has(option::prefill)) {
        if (args.has(option::replicas))
            throw_usage("--replicas", "cannot stand beside --prefill and --decode, which say how many");
        config.num_replicas = args.number(option::prefill, 1);
        config.num_decode_workers = args.number(option::decode, 1);
    }
    if (config.num_replicas > 4096 || config.num_decode_workers > 4096)
        throw_usage("--replicas", "expected at most 4096 engines");
    config.num_draft_tokens = args.number(option::draft, 0, 0);
    config.acceptance_rate = args.real(option::acceptance, 0.7, 0, 1);
    if (config.num_draft_tokens > 64) throw_usage("--draft", "expected a number up to 64");
    if (config.num_draft_tokens == 0 && args.has(option::acceptance))
        throw_usage("--acceptance", "needs --draft: tokens to keep");
    if (config.num_draft_tokens == 0 && args.has(option::proposes))
        throw_usage("--draft-model", "needs --draft: how many tokens it proposes");
    config.pipeline_parallel_size = args.number(option::pp, 1);
    config.router = args.choice(option::router) == 1 ? routing_policy::prefix_aware : routing_policy::least_loaded;
    const request_slo bounds =
        args.has(option::bounds) ? detail::parse_request_slo(args.text(option::bounds)) : request_slo{};

    deployment p = io.place(args, io);
    const multimodal_cost multimodal_inputs = detail::parse_multimodal_cost(args, p);
    const detail::requested_workload load = detail::parse_workload_source(args, config, multimodal_inputs.num_tokens);
    if (config.num_decode_workers > 0)
        detail::set_network(config, *p.device);
    else if (args.has(option::network) &&
             p.execution.parallel.world_size() * config.pipeline_parallel_size <= p.execution.devices_per_node)
        throw_usage("--network", "needs more devices than a node's links join, or --prefill and --decode");
    require_known_memory(*p.device);
    require_autoregressive(p.model);
    if (args.has(option::memory_share)) p.engine.gpu_memory_utilization = args.real(option::memory_share, 0.9, 0.01, 1);
    require_stages("--pp", p.model, config.pipeline_parallel_size);
    server target_server(p.model, p.execution, p.engine, *p.device, *p.kernels);
    simulated_engine simulated_engine{&target_server,
                                      with_options(default_policy(p.engine.name, *p.device), p.engine.name, args),
                                      host_times_of(p.engine.name),
                                      p.model.config.moe.num_experts > 1,
                                      {},
                                      multimodal_inputs.encoder_cost};
    if (args.has(option::all_tokens)) {
        simulated_engine.policy.init_new_token_ratio = simulated_engine.policy.min_new_token_ratio = 1;
        simulated_engine.policy.has_known_finish_times =
            simulated_engine.policy.admission == admission_mode::expected_output &&
            !simulated_engine.policy.has_prefix_cache;
    }
    deployment draft;
    std::unique_ptr<server> proposes;
    if (args.has(option::proposes)) {
        draft = detail::deploy_draft_model(args, io);
        draft.engine.gpu_memory_utilization = p.engine.gpu_memory_utilization;
        proposes = std::make_unique<server>(draft.model, draft.execution, draft.engine, *draft.device, *draft.kernels);
        simulated_engine.draft_model.draft_server = proposes.get();
    }
    detail::require_fitting_requests(load.requests, simulated_engine, config.pipeline_parallel_size);
    set_prediction_interval(p, load.requests.front().input_tokens);
    const bool keeps_steps = args.has(option::plot) || args.has(option::timeline_to);
    simulation_result result = [&] {
        detail::progress_line progress(io);
        return simulate(simulated_engine, load.requests, config, keeps_steps, progress);
    }();
    const auto warm_up = static_cast<std::size_t>(args.number(option::warm_up, 0, 0));
    if (warm_up >= result.requests.size())
        throw_usage("--warm-up", "leaves none of " + std::to_string(result.requests.size()) + " requests");
    const std::int64_t servers = config.num_replicas + config.num_decode_workers;
    simulation_response a{p, simulated_engine, config, result, summarize(result, bounds, warm_up), bounds, load.label};
    a.num_media_tokens = multimodal_inputs.num_tokens;
    a.devices = static_cast<double>(servers * p.execution.parallel.world_size() * config.pipeline_parallel_size);
    a.engines = (simulated_engine.has_synchronized_ranks ? servers : servers * target_server.data_parallel_size()) *
                config.pipeline_parallel_size;
    a.joules = joules_of(result, *p.device, a.engines, a.devices / static_cast<double>(a.engines));
    command_output out;
    switch (args.choice(option_spec{"--format", value_type::choice, "text|json|csv", ""})) {
        case 1: out.text = detail::simulated_json(a); break;
        case 2: out.text = detail::simulated_csv(a); break;
        default: out.text = detail::simulated_text(a);
    }
    if (args.has(option::timeline_to))
        out.file = {std::string(args.text(option::timeline_to)), detail::simulated_timeline(a)};
    if (args.has(option::plot)) {
        if (args.text(option::plot).empty() && args.text(option::format, "text") != "text")
            throw_usage(option::plot.name, "in the terminal is text: name a file, or leave out --format");
        switch (args.choice(option::drawn)) {
            case 1:
                add_plot(
                    out, args,
                    detail::chart_over_rates(simulated_engine, config, load.requests, a.summary.requests_per_second));
                break;
            case 2:
                add_plot(out, args, detail::chart_over_clients(simulated_engine, config, load.requests, a.devices));
                break;
            default: add_plot(out, args, detail::simulated_chart(a));
        }
    }
    std::int64_t longest = 0;
    for (const simulated_request& r : load.requests) longest = std::max(longest, r.input_tokens + r.output_tokens);
    print_warnings(p, longest, io);
    return out;
}

inline constexpr std::array<command_example, 3> simulate_examples{{
    {"llmcost simulate --model Qwen/Qwen3-8B --device h200 --engine vllm --concurrency 64", "sixty-four clients"},
    {"llmcost simulate --model Qwen/Qwen3-8B --device h200 --engine sglang --rate 8 --input 500..2000 --output "
     "100..400",
     "eight requests a second"},
    {"llmcost simulate --model Qwen/Qwen3-8B --device h200 --engine vllm --trace requests.csv --plot",
     "what was recorded, over time"},
}};

inline constexpr command simulate_command{
    .name = "simulate",
    .summary = "requests through an engine's scheduler: percentiles",
    .usage =
        "(--model NAME | --config FILE) --device NAME --engine NAME\n[--concurrency N | --rate X | --trace FILE] "
        "[option]...",
    .description =
        "Time to first token, between tokens and of whole answers as percentiles: every step of an\n"
        "engine is composed as its scheduler composes it (docs/serving.md). `serve` answers at once\n"
        "by a closed form.\n",
    .options = simulate_options,
    .run = run_simulate,
    .examples = simulate_examples};

}  // namespace llmcost::cli
