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

#include <llmcost/cli/latency.hpp>
#include <llmcost/cli/placement.hpp>
#include <llmcost/cli/serve_table.hpp>
#include <llmcost/serving/server.hpp>

// `llmcost serve`: how many tokens a second, and how soon.
namespace llmcost::cli {

namespace option {

// clang-format off
inline constexpr option_row
    concurrency{"--concurrency", value_kind::number, "N",    "requests in the system (1)"},
    rate       {"--rate",        value_kind::number, "X",    "requests that arrive in a second, instead"},
    slo        {"--slo",         value_kind::text,   "LIST", "ttft=0.5s,tpot=30ms: the most requests under it"},
    slo_at     {"--slo-at",      value_kind::number, "X",    "quantile of the interval that keeps --slo (0.95: its end)"},
    sweep      {"--sweep",       value_kind::none,   "",     "1, 2, 4 ... requests, as many as memory holds"},
    pp         {"--pp",          value_kind::number, "N",    "devices that hold layers one behind the other (1)"},
    chunk      {"--chunk",       value_kind::number, "N",    "new tokens of a prompt per step (all)"},
    prefix_hit {"--prefix-hit",  value_kind::number, "X",    "share of prompts that is cached already (0)"},
    draft      {"--draft",       value_kind::number, "N",    "tokens proposed per step, at no cost (0)"},
    acceptance {"--acceptance",  value_kind::number, "X",    "chance that a proposed token is kept (0.7)"},
    batch_wait {"--batch-wait",  value_kind::number, "N",    "steps that a prompt waits for others (0)"},
    configs    {"--configs",     value_kind::folder, "DIR",  "of rows from the standard input: org__name.json"};
// clang-format on

}  // namespace option

inline constexpr std::array serve_options = joined(
    std::array{option_row{"--input", value_kind::number, "N", "tokens of a prompt (1024)"},
               option_row{"--output", value_kind::number, "N", "tokens written for it (1024)"},
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
               option_row{"--format", value_kind::choice, "text|json", "numbers of json are exact"}},
    help_option, titled("Device", execution_options), model_options, std::array{option::quantization, option::adapter});

namespace detail {

/// Bounds that a service keeps to; 0: none. Times are longer by what measured runs may take.
struct service_level {
    double ttft = 0;
    double tpot = 0;
    double ttft_longer = 1;
    double tpot_longer = 1;

    [[nodiscard]] bool holds(const serving_figures& f) const noexcept {
        return (ttft == 0 || f.ttft * ttft_longer <= ttft) && (tpot == 0 || f.tpot * tpot_longer <= tpot);
    }
};

/// What each request shows, on a placement; an encoder beside a decoder is no server's.
inline shown_media read_shown(const arguments& given, const placement& p) {
    workload shown;
    read_media(given, shown);
    check_media(p.subject, shown);
    if (shown.has_media() && has_encoder(p.subject))
        refuse(option::audio.name, "an encoder beside a decoder is not served here: see llmcost latency --audio");
    return cost_of_media(p.subject, shown, p.how, *p.on, *p.kernels);
}

/// Which quantile of an engine's interval keeps to bounds: its end unless said; without an engine there is none.
inline double read_slo_at(const arguments& given, bool has_interval) {
    if (!given.has(option::slo_at)) return has_interval ? 0.95 : 0.5;
    if (!has_interval) refuse(option::slo_at.name, "needs --engine: kernels alone have no interval of measured runs");
    return given.real(option::slo_at, 0.95, 0.05, 0.95);
}

/// Reads `ttft=0.5s,tpot=30ms`.
inline service_level read_service_level(std::string_view list) {
    service_level level;
    for (bool more = true; more;) {
        const std::size_t comma = list.find(',');
        const std::string_view item = list.substr(0, comma);
        more = comma != std::string_view::npos;
        list.remove_prefix(more ? comma + 1 : list.size());
        const std::size_t sign = item.find('=');
        const std::string_view name = item.substr(0, sign);
        std::string_view time = sign == std::string_view::npos ? std::string_view{} : item.substr(sign + 1);
        if (name != "ttft" && name != "tpot") refuse("--slo", "expected ttft=0.5s,tpot=30ms; found " + in_quotes(item));
        double& bound = name == "ttft" ? level.ttft : level.tpot;
        if (bound != 0) refuse("--slo", std::string(name) + " is given twice");
        double scale = 0;
        for (const auto& [unit, seconds] : {std::pair<std::string_view, double>{"ms", 1e-3}, {"us", 1e-6}, {"s", 1}})
            if (scale == 0 && time.ends_with(unit)) scale = seconds, time.remove_suffix(unit.size());
        if (scale == 0) refuse("--slo", "expected a time with its unit, 30ms or 0.5s; found " + in_quotes(item));
        bound = scale * read_real("--slo", time, 1e-6, 1e9);
    }
    return level;
}

inline double money_per_million(const placement& p, const serving_figures& f) {
    return 1e6 / f.tokens_per_second / 3600 * p.price_per_hour * f.devices;
}
inline double grams_per_million(const placement& p, const serving_figures& f) {
    return 1e6 * f.joules_per_token / 3.6e6 * p.grams_per_kwh;
}

inline void put_figures(json_writer& json, const placement& p, const serving_load& load, const serving_figures& f) {
    json.member("method", "closed form").member("concurrency", load.concurrency);
    json.member("ttft_seconds", f.ttft).member("ttft_unloaded_seconds", f.ttft_unloaded).member("tpot_seconds", f.tpot);
    for (const auto& [name, seconds, error] :
         {std::tuple{"ttft", f.ttft, p.interval.ttft}, {"tpot", f.tpot, p.interval.tpot}})
        if (!p.by.name.empty())
            json.member(std::string(name) + "_lower_seconds", seconds * std::exp2(error.low))
                .member(std::string(name) + "_upper_seconds", seconds * std::exp2(error.high));
    if (!p.by.name.empty()) json.member("interval_stands_on", words_of(p.interval.by));
    json.member("tokens_per_second", f.tokens_per_second);
    json.member("tokens_per_second_per_device", f.tokens_per_second / f.devices);
    json.member("tokens_per_second_per_request", 1 / f.tpot);
    json.member("requests_per_second", f.tokens_per_second / static_cast<double>(load.output));
    json.member("running", f.running).member("capacity", f.capacity).member("devices", f.devices);
    json.member("groups", p.how.shards.data);
    json.member("watts_per_device", f.watts).member("joules_per_token", f.joules_per_token);
    if (p.price_per_hour > 0) json.member("price_per_million_tokens", money_per_million(p, f));
    if (p.grams_per_kwh > 0) json.member("grams_co2_per_million_tokens", grams_per_million(p, f));
}

/// What each device holds while so many requests run, half of each answer written.
inline count needed_of_device(const placement& p, const serving_load& load, const serving_figures& f, server& on) {
    const auto stages = static_cast<double>(load.pipeline), groups = static_cast<double>(on.groups());
    const double caches = f.running / groups * on.cache_bytes(load.input + load.output / 2);
    return count(static_cast<std::uint64_t>((on.weights() + caches) / stages)) + count(memory_of_engine(p.by).runtime);
}

inline std::string serve_text(const placement& p, const serving_load& load, const serving_figures& f, server& on) {
    const auto devices = static_cast<double>(p.how.shards.devices() * load.pipeline);
    std::string out = title_of_placement(p, load.pipeline) + '\n' + grouped(count(load.input)) + " tokens in, " +
                      grouped(count(load.output)) + " out, " + formatted("%.4g", load.concurrency) +
                      (load.concurrency == 1 ? " request" : " requests") + " at a time\n";
    if (load.shown.tokens > 0)
        out += grouped(count(load.shown.tokens)) + " of those in are shown: towers take " +
               duration(load.shown.towers.seconds) + ", with them as long as " +
               grouped(count(on.tokens_as_long_as_shown(load))) + " tokens of a text\n";
    const auto line = [&](std::string_view name, const std::string& text) { out += "  " + left(name, 26) + text + '\n'; };
    const auto interval = [&](double seconds, serving_error e) {
        return p.by.name.empty()
                   ? std::string{}
                   : duration(seconds * std::exp2(e.low)) + " to " + duration(seconds * std::exp2(e.high)) + "; ";
    };
    line("time to first token",
         duration(f.ttft) + "  (" + interval(f.ttft, p.interval.ttft) + "alone " + duration(f.ttft_unloaded) + ')');
    line("time per output token",
         duration(f.tpot) + "  (" + interval(f.tpot, p.interval.tpot) + formatted("%.1f tokens/s each)", 1 / f.tpot));
    if (!p.by.name.empty()) line("nine in ten runs", "lie in these intervals, by " + std::string(words_of(p.interval.by)));
    line("tokens per second", formatted("%.0f  (%.0f per device)", f.tokens_per_second, f.tokens_per_second / devices));
    // whole requests of a group first: all groups together hold so many times as many
    const auto groups = static_cast<double>(on.groups());
    const double room = std::round(f.capacity / groups), all_run = f.running < f.capacity ? f.running : groups * room;
    line("memory of a device",
         formatted("%.1f GB of weights, room for %.0f", on.weights() / 1e9 / static_cast<double>(load.pipeline), room) +
             (room < 1.5 ? " request" : " requests") +
             (groups > 1 ? formatted(" in each of %.0f groups, %.0f in all", groups, groups * room) : "") +
             (on.takes_all_memory(load.input + load.output / 2, load.pipeline) ? " if the engine may take all of it" : ""));
    if (const std::string network = words_on_network(p, load.pipeline); !network.empty()) line("network", network);
    if (load.concurrency - f.running >= 0.5)
        line("waiting", formatted("%.0f requests: %.0f run at a time", load.concurrency - all_run, all_run));
    if (p.on->watts > 0)
        line("energy (about)", formatted("%.0f W per device, %.3g J per output token", f.watts, f.joules_per_token));
    if (p.price_per_hour > 0) line("money", formatted("%.3g per million output tokens", money_per_million(p, f)));
    if (p.grams_per_kwh > 0) line("carbon", formatted("%.3g g CO2 per million output tokens", grams_per_million(p, f)));
    if (const std::string measured = line_on_measurements(p); !measured.empty()) out += "  " + measured;
    if (p.by.name.empty()) out += "  no --engine: kernels alone, without the engine's own time\n";
    out += "  in closed form: means of a steady load; llmcost simulate goes step by step (bursts, percentiles)\n";
    return out + line_on_room(room_of(p, load.pipeline), needed_of_device(p, load, f, on));
}

/// A positive number in four digits, none of which makes it larger.
inline std::string rounded_down(double x) {
    const double unit = std::pow(10, std::floor(std::log10(x)) - 3);
    return formatted("%.4g", std::floor(x / unit) * unit);
}

/// The most requests at a time that keep to a level; 0 where one alone does not.
inline double most_under(server& on, serving_load load, const service_level& level) {
    const auto holds = [&](double n) {
        load.concurrency = n;
        return level.holds(on(load));
    };
    const double most =
        std::floor(on.capacity(load.input + load.output / 2, load.pipeline) * static_cast<double>(on.groups()));
    if (most < 1 || !holds(1)) return 0;
    double low = 1, high = most;
    if (holds(high)) return high;
    while (high - low > 1) {
        const double middle = std::floor((low + high) / 2);
        (holds(middle) ? low : high) = middle;
    }
    return low;
}

inline std::string sweep_text(const placement& p, const std::vector<std::pair<serving_load, serving_figures>>& all) {
    std::string out = title_of_placement(p, all.front().first.pipeline) + "\n" + right("requests", 9) +
                      right("first token", 13) + right("per token", 12) + right("tokens/s", 11) + right("per device", 12) +
                      right("J/token", 10) + (p.price_per_hour > 0 ? right("per million", 13) : "") +
                      (p.grams_per_kwh > 0 ? right("g CO2/million", 15) : "") + '\n';
    for (const auto& [load, f] : all)
        out += right(formatted("%.0f", load.concurrency), 9) + right(duration(f.ttft), 13) + right(duration(f.tpot), 12) +
               right(formatted("%.0f", f.tokens_per_second), 11) +
               right(formatted("%.0f", f.tokens_per_second / f.devices), 12) +
               right(formatted("%.3g", f.joules_per_token), 10) +
               (p.price_per_hour > 0 ? right(formatted("%.3g", money_per_million(p, f)), 13) : "") +
               (p.grams_per_kwh > 0 ? right(formatted("%.3g", grams_per_million(p, f)), 15) : "") + '\n';
    return out + line_on_measurements(p) + "in closed form (llmcost simulate goes step by step)\n";
}

/// The answer for one load, for as many requests as keep to a level, or for more and more of them.
inline std::string served(const arguments& given, const placement& p, serving_load load, server& on) {
    const bool text = given.text(option::format, "text") == "text";
    const double room = on.capacity(load.input + load.output / 2, load.pipeline);
    json_writer json;
    if (given.has(option::sweep)) {
        std::vector<std::pair<serving_load, serving_figures>> all;
        const double most = std::floor(room * static_cast<double>(on.groups()));
        for (double n = 1;; n = n * 2 < most ? n * 2 : most) {
            load.concurrency = n;
            all.emplace_back(load, on(load));
            if (n >= most) break;
        }
        if (text) return sweep_text(p, all);
        put_model(json.object(), p);
        json.member("device", p.on->names[0]).key("sweep").array();
        for (const auto& [at, f] : all) json.object(), put_figures(json, p, at, f), json.end_object();
        json.end_array();
        put_unmeasured(json, p);
        return json.end_object().text() + '\n';
    }
    serving_figures f;
    if (given.has(option::slo)) {
        service_level level = read_service_level(given.text(option::slo));
        const double at = read_slo_at(given, !p.by.name.empty());
        level.ttft_longer = std::exp2(p.interval.ttft.at(at)), level.tpot_longer = std::exp2(p.interval.tpot.at(at));
        load.concurrency = most_under(on, load, level);
        if (load.concurrency == 0) {
            load.concurrency = 1;
            const serving_figures one = on(load);
            refuse("--slo", "cannot be kept: one request alone takes " + std::string(at > 0.5 ? "up to " : "") +
                                duration(one.ttft * level.ttft_longer) + " to its first token and " +
                                duration(one.tpot * level.tpot_longer) + " for each after it" +
                                (at > 0.5 ? formatted(" (--slo-at %.4g; 0.5: the middle)", at) : ""));
        }
        f = on(load);
    } else if (given.has(option::rate)) {
        const double rate = given.real(option::rate, 1, 1e-9, 1e9);
        const auto steady = on.at_rate(load, rate);
        if (!steady)
            refuse("--rate", "requests arrive faster than they can be answered: at most " +
                                 rounded_down(on.highest_rate(load)) + " a second");
        f = *steady, load.concurrency = rate * (f.ttft + static_cast<double>(load.output - 1) * f.tpot);
    } else {
        f = on(load);
    }
    if (text) return serve_text(p, load, f, on);
    json.object();
    put_figures(json, p, load, f);
    json.member("input", load.input).member("output", load.output);
    if (load.shown.tokens > 0)
        json.member("shown_tokens", load.shown.tokens)
            .member("tower_seconds", load.shown.towers.seconds)
            .member("shown_in_text_tokens", on.tokens_as_long_as_shown(load));
    put_model(json, p);
    json.member("device", p.on->names[0]).member("engine", p.by.name).member("dtype", p.how.products->name);
    json.member("cache_dtype", p.how.cache->name)
        .member("weight_bytes_per_device", on.weights() / static_cast<double>(load.pipeline));
    put_memory(json, p, needed_of_device(p, load, f, on), load.pipeline);
    put_unmeasured(json, p);
    return json.end_object().text() + '\n';
}

}  // namespace detail

/// What `llmcost serve …` prints.
[[nodiscard]] inline answered serve_answer(const arguments& given, const program& io) {
    if (given.has(option::configs)) {
        for (const option_row& o : given.rows())
            if (!o.is(option::configs) && !o.is(option::calibration) && !o.is(option::offline) && !o.is(option::network) &&
                given.has(o))
                refuse(o.name, "cannot stand together with --configs, whose rows say what is asked");
        const double network =
            given.has(option::network) ? read_network(option::network.name, given.text(option::network)) : 0;
        return serve_table(std::string(given.text(option::configs)), std::string(given.text(option::calibration)), io.models,
                           network)
            .priced(io.in, io.err);
    }
    serving_load load;
    load.input = given.number(option::input, 1024), load.output = given.number(option::output, 1024);
    load.concurrency = given.real(option::concurrency, 1, 1, 1e9);
    load.pipeline = given.number(option::pp, 1), load.chunk = given.number(option::chunk, 0);
    load.prefix_hit = given.real(option::prefix_hit, 0, 0, 1);
    load.draft = given.number(option::draft, 0, 0);
    load.acceptance = given.real(option::acceptance, 0.7, 0, 1);
    load.batch_wait = given.number(option::batch_wait, 0, 0);
    if (load.draft > 64) refuse("--draft", "expected a number up to 64");
    if (load.draft == 0 && given.has(option::acceptance)) refuse("--acceptance", "needs --draft: tokens to keep");
    if (given.has(option::slo_at) && !given.has(option::slo)) refuse(option::slo_at.name, "needs --slo: what it keeps");
    const bool several =
        given.has(option::slo) + given.has(option::sweep) + given.has(option::rate) + given.has(option::concurrency) > 1;
    if (several) refuse("--concurrency", "one of --concurrency, --rate, --slo and --sweep at a time");
    placement p = io.place(given, io);
    check_memory(*p.on);
    check_stages("--pp", p.subject, load.pipeline);
    check_writes(p.subject);
    load.shown = detail::read_shown(given, p);
    load.input += load.shown.tokens;
    server on(p.subject, p.how, p.by, *p.on, *p.kernels);
    if (load.chunk > 0 && load.input / load.chunk > 4096) refuse("--chunk", "a prompt of more than 4,096 chunks");
    if (const std::string problem = no_room(on, load, *p.on); !problem.empty())
        throw error(errc::does_not_fit, printable(p.on->names[0]), problem);
    judge(p, load.input);
    std::string text = detail::served(given, p, load, on);
    put_notes(p, load.input + load.output, io);
    return text;
}

inline constexpr std::array<example_row, 2> serve_examples{{
    {"llmcost serve --model Qwen/Qwen3-8B --device h200 --engine vllm --concurrency 16", "sixteen requests at a time"},
    {"llmcost serve --model Qwen/Qwen3-8B --device h200 --engine vllm --slo ttft=0.5s,tpot=30ms", "as many as keep to it"},
}};

inline constexpr command serve_command{
    .name = "serve",
    .meaning = "how many tokens a second a server gives, and how soon",
    .usage = "(--model NAME | --config FILE) --device NAME [option]...\n--configs DIR [option]... < RUNS.csv",
    .about =
        "Time to first token, time per output token and throughput of continuous batching, in\n"
        "closed form: means of a steady load. llmcost simulate sends requests step by step.\n"
        "RUNS.csv: model_path, system, backend, isl, osl, batch_size, tp_size ...; behind\n"
        "each row predicted_ttft_ms, predicted_tpot_ms and error (docs/cli.md).\n",
    .options = serve_options,
    .answer = serve_answer,
    .examples = serve_examples};

}  // namespace llmcost::cli
