// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/plan_rl.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/parallelism_options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/commands/plan_rl_text.hpp>
#include <llmcost/cli/commands/plan_training.hpp>
#include <llmcost/cli/commands/plan_training_text.hpp>
#include <llmcost/cli/commands/rl_plan.hpp>
#include <llmcost/cli/commands/simulate.hpp>
#include <llmcost/cli/commands/simulate_request.hpp>
#include <llmcost/cli/commands/train.hpp>
#include <llmcost/cli/commands/training_plan.hpp>
#include <llmcost/cli/request/adapter_option.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/distributed/training_memory.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/serving/memory.hpp>
#include <llmcost/serving/rl_iteration.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/serving/training_collectives.hpp>
#include <llmcost/serving/training_search.hpp>
#include <llmcost/simulation/simulate.hpp>
#include <llmcost/simulation/summary.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/trace/collective.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE bool is_rl_plan(const arguments& args) {
    if (!args.has(option::rl)) {
        for (const option_spec& o : rl_plan_options)
            if (args.has(o)) throw_usage(o.name, "requires --rl");
        return false;
    }
    constexpr std::array accepted =
        concatenate(rl_plan_options,
                    std::array{option::devices, option::top_of_plan, option::tp, option::pp, option::dp, option::ep,
                               option::training_cp, option::batch, option::device, option::engine, option::network,
                               option::price, option::memory, option::format},
                    model_options, help_option);
    for (const option_spec& o : args.options())
        if (args.has(o) && std::ranges::none_of(accepted, [&](const option_spec& other) { return other.is(o); }))
            throw_usage(o.name, "cannot be combined with --rl");
    return true;
}

/// The mean of `--response-length`. Throws: `usage`.
[[nodiscard]] LLMCOST_INLINE double mean_length(std::string_view text) {
    const std::size_t dots = text.find("..");
    const std::int64_t low = parse_integer(option::response_length.name, text.substr(0, dots), 1);
    if (dots == std::string_view::npos) return static_cast<double>(low);
    const std::int64_t high = parse_integer(option::response_length.name, text.substr(dots + 2), low);
    return 0.5 * static_cast<double>(low + high);
}

[[nodiscard]] LLMCOST_INLINE rl_plan_request parse_rl_plan_request(const arguments& args) {
    rl_plan_request out;
    rl_workload& load = out.load;
    load.algorithm = static_cast<rl_algorithm>(args.choice(option::rl_algorithm));
    load.train_batch_size = args.number(option::train_batch_size, 1024);
    load.rollout_n = args.number(option::rollout_n, 8);
    load.mini_batch_size = args.number(option::mini_batch_size, load.train_batch_size);
    if (load.train_batch_size % load.mini_batch_size != 0)
        throw_usage(option::mini_batch_size.name, "expected a divisor of --train-batch-size " +
                                                      std::to_string(load.train_batch_size) + ", found " +
                                                      std::to_string(load.mini_batch_size));
    load.epochs = args.number(option::ppo_epochs, 1);
    load.prompt_tokens = static_cast<double>(args.number(option::prompt_length, 512));
    out.response_length = std::string(args.text(option::response_length, "1024"));
    load.response_tokens = mean_length(out.response_length);
    load.has_reference = !args.has(option::no_reference);
    load.has_reward_model = args.has(option::reward_model);
    load.is_async = args.has(option::is_async);
    if (load.is_async && args.choice(option::rl_placement) == 1)
        throw_usage(option::is_async.name, "requires separate devices");
    out.devices = args.number(option::devices, 8);
    out.iterations = args.number(option::iterations, 0);
    out.num_results = static_cast<std::size_t>(args.number(option::top_of_plan, 5));
    out.offloads = args.has(option::offload_trainer);
    if (out.offloads && load.is_async) throw_usage(option::offload_trainer.name, "cannot be combined with --async");
    out.format = static_cast<output_format>(args.choice(option::format));
    return out;
}

/// A command line of another command.
class other_command_line {
public:
    void add(std::string_view text) { texts_.emplace_back(text); }
    void add(const option_spec& o, std::string_view value) {
        add(o.name);
        add(value);
    }
    void add_from(const arguments& args, const option_spec& o) {
        if (args.has(o)) add(o, args.text(o));
    }
    [[nodiscard]] arguments parse(std::string_view command, std::span<const option_spec> rows) const {
        const std::vector<std::string_view> views(texts_.begin(), texts_.end());
        return {command, rows, views};
    }
    [[nodiscard]] std::string text(std::string_view command) const {
        std::string out = "llmcost " + std::string(command);
        for (const std::string& t : texts_) out += ' ' + t;
        return out;
    }

private:
    std::deque<std::string> texts_;
};

LLMCOST_INLINE void add_model(other_command_line& line, const arguments& args) {
    for (const option_spec& o : model_options)
        for (const std::string_view value : args.all(o)) {
            line.add(o.name);
            if (o.type != value_type::none) line.add(value);
        }
}

/// The options of `llmcost plan --training` that describe a trainer.
inline constexpr std::array trainer_options =
    concatenate(training_plan_options,
                std::array{option::devices, option::top_of_plan, option::tp, option::pp, option::dp, option::ep,
                           option::device, option::network, option::price, option::format},
                model_options);

/// Plans trainer and rollout engine.
class rl_planner {
public:
    rl_planner(const arguments& args, const program& io, rl_plan_response& out)
        : args_(args), io_(io), out_(out), load_(out.request.load) {}

    /// Adds the fastest configuration with a trainer and an engine on the given devices.
    void add(std::int64_t trainer_devices, std::int64_t rollout_devices, bool is_colocated) {
        try {
            const training_plan_response& plans = trainer_of(trainer_devices);
            set_common(plans);
            for (const evaluated_training& training : plans.results.front().best) {
                rl_configuration c;
                c.is_colocated = is_colocated;
                c.trainer_devices = trainer_devices;
                c.rollout_devices = rollout_devices;
                c.training = training;
                if (!set_memory(c, plans)) continue;
                set_trainer(c, plans);
                add_rollouts(c, plans);
                return;
            }
            out_.problem = "out of memory: the trainer does not fit on " + std::to_string(trainer_devices) + " x " +
                           out_.device_title;
        } catch (const error& problem) {
            if (problem.code() != errc::usage && problem.code() != errc::does_not_fit) throw;
            out_.problem = problem.what();
        }
    }

private:
    /// `llmcost plan --training` for the mini-batches of the trainer.
    const training_plan_response& trainer_of(std::int64_t devices) {
        auto found = trainers_.find(devices);
        if (found != trainers_.end()) return found->second;
        other_command_line line;
        line.add(option::training_of_plan.name);
        add_model(line, args_);
        for (const option_spec& o : {option::device, option::network, option::price, option::memory, option::tp,
                                     option::pp, option::dp, option::ep, option::training_cp, option::batch})
            line.add_from(args_, o);
        line.add(option::devices, std::to_string(devices));
        line.add(option::sequence, std::to_string(sequence()));
        line.add(option::global_batch_of_plan, std::to_string(load_.mini_batch_size * load_.rollout_n));
        return trainers_.emplace(devices, search_training_plans(line.parse("plan", trainer_options), io_))
            .first->second;
    }
    [[nodiscard]] std::int64_t sequence() const {
        return static_cast<std::int64_t>(std::ceil(load_.prompt_tokens + load_.response_tokens));
    }
    void set_common(const training_plan_response& plans) {
        out_.model_name = plans.model_name;
        out_.device_title = printable(plans.placed.device->title);
        out_.limit = plans.request.limit;
        out_.price_per_hour = plans.placed.price_per_hour;
        out_.weight_bytes = weight_bytes(plans.placed.model, plans.placed.execution);
    }
    /// The memory of the largest rank of the trainer, from its `llmcost train` command line.
    [[nodiscard]] rank_training_memory trainer_memory(const training_plan_response& plans,
                                                      const training_candidate& c) const {
        other_command_line line;
        for (const std::string& text : plans.model_options) line.add(text);
        for (const option_spec& o : {option::device, option::network}) line.add_from(args_, o);
        for (const std::string& text :
             train_options_of(plans.strategies[c.variant], c, plans.request.sequence, plans.has_cuda))
            line.add(text);
        const arguments train_args = line.parse("train", train_options);
        const parsed_model read = io_.read(train_args, io_);
        training_plan plan = parse_training_plan(train_args);
        requested_adapter adapter = read_adapter(train_args);
        workload step_load = training_workload(train_args);
        finish_training_plan(plan, adapter, train_args, io_, read, step_load);
        const megatron_settings settings = read_megatron_settings(train_args, plan.schedule);
        return training_memory_of(read.subject, step_load, plan, read_training_parallelism(train_args), settings)
            .largest();
    }
    /// Sets the memory of a configuration. Whether it fits.
    ///
    /// Reference and reward model are 16-bit parameters that all trainer devices shard. The critic has the state of
    /// the model.
    [[nodiscard]] bool set_memory(rl_configuration& c, const training_plan_response& plans) const {
        const rank_training_memory state = trainer_memory(plans, c.training.candidate);
        const bool is_megatron = plans.strategies[c.training.candidate.variant].rules == split_rules::megatron;
        // Megatron-Core has buffers of gradients; PyTorch frees gradients after the step
        const double trained = static_cast<double>(state.parameter_bytes) + static_cast<double>(state.optimizer_bytes) +
                               (is_megatron ? static_cast<double>(state.gradient_bytes) : 0);
        const double frozen = (load_.has_reference ? 1 : 0) + (load_.has_reward_model ? 1 : 0);
        const double others = frozen * out_.weight_bytes / static_cast<double>(c.trainer_devices) +
                              (load_.algorithm == rl_algorithm::ppo ? trained : 0);
        c.memory.trainer_bytes = static_cast<double>(c.training.peak_bytes) + others;
        if (c.memory.trainer_bytes > static_cast<double>(out_.limit.bytes)) return false;
        if (!c.is_colocated) return true;
        c.memory.resident_bytes = others + (out_.request.offloads ? 0 : trained);
        if (!out_.request.offloads) return true;
        const double bandwidth = plans.placed.device->pcie_bandwidth * 1e9;
        if (bandwidth <= 0)
            throw_usage(option::offload_trainer.name, "the PCIe bandwidth of " + out_.device_title + " is unknown");
        c.parts.offload_seconds = 2 * trained / bandwidth;
        return true;
    }
    void set_trainer(rl_configuration& c, const training_plan_response& plans) const {
        const parallel_training_cost& step = c.training.cost;
        const execution& execution = plans.placed.execution;
        c.train_command = train_command(plans, c.training.candidate);
        c.trainer_label = trainer_label(plans.strategies[c.training.candidate.variant], c.training.candidate);
        c.parts.training_step_seconds = step.total.seconds;
        c.parts.forward_seconds = forward_pass_seconds(step);
        const auto send = [&](std::int64_t devices) {
            return time_collective(collective_kind::all_gather, out_.weight_bytes, devices, 1, execution,
                                   *plans.placed.device, *plans.placed.kernels)
                .seconds;
        };
        c.transfer_bytes = out_.weight_bytes;
        c.parts.weight_transfer_seconds = send(c.trainer_devices);
        if (!c.is_colocated) c.parts.weight_transfer_seconds += send(c.rollout_devices + 1);
    }
    [[nodiscard]] static std::string trainer_label(const training_strategy& strategy, const training_candidate& c) {
        const training_parallelism& p = c.parallel;
        std::string out = strategy.rules == split_rules::megatron ? (strategy.is_sharded ? "ZeRO-1" : "DDP") : "FSDP";
        for (const auto& [name, size] :
             {std::pair{"tp", p.tensor}, {"pp", p.pipeline}, {"cp", p.context}, {"ep", p.expert}, {"dp", p.data}})
            if (size > 1) out += std::string(" ") + name + std::to_string(size);
        return out;
    }

    /// Adds the configuration with its fastest rollout engine.
    void add_rollouts(const rl_configuration& trainer, const training_plan_response& plans) {
        std::optional<rl_configuration> best;
        std::vector<std::int64_t> sizes{1, 2, 4, 8};
        if (args_.has(option::rollout_tp)) sizes = {args_.number(option::rollout_tp, 1)};
        for (const std::int64_t tp : sizes) {
            if (trainer.rollout_devices % tp != 0 || tp > plans.placed.execution.devices_per_node) continue;
            rl_configuration c = trainer;
            c.rollout_tp = tp;
            try {
                set_rollout(c);
            } catch (const error& problem) {
                if (problem.code() != errc::usage && problem.code() != errc::does_not_fit) throw;
                out_.problem = problem.what();
                continue;
            }
            c.iteration = compose_iteration(load_, c.parts);
            if (!best || c.iteration.seconds < best->iteration.seconds) best = std::move(c);
        }
        if (best) out_.configurations.push_back(std::move(*best));
    }
    /// `llmcost simulate` for the responses of one engine, which all arrive at once.
    void set_rollout(rl_configuration& c) const {
        const std::int64_t engines = c.rollout_devices / c.rollout_tp;
        const std::int64_t responses = (load_.num_responses() + engines - 1) / engines;
        other_command_line line;
        add_model(line, args_);
        line.add_from(args_, option::device);
        line.add(option::engine, out_.engine);
        line.add(option::linear_dtype, "bfloat16");
        if (c.rollout_tp > 1) line.add(option::tp, std::to_string(c.rollout_tp));
        line.add(option::clients, std::to_string(responses));
        line.add(option::num_requests, std::to_string(responses));
        line.add(option::lengths_in, std::to_string(static_cast<std::int64_t>(load_.prompt_tokens)));
        line.add(option::lengths_out, out_.request.response_length);
        if (load_.rollout_n > 1)
            line.add(option::prefix_hit, formatted("%.6g", static_cast<double>(load_.rollout_n - 1) /
                                                               static_cast<double>(load_.rollout_n)));
        if (c.is_colocated) {
            const double percent =
                std::floor(100 * (1 - c.memory.resident_bytes / static_cast<double>(out_.limit.bytes))) - reserve;
            if (percent < 1)
                throw error(errc::does_not_fit, out_.device_title, "out of memory: no memory for the rollout engine");
            c.memory.memory_share = percent / 100;
            line.add(option::memory_share, formatted("%.2f", c.memory.memory_share));
        }
        const prepared_simulation prepared(line.parse("simulate", simulate_options), io_);
        c.parts.rollout_seconds =
            summarize(simulate(prepared.engine, prepared.load.requests, prepared.request.config)).seconds;
        c.simulate_command = line.text("simulate");
        if (!c.is_colocated) c.memory.memory_share = 1 - reserve / 100;
        c.memory.rollout_bytes =
            c.memory.resident_bytes + c.memory.memory_share * static_cast<double>(out_.limit.bytes);
    }

    /// Percent of the memory that an engine leaves free. Source: vllm/config/cache.py, `gpu_memory_utilization` 0.92.
    static constexpr double reserve = 8;

    const arguments& args_;
    const program& io_;
    rl_plan_response& out_;
    const rl_workload& load_;
    std::map<std::int64_t, training_plan_response> trainers_{};
};

LLMCOST_INLINE command_output run_rl_plan(const arguments& args, const program& io) {
    rl_plan_response response;
    response.request = parse_rl_plan_request(args);
    if (!args.has(option::device)) throw_usage(option::device.name, "required: the device of trainer and engine");
    response.engine = std::string(args.text(option::engine, "vllm"));
    const std::int64_t devices = response.request.devices;
    rl_planner planner(args, io, response);
    const int placement = args.choice(option::rl_placement);
    const bool has_rollout_devices = args.has(option::rollout_devices);
    if (has_rollout_devices && placement == 1)
        throw_usage(option::rollout_devices.name, "cannot be combined with --placement colocated");
    if (placement != 2 && !has_rollout_devices && !response.request.load.is_async) planner.add(devices, devices, true);
    std::vector<std::int64_t> rollouts;
    if (has_rollout_devices)
        rollouts = {args.number(option::rollout_devices, 1)};
    else if (placement != 1 && !response.request.offloads)
        for (const std::int64_t quarters : {1, 2, 3})
            if (devices % 4 == 0) rollouts.push_back(devices / 4 * quarters);
    for (const std::int64_t rollout : rollouts) {
        if (rollout >= devices)
            throw_usage(option::rollout_devices.name, "expected fewer than --devices " + std::to_string(devices));
        planner.add(devices - rollout, rollout, false);
    }
    std::ranges::stable_sort(response.configurations, [](const rl_configuration& a, const rl_configuration& b) {
        return a.iteration.seconds < b.iteration.seconds;
    });
    if (response.configurations.empty())
        throw error(errc::does_not_fit, "plan --rl",
                    response.problem.empty() ? "no division of the devices; use --rollout-devices" : response.problem);
    if (response.configurations.size() > response.request.num_results)
        response.configurations.resize(response.request.num_results);
    const output_format format = response.request.format;
    return command_output{format == output_format::json   ? rl_plan_json(response)
                          : format == output_format::text ? rl_plan_page(response)
                                                          : written(rl_plan_table(response), format)};
}

}  // namespace llmcost::cli::detail
