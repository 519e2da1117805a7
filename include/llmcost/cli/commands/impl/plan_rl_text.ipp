// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/plan_rl_text.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/commands/rl_plan.hpp>
#include <llmcost/cli/pages/device_table.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/serving/rl_iteration.hpp>

namespace llmcost::cli::detail {

[[nodiscard]] LLMCOST_INLINE double rl_samples_per_second(const rl_plan_response& response, const rl_configuration& c) {
    return static_cast<double>(response.request.load.num_responses()) / c.iteration.seconds;
}

/// Tokens of prompts and responses.
[[nodiscard]] LLMCOST_INLINE double rl_tokens_per_second(const rl_plan_response& response, const rl_configuration& c) {
    const rl_workload& load = response.request.load;
    return rl_samples_per_second(response, c) * (load.prompt_tokens + load.response_tokens);
}

[[nodiscard]] LLMCOST_INLINE double rl_days(const rl_plan_response& response, const rl_configuration& c) {
    return static_cast<double>(response.request.iterations) * c.iteration.seconds / 86400;
}

[[nodiscard]] LLMCOST_INLINE double rl_price(const rl_plan_response& response, const rl_configuration& c) {
    return 24 * rl_days(response, c) * response.price_per_hour * static_cast<double>(response.request.devices);
}

[[nodiscard]] LLMCOST_INLINE std::string rl_bytes(double bytes) {
    return in_bytes(count(static_cast<std::uint64_t>(bytes)));
}

[[nodiscard]] LLMCOST_INLINE std::string_view rl_algorithm_name(rl_algorithm algorithm) {
    return algorithm == rl_algorithm::ppo ? "PPO" : "GRPO";
}

[[nodiscard]] LLMCOST_INLINE std::string_view rl_place_name(const rl_configuration& c, rl_place place) {
    if (c.is_colocated || place == rl_place::all) return "all";
    return place == rl_place::rollout ? "rollout" : "trainer";
}

[[nodiscard]] LLMCOST_INLINE double rl_phase_bytes(const rl_configuration& c, rl_place place) {
    return place == rl_place::trainer ? c.memory.trainer_bytes : c.memory.rollout_bytes;
}

LLMCOST_INLINE std::string rl_plan_page(const rl_plan_response& response) {
    const rl_plan_request& request = response.request;
    const rl_workload& load = request.load;
    std::string out = response.model_name + ", " + std::string(rl_algorithm_name(load.algorithm)) + " on " +
                      std::to_string(request.devices) + " x " + response.device_title + ", rollout by " +
                      response.engine + '\n';
    const std::int64_t num_steps = load.epochs * load.num_mini_batches();
    out += grouped(count(load.train_batch_size)) + " prompts x " + grouped(count(load.rollout_n)) + " responses; " +
           formatted("%.0f", load.prompt_tokens) + " + " + request.response_length + " tokens; " +
           grouped(count(num_steps)) + (num_steps == 1 ? " training step of " : " training steps of ") +
           grouped(count(load.mini_batch_size * load.rollout_n)) + " sequences\n\n";
    const bool has_price = request.iterations > 0 && response.price_per_hour > 0;
    out += left("placement", 11) + left("trainer", 26) + right("devices", 8) + "  " + left("rollout", 8) +
           right("devices", 8) + right("iteration", 11) + right("samples/s", 11) + right("tokens/s", 10) +
           (request.iterations > 0 ? right("days", 9) : "") + (has_price ? right("price", 11) : "") + '\n';
    for (const rl_configuration& c : response.configurations)
        out += left(c.is_colocated ? "colocated" : "separate", 11) + left(c.trainer_label, 26) +
               right(std::to_string(c.trainer_devices), 8) + "  " + left("tp " + std::to_string(c.rollout_tp), 8) +
               right(std::to_string(c.rollout_devices), 8) + right(duration(c.iteration.seconds), 11) +
               right(formatted("%.4g", rl_samples_per_second(response, c)), 11) +
               right(formatted("%.4g", rl_tokens_per_second(response, c)), 10) +
               (request.iterations > 0 ? right(formatted("%.3g", rl_days(response, c)), 9) : "") +
               (has_price ? right(formatted("%.4g", rl_price(response, c)), 11) : "") + '\n';
    const rl_configuration& best = response.configurations.front();
    out += "\nFirst configuration" + std::string(load.is_async ? ", rollout and training at the same time" : "") +
           "\n  " + left("phase", 22) + left("devices", 9) + right("seconds", 10) + right("share", 8) +
           right("memory", 11) + '\n';
    for (const rl_phase& phase : best.iteration.phases)
        out += "  " + left(phase.name, 22) + left(rl_place_name(best, phase.place), 9) +
               right(formatted("%.3f", phase.seconds), 10) +
               right(formatted("%.1f %%", 100 * phase.seconds / best.iteration.seconds), 8) +
               right(rl_bytes(rl_phase_bytes(best, phase.place)), 11) + '\n';
    if (best.is_colocated)
        out += "During the rollout, the trainer keeps " + rl_bytes(best.memory.resident_bytes) +
               " of a device; the engine uses " + formatted("%.2f", best.memory.memory_share) + " of the memory.\n";
    out += "Weights: " + rl_bytes(best.transfer_bytes) + " to each " +
           (best.is_colocated ? "device" : "rollout device") + " in each iteration.\n\n  " + best.train_command +
           "\n  " + best.simulate_command + '\n';
    return out;
}

LLMCOST_INLINE std::string rl_plan_json(const rl_plan_response& response) {
    const rl_plan_request& request = response.request;
    const rl_workload& load = request.load;
    json_writer json;
    json.object().member("model", response.model_name).member("device", response.device_title);
    json.member("devices", request.devices).member("engine", response.engine);
    json.member("algorithm", std::string(load.algorithm == rl_algorithm::ppo ? "ppo" : "grpo"));
    json.member("train_batch_size", load.train_batch_size).member("rollout_n", load.rollout_n);
    json.member("ppo_mini_batch_size", load.mini_batch_size).member("ppo_epochs", load.epochs);
    json.member("async", load.is_async).member("weight_bytes", response.weight_bytes);
    json.key("configurations").array();
    for (const rl_configuration& c : response.configurations) {
        json.object().member("placement", std::string(c.is_colocated ? "colocated" : "separate"));
        json.member("trainer_devices", c.trainer_devices).member("rollout_devices", c.rollout_devices);
        json.member("rollout_tp", c.rollout_tp).member("trainer", c.trainer_label);
        json.member("iteration_seconds", c.iteration.seconds);
        json.member("samples_per_second", rl_samples_per_second(response, c));
        json.member("tokens_per_second", rl_tokens_per_second(response, c));
        if (request.iterations > 0) {
            json.member("days", rl_days(response, c));
            if (response.price_per_hour > 0) json.member("price", rl_price(response, c));
        }
        json.member("training_step_seconds", c.parts.training_step_seconds);
        json.member("training_peak_bytes", count(c.training.peak_bytes));
        json.key("phases").array();
        for (const rl_phase& phase : c.iteration.phases) {
            json.object().member("phase", phase.name).member("devices", rl_place_name(c, phase.place));
            json.member("seconds", phase.seconds).member("memory_bytes", rl_phase_bytes(c, phase.place)).end_object();
        }
        json.end_array().member("resident_bytes", c.memory.resident_bytes);
        json.member("memory_share", c.memory.memory_share).member("transfer_bytes", c.transfer_bytes);
        json.member("train", c.train_command).member("simulate", c.simulate_command).end_object();
    }
    json.end_array().end_object();
    return json.text() + "\n";
}

LLMCOST_INLINE table rl_plan_table(const rl_plan_response& response) {
    table out{{{"placement", false},
               {"trainer", false},
               {"trainer_devices", true},
               {"rollout_tp", true},
               {"rollout_devices", true},
               {"iteration_seconds", true},
               {"samples_per_second", true},
               {"tokens_per_second", true}},
              {}};
    for (const rl_configuration& c : response.configurations)
        out.rows.push_back(
            {c.is_colocated ? "colocated" : "separate", c.trainer_label, std::to_string(c.trainer_devices),
             std::to_string(c.rollout_tp), std::to_string(c.rollout_devices), exact_number(c.iteration.seconds),
             exact_number(rl_samples_per_second(response, c)), exact_number(rl_tokens_per_second(response, c))});
    return out;
}

}  // namespace llmcost::cli::detail
