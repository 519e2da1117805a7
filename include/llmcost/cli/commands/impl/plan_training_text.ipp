// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/plan_training_text.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/commands/training_plan.hpp>
#include <llmcost/cli/pages/training_launch.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/serving/training_search.hpp>

namespace llmcost::cli::detail {

/// A text as an argument of a shell.
[[nodiscard]] LLMCOST_INLINE std::string shell_argument(const std::string& text) {
    constexpr std::string_view safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=+,@%";
    if (!text.empty() && text.find_first_not_of(safe) == std::string::npos) return text;
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + '\'';
}

LLMCOST_INLINE std::vector<std::string> train_options_of(const training_strategy& strategy, const training_candidate& c,
                                                         std::int64_t sequence, bool has_cuda) {
    const training_parallelism& p = c.parallel;
    std::vector<std::string> out;
    const auto add = [&](const auto&... texts) { (out.emplace_back(texts), ...); };
    const auto add_size = [&](std::string_view name, std::int64_t size) {
        if (size > 1) add(name, std::to_string(size));
    };
    add("--sequence", std::to_string(sequence), "--batch", std::to_string(c.batch));
    if (strategy.rules == split_rules::megatron) {
        add("--split", "megatron", "--precision", "bf16");
        if (strategy.is_sharded) add("--zero", "1");
        if (p.tensor > 1) add("--sequence-parallel");
        if (strategy.recompute == recompute_mode::selective) add("--recompute-modules", "core_attn");
    } else {
        // torchtitan: float32 parameters, 16 bits of a gathered layer, fused AdamW, sequence and loss parallel
        add("--fsdp", "--precision", "fp32", "--fsdp-parameter-dtype", "bf16", "--fsdp-reduce-dtype", "fp32");
        add("--optimizer", "adamw:fused");
        if (has_cuda) add("--on", "cuda");
        if (!strategy.reshards_after_forward) add("--fsdp-reshard", "false", "--gradient-sync", "last");
        if (p.tensor > 1) add("--tp-plan", "sequence+loss", "--sequence-parallel");
        if (strategy.recompute == recompute_mode::selective) add("--recompute", "selective");
    }
    if (strategy.recompute == recompute_mode::full) add("--recompute", "full");
    add_size("--tp", p.tensor);
    add_size("--pp", p.pipeline);
    if (p.stages_per_rank > 1) add("--schedule", p.schedule, "--stages-per-rank", std::to_string(p.stages_per_rank));
    add_size("--cp", p.context);
    add_size("--ep", p.expert);
    add_size("--etp", p.expert_tensor);
    add("--dp", std::to_string(p.data));
    add_size("--dp-replicate", p.data_replicate);
    add("--microbatches", std::to_string(p.microbatches));
    return out;
}

LLMCOST_INLINE std::string train_command(const training_plan_response& response, const training_candidate& c) {
    std::string out = "llmcost train";
    for (const std::string& text : response.model_options) out += ' ' + shell_argument(text);
    out += " --device " + std::string(response.placed.device->names[0]);
    if (!response.network.empty()) out += " --network " + shell_argument(response.network);
    for (const std::string& text :
         train_options_of(response.strategies[c.variant], c, response.request.sequence, response.has_cuda))
        out += ' ' + text;
    return out;
}

/// `ZeRO-1`, `DDP`, `FSDP`, or `FSDP, gathered` without gathering in backward; `HSDP` with replicas of the shards.
[[nodiscard]] LLMCOST_INLINE std::string sharding_label(const training_strategy& strategy,
                                                        const training_candidate& c) {
    if (strategy.rules == split_rules::megatron) return strategy.is_sharded ? "ZeRO-1" : "DDP";
    return std::string(c.parallel.data_replicate > 1 ? "HSDP" : "FSDP") +
           (strategy.reshards_after_forward ? "" : ", gathered");
}

/// `1f1b`, also if it is interleaved, `zb`, `zbv`; `-` without a pipeline.
[[nodiscard]] LLMCOST_INLINE std::string_view schedule_column(const training_parallelism& parallel) {
    if (parallel.pipeline == 1) return "-";
    return parallel.schedule == "interleaved"               ? "1f1b"
           : parallel.schedule == "interleaved-zero-bubble" ? "zb"
                                                            : std::string_view(parallel.schedule);
}

/// `64`, or `64x2` with replicas of the shards.
[[nodiscard]] LLMCOST_INLINE std::string data_label(const training_parallelism& parallel) {
    return std::to_string(parallel.data) +
           (parallel.data_replicate > 1 ? 'x' + std::to_string(parallel.data_replicate) : "");
}

[[nodiscard]] LLMCOST_INLINE std::string_view recompute_label(recompute_mode mode) {
    return mode == recompute_mode::none ? "none" : mode == recompute_mode::full ? "full" : "attention";
}

/// FLOP/s of the products of a device.
[[nodiscard]] LLMCOST_INLINE double peak_flops(const training_plan_response& response) {
    return response.placed.device->*response.placed.execution.linear_type->unit * 1e12;
}

/// Days for the tokens of the training; 0 without them.
[[nodiscard]] LLMCOST_INLINE double training_days(const training_plan_response& response, const evaluated_training& e) {
    const double rate = e.cost.tokens_per_second_per_device * static_cast<double>(e.candidate.parallel.world_size());
    return rate > 0 ? response.request.tokens / rate / 86400 : 0;
}

[[nodiscard]] LLMCOST_INLINE double training_price(const training_plan_response& response,
                                                   const evaluated_training& e) {
    return training_days(response, e) * 24 * response.placed.price_per_hour *
           static_cast<double>(e.candidate.parallel.world_size());
}

/// Bytes of memory that a configuration leaves free; negative if it does not fit.
[[nodiscard]] LLMCOST_INLINE double headroom(const training_plan_response& response, const evaluated_training& e) {
    return static_cast<double>(response.request.limit.bytes) - static_cast<double>(e.peak_bytes);
}

[[nodiscard]] LLMCOST_INLINE std::string plan_header(const training_plan_response& response) {
    const training_plan_request& request = response.request;
    return right("devices", 7) + "  " + left("sharding", 15) + right("tp", 3) + right("pp", 4) + right("sched", 6) +
           right("v", 3) + right("cp", 4) + (response.num_experts > 1 ? right("ep", 4) + right("etp", 4) : "") +
           right("dp", 7) + right("batch", 6) + right("x", 6) + "  " + left("recompute", 10) + right("step", 10) +
           right("tokens/s", 9) + right("MFU", 8) + right("peak", 10) + right("free", 10) +
           (request.tokens > 0 ? right("days", 9) : "") +
           (request.tokens > 0 && response.placed.price_per_hour > 0 ? right("price", 11) : "") + '\n';
}

[[nodiscard]] LLMCOST_INLINE std::string plan_line(const training_plan_response& response,
                                                   const evaluated_training& e) {
    const training_plan_request& request = response.request;
    const training_candidate& c = e.candidate;
    const training_parallelism& p = c.parallel;
    const training_strategy& strategy = response.strategies[c.variant];
    const auto size = [](std::int64_t n, std::size_t width) { return right(std::to_string(n), width); };
    const double free = headroom(response, e);
    return size(p.world_size(), 7) + "  " + left(sharding_label(strategy, c), 15) + size(p.tensor, 3) +
           size(p.pipeline, 4) + right(schedule_column(p), 6) + size(p.stages_per_rank, 3) + size(p.context, 4) +
           (response.num_experts > 1 ? size(p.expert, 4) + size(p.expert_tensor, 4) : "") + right(data_label(p), 7) +
           size(c.batch, 6) + size(p.microbatches, 6) + "  " + left(recompute_label(strategy.recompute), 10) +
           right(duration(e.cost.total.seconds), 10) +
           right(formatted("%.0f", e.cost.tokens_per_second_per_device), 9) +
           right(formatted("%.1f %%", 100 * e.cost.model_flops_utilization(peak_flops(response))), 8) +
           right(in_bytes(count(e.peak_bytes)), 10) +
           right((free < 0 ? "-" : "") + in_bytes(count(static_cast<std::uint64_t>(free < 0 ? -free : free))), 10) +
           (request.tokens > 0 ? right(formatted("%.4g", training_days(response, e)), 9) : "") +
           (request.tokens > 0 && response.placed.price_per_hour > 0
                ? right(formatted("%.4g", training_price(response, e)), 11)
                : "") +
           '\n';
}

/// Whether a number of devices has the shortest step of all numbers up to it.
[[nodiscard]] LLMCOST_INLINE bool is_on_frontier(const training_plan_response& response, std::size_t index) {
    const training_search_result& result = response.results[index];
    if (result.best.empty()) return false;
    return std::all_of(response.results.begin(), response.results.begin() + static_cast<std::ptrdiff_t>(index),
                       [&](const training_search_result& smaller) {
                           return smaller.best.empty() ||
                                  smaller.best.front().cost.total.seconds > result.best.front().cost.total.seconds;
                       });
}

/// The result whose best configuration is launched: that with the shortest step.
[[nodiscard]] LLMCOST_INLINE const training_search_result* fastest_result(const training_plan_response& response) {
    const training_search_result* fastest = nullptr;
    for (std::size_t i = 0; i < response.results.size(); ++i)
        if (is_on_frontier(response, i)) fastest = &response.results[i];
    return fastest;
}

[[nodiscard]] LLMCOST_INLINE std::vector<framework_launch> launches_of(const training_plan_response& response,
                                                                       const training_candidate& c) {
    const training_strategy& strategy = response.strategies[c.variant];
    return framework_launches({.parallel = c.parallel,
                               .sharding = strategy.rules == split_rules::torch ? sharding_strategy::fsdp
                                           : strategy.is_sharded                ? sharding_strategy::zero1
                                                                                : sharding_strategy::ddp,
                               .reshards_after_forward = strategy.reshards_after_forward,
                               .recompute = strategy.recompute,
                               .batch = c.batch,
                               .global_batch = response.request.global_batch,
                               .sequence = response.request.sequence,
                               .num_layers = response.num_layers,
                               .devices_per_node = response.placed.execution.devices_per_node});
}

/// Why nothing fits on a number of devices.
[[nodiscard]] LLMCOST_INLINE std::string nothing_fits_text(const training_plan_response& response,
                                                           const training_search_result& result) {
    std::string out = "Nothing fits on " + grouped(count(result.devices)) + " x " +
                      std::string(response.placed.device->title) + ", " +
                      in_bytes(count(response.request.limit.bytes)) + " each (" +
                      grouped(count(result.num_candidates)) + " candidates).\n";
    if (!result.nearest)
        return out + "No configuration has these sizes: --global-batch " +
               std::to_string(response.request.global_batch) +
               " is not a multiple of any data-parallel size, or the model does not support it.\n";
    const double missing = -headroom(response, *result.nearest);
    return out + "The least memory, " + in_bytes(count(static_cast<std::uint64_t>(std::max(missing, 0.0)))) +
           " more than a device has:\n" + plan_header(response) + plan_line(response, *result.nearest);
}

LLMCOST_INLINE std::string training_plan_page(const training_plan_response& response) {
    const training_plan_request& request = response.request;
    const std::int64_t sequence = request.sequence;
    std::string counts;
    for (const std::int64_t n : request.devices) counts += (counts.empty() ? "" : ", ") + grouped(count(n));
    std::string out = response.model_name + ", training on " + counts + " x " +
                      std::string(response.placed.device->title) + '\n' + grouped(count(request.global_batch)) +
                      " sequences of " + grouped(count(sequence)) + " tokens per step (" +
                      grouped(count(request.global_batch * sequence)) + " tokens); bf16, AdamW; " +
                      in_bytes(count(request.limit.bytes)) + " per device\n\n";
    const training_search_result* const fastest = fastest_result(response);
    const bool is_single = response.results.size() == 1;
    std::uint64_t candidates = 0, out_of_memory = 0, slower = 0, timed = 0;
    if (fastest != nullptr) out += plan_header(response);
    for (std::size_t i = 0; i < response.results.size(); ++i) {
        const training_search_result& result = response.results[i];
        candidates += result.num_candidates;
        out_of_memory += result.num_out_of_memory;
        slower += result.num_slower;
        timed += result.num_timed;
        for (const evaluated_training& e : result.best) {
            std::string line = plan_line(response, e);
            if (!is_single && !is_on_frontier(response, i)) {
                line.pop_back();
                line += "  not faster than fewer devices\n";
            }
            out += line;
            if (!is_single) break;
        }
    }
    if (is_single && fastest != nullptr) {
        std::vector<const evaluated_training*> smaller;
        for (const evaluated_training& e : fastest->pareto)
            if (e.peak_bytes < fastest->best.front().peak_bytes) smaller.push_back(&e);
        const std::size_t num_lines = std::min(smaller.size(), request.space.num_results);
        std::string less;
        for (std::size_t i = 1; i <= num_lines; ++i)  // evenly, with the last
            less += plan_line(response, *smaller[i * smaller.size() / num_lines - 1]);
        if (!less.empty()) out += "\nLess memory for more time:\n" + plan_header(response) + less;
    }
    for (const training_search_result& result : response.results)
        if (result.best.empty()) out += nothing_fits_text(response, result);
    if (fastest != nullptr) {
        const training_candidate& best = fastest->best.front().candidate;
        out += "\nDetails of the first: " + train_command(response, best) + '\n';
        for (const framework_launch& launch : launches_of(response, best))
            out += '\n' + launch.framework + (launch.remark.empty() ? "" : " (" + launch.remark + ')') + ":\n  " +
                   launch.command + '\n';
    }
    out += "\nSearch: " + grouped(count(candidates)) + " candidates, " + grouped(count(out_of_memory)) +
           " out of memory, " + grouped(count(slower)) + " slower by bounds, " + grouped(count(timed)) +
           " timed exactly\n";
    return out + "x: microbatches of a step; v: stages per rank; dp: shards x replicas; tokens/s: of a device\n";
}

LLMCOST_INLINE void write_configuration(json_writer& json, const training_plan_response& response,
                                        const evaluated_training& e) {
    const training_candidate& c = e.candidate;
    const training_parallelism& p = c.parallel;
    const training_strategy& strategy = response.strategies[c.variant];
    json.object().member("devices", p.world_size()).member("sharding", sharding_label(strategy, c));
    json.member("split", strategy.rules == split_rules::megatron ? "megatron" : "torch");
    json.member("tp", p.tensor).member("pp", p.pipeline).member("stages_per_rank", p.stages_per_rank);
    json.member("schedule", p.pipeline > 1 ? std::string_view(p.schedule) : std::string_view("none"));
    json.member("cp", p.context).member("ep", p.expert).member("etp", p.expert_tensor).member("dp", p.data);
    json.member("dp_replicate", p.data_replicate).member("batch", c.batch);
    json.member("microbatches", p.microbatches).member("sequence_parallel", p.has_sequence_parallel);
    json.member("recompute", recompute_label(strategy.recompute)).member("step_seconds", e.cost.total.seconds);
    json.member("tokens_per_second_per_device", e.cost.tokens_per_second_per_device);
    json.member("model_flops_utilization", e.cost.model_flops_utilization(peak_flops(response)));
    json.member("exposed_seconds", e.cost.exposed_seconds()).member("bubble_seconds", e.cost.bubble_seconds);
    json.member("peak_bytes", count(e.peak_bytes)).member("free_bytes", headroom(response, e));
    if (response.request.tokens > 0) {
        json.member("days", training_days(response, e));
        if (response.placed.price_per_hour > 0) json.member("price", training_price(response, e));
    }
    json.member("command", train_command(response, c)).end_object();
}

LLMCOST_INLINE std::string training_plan_json(const training_plan_response& response) {
    json_writer json;
    json.object();
    write_model(json, response.placed);
    json.member("device", response.placed.device->names[0]).member("sequence", response.request.sequence);
    json.member("global_batch", response.request.global_batch);
    json.member("available", count(response.request.limit.bytes)).key("plans").array();
    for (std::size_t i = 0; i < response.results.size(); ++i) {
        const training_search_result& result = response.results[i];
        json.object().member("devices", result.devices).member("fits", !result.best.empty());
        json.member("is_pareto", is_on_frontier(response, i)).member("candidates", count(result.num_candidates));
        json.member("out_of_memory", count(result.num_out_of_memory)).member("slower", count(result.num_slower));
        json.member("timed", count(result.num_timed));
        json.key("best").array();
        for (const evaluated_training& e : result.best) write_configuration(json, response, e);
        json.end_array().key("pareto").array();
        for (const evaluated_training& e : result.pareto) write_configuration(json, response, e);
        json.end_array().key("nearest");
        result.nearest ? write_configuration(json, response, *result.nearest) : void(json.null());
        json.end_object();
    }
    json.end_array().key("launch").array();
    if (const training_search_result* const fastest = fastest_result(response))
        for (const framework_launch& launch : launches_of(response, fastest->best.front().candidate)) {
            json.object().member("framework", launch.framework).member("command", launch.command).key("remark");
            launch.remark.empty() ? json.null() : json.value(launch.remark);
            json.end_object();
        }
    return json.end_array().end_object().text() + '\n';
}

LLMCOST_INLINE table training_plan_table(const training_plan_response& response) {
    table out;
    for (const char* name : {"sharding", "recompute", "schedule"}) out.columns.push_back({name});
    for (const char* name : {"devices", "tp", "pp", "stages_per_rank", "cp", "ep", "etp", "dp", "dp_replicate", "batch",
                             "microbatches", "step_seconds", "tokens_per_second_per_device", "model_flops_utilization",
                             "peak_bytes", "free_bytes", "days", "price"})
        out.columns.push_back({name, false, true});
    out.columns.push_back({"command"});
    for (const training_search_result& result : response.results)
        for (const evaluated_training& e : result.best) {
            const training_candidate& c = e.candidate;
            const training_parallelism& p = c.parallel;
            const training_strategy& strategy = response.strategies[c.variant];
            const bool has_tokens = response.request.tokens > 0;
            out.rows.push_back(
                {sharding_label(strategy, c),
                 std::string(recompute_label(strategy.recompute)),
                 p.pipeline > 1 ? p.schedule : "none",
                 std::to_string(p.world_size()),
                 std::to_string(p.tensor),
                 std::to_string(p.pipeline),
                 std::to_string(p.stages_per_rank),
                 std::to_string(p.context),
                 std::to_string(p.expert),
                 std::to_string(p.expert_tensor),
                 std::to_string(p.data),
                 std::to_string(p.data_replicate),
                 std::to_string(c.batch),
                 std::to_string(p.microbatches),
                 exact_number(e.cost.total.seconds),
                 exact_number(e.cost.tokens_per_second_per_device),
                 exact_number(e.cost.model_flops_utilization(peak_flops(response))),
                 std::to_string(e.peak_bytes),
                 exact_number(headroom(response, e)),
                 has_tokens ? exact_number(training_days(response, e)) : "",
                 has_tokens && response.placed.price_per_hour > 0 ? exact_number(training_price(response, e)) : "",
                 train_command(response, c)});
        }
    return out;
}

}  // namespace llmcost::cli::detail
