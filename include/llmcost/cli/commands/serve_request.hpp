// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/maybe.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/llama_cpp_device_options.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/commands/device_comparison.hpp>
#include <llmcost/cli/request/adapter_option.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/serving/multimodal_step.hpp>
#include <llmcost/serving/server.hpp>

// The options of `llmcost serve`, and the request that they are parsed into.
namespace llmcost::cli {

namespace option {

inline constexpr option_spec concurrency{.name = "--concurrency",
                                         .aliases = {"--max-concurrency"},
                                         .value = "N",
                                         .type = value_type::number,
                                         .help = "concurrent requests (default 1)"};
inline constexpr option_spec rate{.name = "--rate",
                                  .aliases = {"--request-rate"},
                                  .value = "X",
                                  .type = value_type::number,
                                  .help = "request arrivals per second, instead of --concurrency"};
inline constexpr option_spec slo{.name = "--slo",
                                 .value = "LIST",
                                 .type = value_type::text,
                                 .help =
                                     "latency targets, e.g. ttft=0.5s,tpot=30ms; finds the highest concurrency that "
                                     "meets them"};
inline constexpr option_spec slo_at{.name = "--slo-at",
                                    .value = "X",
                                    .type = value_type::number,
                                    .help =
                                        "quantile of the prediction interval that must meet --slo, 0.05 to 0.95 "
                                        "(default 0.95)"};
inline constexpr option_spec sweep{.name = "--sweep",
                                   .help = "evaluate concurrency 1, 2, 4 ... up to the memory limit"};
inline constexpr option_spec chunk{.name = "--chunk",
                                   .value = "N",
                                   .type = value_type::number,
                                   .help = "chunked prefill: prompt tokens per step (default: entire prompt)"};
inline constexpr option_spec prefix_hit{.name = "--prefix-hit",
                                        .value = "X",
                                        .type = value_type::number,
                                        .help = "fraction of input tokens found in the prefix cache (default 0)"};
inline constexpr option_spec draft{.name = "--draft",
                                   .aliases = {"--num-speculative-tokens"},
                                   .value = "N",
                                   .type = value_type::number,
                                   .help = "draft tokens per step, generated at no cost (default 0)"};
inline constexpr option_spec acceptance{.name = "--acceptance",
                                        .value = "X|LIST",
                                        .type = value_type::text,
                                        .help =
                                            "acceptance probability of a draft token, or the measured fraction of "
                                            "steps that accept each position: 0.8,0.6,0.4 (default 0.7)"};
inline constexpr option_spec proposes{
    .name = "--draft-model",
    .aliases = {"--speculative-model"},
    .value = "NAME",
    .type = value_type::text,
    .help = "model that generates the --draft tokens, at its own cost (default: no cost)"};
inline constexpr option_spec memory_share{
    .name = "--memory-share",
    .aliases = {"--gpu-memory-utilization"},
    .value = "X",
    .type = value_type::number,
    .help =
        "fraction of device memory that the engine uses: default 0.92 (vllm), by device (sglang), 0.9 of the free "
        "memory (trtllm), 1 (others)"};
inline constexpr option_spec batch_wait{.name = "--batch-wait",
                                        .value = "N",
                                        .type = value_type::number,
                                        .help = "steps that a prefill waits to be batched (default 0)"};
inline constexpr option_spec configs{.name = "--configs",
                                     .value = "DIR",
                                     .type = value_type::directory,
                                     .help = "configurations for RUNS.csv, named org__name.json"};

}  // namespace option

inline constexpr std::array serve_options = concatenate(
    with_section("Workload",
                 std::array{with_help(option::input, "input tokens per request (default 1024)"),
                            with_help(option::output, "output tokens per request (default 1024)"), option::concurrency,
                            option::rate, option::slo, option::slo_at, option::sweep, option::prefix_hit}),
    with_section("Multimodal inputs", request_multimodal_options),
    with_section("Parallelism", std::array{option::tp, option::pp, option::dp, option::ep}),
    with_section("Scheduling and speculative decoding",
                 std::array{option::chunk, option::batch_wait,
                            with_help(option::draft,
                                      "draft tokens per step, generated at no cost without --draft-model (default 0)"),
                            option::acceptance, option::proposes, option::memory_share}),
    with_section("Hardware and engine", concatenate(std::array{option::device_list}, engine_options)),
    with_section("llama.cpp", llama_cpp_serve_options),
    with_section("Precision", concatenate(precision_options, std::array{option::quantization, option::routing})),
    with_section("Cost", cost_options),
    with_section("Model", concatenate(model_options, std::array{option::configs, option::adapter, option::lora})),
    with_section("Output", std::array{option::format}), help_option);

/// How the concurrency of `llmcost serve` is chosen.
enum class load_mode : std::uint8_t {
    concurrency,  ///< `--concurrency`, the default
    rate,         ///< `--rate`: the concurrency that this arrival rate leads to
    slo,          ///< `--slo`: the highest concurrency that meets the targets
    sweep         ///< `--sweep`: 1, 2, 4, ... up to the memory limit
};

/// Upper bounds of mean latencies; 0: no bound.
struct latency_targets {
    double ttft_seconds = 0;
    double tpot_seconds = 0;
    double ttft_safety_factor = 1;  ///< factor of an estimated TTFT before it is compared with its target
    double tpot_safety_factor = 1;  ///< factor of an estimated TPOT before it is compared with its target

    [[nodiscard]] bool are_met_by(const serving_metrics& metrics) const noexcept;
};

/// A parsed `llmcost serve` command line.
struct serve_request {
    load_mode mode = load_mode::concurrency;
    serving_load load{};
    double request_rate = 0;               ///< requests per second; used by `load_mode::rate`
    latency_targets targets{};             ///< used by `load_mode::slo`
    std::optional<double> slo_quantile{};  ///< `--slo-at`; default: 0.95 with an engine, otherwise 0.5
    output_format format = output_format::text;
};

/// The results of `llmcost serve`: one for each concurrency.
struct serve_response {
    struct result {
        serving_load load{};
        serving_metrics metrics{};
    };
    std::vector<result> results{};
    count bytes_per_device{};                 ///< memory used on each device; 0 for a sweep
    double weight_bytes_per_device = 0;       ///< weights on each device; 0 for a sweep
    std::int64_t equivalent_text_tokens = 0;  ///< text prompt with the same prefill time; 0: no multimodal inputs
    maybe<kv_cache_capacity> kv_cache{};      ///< of each rank; none for a sweep, or without a KV cache
    engine_memory_profile profile{};          ///< the memory management of the engine
};

namespace detail {

/// How often draft tokens are accepted: a probability, or the measured mean of accepted tokens per step.
struct draft_acceptance {
    double rate = 0;
    double accepted_tokens = 0;
};

/// Parses `--acceptance`: a probability, or for each position the fraction of steps that accept its token, whose sum is
/// the mean of accepted tokens. Source: vllm, v1/spec_decode/metrics.py, "Per-position acceptance rate". Throws:
/// `usage`.
[[nodiscard]] draft_acceptance parse_acceptance(const arguments& args, std::int64_t num_draft_tokens);

// ---- parse

/// Parses latency targets, e.g. `ttft=0.5s,tpot=30ms`. Throws: `usage`.
latency_targets parse_latency_targets(std::string_view list);

/// The value of `--slo-at`, if it is set. Throws: `usage`.
std::optional<double> parse_slo_quantile(const arguments& args);

/// Parses the command line of `llmcost serve`. Throws: `usage`.
serve_request parse_serve_request(const arguments& args);

/// The cost of the multimodal inputs of each request.
///
/// Throws: `usage` for inputs that the model does not support, and for encoder-decoder models.
multimodal_cost parse_multimodal_cost(const arguments& args, const deployment& deployment);

/// Adds the multimodal inputs of a command line to a load. Throws: as `parse_multimodal_cost`.
void add_multimodal_inputs(serving_load& load, const arguments& args, const deployment& deployment);

}  // namespace detail

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/serve_request.ipp>  // IWYU pragma: export
#endif
