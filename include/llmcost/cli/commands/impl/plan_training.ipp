// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/plan_training.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/parallelism_options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/sweep.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/commands/latency.hpp>
#include <llmcost/cli/commands/plan_training_text.hpp>
#include <llmcost/cli/commands/step_estimate.hpp>
#include <llmcost/cli/commands/timed_operations.hpp>
#include <llmcost/cli/commands/train.hpp>
#include <llmcost/cli/commands/training_plan.hpp>
#include <llmcost/cli/request/adapter_option.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/devices/cuda_capability.hpp>
#include <llmcost/distributed/tensor_parallel_plan.hpp>
#include <llmcost/kernels/kernel_library.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/serving/training_search.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE bool is_training_plan(const arguments& args) {
    if (!args.has(option::training)) {
        for (const option_spec& o : training_plan_options)
            if (args.has(o)) throw_usage(o.name, "requires --training");
        return false;
    }
    constexpr std::array accepted =
        concatenate(training_plan_options,
                    std::array{option::devices, option::top_of_plan, option::tp, option::pp, option::dp, option::ep,
                               option::device, option::network, option::price, option::format},
                    model_options, help_option);
    for (const option_spec& o : args.options())
        if (args.has(o) && std::ranges::none_of(accepted, [&](const option_spec& other) { return other.is(o); }))
            throw_usage(o.name, "cannot be combined with --training");
    return true;
}

/// Parses `15T`: a number of tokens. B and T are powers of 1000; other suffixes as in `parse_integer`.
[[nodiscard]] LLMCOST_INLINE double parse_tokens(std::string_view option_name, std::string_view text) {
    double factor = 1;
    std::string_view number = text;
    for (const auto& [suffix, value] : {std::pair{'B', 1e9}, std::pair{'T', 1e12}})
        if (number.ends_with(suffix)) factor = value;
    if (factor == 1) return static_cast<double>(parse_integer(option_name, text, 1, 1'000'000'000'000'000'000));
    number.remove_suffix(1);
    return factor * parse_real(option_name, number, 1e-6, 1e6);
}

LLMCOST_INLINE training_plan_request parse_training_plan_request(const arguments& args) {
    constexpr std::int64_t max_devices = 1'000'000, max_batch = 1'000'000'000;
    constexpr std::size_t max_counts = 64;
    training_plan_request out;
    out.devices = args.has(option::devices)
                      ? read_list_of_numbers(option::devices.name, args.text(option::devices), 1, max_counts)
                      : std::vector<std::int64_t>{8};
    std::ranges::sort(out.devices);
    out.devices.erase(std::unique(out.devices.begin(), out.devices.end()), out.devices.end());
    if (out.devices.back() > max_devices) throw_usage(option::devices.name, "expected at most 1000000");
    out.sequence = args.number(option::sequence, 0);
    std::string_view batch = args.text(option::global_batch_of_plan, "4Mtokens");
    if (constexpr std::string_view unit = "tokens"; batch.ends_with(unit)) {
        batch.remove_suffix(unit.size());
        out.global_batch_tokens = parse_integer(option::global_batch_of_plan.name, batch, 1);
    } else {
        out.global_batch = parse_integer(option::global_batch_of_plan.name, batch, 1, max_batch);
    }
    if (args.has(option::tokens)) out.tokens = parse_tokens(option::tokens.name, args.text(option::tokens));
    training_search_space& space = out.space;
    space.tensor = args.number(option::tp, 0);
    space.pipeline = args.number(option::pp, 0);
    space.data = args.number(option::dp, 0);
    space.expert = args.number(option::ep, 0);
    space.context = args.number(option::training_cp, 0);
    space.batch = args.number(option::batch, 0);
    space.num_results = static_cast<std::size_t>(args.number(option::top_of_plan, 5));
    out.format = static_cast<output_format>(args.choice(option::format));
    return out;
}

/// Completes the lengths with the model. Throws: `usage` if a step has less than one sequence.
LLMCOST_INLINE void complete_training_plan_request(training_plan_request& request, const model& m) {
    constexpr std::int64_t default_sequence = 8192;
    const std::int64_t context = m.config.max_position_embeddings;
    if (request.sequence == 0) request.sequence = context > 0 ? std::min(context, default_sequence) : default_sequence;
    if (request.global_batch == 0) request.global_batch = request.global_batch_tokens / request.sequence;
    if (request.global_batch < 1)
        throw_usage(option::global_batch_of_plan.name,
                    "expected at least one sequence of " + std::to_string(request.sequence) + " tokens");
    request.space.sequence = request.sequence;
    request.space.global_batch = request.global_batch;
    request.space.memory_bytes = request.limit.bytes;
}

/// The programs that are searched: Megatron-LM with and without the distributed optimizer, and FSDP2 with and without
/// gathering parameters again in backward, each without recomputation, with that of attention, and of all layers.
[[nodiscard]] LLMCOST_INLINE std::vector<training_strategy> searched_strategies() {
    std::vector<training_strategy> out;
    for (const recompute_mode recompute : {recompute_mode::none, recompute_mode::selective, recompute_mode::full}) {
        for (const bool is_sharded : {true, false}) out.push_back({split_rules::megatron, is_sharded, true, recompute});
        for (const bool reshards : {true, false}) out.push_back({split_rules::torch, true, reshards, recompute});
    }
    return out;
}

/// The workloads and plans of a strategy, read from its `llmcost train` command line.
[[nodiscard]] LLMCOST_INLINE training_variant variant_of(const training_strategy& strategy, const arguments& args,
                                                         const program& io, const parsed_model& read,
                                                         const training_plan_response& response) {
    training_candidate smallest;
    smallest.parallel.data = 2;
    std::vector<std::string> texts = response.model_options;
    for (const option_spec& o : {option::device, option::network})
        if (args.has(o)) texts.insert(texts.end(), {std::string(o.name), std::string(args.text(o))});
    for (std::string& text : train_options_of(strategy, smallest, response.request.sequence, response.has_cuda))
        texts.push_back(std::move(text));
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    const arguments train_args("train", train_options, views);

    training_variant out;
    out.rules = strategy.rules;
    out.plan = parse_training_plan(train_args);
    requested_adapter adapter = read_adapter(train_args);
    out.load = training_workload(train_args);
    finish_training_plan(out.plan, adapter, train_args, io, read, out.load);
    out.settings = read_megatron_settings(train_args, out.plan.schedule);

    latency_command_line line(train_args);
    add_training_job(line, train_args, out.load, out.plan.schedule.data_parallel_size,
                     products_of(train_args, out.load));
    const arguments latency_args = line.parse();
    latency_request timed = parse_latency_request(latency_args);
    complete_latency_workload(timed, latency_args, response.placed);
    validate(timed, response.placed);
    out.timed_load = timed.work.base_workload;
    out.timed_plan = training_plan_of(response.placed, timed.schedule);
    out.job = timed.job;
    out.job.parallel.has_loss_parallel = strategy.rules == split_rules::torch;  // with tensor parallelism
    if (strategy.rules == split_rules::torch) {
        out.distributes_experts =
            find_tensor_parallel_plan(read.subject).value_or(tensor_parallel_plan{}).distributes_experts;
        for (const char* const schedule : {"interleaved-zero-bubble", "zbv"}) out.schedules.emplace_back(schedule);
    }
    return out;
}

LLMCOST_INLINE training_plan_response search_training_plans(const arguments& args, const program& io) {
    training_plan_response response;
    training_plan_request& request = response.request;
    request = parse_training_plan_request(args);
    if (!args.has(option::device)) throw_usage(option::device.name, "required: the device of the training job");
    const parsed_model read = io.read(args, io);
    response.model_name = read.found.name_of_model.name;
    for (const option_spec& o : model_options)
        for (const std::string_view value : args.all(o)) {
            response.model_options.emplace_back(o.name);
            if (o.type != value_type::none) response.model_options.emplace_back(value);
        }
    latency_command_line line(args);
    line.add(option::linear_dtype, "bfloat16");
    line.add(option::training);
    response.placed = io.place(line.parse(), io);
    require_known_memory(*response.placed.device);
    response.network = std::string(args.text(option::network));
    require_network(option::network.name, {.data_parallel_size = request.devices.back()},
                    response.placed.execution.devices_per_node, *response.placed.device);
    request.limit = memory_limit_on(*response.placed.device);
    if (args.has(option::memory))
        request.limit = {.bytes = read_bytes(option::memory.name, args.text(option::memory)),
                         .label = std::string(args.text(option::memory))};
    complete_training_plan_request(request, read.subject);
    warn_if_context_exceeded(io.err, response.model_name, read.subject, request.sequence);
    response.has_cuda = cuda_capability_of(*response.placed.device) > 0;
    response.num_layers = std::max<std::int64_t>(read.subject.config.num_hidden_layers, 1);
    response.num_experts = read.subject.config.moe.num_experts;
    response.strategies = searched_strategies();
    std::vector<training_variant> variants;
    for (const training_strategy& strategy : response.strategies)
        variants.push_back(variant_of(strategy, args, io, read, response));

    training_search search(read.subject, response.placed.model, response.placed.execution, *response.placed.device,
                           *response.placed.kernels, std::move(variants), [&](const training_parallelism& parallel) {
                               try {
                                   check_parallelism(parallel, read.subject);
                                   return true;
                               } catch (const error&) {
                                   return false;
                               }
                           });
    for (const std::int64_t devices : request.devices) {
        request.space.devices = devices;
        response.results.push_back(search(request.space));
    }
    return response;
}

LLMCOST_INLINE command_output run_training_plan(const arguments& args, const program& io) {
    const training_plan_response response = search_training_plans(args, io);
    const training_plan_request& request = response.request;
    const bool fits = std::ranges::any_of(response.results,
                                          [](const training_search_result& result) { return !result.best.empty(); });
    command_output out;
    out.text = request.format == output_format::json   ? training_plan_json(response)
               : request.format == output_format::text ? training_plan_page(response)
                                                       : written(training_plan_table(response), request.format);
    if (!fits) out.exit_status = exit_code::does_not_fit;
    return out;
}

}  // namespace llmcost::cli::detail
