// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/kv_tier_options.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/scheduler_options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/commands/serve_request.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/simulation/request.hpp>
#include <llmcost/simulation/simulate.hpp>

// The options of `llmcost simulate`, and the request that they are parsed into.
namespace llmcost::cli {

namespace option {

inline constexpr option_spec clients =
    with_help(option::concurrency,
              "concurrent clients; each sends its next request when the previous one completes (default 16)");
inline constexpr option_spec trace{.name = "--trace",
                                   .value = "FILE",
                                   .type = value_type::file,
                                   .help = "recorded requests: CSV or JSON Lines (docs/serving.md)"};
inline constexpr option_spec lengths_in{.name = "--input",
                                        .aliases = {"--isl", "--input-len"},
                                        .value = "N|LOW..HIGH",
                                        .type = value_type::text,
                                        .help = "input tokens per request (default 1024)"};
inline constexpr option_spec lengths_out{.name = "--output",
                                         .aliases = {"--osl", "--output-len"},
                                         .value = "N|LOW..HIGH",
                                         .type = value_type::text,
                                         .help = "output tokens per request (default 1024)"};
inline constexpr option_spec num_requests{.name = "--requests",
                                          .aliases = {"--num-prompts"},
                                          .value = "N",
                                          .type = value_type::number,
                                          .help = "number of requests (default: 10 per client, otherwise 1000)"};
inline constexpr option_spec warm_up{.name = "--warm-up",
                                     .value = "N",
                                     .type = value_type::number,
                                     .help = "number of first requests that are excluded from the metrics (default 0)"};
inline constexpr option_spec burstiness{.name = "--burstiness",
                                        .value = "X",
                                        .type = value_type::number,
                                        .help = "burstiness of arrivals: 1 = Poisson, below 1 = bursty (default 1)"};
inline constexpr option_spec turns{
    .name = "--turns",
    .value = "N",
    .type = value_type::number,
    .help = "turns per conversation; each prompt contains all previous turns (default 1)"};
inline constexpr option_spec pause{.name = "--pause",
                                   .value = "S",
                                   .type = value_type::number,
                                   .help = "seconds between a response and the next turn (default 0)"};
inline constexpr option_spec seed{.name = "--seed",
                                  .value = "N",
                                  .type = value_type::number,
                                  .help = "random seed; equal seeds give equal results (default 1)"};
inline constexpr option_spec trace_block{.name = "--trace-block",
                                         .value = "N",
                                         .type = value_type::number,
                                         .help = "tokens per hash_ids block of the trace (default 512)"};
inline constexpr option_spec bounds{.name = "--slo",
                                    .value = "LIST",
                                    .type = value_type::text,
                                    .help = "latency targets per request, e.g. ttft=0.5s,tpot=30ms,e2e=9s"};
inline constexpr option_spec replicas{.name = "--replicas",
                                      .value = "N",
                                      .type = value_type::number,
                                      .help = "engine replicas behind a router (default 1)"};
inline constexpr option_spec prefill{.name = "--prefill",
                                     .aliases = {"--prefill-workers"},
                                     .value = "N",
                                     .type = value_type::number,
                                     .help = "disaggregated prefill/decode: prefill workers, with --decode"};
inline constexpr option_spec decode{.name = "--decode",
                                    .aliases = {"--decode-workers"},
                                    .value = "N",
                                    .type = value_type::number,
                                    .help = "disaggregated prefill/decode: decode workers, with --prefill"};
inline constexpr option_spec decode_device{.name = "--decode-device",
                                           .value = "NAME",
                                           .type = value_type::text,
                                           .help = "device of the decode workers (default: as --device)"};
inline constexpr option_spec decode_tp{.name = "--decode-tp",
                                       .value = "N",
                                       .type = value_type::number,
                                       .help = "tensor-parallel size of the decode workers (default: as --tp)"};
inline constexpr option_spec router{.name = "--router",
                                    .value = "POLICY",
                                    .type = value_type::choice,
                                    .choices = "least|prefix",
                                    .help =
                                        "routing policy: least (least-loaded replica) or prefix (longest prefix-cache "
                                        "match) (default least)"};
inline constexpr option_spec all_tokens{
    .name = "--ignore-eos",
    .help = "sglang: requests set ignore_eos, so that admission uses their exact output lengths"};
inline constexpr option_spec drawn{.name = "--plot-of",
                                   .value = "TYPE",
                                   .type = value_type::choice,
                                   .choices = "time|rate|pareto",
                                   .help =
                                       "content of --plot: time (requests over time), rate (TTFT over request rate) or "
                                       "pareto (throughput per device over speed per user) (default time)"};
inline constexpr option_spec timeline_to{.name = "--timeline",
                                         .value = "FILE",
                                         .type = value_type::file,
                                         .help = "write a Chrome trace of all engine steps"};

}  // namespace option

inline constexpr std::array simulate_options = concatenate(
    with_section("Workload",
                 std::array{option::clients, option::rate, option::trace, option::lengths_in, option::lengths_out,
                            option::num_requests, option::warm_up, option::burstiness, option::turns, option::pause,
                            option::seed, option::prefix_hit, option::trace_block, option::bounds}),
    with_section("Multimodal inputs", request_multimodal_options),
    with_section("Parallelism",
                 std::array{option::tp, option::pp, option::dp, option::ep, option::replicas, option::router,
                            option::prefill, option::decode, option::decode_device, option::decode_tp}),
    with_section("Scheduling and speculative decoding",
                 std::array{with_help(option::draft,
                                      "draft tokens per step, generated at no cost without --draft-model (default 0)"),
                            option::acceptance, option::proposes, option::all_tokens, option::memory_share}),
    with_section("Scheduler options of the engines", scheduler_option_rows),
    with_section("Host memory and storage for the KV cache", kv_tier_options),
    with_section("Hardware and engine", hardware_options),
    with_section("Precision", concatenate(precision_options, std::array{option::quantization, option::routing})),
    with_section("Cost", cost_options), with_section("Model", model_options),
    with_section("Output", std::array{with_help(option::text_json_or_csv_format,
                                                "text, json or csv (default text); csv prints one row per request"),
                                      option::plot, option::drawn, option::timeline_to}),
    help_option);

/// A parsed `llmcost simulate` command line, without the workload.
struct simulate_request {
    simulation_config config{};
    request_slo targets{};
    std::int64_t warm_up = 0;  ///< first requests that are excluded from the metrics
    bool has_plot = false;
    bool has_timeline = false;
    output_format format = output_format::text;
};

namespace detail {

// ---- parse

/// Parses latency targets of requests, e.g. `ttft=0.5s,tpot=30ms,e2e=9s`. Throws: `usage`.
request_slo parse_request_slo(std::string_view list);

/// The requests of a simulation, and their description.
struct requested_workload {
    std::vector<simulated_request> requests;
    std::string label;
};

/// The requests of a command line, each with `num_media_tokens` input tokens in addition to its text tokens.
///
/// Sets the clients and the prefix-cache block size of `config`. Throws: `usage`.
requested_workload parse_workload_source(const arguments& args, simulation_config& config,
                                         std::int64_t num_media_tokens = 0);

/// Parses the command line of `llmcost simulate`, without the workload. Throws: `usage`.
simulate_request parse_simulate_request(const arguments& args);

/// Prints the progress of a long simulation to a terminal.
class progress_line {
public:
    explicit progress_line(const streams& io) : io_(&io) {}
    void operator()(std::size_t done, std::size_t all);
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

}  // namespace detail

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/simulate_request.ipp>  // IWYU pragma: export
#endif
