// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/serve_request.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/cli/commands/latency.hpp>
#include <llmcost/cli/commands/serve_table.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/serving/multimodal_step.hpp>
#include <llmcost/serving/server.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli {

LLMCOST_INLINE bool latency_targets::are_met_by(const serving_metrics& metrics) const noexcept {
    return (ttft_seconds == 0 || metrics.ttft_seconds * ttft_safety_factor <= ttft_seconds) &&
           (tpot_seconds == 0 || metrics.tpot_seconds * tpot_safety_factor <= tpot_seconds);
}

}  // namespace llmcost::cli

namespace llmcost::cli::detail {

/// The load mode. Throws: `usage` if more than one of the four options is set.
LLMCOST_INLINE load_mode parse_load_mode(const arguments& args) {
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

LLMCOST_INLINE draft_acceptance parse_acceptance(const arguments& args, std::int64_t num_draft_tokens) {
    const std::string_view text = args.text(option::acceptance);
    if (text.find(',') == std::string_view::npos) return {.rate = args.real(option::acceptance, 0.7, 0, 1)};
    const std::vector<std::string> positions = split_list(text, ',');
    if (static_cast<std::int64_t>(positions.size()) != num_draft_tokens)
        throw_usage("--acceptance", "expected one fraction, or one for each of the " +
                                        std::to_string(num_draft_tokens) + " draft tokens; found " + quote(text));
    draft_acceptance out;
    double previous = 1;
    for (const std::string& position : positions) {
        const double accepted = parse_real("--acceptance", position, 0, 1);
        if (accepted > previous)
            throw_usage("--acceptance",
                        "expected fractions that do not increase; a token is only accepted with all "
                        "tokens before it");
        out.accepted_tokens += previous = accepted;
    }
    return out;
}

/// Parses the options that describe the load. Throws: `usage`.
LLMCOST_INLINE serving_load parse_serving_load(const arguments& args) {
    serving_load load;
    load.input_tokens = args.number(option::input, 1024);
    load.output_tokens = args.number(option::output, 1024);
    load.concurrency = args.real(option::concurrency, 1, 1, 1e9);
    load.pipeline_parallel_size = args.number(option::pp, 1);
    load.chunk_tokens = args.number(option::chunk, 0);
    load.prefix_hit_rate = args.real(option::prefix_hit, 0, 0, 1);
    load.num_draft_tokens = args.number(option::draft, 0, 0);
    const draft_acceptance acceptance = parse_acceptance(args, load.num_draft_tokens);
    load.acceptance_rate = acceptance.rate;
    load.accepted_tokens = acceptance.accepted_tokens;
    load.batch_wait_steps = args.number(option::batch_wait, 0, 0);
    if (load.num_draft_tokens > 64) throw_usage("--draft", "expected at most 64");
    for (const option_spec& o : {option::acceptance, option::proposes})
        if (load.num_draft_tokens == 0 && args.has(o)) throw_usage(o.name, "requires --draft");
    return load;
}

/// Parses a target, e.g. `ttft=0.5s`, and sets it. Throws: `usage`.
LLMCOST_INLINE void parse_latency_target(std::string_view item, latency_targets& targets) {
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

LLMCOST_INLINE latency_targets parse_latency_targets(std::string_view list) {
    latency_targets targets;
    for (bool has_more = true; has_more;) {
        const std::size_t comma = list.find(',');
        has_more = comma != std::string_view::npos;
        parse_latency_target(list.substr(0, comma), targets);
        list.remove_prefix(has_more ? comma + 1 : list.size());
    }
    return targets;
}

LLMCOST_INLINE std::optional<double> parse_slo_quantile(const arguments& args) {
    if (!args.has(option::slo_at)) return std::nullopt;
    return args.real(option::slo_at, 0.95, 0.05, 0.95);
}

LLMCOST_INLINE serve_request parse_serve_request(const arguments& args) {
    serve_request request;
    request.mode = parse_load_mode(args);
    request.load = parse_serving_load(args);
    request.request_rate = args.real(option::rate, 1, 1e-9, 1e9);
    if (request.mode == load_mode::slo) request.targets = parse_latency_targets(args.text(option::slo));
    request.slo_quantile = parse_slo_quantile(args);
    request.format = static_cast<output_format>(args.choice(option::format));
    return request;
}

LLMCOST_INLINE multimodal_cost parse_multimodal_cost(const arguments& args, const deployment& deployment) {
    workload inputs;
    parse_multimodal_inputs(args, inputs);
    check_media(deployment.model, inputs);
    if (inputs.has_multimodal_inputs() && has_encoder(deployment.model))
        throw_usage(option::audio.name, "not supported for encoder-decoder models; use llmcost latency --audio");
    return compute_multimodal_cost(deployment.model, inputs, deployment.execution, *deployment.device,
                                   *deployment.kernels);
}

LLMCOST_INLINE void add_multimodal_inputs(serving_load& load, const arguments& args, const deployment& deployment) {
    load.multimodal_inputs = parse_multimodal_cost(args, deployment);
    load.input_tokens += load.multimodal_inputs.num_tokens;
}

}  // namespace llmcost::cli::detail
