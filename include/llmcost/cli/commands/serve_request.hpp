// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <llmcost/cli/commands/latency.hpp>
#include <llmcost/cli/commands/serve_table.hpp>
#include <llmcost/cli/request/deployment.hpp>
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
inline constexpr option_spec pp{.name = "--pp",
                                .aliases = {"--pipeline-parallel-size"},
                                .value = "N",
                                .type = value_type::number,
                                .help = "pipeline-parallel size (default 1)"};
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
                                   .help = "draft tokens per step, at no cost (default 0)"};
inline constexpr option_spec acceptance{.name = "--acceptance",
                                        .value = "X",
                                        .type = value_type::number,
                                        .help = "acceptance probability of a draft token (default 0.7)"};
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
                 std::array{option::chunk, option::batch_wait, option::draft, option::acceptance}),
    with_section("Hardware and engine", hardware_options),
    with_section("Precision", concatenate(precision_options, std::array{option::quantization, option::routing})),
    with_section("Cost", cost_options),
    with_section("Model", concatenate(model_options, std::array{option::configs, option::adapter})),
    with_section("Output", std::array{option::text_or_json_format}), help_option);

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

    [[nodiscard]] bool are_met_by(const serving_metrics& metrics) const noexcept {
        return (ttft_seconds == 0 || metrics.ttft_seconds * ttft_safety_factor <= ttft_seconds) &&
               (tpot_seconds == 0 || metrics.tpot_seconds * tpot_safety_factor <= tpot_seconds);
    }
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
    bool needs_full_device_memory = false;    ///< one request exceeds the engine's usual fraction of device memory
};

namespace detail {

// ---- parse

/// The load mode. Throws: `usage` if more than one of the four options is set.
inline load_mode parse_load_mode(const arguments& args) {
    const bool has_slo = args.has(option::slo), has_sweep = args.has(option::sweep);
    const bool has_rate = args.has(option::rate), has_concurrency = args.has(option::concurrency);
    if (has_slo + has_sweep + has_rate + has_concurrency > 1)
        throw_usage("--concurrency", "use only one of --concurrency, --rate, --slo and --sweep");
    if (args.has(option::slo_at) && !has_slo) throw_usage(option::slo_at.name, "requires --slo");
    return has_slo     ? load_mode::slo
           : has_sweep ? load_mode::sweep
           : has_rate  ? load_mode::rate
                       : load_mode::concurrency;
}

/// Parses the options that describe the load. Throws: `usage`.
inline serving_load parse_serving_load(const arguments& args) {
    serving_load load;
    load.input_tokens = args.number(option::input, 1024);
    load.output_tokens = args.number(option::output, 1024);
    load.concurrency = args.real(option::concurrency, 1, 1, 1e9);
    load.pipeline_parallel_size = args.number(option::pp, 1);
    load.chunk_tokens = args.number(option::chunk, 0);
    load.prefix_hit_rate = args.real(option::prefix_hit, 0, 0, 1);
    load.num_draft_tokens = args.number(option::draft, 0, 0);
    load.acceptance_rate = args.real(option::acceptance, 0.7, 0, 1);
    load.batch_wait_steps = args.number(option::batch_wait, 0, 0);
    if (load.num_draft_tokens > 64) throw_usage("--draft", "expected at most 64");
    if (load.num_draft_tokens == 0 && args.has(option::acceptance)) throw_usage("--acceptance", "requires --draft");
    return load;
}

/// Parses a target, e.g. `ttft=0.5s`, and sets it. Throws: `usage`.
inline void parse_latency_target(std::string_view item, latency_targets& targets) {
    const std::size_t sign = item.find('=');
    const std::string_view name = item.substr(0, sign);
    std::string_view time = sign == std::string_view::npos ? std::string_view{} : item.substr(sign + 1);
    if (name != "ttft" && name != "tpot") throw_usage("--slo", "expected ttft=0.5s,tpot=30ms; found " + quote(item));
    double& target_seconds = name == "ttft" ? targets.ttft_seconds : targets.tpot_seconds;
    if (target_seconds != 0) throw_usage("--slo", std::string(name) + " is given twice");
    double scale = 0;
    for (const auto& [unit, seconds] : {std::pair<std::string_view, double>{"ms", 1e-3}, {"us", 1e-6}, {"s", 1}})
        if (scale == 0 && time.ends_with(unit)) {
            scale = seconds;
            time.remove_suffix(unit.size());
        }
    if (scale == 0) throw_usage("--slo", "expected a time with its unit, e.g. 30ms or 0.5s; found " + quote(item));
    target_seconds = scale * parse_real("--slo", time, 1e-6, 1e9);
}

/// Parses latency targets, e.g. `ttft=0.5s,tpot=30ms`. Throws: `usage`.
inline latency_targets parse_latency_targets(std::string_view list) {
    latency_targets targets;
    for (bool has_more = true; has_more;) {
        const std::size_t comma = list.find(',');
        has_more = comma != std::string_view::npos;
        parse_latency_target(list.substr(0, comma), targets);
        list.remove_prefix(has_more ? comma + 1 : list.size());
    }
    return targets;
}

/// The value of `--slo-at`, if it is set. Throws: `usage`.
inline std::optional<double> parse_slo_quantile(const arguments& args) {
    if (!args.has(option::slo_at)) return std::nullopt;
    return args.real(option::slo_at, 0.95, 0.05, 0.95);
}

/// Parses the command line of `llmcost serve`. Throws: `usage`.
inline serve_request parse_serve_request(const arguments& args) {
    serve_request request;
    request.mode = parse_load_mode(args);
    request.load = parse_serving_load(args);
    request.request_rate = args.real(option::rate, 1, 1e-9, 1e9);
    if (request.mode == load_mode::slo) request.targets = parse_latency_targets(args.text(option::slo));
    request.slo_quantile = parse_slo_quantile(args);
    request.format = static_cast<output_format>(args.choice(option::text_or_json_format));
    return request;
}

/// The cost of the multimodal inputs of each request.
///
/// Throws: `usage` for inputs that the model does not support, and for encoder-decoder models.
inline multimodal_cost parse_multimodal_cost(const arguments& args, const deployment& deployment) {
    workload inputs;
    parse_multimodal_inputs(args, inputs);
    check_media(deployment.model, inputs);
    if (inputs.has_multimodal_inputs() && has_encoder(deployment.model))
        throw_usage(option::audio.name, "not supported for encoder-decoder models; use llmcost latency --audio");
    return compute_multimodal_cost(deployment.model, inputs, deployment.execution, *deployment.device,
                                   *deployment.kernels);
}

/// Adds the multimodal inputs of a command line to a load. Throws: as `parse_multimodal_cost`.
inline void add_multimodal_inputs(serving_load& load, const arguments& args, const deployment& deployment) {
    load.multimodal_inputs = parse_multimodal_cost(args, deployment);
    load.input_tokens += load.multimodal_inputs.num_tokens;
}

}  // namespace detail

}  // namespace llmcost::cli
