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

#include <llmcost/cli/commands/simulate.hpp>
#include <llmcost/cli/pages/engine_command.hpp>
#include <llmcost/simulation/deployment_search.hpp>

// `llmcost plan`: which engines on how many devices keep to bounds under a load.
namespace llmcost::cli {

namespace option {

// clang-format off
inline constexpr option_spec
    devices      {"--devices",      value_type::number, "N",    "devices that there are (8)", "Deployment"},
    min_slo_attainment   {"--keep",         value_type::number, "X",    "share of requests that keeps to --slo (0.99)"},
    engines_tried{"--engine",       value_type::text,   "ENGINE", "only this one: trtllm, vllm, sglang (all that run there)", {}, detail::engine_names},
    no_disaggregation     {"--no-separate",  value_type::none,   "",     "no engines for prompts beside engines that write"},
    top_of_plan  {"--top",          value_type::number, "N",    "of the best (5)"},
    tp_of_plan   {"--tp",           value_type::number, "N",    "only so many devices that share each layer (1, 2, 4, 8)"},
    pp_of_plan   {"--pp",           value_type::number, "N",    "only so many stages of layers (1, 2, 4 ... as fit)"},
    dp_of_plan   {"--dp",           value_type::number, "N",    "only so many groups that share experts (1, 2, 4, 8)"},
    types_tried  {"--dtype",        value_type::text,   "TYPE,...", "of linear layers: each is tried (as the checkpoint)", {}, detail::operand_names},
    caches_tried {"--cache-dtype",  value_type::text,   "TYPE,...", "of the cache: each is tried (fp8 with fp8 and nvfp4; else 16 bits)", {}, detail::operand_names},
    ep_of_plan   {"--ep",           value_type::number, "N",    "only so many groups of experts (1, or all devices)"};
// clang-format on

}  // namespace option

inline constexpr std::array plan_options =
    concatenate(std::array{option::bounds,
                           option::slo_at,
                           option::clients,
                           option::rate,
                           option::trace,
                           option::lengths_in,
                           option::lengths_out,
                           option::num_requests,
                           option::burstiness,
                           option::turns,
                           option::pause,
                           option::seed,
                           option::prefix_hit,
                           option::trace_block,
                           option::image,
                           option::images,
                           option::video,
                           option::videos,
                           option::audio,
                           option::devices,
                           option::min_slo_attainment,
                           option::no_disaggregation,
                           option::top_of_plan,
                           option_spec{"--format", value_type::choice, "text|json", "numbers of json are exact"},
                           option::plot},
                help_option,
                with_section("Device", std::array{option::device, option::engines_tried, option::engine_version,
                                                  option::calibration, option::types_tried, option::experts_dtype,
                                                  option::caches_tried, option::routing, option::execution,
                                                  option::tp_of_plan, option::pp_of_plan, option::dp_of_plan,
                                                  option::ep_of_plan, option::network, option::price, option::carbon}),
                model_options, std::array{option::quantization});

namespace detail {

/// An engine on devices; it outlives its server.
struct deployed_server {
    deployment deployment_of_server;
    std::optional<llmcost::server> server{};
    multimodal_cost multimodal_inputs{};  ///< by each request
    bool quantizes_checkpoint = false;    ///< its weights are in another type than the checkpoint's
};
/// A kind of engine that is tried, its layers on so many stages of such devices.
struct deployed_engine {
    deployed_server* server = nullptr;
    std::int64_t pipeline_parallel_size = 1;

    [[nodiscard]] const deployment& deployment_of_server() const noexcept { return server->deployment_of_server; }
    [[nodiscard]] std::string launch_command(const evaluated_deployment& t) const {
        return cli::launch_command(deployment_of_server(), pipeline_parallel_size, t.policy,
                                   server->quantizes_checkpoint);
    }
    /// What the command cannot say.
    [[nodiscard]] std::string launch_remark() const {
        std::string text;
        if (num_nodes() > 1) text += "on " + std::to_string(num_nodes()) + " nodes";
        if (server->quantizes_checkpoint && is_empty(load_time_quantization(deployment_of_server(), true)))
            text += (text.empty() ? "" : ", ") + std::string("a checkpoint in ") +
                    std::string(deployment_of_server().execution.linear_type->name);
        return text.empty() ? text : "  (" + text + ')';
    }
    /// Nodes that an engine stands on.
    [[nodiscard]] std::int64_t num_nodes() const noexcept {
        return (deployment_of_server().execution.parallel.world_size() * pipeline_parallel_size +
                deployment_of_server().execution.devices_per_node - 1) /
               deployment_of_server().execution.devices_per_node;
    }
};

[[nodiscard]] inline double money_per_million(const deployment& p, const evaluated_deployment& t) {
    return 1e6 / t.summary.output_tokens_per_second / 3600 * p.price_per_hour * t.devices;
}

[[nodiscard]] inline std::string plan_table(const std::vector<deployed_engine>& kinds,
                                            const std::vector<evaluated_deployment>& list) {
    const bool priced = kinds.front().deployment_of_server().price_per_hour > 0;
    const auto types_of = [](const deployed_engine& k) {
        return std::string(k.deployment_of_server().execution.linear_type->name) + ", " +
               std::string(k.deployment_of_server().execution.kv_cache_type->name);
    };
    std::size_t width = 0;  // of types, where they differ
    for (const deployed_engine& k : kinds)
        if (types_of(k) != types_of(kinds.front()))
            width = std::max({width, types_of(k).size(), types_of(kinds.front()).size()});
    if (width > 0) width = std::max<std::size_t>(width, 14) + 2;
    std::string out = right("devices", 11) + "  " + left("engine", 8) +
                      (width > 0 ? left("weights, cache", width) : "") + right("tp", 3) + right("pp", 4) +
                      right("dp", 4) + right("ep", 4) + right("engines", 9) + right("a step", 9) +
                      right("first token p99", 17) + right("per token p99", 15) + right("keep", 8) +
                      right("tokens/s", 10) + (priced ? right("per million", 13) : "") + '\n';
    for (std::size_t i = 0; i < list.size(); ++i) {
        const evaluated_deployment& t = list[i];
        const deployed_engine& k = kinds[t.candidate_index];
        const parallel_config& s = k.deployment_of_server().execution.parallel;
        const std::string engines = t.is_disaggregated()
                                        ? std::to_string(t.replicas) + " + " + std::to_string(t.num_decode_workers)
                                        : std::to_string(t.replicas);
        out += right(std::to_string(i + 1), 3) + right(formatted("%.0f", t.devices), 8) + "  " +
               left(k.deployment_of_server().engine.name, 8) + (width > 0 ? left(types_of(k), width) : "") +
               right(std::to_string(s.tensor_parallel_size), 3) + right(std::to_string(k.pipeline_parallel_size), 4) +
               right(std::to_string(s.data_parallel_size), 4) + right(std::to_string(s.expert_parallel_size), 4) +
               right(engines, 9) + right(grouped(count(t.policy.max_num_batched_tokens)), 9) +
               right(duration(t.summary.ttft.p99), 17) + right(duration(t.summary.tpot.p99), 15) +
               right(formatted("%.1f %%", 100 * t.summary.slo_attainment), 8) +
               right(formatted("%.0f", t.summary.output_tokens_per_second), 10) +
               (priced ? right(formatted("%.3g", money_per_million(k.deployment_of_server(), t)), 13) : "") + '\n';
    }
    return out;
}

[[nodiscard]] inline std::string plan_text(const std::vector<deployed_engine>& kinds, const search_result& found,
                                           const std::string& title) {
    std::string out = title + "\n\n";
    const bool keeps = !found.feasible.empty();
    const std::vector<evaluated_deployment>& list = keeps ? found.feasible : found.infeasible;
    if (!keeps) out += "None keeps to it; the nearest, with all devices:\n";
    if (list.empty()) return out + "Nothing could be tried: the model has no room, or one request alone is too slow.\n";
    out += plan_table(kinds, list) + "\nAn engine of each is started so:\n";
    for (std::size_t i = 0; i < list.size(); ++i) {
        const deployed_engine& k = kinds[list[i].candidate_index];
        out += right(std::to_string(i + 1), 3) + "  " + k.launch_command(list[i]) + k.launch_remark() + '\n';
    }
    for (std::size_t i = 0; i < list.size(); ++i)
        if (list[i].is_disaggregated())
            out += right(std::to_string(i + 1), 3) + "  (engines for prompts + engines that write, joined as " +
                   std::string(kinds[list[i].candidate_index].deployment_of_server().engine.name) +
                   "'s disaggregated serving)\n";
    out += "\n" + grouped(count(found.num_candidates)) + " candidates, " + grouped(count(found.num_simulations)) +
           " simulations";
    if (found.num_out_of_memory > 0) out += "; " + grouped(count(found.num_out_of_memory)) + " have no room";
    if (found.num_too_slow > 0) out += "; on " + grouped(count(found.num_too_slow)) + " one request alone is too slow";
    if (found.num_exceeding_devices > 0)
        out += "; " + grouped(count(found.num_exceeding_devices)) + " would need more devices";
    return out + '\n';
}

[[nodiscard]] inline std::string plan_json(const std::vector<deployed_engine>& kinds, const search_result& found) {
    json_writer json;
    json.object();
    if (!kinds.empty()) write_model(json, kinds.front().deployment_of_server());
    json.member("keeps", !found.feasible.empty()).member("candidates", static_cast<std::int64_t>(found.num_candidates));
    json.member("simulated", static_cast<std::int64_t>(found.num_simulations));
    json.member("without_room", static_cast<std::int64_t>(found.num_out_of_memory));
    json.member("too_slow_alone", static_cast<std::int64_t>(found.num_too_slow));
    json.member("need_more_devices", static_cast<std::int64_t>(found.num_exceeding_devices)).key("deployments").array();
    for (const evaluated_deployment& t : found.feasible.empty() ? found.infeasible : found.feasible) {
        const deployed_engine& k = kinds[t.candidate_index];
        const parallel_config& s = k.deployment_of_server().execution.parallel;
        json.object().member("devices", t.devices).member("engine", k.deployment_of_server().engine.name);
        json.member("tensor_parallel", s.tensor_parallel_size)
            .member("pipeline_parallel", k.pipeline_parallel_size)
            .member("data_parallel", s.data_parallel_size);
        json.member("dtype", k.deployment_of_server().execution.linear_type->name)
            .member("cache_dtype", k.deployment_of_server().execution.kv_cache_type->name);
        json.member("expert_parallel", s.expert_parallel_size).member("nodes_of_engine", k.num_nodes());
        json.member("engines", t.replicas).member("writing_engines", t.num_decode_workers);
        json.member("tokens_per_step", t.policy.max_num_batched_tokens).member("sequences", t.policy.max_num_seqs);
        for (const auto& [name, d] : {std::pair<std::string, const distribution&>{"ttft", t.summary.ttft},
                                      {"tpot", t.summary.tpot},
                                      {"end_to_end", t.summary.end_to_end}})
            json.member(name + "_mean_seconds", d.mean)
                .member(name + "_p50_seconds", d.p50)
                .member(name + "_p90_seconds", d.p90)
                .member(name + "_p95_seconds", d.p95)
                .member(name + "_p99_seconds", d.p99);
        json.member("interval_stands_on", description_of(k.deployment_of_server().interval.evidence))
            .member("good_share", t.summary.slo_attainment);
        json.member("output_tokens_per_second", t.summary.output_tokens_per_second);
        if (k.deployment_of_server().price_per_hour > 0)
            json.member("price_per_million_tokens", money_per_million(k.deployment_of_server(), t));
        json.member("command", k.launch_command(t)).end_object();
    }
    return json.end_array().end_object().text() + '\n';
}

/// Output tokens a second of a device over those of a user, of all that was tried: points of each engine, and the line
/// of those that no other is better than in both.
[[nodiscard]] inline swept_chart plan_chart(const std::vector<deployed_engine>& kinds, const search_result& found) {
    swept_chart chart;
    chart.title = "Tokens a second per device, over tokens a second per user";
    chart.x_axis.title = "tokens a second per user";
    chart.up.title = "tokens a second per device";
    std::vector<std::pair<double, double>> all;
    for (const evaluated_deployment& t : found.evaluated) {
        if (t.summary.tpot.mean <= 0) continue;
        all.emplace_back(1 / t.summary.tpot.mean, t.summary.output_tokens_per_second / t.devices);
        add_to_line(chart.lines, std::string(kinds[t.candidate_index].deployment_of_server().engine.name),
                    all.back().first, all.back().second);
    }
    if (all.empty())
        throw_usage(option::plot.name, "nothing to draw: nothing was simulated with answers of more than one token");
    for (chart_series& s : chart.lines) s.has_line = false;
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    double maximum = 0;
    for (const auto& [user, device] : all)
        if (device > maximum) {
            add_to_line(chart.lines, "best", user, device);
            maximum = device;
        }
    settle(chart);
    for (chart_series& s : chart.lines) s.marked = !s.has_line;  // however many there are
    chart.description = chart.title + ": " + std::to_string(all.size()) + " deployments; at most " +
                        formatted("%.4g", maximum) + " per device, " + formatted("%.4g", all.front().first) +
                        " per user";
    return chart;
}

/// The numbers of an option that are tried: the one that is given, else powers of two up to a bound.
inline std::vector<std::int64_t> parallel_sizes(const arguments& args, const option_spec& o, std::int64_t maximum) {
    if (args.has(o)) return {args.number(o, 1)};
    std::vector<std::int64_t> all;
    for (std::int64_t n = 1; n <= maximum; n *= 2) all.push_back(n);
    return all;
}
/// How layers, requests and experts may be divided over at most so many devices; experts are whole or on all devices,
/// and on all where groups with requests of their own share them.
inline std::vector<parallel_config> parallel_configs(const arguments& args, std::int64_t devices) {
    const std::int64_t maximum = std::min<std::int64_t>(devices, execution::default_devices_per_node);
    std::vector<parallel_config> all;
    for (const std::int64_t tensor : parallel_sizes(args, option::tp, maximum))
        for (const std::int64_t data : parallel_sizes(args, option::dp, std::max<std::int64_t>(1, maximum / tensor))) {
            std::vector<std::int64_t> experts{args.number(option::ep, tensor * data)};
            if (!args.has(option::ep) && data == 1 && tensor > 1) experts.insert(experts.begin(), 1);
            for (const std::int64_t expert : experts) all.push_back({tensor, data, 1, expert});
        }
    return all;
}

/// The types of a list; of none one that says nothing.
inline std::vector<std::string_view> operand_types_to_search(const arguments& args, const option_spec& o) {
    std::vector<std::string_view> all;
    std::string_view rest = args.text(o);
    for (bool has_more = true; has_more;) {
        const std::size_t comma = rest.find(',');
        all.push_back(rest.substr(0, comma));
        if (args.has(o)) (void)require_operand_type(o.name, all.back());
        has_more = comma != std::string_view::npos;
        if (has_more) rest.remove_prefix(comma + 1);
    }
    return all;
}
/// In what an engine runs a checkpoint that nobody quantises; null where that is not known.
inline const operand_type* as_stored(arguments args, const program& io) {
    for (const option_spec& o : {option::linear_dtype, option::kv_cache_dtype, option::tp, option::dp, option::ep})
        args.remove(o);
    try {
        return io.place(args, io).execution.linear_type;
    } catch (const error&) {
        return nullptr;
    }
}

/// Engines on devices that the model can be split over.
inline std::deque<deployed_server> servers_of(arguments args, const program& io, std::int64_t devices,
                                              std::deque<std::string>& option_values) {
    std::deque<deployed_server> all;
    std::string problem;
    const engine* const selected_engine =
        args.has(option::engine) ? &require_engine("--engine", args.text(option::engine)) : nullptr;
    const std::vector<parallel_config> splits = parallel_configs(args, devices);
    const std::vector<std::string_view> types = operand_types_to_search(args, option::linear_dtype),
                                        caches = operand_types_to_search(args, option::kv_cache_dtype);
    bool routes = true;
    const auto place = [&](const operand_type* stored) {
        try {
            deployed_server p{io.place(args, io)};
            routes = p.deployment_of_server.model.config.moe.num_experts > 1;
            require_known_memory(*p.deployment_of_server.device);
            require_autoregressive(p.deployment_of_server.model);
            p.multimodal_inputs = parse_multimodal_cost(args, p.deployment_of_server);
            p.quantizes_checkpoint = stored != nullptr && p.deployment_of_server.execution.linear_type != stored;
            all.push_back(std::move(p));
        } catch (const error& refused) {  // another engine, split or type may do
            if (refused.code() != errc::usage) throw;
            problem = refused.what();
        }
    };
    for (const engine& e : engines) {
        if (selected_engine != nullptr && selected_engine != &e) continue;
        args.replace(option::engine, option_values.emplace_back(e.name));
        const operand_type* const stored = types.front().empty() ? nullptr : as_stored(args, io);
        for (const parallel_config& s : splits) {
            const bool is_supported = s.data_parallel_size == 1 || s.tensor_parallel_size == 1 ||
                                      !(e.name == string_ref("trtllm"));  // its groups are of one device
            if (!is_supported || (!routes && s.expert_parallel_size > 1)) continue;
            args.replace(option::tp, option_values.emplace_back(std::to_string(s.tensor_parallel_size)));
            args.replace(option::dp, option_values.emplace_back(std::to_string(s.data_parallel_size)));
            args.replace(option::ep, option_values.emplace_back(std::to_string(s.expert_parallel_size)));
            for (const std::string_view type : types)
                for (const std::string_view cache : caches) {
                    if (!type.empty()) args.replace(option::linear_dtype, type);
                    if (!cache.empty()) args.replace(option::kv_cache_dtype, cache);
                    place(stored);
                }
        }
    }
    if (all.empty()) throw error(errc::usage, "plan", problem);
    for (deployed_server& p : all)
        p.server.emplace(p.deployment_of_server.model, p.deployment_of_server.execution, p.deployment_of_server.engine,
                         *p.deployment_of_server.device, *p.deployment_of_server.kernels);
    return all;
}
/// The same with their layers on one stage and on more, on at most so many devices.
inline std::vector<deployed_engine> make_candidates(std::deque<deployed_server>& servers, const arguments& args,
                                                    std::int64_t devices) {
    std::vector<deployed_engine> kinds;
    for (deployed_server& s : servers) {
        const std::int64_t maximum = std::min(devices / s.deployment_of_server.execution.parallel.world_size(),
                                              s.deployment_of_server.model.config.num_hidden_layers);
        for (const std::int64_t stages : parallel_sizes(args, option::pp_of_plan, std::max<std::int64_t>(1, maximum))) {
            require_stages("--pp", s.deployment_of_server.model, stages);
            kinds.push_back({&s, stages});
        }
    }
    return kinds;
}
/// An engine's own limit, then others.
inline std::vector<std::int64_t> scheduler_limits(std::int64_t default_limit,
                                                  std::initializer_list<std::int64_t> others) {
    std::vector<std::int64_t> all{default_limit};
    for (const std::int64_t n : others)
        if (n != default_limit) all.push_back(n);
    return all;
}

}  // namespace detail

/// What `llmcost plan …` prints.
[[nodiscard]] inline command_output run_plan(const arguments& args, const program& io) {
    if (!args.has(option::bounds)) throw_usage("--slo", "is missing: what the plan has to keep, as ttft=1s,tpot=30ms");
    const request_slo bounds = detail::parse_request_slo(args.text(option::bounds));
    simulation_config config;
    search_config limits;
    const std::int64_t devices = args.number(option::devices, 8);
    if (devices > 4096) throw_usage("--devices", "expected at most 4096");
    limits.max_devices = static_cast<double>(devices);
    limits.min_slo_attainment = args.real(option::min_slo_attainment, 0.99, 0, 1);
    limits.allows_disaggregation = !args.has(option::no_disaggregation);
    limits.never_stops_early = args.has(option::plot);
    limits.num_results = static_cast<std::size_t>(args.number(option::top_of_plan, 5));
    std::deque<std::string> option_values;
    std::deque<detail::deployed_server> servers = detail::servers_of(args, io, devices, option_values);
    const detail::requested_workload load =
        detail::parse_workload_source(args, config, servers.front().multimodal_inputs.num_tokens);
    for (detail::deployed_server& s : servers)
        set_prediction_interval(s.deployment_of_server, load.requests.front().input_tokens);
    const std::vector<detail::deployed_engine> placed = detail::make_candidates(servers, args, devices);
    const double at = detail::parse_slo_quantile(args, true);
    const deployment& first_deployment = placed.front().deployment_of_server();
    detail::set_network(config, *first_deployment.device);
    std::vector<deployment_search::engine_option> kinds;
    for (const detail::deployed_engine& k : placed) {
        const deployment& p = k.deployment_of_server();
        const scheduling_policy policy = default_policy(p.engine.name, *p.device);
        request_slo adjusted_bounds = bounds;  // a measured run may take longer than a simulated one
        adjusted_bounds.ttft_safety_factor = std::exp2(p.interval.simulated_ttft.quantile(at));
        adjusted_bounds.tpot_safety_factor = std::exp2(p.interval.simulated_tpot.quantile(at));
        kinds.push_back({.engine = {&*k.server->server,
                                    policy,
                                    host_times_of(p.engine.name),
                                    p.model.config.moe.num_experts > 1,
                                    {},
                                    k.server->multimodal_inputs.encoder_cost},
                         .stages = k.pipeline_parallel_size,
                         .max_num_batched_tokens_options =
                             detail::scheduler_limits(policy.max_num_batched_tokens, {2048, 4096, 8192, 16384}),
                         .max_num_seqs_options = detail::scheduler_limits(policy.max_num_seqs, {256, 64}),
                         .bounds = adjusted_bounds});
    }
    const search_result found = deployment_search(load.requests, config, limits)(kinds);
    const std::string title = std::string(first_deployment.name_of_model.name) + " on at most " +
                              grouped(count(devices)) + " x " + printable(first_deployment.device->title) + "; " +
                              load.label + "; " + formatted("%.4g", 100 * limits.min_slo_attainment) + " % keep " +
                              std::string(args.text(option::bounds)) +
                              (at == 0.5 ? "" : formatted(" at the %.4g quantile of measured runs", at));
    command_output out;
    out.text = args.text(option::format, "text") == "text" ? detail::plan_text(placed, found, title)
                                                           : detail::plan_json(placed, found);
    if (found.feasible.empty()) out.exit_status = exit_code::does_not_fit;
    if (args.has(option::plot) && args.text(option::plot).empty() && args.text(option::format, "text") != "text")
        throw_usage(option::plot.name, "in the terminal is text: name a file, or leave out --format");
    if (args.has(option::plot)) add_plot(out, args, detail::plan_chart(placed, found));
    return out;
}

inline constexpr std::array<command_example, 2> plan_examples{{
    {"llmcost plan --model Qwen/Qwen3-8B --device h200 --rate 20 --slo ttft=1s,tpot=30ms", "twenty requests a second"},
    {"llmcost plan --model Qwen/Qwen3-8B --device h200 --devices 16 --trace requests.csv --slo ttft=1s,tpot=30ms",
     "as recorded"},
}};

inline constexpr command plan_command{
    .name = "plan",
    .summary = "the fewest devices that keep to bounds under a load",
    .usage =
        "(--model NAME | --config FILE) --device NAME --slo LIST\n[--concurrency N | --rate X | --trace FILE] "
        "[option]...",
    .description =
        "Tries engines, devices that share layers, stages of layers, groups with requests of their\n"
        "own, divided experts, limits of a step, and engines for prompts beside engines that write;\n"
        "simulates what could be among the best (llmcost simulate) and prints it with the engine's\n"
        "own command. Exit code 8: none keeps to it.\n",
    .options = plan_options,
    .run = run_plan,
    .examples = plan_examples};

}  // namespace llmcost::cli
