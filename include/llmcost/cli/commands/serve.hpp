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

// `llmcost serve`: latency and throughput of an inference server, in closed form.
//
// A command has four steps.
//   Parse:     arguments -> request.     Reports syntax errors and conflicting options.
//   Validate:  request, deployment.      Reports what the model, the engine or the device does not support.
//   Compute:   request -> response.      No input or output.
//   Print:     response -> text, JSON.   No computation.
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

// ---- validate

/// Checks that the deployment supports the request.
///
/// Throws: `usage` for unsupported options; `does_not_fit` if one request exceeds the device memory.
inline void validate(const serve_request& request, const deployment& deployment, server& server) {
    const serving_load& load = request.load;
    if (request.slo_quantile && deployment.engine.name.empty())
        throw_usage(option::slo_at.name, "requires --engine: only engines have a prediction interval");
    if (load.chunk_tokens > 0 && load.input_tokens / load.chunk_tokens > 4096)
        throw_usage("--chunk", "expected at most 4,096 chunks per prompt");
    if (const std::string problem = out_of_memory_message(server, load, *deployment.device); !problem.empty())
        throw error(errc::does_not_fit, printable(deployment.device->names[0]), problem);
}

// ---- compute

/// The highest concurrency for which the device memory holds the KV cache, with half of the output generated.
inline double max_concurrency_of(server& server, const serving_load& load) {
    const double per_rank =
        server.max_sequences_per_rank(load.input_tokens + load.output_tokens / 2, load.pipeline_parallel_size);
    return std::floor(per_rank * static_cast<double>(server.data_parallel_size()));
}

/// The highest concurrency that meets the targets; 0 if a single request does not.
inline double highest_concurrency(server& server, serving_load load, const latency_targets& targets) {
    const auto meets_targets = [&](double concurrency) {
        load.concurrency = concurrency;
        return targets.are_met_by(server(load));
    };
    const double max_concurrency = max_concurrency_of(server, load);
    if (max_concurrency < 1 || !meets_targets(1)) return 0;
    double low = 1, high = max_concurrency;
    if (meets_targets(high)) return high;
    while (high - low > 1) {
        const double middle = std::floor((low + high) / 2);
        (meets_targets(middle) ? low : high) = middle;
    }
    return low;
}

/// A positive number with four significant digits, rounded down.
inline std::string round_down(double x) {
    const double unit = std::pow(10, std::floor(std::log10(x)) - 3);
    return formatted("%.4g", std::floor(x / unit) * unit);
}

/// The memory used on each device while the requests run, with half of the output generated.
inline count bytes_per_device(const deployment& deployment, const serve_response::result& result, server& server) {
    const serving_load& load = result.load;
    const auto stages = static_cast<double>(load.pipeline_parallel_size),
               ranks = static_cast<double>(server.data_parallel_size());
    const double kv_cache_bytes =
        result.metrics.num_running / ranks * server.kv_cache_bytes(load.input_tokens + load.output_tokens / 2);
    return count(static_cast<std::uint64_t>((server.weight_bytes_per_device() + kv_cache_bytes) / stages)) +
           count(engine_memory_profile_of(deployment.engine).runtime_bytes);
}

/// The results for 1, 2, 4, ... concurrent requests, up to the memory limit.
inline serve_response compute_sweep(const serve_request& request, server& server) {
    const double max_concurrency = max_concurrency_of(server, request.load);
    serve_response response;
    for (double concurrency = 1;; concurrency = concurrency * 2 < max_concurrency ? concurrency * 2 : max_concurrency) {
        serving_load load = request.load;
        load.concurrency = concurrency;
        response.results.push_back({load, server(load)});
        if (concurrency >= max_concurrency) return response;
    }
}

/// The result for the highest concurrency that meets the targets. Throws: `usage` if none does.
inline serve_response::result compute_highest_concurrency(const serve_request& request, const deployment& deployment,
                                                          server& server) {
    const double quantile = request.slo_quantile.value_or(deployment.engine.name.empty() ? 0.5 : 0.95);
    latency_targets targets = request.targets;
    targets.ttft_safety_factor = std::exp2(deployment.interval.ttft.quantile(quantile));
    targets.tpot_safety_factor = std::exp2(deployment.interval.tpot.quantile(quantile));
    serving_load load = request.load;
    load.concurrency = highest_concurrency(server, load, targets);
    if (load.concurrency > 0) return {load, server(load)};
    load.concurrency = 1;
    const serving_metrics single = server(load);
    throw_usage("--slo", "no concurrency meets the targets; a single request has TTFT " +
                             duration(single.ttft_seconds * targets.ttft_safety_factor) + " and TPOT " +
                             duration(single.tpot_seconds * targets.tpot_safety_factor) +
                             (quantile > 0.5 ? formatted(" at quantile %.4g (see --slo-at)", quantile) : ""));
}

/// The result for an arrival rate. Throws: `usage` if the rate exceeds the capacity of the server.
inline serve_response::result compute_at_rate(const serve_request& request, server& server) {
    serving_load load = request.load;
    const std::optional<serving_metrics> metrics = server.evaluate_at_rate(load, request.request_rate);
    if (!metrics)
        throw_usage("--rate", "exceeds the capacity of the server, " + round_down(server.max_request_rate(load)) +
                                  " requests per second");
    load.concurrency = request.request_rate *
                       (metrics->ttft_seconds + static_cast<double>(load.output_tokens - 1) * metrics->tpot_seconds);
    return {load, *metrics};
}

/// The load to report: as requested, derived from the arrival rate, or the highest that meets the targets.
///
/// Throws: `usage` if no concurrency meets the targets, or if the arrival rate exceeds the capacity.
inline serve_response::result compute_single(const serve_request& request, const deployment& deployment,
                                             server& server) {
    switch (request.mode) {
        case load_mode::slo: return compute_highest_concurrency(request, deployment, server);
        case load_mode::rate: return compute_at_rate(request, server);
        case load_mode::concurrency:
        case load_mode::sweep: break;
    }
    return {request.load, server(request.load)};
}

/// Evaluates the server for the requested load. Throws: as `compute_single`.
inline serve_response compute(const serve_request& request, const deployment& deployment, server& server) {
    if (request.mode == load_mode::sweep) return compute_sweep(request, server);
    const serve_response::result result = compute_single(request, deployment, server);
    const serving_load& load = result.load;
    serve_response response{.results = {result}, .bytes_per_device = bytes_per_device(deployment, result, server)};
    response.weight_bytes_per_device =
        server.weight_bytes_per_device() / static_cast<double>(load.pipeline_parallel_size);
    if (load.multimodal_inputs.num_tokens > 0) response.equivalent_text_tokens = server.equivalent_text_tokens(load);
    response.needs_full_device_memory =
        server.needs_full_device_memory(load.input_tokens + load.output_tokens / 2, load.pipeline_parallel_size);
    return response;
}

// ---- print

inline double price_per_million_tokens(const deployment& deployment, const serving_metrics& metrics) {
    return 1e6 / metrics.tokens_per_second / 3600 * deployment.price_per_hour * metrics.num_devices;
}
inline double co2_grams_per_million_tokens(const deployment& deployment, const serving_metrics& metrics) {
    return 1e6 * metrics.joules_per_output_token / 3.6e6 * deployment.grams_per_kwh;
}

/// Writes the members of one result.
inline void write_serving_metrics(json_writer& json, const deployment& p, const serve_response::result& result) {
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
    json.member("watts_per_device", f.watts_per_device).member("joules_per_token", f.joules_per_output_token);
    if (p.price_per_hour > 0) json.member("price_per_million_tokens", price_per_million_tokens(p, f));
    if (p.grams_per_kwh > 0) json.member("grams_co2_per_million_tokens", co2_grams_per_million_tokens(p, f));
}

inline std::string serve_json(const serve_response& response, const deployment& p) {
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
    write_memory(json, p, response.bytes_per_device, load.pipeline_parallel_size);
    write_unmeasured(json, p);
    return json.end_object().text() + '\n';
}

inline std::string sweep_json(const serve_response& response, const deployment& deployment) {
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
inline std::string load_lines(const serving_load& load, std::int64_t equivalent_text_tokens) {
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
inline std::string labeled_line(std::string_view label, const std::string& text) {
    return "  " + left(label, 25) + text + '\n';
}

/// `90 % interval 104.5 ms to 285.5 ms`.
inline std::string interval_text(double seconds, relative_interval interval) {
    return "90 % interval " + duration(seconds * std::exp2(interval.low)) + " to " +
           duration(seconds * std::exp2(interval.high));
}

/// The number of requests whose KV cache fits into the memory of the devices.
inline std::string capacity_text(const deployment& deployment, const serve_response& response) {
    const serving_metrics& metrics = response.results.front().metrics;
    const auto ranks = static_cast<double>(deployment.execution.parallel.data_parallel_size);
    const double per_rank = std::round(metrics.max_num_running / ranks);
    return formatted("%.1f GB weights; KV cache for ", response.weight_bytes_per_device / 1e9) +
           grouped(count(static_cast<std::uint64_t>(per_rank))) + (per_rank < 1.5 ? " request" : " requests") +
           (ranks > 1 ? formatted(" in each of %.0f data-parallel ranks, ", ranks) +
                            grouped(count(static_cast<std::uint64_t>(ranks * per_rank))) + " in total"
                      : "") +
           (response.needs_full_device_memory ? " if the engine uses all device memory" : "");
}

/// The lines of latency and throughput.
inline std::string latency_lines(const deployment& p, const serving_metrics& f) {
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
inline std::string cost_lines(const deployment& deployment, const serving_metrics& metrics) {
    std::string out;
    if (deployment.device->thermal_design_watts > 0)
        out +=
            labeled_line("energy (approximate)", formatted("%.0f W per device, %.3g J per output token",
                                                           metrics.watts_per_device, metrics.joules_per_output_token));
    if (deployment.price_per_hour > 0)
        out += labeled_line("price",
                            formatted("%.3g per million output tokens", price_per_million_tokens(deployment, metrics)));
    if (deployment.grams_per_kwh > 0)
        out += labeled_line(
            "CO2", formatted("%.3g g per million output tokens", co2_grams_per_million_tokens(deployment, metrics)));
    return out;
}

/// The assumptions below a result: method, interval, missing measurements.
inline std::string assumption_lines(const deployment& deployment) {
    std::string out = "Method: closed form, mean of a steady load. For bursts and percentiles: llmcost simulate\n";
    if (deployment.engine.name.empty())
        out += "Engine: none; kernels only, without host overhead (see --engine)\n";
    else
        out += "Interval: based on " + std::string(evidence_label(deployment.interval.evidence)) + '\n';
    return out + measurement_note(deployment);
}

inline std::string serve_text(const serve_response& response, const deployment& deployment) {
    const auto& [load, metrics] = response.results.front();
    std::string out = deployment_title(deployment, load.pipeline_parallel_size) + '\n' +
                      load_lines(load, response.equivalent_text_tokens) + '\n' + latency_lines(deployment, metrics) +
                      labeled_line("memory per device", capacity_text(deployment, response));
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

inline std::string sweep_text(const serve_response& response, const deployment& p) {
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

inline std::string print(const serve_request& request, const serve_response& response, const deployment& deployment) {
    const bool is_sweep = request.mode == load_mode::sweep;
    if (request.format == output_format::json)
        return is_sweep ? sweep_json(response, deployment) : serve_json(response, deployment);
    return is_sweep ? sweep_text(response, deployment) : serve_text(response, deployment);
}

}  // namespace detail

/// Predicts each row of a table of benchmark runs (`--configs`). Throws: `usage`.
[[nodiscard]] inline command_output run_serve_table(const arguments& args, const program& io) {
    for (const option_spec& o : args.options())
        if (!o.is(option::configs) && !o.is(option::calibration) && !o.is(option::offline) && !o.is(option::network) &&
            args.has(o))
            throw_usage(o.name, "cannot be combined with --configs; set it in the columns of RUNS.csv");
    const double network =
        args.has(option::network) ? parse_network(option::network.name, args.text(option::network)) : 0;
    return serve_table(std::string(args.text(option::configs)), std::string(args.text(option::calibration)), io.models,
                       network)
        .write_predictions(io.in, io.err);
}

/// Runs `llmcost serve`.
[[nodiscard]] inline command_output run_serve(const arguments& args, const program& io) {
    if (args.has(option::configs)) return run_serve_table(args, io);
    serve_request request = detail::parse_serve_request(args);
    deployment deployment = io.place(args, io);
    require_known_memory(*deployment.device);
    require_stages("--pp", deployment.model, request.load.pipeline_parallel_size);
    require_autoregressive(deployment.model);
    detail::add_multimodal_inputs(request.load, args, deployment);
    server server(deployment.model, deployment.execution, deployment.engine, *deployment.device, *deployment.kernels);

    detail::validate(request, deployment, server);
    set_prediction_interval(deployment, request.load.input_tokens);
    const serve_response response = detail::compute(request, deployment, server);
    std::string text = detail::print(request, response, deployment);
    print_warnings(deployment, request.load.input_tokens + request.load.output_tokens, io);
    return text;
}

inline constexpr std::array<command_example, 2> serve_examples{{
    {"llmcost serve --model Qwen/Qwen3-8B --device h200 --engine vllm --concurrency 16", "16 concurrent requests"},
    {"llmcost serve --model Qwen/Qwen3-8B --device h200 --engine vllm --slo ttft=0.5s,tpot=30ms",
     "the highest concurrency that meets the latency targets"},
}};

inline constexpr command serve_command{
    .name = "serve",
    .summary = "Estimate latency and throughput of an inference server",
    .usage = "(--model NAME | --config FILE) --device NAME [options]\n--configs DIR [options] < RUNS.csv",
    .description =
        "Estimates time to first token (TTFT), time per output token (TPOT) and throughput of a server\n"
        "with continuous batching. The estimate is a closed form and describes the mean of a steady load.\n"
        "For bursts, percentiles and request traces, use llmcost simulate.\n"
        "\n"
        "With --configs, reads benchmark runs from standard input (columns model_path, system, backend,\n"
        "isl, osl, batch_size, tp_size ...). Appends predicted_ttft_ms, predicted_tpot_ms and error to\n"
        "each row. See docs/cli.md.\n"
        "Exit code 7: some rows have no result. Exit code 8: the model does not fit into the memory of\n"
        "the device.\n",
    .options = serve_options,
    .run = run_serve,
    .examples = serve_examples};

}  // namespace llmcost::cli
