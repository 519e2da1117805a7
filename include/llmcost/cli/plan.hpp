// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/cli/engine_command.hpp>
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
    tp_of_plan   {"--tp",           value_kind::number, "N",    "only so many devices that share each layer (1, 2, 4, 8)"},
    pp_of_plan   {"--pp",           value_kind::number, "N",    "only so many stages of layers (1, 2, 4 ... as fit)"},
    dp_of_plan   {"--dp",           value_kind::number, "N",    "only so many groups that share experts (1, 2, 4, 8)"},
    types_tried  {"--dtype",        value_kind::text,   "TYPE,...", "of linear layers: each is tried (as the checkpoint)", {}, detail::operand_words},
    caches_tried {"--cache-dtype",  value_kind::text,   "TYPE,...", "of the cache: each is tried (fp8 with fp8 and nvfp4; else 16 bits)", {}, detail::operand_words},
    ep_of_plan   {"--ep",           value_kind::number, "N",    "only so many groups of experts (1, or all devices)"};
// clang-format on

}  // namespace option

inline constexpr std::array plan_options = joined(
    std::array{option::bounds,      option::slo_at,
               option::clients,     option::rate,
               option::trace,       option::lengths_in,
               option::lengths_out, option::how_many,
               option::burstiness,  option::turns,
               option::pause,       option::seed,
               option::prefix_hit,  option::trace_block,
               option::image,       option::images,
               option::video,       option::videos,
               option::audio,       option::devices,
               option::keep_share,  option::together,
               option::top_of_plan, option_row{"--format", value_kind::choice, "text|json", "numbers of json are exact"},
               option::plot},
    help_option,
    titled("Device", std::array{option::device, option::engines_tried, option::engine_version, option::calibration,
                                option::types_tried, option::experts_dtype, option::caches_tried, option::routing,
                                option::execution, option::tp_of_plan, option::pp_of_plan, option::dp_of_plan,
                                option::ep_of_plan, option::network, option::price, option::carbon}),
    model_options, std::array{option::quantization});

namespace detail {

/// An engine on devices; it outlives its server.
struct placed_server {
    placement where;
    std::optional<server> on{};
    shown_media shown{};     ///< by each request
    bool quantises = false;  ///< its weights are in another type than the checkpoint's
};
/// A kind of engine that is tried, its layers on so many stages of such devices.
struct placed_kind {
    placed_server* at = nullptr;
    std::int64_t stages = 1;

    [[nodiscard]] const placement& where() const noexcept { return at->where; }
    [[nodiscard]] std::string command(const tried_deployment& t) const {
        return start_command(where(), stages, t.policy, at->quantises);
    }
    /// What the command cannot say.
    [[nodiscard]] std::string remark() const {
        std::string text;
        if (nodes() > 1) text += "on " + std::to_string(nodes()) + " nodes";
        if (at->quantises && is_empty(quantised_on_loading(where(), true)))
            text += (text.empty() ? "" : ", ") + std::string("a checkpoint in ") + std::string(where().how.products->name);
        return text.empty() ? text : "  (" + text + ')';
    }
    /// Nodes that an engine stands on.
    [[nodiscard]] std::int64_t nodes() const noexcept {
        return (where().how.shards.devices() * stages + where().how.node - 1) / where().how.node;
    }
};

[[nodiscard]] inline double money_per_million(const placement& p, const tried_deployment& t) {
    return 1e6 / t.summary.output_tokens_per_second / 3600 * p.price_per_hour * t.devices;
}

[[nodiscard]] inline std::string plan_table(const std::vector<placed_kind>& kinds,
                                            const std::vector<tried_deployment>& list) {
    const bool priced = kinds.front().where().price_per_hour > 0;
    const auto types_of = [](const placed_kind& k) {
        return std::string(k.where().how.products->name) + ", " + std::string(k.where().how.cache->name);
    };
    std::size_t wide = 0;  // of types, where they differ
    for (const placed_kind& k : kinds)
        if (types_of(k) != types_of(kinds.front()))
            wide = std::max({wide, types_of(k).size(), types_of(kinds.front()).size()});
    if (wide > 0) wide = std::max<std::size_t>(wide, 14) + 2;
    std::string out = right("devices", 11) + "  " + left("engine", 8) + (wide > 0 ? left("weights, cache", wide) : "") +
                      right("tp", 3) + right("pp", 4) + right("dp", 4) + right("ep", 4) + right("engines", 9) +
                      right("a step", 9) + right("first token p99", 17) + right("per token p99", 15) + right("keep", 8) +
                      right("tokens/s", 10) + (priced ? right("per million", 13) : "") + '\n';
    for (std::size_t i = 0; i < list.size(); ++i) {
        const tried_deployment& t = list[i];
        const placed_kind& k = kinds[t.kind];
        const sharding& s = k.where().how.shards;
        const std::string engines = t.separated() ? std::to_string(t.replicas) + " + " + std::to_string(t.writing_replicas)
                                                  : std::to_string(t.replicas);
        out += right(std::to_string(i + 1), 3) + right(formatted("%.0f", t.devices), 8) + "  " + left(k.where().by.name, 8) +
               (wide > 0 ? left(types_of(k), wide) : "") + right(std::to_string(s.tensor), 3) +
               right(std::to_string(k.stages), 4) + right(std::to_string(s.data), 4) + right(std::to_string(s.expert), 4) +
               right(engines, 9) + right(grouped(count(t.policy.tokens_per_step)), 9) +
               right(duration(t.summary.ttft.p99), 17) + right(duration(t.summary.tpot.p99), 15) +
               right(formatted("%.1f %%", 100 * t.summary.good_share), 8) +
               right(formatted("%.0f", t.summary.output_tokens_per_second), 10) +
               (priced ? right(formatted("%.3g", money_per_million(k.where(), t)), 13) : "") + '\n';
    }
    return out;
}

[[nodiscard]] inline std::string plan_text(const std::vector<placed_kind>& kinds, const search_result& found,
                                           const std::string& title) {
    std::string out = title + "\n\n";
    const bool keeps = !found.keeping.empty();
    const std::vector<tried_deployment>& list = keeps ? found.keeping : found.others;
    if (!keeps) out += "None keeps to it; the nearest, with all devices:\n";
    if (list.empty()) return out + "Nothing could be tried: the model has no room, or one request alone is too slow.\n";
    out += plan_table(kinds, list) + "\nAn engine of each is started so:\n";
    for (std::size_t i = 0; i < list.size(); ++i) {
        const placed_kind& k = kinds[list[i].kind];
        out += right(std::to_string(i + 1), 3) + "  " + k.command(list[i]) + k.remark() + '\n';
    }
    for (std::size_t i = 0; i < list.size(); ++i)
        if (list[i].separated())
            out += right(std::to_string(i + 1), 3) + "  (engines for prompts + engines that write, joined as " +
                   std::string(kinds[list[i].kind].where().by.name) + "'s disaggregated serving)\n";
    out += "\n" + grouped(count(found.candidates)) + " candidates, " + grouped(count(found.simulated)) + " simulations";
    if (found.without_room > 0) out += "; " + grouped(count(found.without_room)) + " have no room";
    if (found.too_slow > 0) out += "; on " + grouped(count(found.too_slow)) + " one request alone is too slow";
    if (found.larger > 0) out += "; " + grouped(count(found.larger)) + " would need more devices";
    return out + '\n';
}

[[nodiscard]] inline std::string plan_json(const std::vector<placed_kind>& kinds, const search_result& found) {
    json_writer json;
    json.object();
    if (!kinds.empty()) put_model(json, kinds.front().where());
    json.member("keeps", !found.keeping.empty()).member("candidates", static_cast<std::int64_t>(found.candidates));
    json.member("simulated", static_cast<std::int64_t>(found.simulated));
    json.member("without_room", static_cast<std::int64_t>(found.without_room));
    json.member("too_slow_alone", static_cast<std::int64_t>(found.too_slow));
    json.member("need_more_devices", static_cast<std::int64_t>(found.larger)).key("deployments").array();
    for (const tried_deployment& t : found.keeping.empty() ? found.others : found.keeping) {
        const placed_kind& k = kinds[t.kind];
        const sharding& s = k.where().how.shards;
        json.object().member("devices", t.devices).member("engine", k.where().by.name);
        json.member("tensor_parallel", s.tensor).member("pipeline_parallel", k.stages).member("data_parallel", s.data);
        json.member("dtype", k.where().how.products->name).member("cache_dtype", k.where().how.cache->name);
        json.member("expert_parallel", s.expert).member("nodes_of_engine", k.nodes());
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
        json.member("interval_stands_on", words_of(k.where().interval.by)).member("good_share", t.summary.good_share);
        json.member("output_tokens_per_second", t.summary.output_tokens_per_second);
        if (k.where().price_per_hour > 0) json.member("price_per_million_tokens", money_per_million(k.where(), t));
        json.member("command", k.command(t)).end_object();
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
        add_to_line(chart.lines, std::string(kinds[t.kind].where().by.name), all.back().first, all.back().second);
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

/// The numbers of an option that are tried: the one that is given, else powers of two up to a bound.
inline std::vector<std::int64_t> numbers_to_try(const arguments& args, const option_row& o, std::int64_t most) {
    if (args.has(o)) return {args.number(o, 1)};
    std::vector<std::int64_t> all;
    for (std::int64_t n = 1; n <= most; n *= 2) all.push_back(n);
    return all;
}
/// How layers, requests and experts may be divided over at most so many devices; experts are whole or on all devices, and
/// on all where groups with requests of their own share them.
inline std::vector<sharding> splits_to_try(const arguments& args, std::int64_t devices) {
    const std::int64_t most = std::min<std::int64_t>(devices, execution::most_devices_of_a_node);
    std::vector<sharding> all;
    for (const std::int64_t tensor : numbers_to_try(args, option::tp, most))
        for (const std::int64_t data : numbers_to_try(args, option::dp, std::max<std::int64_t>(1, most / tensor))) {
            std::vector<std::int64_t> experts{args.number(option::ep, tensor * data)};
            if (!args.has(option::ep) && data == 1 && tensor > 1) experts.insert(experts.begin(), 1);
            for (const std::int64_t expert : experts) all.push_back({tensor, data, 1, expert});
        }
    return all;
}

/// The types of a list; of none one that says nothing.
inline std::vector<std::string_view> types_to_try(const arguments& args, const option_row& o) {
    std::vector<std::string_view> all;
    std::string_view rest = args.text(o);
    for (bool more = true; more;) {
        const std::size_t comma = rest.find(',');
        all.push_back(rest.substr(0, comma));
        if (args.has(o)) (void)operand_of(o.name, all.back());
        more = comma != std::string_view::npos;
        if (more) rest.remove_prefix(comma + 1);
    }
    return all;
}
/// In what an engine runs a checkpoint that nobody quantises; null where that is not known.
inline const operand_row* as_stored(arguments args, const program& io) {
    for (const option_row& o : {option::linear_dtype, option::kept_dtype, option::tp, option::dp, option::ep})
        args.leave_out(o);
    try {
        return io.place(args, io).how.products;
    } catch (const error&) {
        return nullptr;
    }
}

/// Engines on devices that the model can be split over.
inline std::deque<placed_server> servers_of(arguments args, const program& io, std::int64_t devices,
                                            std::deque<std::string>& words) {
    std::deque<placed_server> all;
    std::string problem;
    const engine* const only = args.has(option::engine) ? &engine_of("--engine", args.text(option::engine)) : nullptr;
    const std::vector<sharding> splits = splits_to_try(args, devices);
    const std::vector<std::string_view> types = types_to_try(args, option::linear_dtype),
                                        caches = types_to_try(args, option::kept_dtype);
    bool routes = true;
    const auto place = [&](const operand_row* stored) {
        try {
            placed_server p{io.place(args, io)};
            routes = p.where.subject.dims.moe.num_experts > 1;
            check_memory(*p.where.on), check_writes(p.where.subject);
            p.shown = read_shown(args, p.where);
            p.quantises = stored != nullptr && p.where.how.products != stored;
            all.push_back(std::move(p));
        } catch (const error& refused) {  // another engine, split or type may do
            if (refused.code() != errc::usage) throw;
            problem = refused.what();
        }
    };
    for (const engine& e : engines) {
        if (only != nullptr && only != &e) continue;
        args.replace(option::engine, words.emplace_back(e.name));
        const operand_row* const stored = types.front().empty() ? nullptr : as_stored(args, io);
        for (const sharding& s : splits) {
            const bool own =
                s.data == 1 || s.tensor == 1 || !(e.name == string_ref("trtllm"));  // its groups are of one device
            if (!own || (!routes && s.expert > 1)) continue;
            args.replace(option::tp, words.emplace_back(std::to_string(s.tensor)));
            args.replace(option::dp, words.emplace_back(std::to_string(s.data)));
            args.replace(option::ep, words.emplace_back(std::to_string(s.expert)));
            for (const std::string_view type : types)
                for (const std::string_view cache : caches) {
                    if (!type.empty()) args.replace(option::linear_dtype, type);
                    if (!cache.empty()) args.replace(option::kept_dtype, cache);
                    place(stored);
                }
        }
    }
    if (all.empty()) throw error(errc::usage, "plan", problem);
    for (placed_server& p : all) p.on.emplace(p.where.subject, p.where.how, p.where.by, *p.where.on, *p.where.kernels);
    return all;
}
/// The same with their layers on one stage and on more, on at most so many devices.
inline std::vector<placed_kind> kinds_of(std::deque<placed_server>& servers, const arguments& args, std::int64_t devices) {
    std::vector<placed_kind> kinds;
    for (placed_server& s : servers) {
        const std::int64_t most = std::min(devices / s.where.how.shards.devices(), s.where.subject.dims.num_hidden_layers);
        for (const std::int64_t stages : numbers_to_try(args, option::pp_of_plan, std::max<std::int64_t>(1, most))) {
            check_stages("--pp", s.where.subject, stages);
            kinds.push_back({&s, stages});
        }
    }
    return kinds;
}
/// An engine's own limit, then others.
inline std::vector<std::int64_t> limits_to_try(std::int64_t own, std::initializer_list<std::int64_t> others) {
    std::vector<std::int64_t> all{own};
    for (const std::int64_t n : others)
        if (n != own) all.push_back(n);
    return all;
}

}  // namespace detail

/// What `llmcost plan …` prints.
[[nodiscard]] inline answered plan_answer(const arguments& args, const program& io) {
    if (!args.has(option::bounds)) refuse("--slo", "is missing: what the plan has to keep, as ttft=1s,tpot=30ms");
    const request_bounds bounds = detail::read_bounds(args.text(option::bounds));
    simulated_deployment as;
    search_limits limits;
    const std::int64_t devices = args.number(option::devices, 8);
    if (devices > 4096) refuse("--devices", "expected at most 4096");
    limits.devices = static_cast<double>(devices), limits.good_share = args.real(option::keep_share, 0.99, 0, 1);
    limits.separated = !args.has(option::together), limits.to_the_end = args.has(option::plot);
    limits.top = static_cast<std::size_t>(args.number(option::top_of_plan, 5));
    std::deque<std::string> words;
    std::deque<detail::placed_server> servers = detail::servers_of(args, io, devices, words);
    const detail::asked_load load = detail::read_load(args, as, servers.front().shown.tokens);
    for (detail::placed_server& s : servers) judge(s.where, load.requests.front().input);
    const std::vector<detail::placed_kind> placed = detail::kinds_of(servers, args, devices);
    const double at = detail::read_slo_at(args, true);
    const placement& any = placed.front().where();
    detail::use_network(as, *any.on);
    std::vector<deployment_search::kind> kinds;
    for (const detail::placed_kind& k : placed) {
        const placement& p = k.where();
        const scheduling_policy policy = policy_of(p.by.name, *p.on);
        request_bounds own = bounds;  // a measured run may take longer than a simulated one
        own.ttft_longer = std::exp2(p.interval.simulated_ttft.at(at));
        own.tpot_longer = std::exp2(p.interval.simulated_tpot.at(at));
        kinds.push_back(
            {.by =
                 {&*k.at->on, policy, host_times_of(p.by.name), p.subject.dims.moe.num_experts > 1, {}, k.at->shown.towers},
             .stages = k.stages,
             .budgets = detail::limits_to_try(policy.tokens_per_step, {2048, 4096, 8192, 16384}),
             .sequences = detail::limits_to_try(policy.sequences, {256, 64}),
             .bounds = own});
    }
    const search_result found = deployment_search(load.requests, as, limits)(kinds);
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
    .usage =
        "(--model NAME | --config FILE) --device NAME --slo LIST\n[--concurrency N | --rate X | --trace FILE] [option]...",
    .about =
        "Tries engines, devices that share layers, stages of layers, groups with requests of their\n"
        "own, divided experts, limits of a step, and engines for prompts beside engines that write;\n"
        "simulates what could be among the best (llmcost simulate) and prints it with the engine's\n"
        "own command. Exit code 8: none keeps to it.\n",
    .options = plan_options,
    .answer = plan_answer,
    .examples = plan_examples};

}  // namespace llmcost::cli
