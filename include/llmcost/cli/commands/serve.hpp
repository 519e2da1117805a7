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

// `llmcost serve`: how many tokens a second, and how soon.
namespace llmcost::cli {

namespace option {

// clang-format off
inline constexpr option_spec
    concurrency{"--concurrency", value_type::number, "N",    "requests in the system (1)"},
    rate       {"--rate",        value_type::number, "X",    "requests that arrive in a second, instead"},
    slo        {"--slo",         value_type::text,   "LIST", "ttft=0.5s,tpot=30ms: the most requests under it"},
    slo_at     {"--slo-at",      value_type::number, "X",    "quantile of the interval that keeps --slo (0.95: its end)"},
    sweep      {"--sweep",       value_type::none,   "",     "1, 2, 4 ... requests, as many as memory holds"},
    pp         {"--pp",          value_type::number, "N",    "devices that hold layers one behind the other (1)"},
    chunk      {"--chunk",       value_type::number, "N",    "new tokens of a prompt per step (all)"},
    prefix_hit {"--prefix-hit",  value_type::number, "X",    "share of prompts that is cached already (0)"},
    draft      {"--draft",       value_type::number, "N",    "tokens proposed per step, at no cost (0)"},
    acceptance {"--acceptance",  value_type::number, "X",    "chance that a proposed token is kept (0.7)"},
    batch_wait {"--batch-wait",  value_type::number, "N",    "steps that a prompt waits for others (0)"},
    configs    {"--configs",     value_type::directory, "DIR",  "of rows from the standard input: org__name.json"};
// clang-format on

}  // namespace option

inline constexpr std::array serve_options =
    concatenate(std::array{option_spec{"--input", value_type::number, "N", "tokens of a prompt (1024)"},
                           option_spec{"--output", value_type::number, "N", "tokens written for it (1024)"},
                           option::concurrency,
                           option::rate,
                           option::slo,
                           option::slo_at,
                           option::sweep,
                           option::pp,
                           option::chunk,
                           option::prefix_hit,
                           option::draft,
                           option::acceptance,
                           option::batch_wait,
                           option::image,
                           option::images,
                           option::video,
                           option::videos,
                           option::audio,
                           option::configs,
                           option_spec{"--format", value_type::choice, "text|json", "numbers of json are exact"}},
                help_option, with_section("Device", execution_options), model_options,
                std::array{option::quantization, option::adapter});

namespace detail {

/// Bounds that a service keeps to; 0: none. Times are longer by what measured runs may take.
struct latency_targets {
    double ttft_seconds = 0;
    double tpot_seconds = 0;
    double ttft_safety_factor = 1;
    double tpot_safety_factor = 1;

    [[nodiscard]] bool are_met_by(const serving_metrics& f) const noexcept {
        return (ttft_seconds == 0 || f.ttft_seconds * ttft_safety_factor <= ttft_seconds) &&
               (tpot_seconds == 0 || f.tpot_seconds * tpot_safety_factor <= tpot_seconds);
    }
};

/// What each request shows, on a placement; an encoder beside a decoder is no server's.
inline multimodal_cost parse_multimodal_cost(const arguments& args, const deployment& p) {
    workload media_load;
    parse_multimodal_inputs(args, media_load);
    check_media(p.model, media_load);
    if (media_load.has_multimodal_inputs() && has_encoder(p.model))
        throw_usage(option::audio.name, "an encoder beside a decoder is not served here: see llmcost latency --audio");
    return compute_multimodal_cost(p.model, media_load, p.execution, *p.device, *p.kernels);
}

/// Which quantile of an engine's interval keeps to bounds: its end unless said; without an engine there is none.
inline double parse_slo_quantile(const arguments& args, bool has_interval) {
    if (!args.has(option::slo_at)) return has_interval ? 0.95 : 0.5;
    if (!has_interval)
        throw_usage(option::slo_at.name, "needs --engine: kernels alone have no interval of measured runs");
    return args.real(option::slo_at, 0.95, 0.05, 0.95);
}

/// Reads `ttft=0.5s,tpot=30ms`.
inline latency_targets parse_latency_targets(std::string_view list) {
    latency_targets level;
    for (bool has_more = true; has_more;) {
        const std::size_t comma = list.find(',');
        const std::string_view item = list.substr(0, comma);
        has_more = comma != std::string_view::npos;
        list.remove_prefix(has_more ? comma + 1 : list.size());
        const std::size_t sign = item.find('=');
        const std::string_view name = item.substr(0, sign);
        std::string_view time = sign == std::string_view::npos ? std::string_view{} : item.substr(sign + 1);
        if (name != "ttft" && name != "tpot")
            throw_usage("--slo", "expected ttft=0.5s,tpot=30ms; found " + quote(item));
        double& bound = name == "ttft" ? level.ttft_seconds : level.tpot_seconds;
        if (bound != 0) throw_usage("--slo", std::string(name) + " is given twice");
        double scale = 0;
        for (const auto& [unit, seconds] : {std::pair<std::string_view, double>{"ms", 1e-3}, {"us", 1e-6}, {"s", 1}})
            if (scale == 0 && time.ends_with(unit)) {
                scale = seconds;
                time.remove_suffix(unit.size());
            }
        if (scale == 0) throw_usage("--slo", "expected a time with its unit, 30ms or 0.5s; found " + quote(item));
        bound = scale * parse_real("--slo", time, 1e-6, 1e9);
    }
    return level;
}

inline double price_per_million_tokens(const deployment& p, const serving_metrics& f) {
    return 1e6 / f.tokens_per_second / 3600 * p.price_per_hour * f.num_devices;
}
inline double co2_grams_per_million_tokens(const deployment& p, const serving_metrics& f) {
    return 1e6 * f.joules_per_output_token / 3.6e6 * p.grams_per_kwh;
}

inline void write_serving_metrics(json_writer& json, const deployment& p, const serving_load& load,
                                  const serving_metrics& f) {
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

/// What each device holds while so many requests run, half of each answer written.
inline count bytes_per_device(const deployment& p, const serving_load& load, const serving_metrics& f, server& server) {
    const auto stages = static_cast<double>(load.pipeline_parallel_size),
               groups = static_cast<double>(server.data_parallel_size());
    const double caches = f.num_running / groups * server.kv_cache_bytes(load.input_tokens + load.output_tokens / 2);
    return count(static_cast<std::uint64_t>((server.weight_bytes_per_device() + caches) / stages)) +
           count(engine_memory_profile_of(p.engine).runtime_bytes);
}

inline std::string serve_text(const deployment& p, const serving_load& load, const serving_metrics& f, server& server) {
    const auto devices = static_cast<double>(p.execution.parallel.world_size() * load.pipeline_parallel_size);
    std::string out = deployment_title(p, load.pipeline_parallel_size) + '\n' + grouped(count(load.input_tokens)) +
                      " tokens in, " + grouped(count(load.output_tokens)) + " out, " +
                      formatted("%.4g", load.concurrency) + (load.concurrency == 1 ? " request" : " requests") +
                      " at a time\n";
    if (load.multimodal_inputs.num_tokens > 0)
        out += grouped(count(load.multimodal_inputs.num_tokens)) + " of those in are shown: towers take " +
               duration(load.multimodal_inputs.encoder_cost.seconds) + ", with them as long as " +
               grouped(count(server.equivalent_text_tokens(load))) + " tokens of a text\n";
    const auto line = [&](std::string_view name, const std::string& text) {
        out += "  " + left(name, 26) + text + '\n';
    };
    const auto interval = [&](double seconds, relative_interval e) {
        return p.engine.name.empty()
                   ? std::string{}
                   : duration(seconds * std::exp2(e.low)) + " to " + duration(seconds * std::exp2(e.high)) + "; ";
    };
    line("time to first token", duration(f.ttft_seconds) + "  (" + interval(f.ttft_seconds, p.interval.ttft) +
                                    "alone " + duration(f.unloaded_ttft_seconds) + ')');
    line("time per output token", duration(f.tpot_seconds) + "  (" + interval(f.tpot_seconds, p.interval.tpot) +
                                      formatted("%.1f tokens/s each)", 1 / f.tpot_seconds));
    if (!p.engine.name.empty())
        line("nine in ten runs", "lie in these intervals, by " + std::string(description_of(p.interval.evidence)));
    line("tokens per second", formatted("%.0f  (%.0f per device)", f.tokens_per_second, f.tokens_per_second / devices));
    // whole requests of a group first: all groups together hold so many times as many
    const auto groups = static_cast<double>(server.data_parallel_size());
    const double request_capacity = std::round(f.max_num_running / groups),
                 all_run = f.num_running < f.max_num_running ? f.num_running : groups * request_capacity;
    line("memory of a device",
         formatted("%.1f GB of weights, room for %.0f",
                   server.weight_bytes_per_device() / 1e9 / static_cast<double>(load.pipeline_parallel_size),
                   request_capacity) +
             (request_capacity < 1.5 ? " request" : " requests") +
             (groups > 1 ? formatted(" in each of %.0f groups, %.0f in all", groups, groups * request_capacity) : "") +
             (server.needs_full_device_memory(load.input_tokens + load.output_tokens / 2, load.pipeline_parallel_size)
                  ? " if the engine may take all of it"
                  : ""));
    if (const std::string network = network_label(p, load.pipeline_parallel_size); !network.empty())
        line("network", network);
    if (load.concurrency - f.num_running >= 0.5)
        line("waiting", formatted("%.0f requests: %.0f run at a time", load.concurrency - all_run, all_run));
    if (p.device->thermal_design_watts > 0)
        line("energy (about)",
             formatted("%.0f W per device, %.3g J per output token", f.watts_per_device, f.joules_per_output_token));
    if (p.price_per_hour > 0)
        line("money", formatted("%.3g per million output tokens", price_per_million_tokens(p, f)));
    if (p.grams_per_kwh > 0)
        line("carbon", formatted("%.3g g CO2 per million output tokens", co2_grams_per_million_tokens(p, f)));
    if (const std::string measured = measurement_note(p); !measured.empty()) out += "  " + measured;
    if (p.engine.name.empty()) out += "  no --engine: kernels alone, without the engine's own time\n";
    out += "  in closed form: means of a steady load; llmcost simulate goes step by step (bursts, percentiles)\n";
    return out + memory_fit_text(memory_limit_of(p, load.pipeline_parallel_size), bytes_per_device(p, load, f, server));
}

/// A positive number in four digits, none of which makes it larger.
inline std::string round_down(double x) {
    const double unit = std::pow(10, std::floor(std::log10(x)) - 3);
    return formatted("%.4g", std::floor(x / unit) * unit);
}

/// The most requests at a time that keep to a level; 0 where one alone does not.
inline double highest_concurrency(server& server, serving_load load, const latency_targets& level) {
    const auto holds = [&](double n) {
        load.concurrency = n;
        return level.are_met_by(server(load));
    };
    const double maximum = std::floor(
        server.max_sequences_per_rank(load.input_tokens + load.output_tokens / 2, load.pipeline_parallel_size) *
        static_cast<double>(server.data_parallel_size()));
    if (maximum < 1 || !holds(1)) return 0;
    double low = 1, high = maximum;
    if (holds(high)) return high;
    while (high - low > 1) {
        const double middle = std::floor((low + high) / 2);
        (holds(middle) ? low : high) = middle;
    }
    return low;
}

inline std::string sweep_text(const deployment& p, const std::vector<std::pair<serving_load, serving_metrics>>& all) {
    std::string out = deployment_title(p, all.front().first.pipeline_parallel_size) + "\n" + right("requests", 9) +
                      right("first token", 13) + right("per token", 12) + right("tokens/s", 11) +
                      right("per device", 12) + right("J/token", 10) +
                      (p.price_per_hour > 0 ? right("per million", 13) : "") +
                      (p.grams_per_kwh > 0 ? right("g CO2/million", 15) : "") + '\n';
    for (const auto& [load, f] : all)
        out += right(formatted("%.0f", load.concurrency), 9) + right(duration(f.ttft_seconds), 13) +
               right(duration(f.tpot_seconds), 12) + right(formatted("%.0f", f.tokens_per_second), 11) +
               right(formatted("%.0f", f.tokens_per_second / f.num_devices), 12) +
               right(formatted("%.3g", f.joules_per_output_token), 10) +
               (p.price_per_hour > 0 ? right(formatted("%.3g", price_per_million_tokens(p, f)), 13) : "") +
               (p.grams_per_kwh > 0 ? right(formatted("%.3g", co2_grams_per_million_tokens(p, f)), 15) : "") + '\n';
    return out + measurement_note(p) + "in closed form (llmcost simulate goes step by step)\n";
}

/// The answer for one load, for as many requests as keep to a level, or for more and more of them.
inline std::string compute(const arguments& args, const deployment& p, serving_load load, server& server) {
    const bool text = args.text(option::format, "text") == "text";
    const double request_capacity =
        server.max_sequences_per_rank(load.input_tokens + load.output_tokens / 2, load.pipeline_parallel_size);
    json_writer json;
    if (args.has(option::sweep)) {
        std::vector<std::pair<serving_load, serving_metrics>> all;
        const double maximum = std::floor(request_capacity * static_cast<double>(server.data_parallel_size()));
        for (double n = 1;; n = n * 2 < maximum ? n * 2 : maximum) {
            load.concurrency = n;
            all.emplace_back(load, server(load));
            if (n >= maximum) break;
        }
        if (text) return sweep_text(p, all);
        write_model(json.object(), p);
        json.member("device", p.device->names[0]).key("sweep").array();
        for (const auto& [at, f] : all) {
            json.object();
            write_serving_metrics(json, p, at, f);
            json.end_object();
        }
        json.end_array();
        write_unmeasured(json, p);
        return json.end_object().text() + '\n';
    }
    serving_metrics f;
    if (args.has(option::slo)) {
        latency_targets level = parse_latency_targets(args.text(option::slo));
        const double at = parse_slo_quantile(args, !p.engine.name.empty());
        level.ttft_safety_factor = std::exp2(p.interval.ttft.quantile(at));
        level.tpot_safety_factor = std::exp2(p.interval.tpot.quantile(at));
        load.concurrency = highest_concurrency(server, load, level);
        if (load.concurrency == 0) {
            load.concurrency = 1;
            const serving_metrics one = server(load);
            throw_usage("--slo", "cannot be kept: one request alone takes " + std::string(at > 0.5 ? "up to " : "") +
                                     duration(one.ttft_seconds * level.ttft_safety_factor) +
                                     " to its first token and " +
                                     duration(one.tpot_seconds * level.tpot_safety_factor) + " for each after it" +
                                     (at > 0.5 ? formatted(" (--slo-at %.4g; 0.5: the middle)", at) : ""));
        }
        f = server(load);
    } else if (args.has(option::rate)) {
        const double rate = args.real(option::rate, 1, 1e-9, 1e9);
        const auto steady = server.evaluate_at_rate(load, rate);
        if (!steady)
            throw_usage("--rate", "requests arrive faster than they can be answered: at most " +
                                      round_down(server.max_request_rate(load)) + " a second");
        f = *steady;
        load.concurrency = rate * (f.ttft_seconds + static_cast<double>(load.output_tokens - 1) * f.tpot_seconds);
    } else {
        f = server(load);
    }
    if (text) return serve_text(p, load, f, server);
    json.object();
    write_serving_metrics(json, p, load, f);
    json.member("input", load.input_tokens).member("output", load.output_tokens);
    if (load.multimodal_inputs.num_tokens > 0)
        json.member("shown_tokens", load.multimodal_inputs.num_tokens)
            .member("tower_seconds", load.multimodal_inputs.encoder_cost.seconds)
            .member("shown_in_text_tokens", server.equivalent_text_tokens(load));
    write_model(json, p);
    json.member("device", p.device->names[0])
        .member("engine", p.engine.name)
        .member("dtype", p.execution.linear_type->name);
    json.member("cache_dtype", p.execution.kv_cache_type->name)
        .member("weight_bytes_per_device",
                server.weight_bytes_per_device() / static_cast<double>(load.pipeline_parallel_size));
    write_memory(json, p, bytes_per_device(p, load, f, server), load.pipeline_parallel_size);
    write_unmeasured(json, p);
    return json.end_object().text() + '\n';
}

}  // namespace detail

/// What `llmcost serve …` prints.
[[nodiscard]] inline command_output run_serve(const arguments& args, const program& io) {
    if (args.has(option::configs)) {
        for (const option_spec& o : args.options())
            if (!o.is(option::configs) && !o.is(option::calibration) && !o.is(option::offline) &&
                !o.is(option::network) && args.has(o))
                throw_usage(o.name, "cannot stand together with --configs, whose rows say what is asked");
        const double network =
            args.has(option::network) ? parse_network(option::network.name, args.text(option::network)) : 0;
        return serve_table(std::string(args.text(option::configs)), std::string(args.text(option::calibration)),
                           io.models, network)
            .write_predictions(io.in, io.err);
    }
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
    if (load.num_draft_tokens > 64) throw_usage("--draft", "expected a number up to 64");
    if (load.num_draft_tokens == 0 && args.has(option::acceptance))
        throw_usage("--acceptance", "needs --draft: tokens to keep");
    if (args.has(option::slo_at) && !args.has(option::slo))
        throw_usage(option::slo_at.name, "needs --slo: what it keeps");
    const bool several =
        args.has(option::slo) + args.has(option::sweep) + args.has(option::rate) + args.has(option::concurrency) > 1;
    if (several) throw_usage("--concurrency", "one of --concurrency, --rate, --slo and --sweep at a time");
    deployment p = io.place(args, io);
    require_known_memory(*p.device);
    require_stages("--pp", p.model, load.pipeline_parallel_size);
    require_autoregressive(p.model);
    load.multimodal_inputs = detail::parse_multimodal_cost(args, p);
    load.input_tokens += load.multimodal_inputs.num_tokens;
    server server(p.model, p.execution, p.engine, *p.device, *p.kernels);
    if (load.chunk_tokens > 0 && load.input_tokens / load.chunk_tokens > 4096)
        throw_usage("--chunk", "a prompt of more than 4,096 chunks");
    if (const std::string problem = why_out_of_memory(server, load, *p.device); !problem.empty())
        throw error(errc::does_not_fit, printable(p.device->names[0]), problem);
    set_prediction_interval(p, load.input_tokens);
    std::string text = detail::compute(args, p, load, server);
    print_warnings(p, load.input_tokens + load.output_tokens, io);
    return text;
}

inline constexpr std::array<command_example, 2> serve_examples{{
    {"llmcost serve --model Qwen/Qwen3-8B --device h200 --engine vllm --concurrency 16", "sixteen requests at a time"},
    {"llmcost serve --model Qwen/Qwen3-8B --device h200 --engine vllm --slo ttft=0.5s,tpot=30ms",
     "as many as keep to it"},
}};

inline constexpr command serve_command{
    .name = "serve",
    .summary = "how many tokens a second a server gives, and how soon",
    .usage = "(--model NAME | --config FILE) --device NAME [option]...\n--configs DIR [option]... < RUNS.csv",
    .description =
        "Time to first token, time per output token and throughput of continuous batching, in\n"
        "closed form: means of a steady load. llmcost simulate sends requests step by step.\n"
        "RUNS.csv: model_path, system, backend, isl, osl, batch_size, tp_size ...; behind\n"
        "each row predicted_ttft_ms, predicted_tpot_ms and error (docs/cli.md).\n",
    .options = serve_options,
    .run = run_serve,
    .examples = serve_examples};

}  // namespace llmcost::cli
