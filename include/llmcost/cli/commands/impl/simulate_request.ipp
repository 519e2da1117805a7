// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/simulate_request.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/commands/serve.hpp>
#include <llmcost/cli/commands/serve_request.hpp>
#include <llmcost/cli/commands/simulate_page.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/simulation/random_stream.hpp>
#include <llmcost/simulation/replica.hpp>
#include <llmcost/simulation/request.hpp>
#include <llmcost/simulation/request_trace.hpp>
#include <llmcost/simulation/simulate.hpp>
#include <llmcost/simulation/synthetic_workload.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

/// Parses a length or a range, e.g. `1024` or `800..1024`. Throws: `usage`.
LLMCOST_INLINE length_range parse_length_range(const arguments& args, const option_spec& o) {
    if (!args.has(o)) return {};
    const std::string_view text = args.text(o);
    const std::size_t dots = text.find("..");
    length_range r;
    r.low = parse_integer(o.name, text.substr(0, dots), 1);
    r.high = dots == std::string_view::npos ? r.low : parse_integer(o.name, text.substr(dots + 2), 1);
    if (r.high < r.low) throw_usage(o.name, "expected LOW..HIGH, found " + quote(std::string(text)));
    if (r.high > max_input) throw_usage(o.name, "expected at most 2147483647 tokens");
    return r;
}

LLMCOST_INLINE request_slo parse_request_slo(std::string_view list) {
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

LLMCOST_INLINE std::string length_label(length_range r) {
    return grouped(count(r.low)) + (r.high > r.low ? " to " + grouped(count(r.high)) : "");
}

LLMCOST_INLINE std::string media_tokens_note(std::int64_t tokens) {
    return tokens > 0 ? ", " + grouped(count(tokens)) + " more input tokens per request for multimodal inputs"
                      : std::string();
}

/// Sets the number of clients; 0: requests arrive at times of their own. Throws: `usage`.
LLMCOST_INLINE void parse_clients(const arguments& args, simulation_config& config) {
    config.num_clients = args.has(option::rate) || args.has(option::trace) ? 0 : 16;
    if (args.has(option::clients)) config.num_clients = args.number(option::clients, 16);
    if (args.has(option::clients) && args.has(option::rate))
        throw_usage("--rate", "cannot be combined with --concurrency");
    if (config.num_clients > 1'000'000) throw_usage("--concurrency", "expected at most 1000000 clients");
    if (args.has(option::burstiness) && !args.has(option::rate)) throw_usage("--burstiness", "requires --rate");
}

/// Replaces the arrival times of requests by those of `--rate` and `--burstiness`.
LLMCOST_INLINE void set_arrival_times(const arguments& args, std::vector<simulated_request>& requests) {
    random_stream random(1);
    double now = 0;
    const double rate = args.real(option::rate, 1, 1e-9, 1e9), shape = args.real(option::burstiness, 1, 1e-3, 1e6);
    for (simulated_request& r : requests) {
        r.arrival_seconds = now;
        now += random.gamma(shape) / rate;
    }
}

/// How the requests arrive: `, 16 clients`, `, 8 requests per second`.
LLMCOST_INLINE std::string arrival_label(const arguments& args, const simulation_config& config) {
    if (config.num_clients > 0)
        return ", " + grouped(count(config.num_clients)) + (config.num_clients == 1 ? " client" : " clients");
    return args.has(option::rate) ? ", " + std::string(args.text(option::rate)) + " requests per second"
                                  : ", at the recorded arrival times";
}

/// The requests of `--trace`. Throws: `usage`.
LLMCOST_INLINE requested_workload parse_trace_workload(const arguments& args, simulation_config& config,
                                                       std::int64_t num_media_tokens) {
    for (const option_spec& o :
         {option::lengths_in, option::lengths_out, option::turns, option::seed, option::prefix_hit})
        if (args.has(o)) throw_usage(o.name, "cannot be combined with --trace");
    config.prefix_block_tokens = args.number(option::trace_block, 512);
    request_trace trace = read_request_trace(std::string(args.text(option::trace)), config.prefix_block_tokens);
    if (!trace.timed && config.num_clients == 0 && !args.has(option::rate))
        throw_usage("--trace", "the file has no arrival times; use --rate or --concurrency");
    if (args.has(option::num_requests))
        trace.requests.resize(
            std::min(trace.requests.size(), static_cast<std::size_t>(args.number(option::num_requests, 1))));
    if (args.has(option::rate)) set_arrival_times(args, trace.requests);
    requested_workload out;
    const std::string skipped = trace.num_skipped == 0
                                    ? std::string()
                                    : " (" + grouped(count(trace.num_skipped)) + " rows without tokens skipped)";
    out.label = grouped(count(trace.requests.size())) + " requests of " + printable(args.text(option::trace)) +
                skipped + arrival_label(args, config) + media_tokens_note(num_media_tokens);
    for (simulated_request& r : trace.requests) r.input_tokens += num_media_tokens;
    out.requests = std::move(trace.requests);
    return out;
}

/// Generates the requests of the length and arrival options. Throws: `usage`.
LLMCOST_INLINE requested_workload parse_synthetic_workload(const arguments& args, simulation_config& config,
                                                           std::int64_t num_media_tokens) {
    if (args.has(option::trace_block)) throw_usage("--trace-block", "requires --trace");
    synthetic_workload load;
    load.input = parse_length_range(args, option::lengths_in);
    load.output = parse_length_range(args, option::lengths_out);
    const length_range text_input = load.input;
    load.input.low += num_media_tokens;
    load.input.high += num_media_tokens;
    load.num_requests = args.number(option::num_requests, config.num_clients > 0 ? 10 * config.num_clients : 1000);
    if (load.num_requests > 10'000'000) throw_usage("--requests", "expected at most 10000000");
    load.request_rate = args.has(option::rate) ? args.real(option::rate, 1, 1e-9, 1e9) : 0;
    load.burstiness = args.real(option::burstiness, 1, 1e-3, 1e6);
    load.prefix_hit_rate = args.real(option::prefix_hit, 0, 0, 1);
    load.turns_per_conversation = args.number(option::turns, 1);
    load.pause_seconds = args.real(option::pause, 0, 0, 1e9);
    if (args.has(option::pause) && load.turns_per_conversation == 1) throw_usage("--pause", "requires --turns");
    if (load.turns_per_conversation * (load.input.high + load.output.high) > max_input)
        throw_usage("--turns", "expected at most 2147483647 tokens per conversation");
    load.seed = static_cast<std::uint64_t>(args.number(option::seed, 1, 0));
    load.prefix_block_tokens = config.prefix_block_tokens = 64;
    requested_workload out;
    out.requests = generate_requests(load);
    out.label = grouped(count(load.num_requests)) + " requests, " + length_label(text_input) + " input tokens, " +
                length_label(load.output) + " output tokens" + arrival_label(args, config) +
                media_tokens_note(num_media_tokens);
    if (load.turns_per_conversation > 1)
        out.label += ", conversations of " + std::to_string(load.turns_per_conversation) + " turns";
    return out;
}

LLMCOST_INLINE requested_workload parse_workload_source(const arguments& args, simulation_config& config,
                                                        std::int64_t num_media_tokens) {
    parse_clients(args, config);
    return args.has(option::trace) ? parse_trace_workload(args, config, num_media_tokens)
                                   : parse_synthetic_workload(args, config, num_media_tokens);
}

/// Parses the number of replicas, or of prefill and decode workers. Throws: `usage`.
LLMCOST_INLINE void parse_replicas(const arguments& args, simulation_config& config) {
    config.num_replicas = args.number(option::replicas, 1);
    if (args.has(option::prefill) != args.has(option::decode))
        throw_usage(args.has(option::prefill) ? "--decode" : "--prefill",
                    args.has(option::prefill) ? "required with --prefill" : "required with --decode");
    if (args.has(option::prefill)) {
        if (args.has(option::replicas)) throw_usage("--replicas", "cannot be combined with --prefill and --decode");
        config.num_replicas = args.number(option::prefill, 1);
        config.num_decode_workers = args.number(option::decode, 1);
    }
    for (const option_spec& o : {option::decode_device, option::decode_tp})
        if (args.has(o) && !args.has(option::decode)) throw_usage(o.name, "requires --prefill and --decode");
    if (config.num_replicas > 4096 || config.num_decode_workers > 4096)
        throw_usage("--replicas", "expected at most 4096 engines");
}

/// Parses the options of speculative decoding. Throws: `usage`.
LLMCOST_INLINE void parse_speculative_decoding(const arguments& args, simulation_config& config) {
    config.num_draft_tokens = args.number(option::draft, 0, 0);
    const draft_acceptance acceptance = parse_acceptance(args, config.num_draft_tokens);
    config.acceptance_rate = acceptance.rate;
    config.accepted_tokens = acceptance.accepted_tokens;
    if (config.num_draft_tokens > 64) throw_usage("--draft", "expected at most 64");
    if (config.num_draft_tokens == 0 && args.has(option::acceptance)) throw_usage("--acceptance", "requires --draft");
    if (config.num_draft_tokens == 0 && args.has(option::proposes)) throw_usage("--draft-model", "requires --draft");
}

LLMCOST_INLINE simulate_request parse_simulate_request(const arguments& args) {
    if (!args.has(option::engine))
        throw_usage("--engine", "required: the engine whose scheduler is simulated, vllm, sglang or trtllm");
    simulate_request request;
    request.has_plot = args.has(option::plot);
    request.has_timeline = args.has(option::timeline_to);
    request.format = static_cast<output_format>(args.choice(option::text_json_or_csv_format));
    if (args.has(option::drawn) && !request.has_plot) throw_usage("--plot-of", "requires --plot");
    if (request.has_plot && request.has_timeline) throw_usage("--timeline", "cannot be combined with --plot");
    if (request.has_plot && args.text(option::plot).empty() && request.format != output_format::text)
        throw_usage(option::plot.name, "requires a file name with --format json or csv");
    parse_replicas(args, request.config);
    parse_speculative_decoding(args, request.config);
    request.config.pipeline_parallel_size = args.number(option::pp, 1);
    request.config.router =
        args.choice(option::router) == 1 ? routing_policy::prefix_aware : routing_policy::least_loaded;
    if (args.has(option::bounds)) request.targets = parse_request_slo(args.text(option::bounds));
    request.warm_up = args.number(option::warm_up, 0, 0);
    return request;
}

LLMCOST_INLINE void progress_line::operator()(std::size_t done, std::size_t all) {
    if (!io_->out_is_terminal || done < next_) return;
    if (next_ > 0) {
        io_->err << "\rllmcost: " << 100 * done / all << " % of " << all << " requests" << std::flush;
        is_visible_ = true;
    }
    next_ = done + std::max<std::size_t>(100'000, all / 20);
}

}  // namespace llmcost::cli::detail
