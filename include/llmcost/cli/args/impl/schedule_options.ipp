// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/args/schedule_options.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/memory/optimizer.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/text/nearest_name.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE std::vector<std::string_view> optimizer_names(const program&) {
    std::vector<std::string_view> names;
    for (const optimizer_spec& o : optimizers) names.push_back(o.name);
    return names;
}

LLMCOST_INLINE void read_optimizer(std::string_view text, training_schedule& step) {
    constexpr std::string_view option_name = "--optimizer", in_backward = ":in-backward", rank = ":rank=";
    std::string_view name = text;
    if (name.ends_with(in_backward)) {
        step.has_optimizer_in_backward = true;
        name.remove_suffix(in_backward.size());
    }
    if (const std::size_t rank_position = name.find(rank);
        rank_position != std::string_view::npos &&
        (name.substr(0, rank_position) == "galore" || name.substr(0, rank_position) == "apollo")) {
        step.galore_rank = parse_integer(option_name, name.substr(rank_position + rank.size()), 1);
        name = name.substr(0, rank_position);
    }
    step.optimizer = find_optimizer(name);
    if (constexpr std::string_view single = ":single"; step.optimizer == nullptr && name.ends_with(single)) {
        // without temporaries, a loop over parameters has the memory of a call for all of them
        const optimizer_spec* const plain = find_optimizer(name.substr(0, name.size() - single.size()));
        if (plain != nullptr && plain->temporaries == optimizer_temporaries::none) step.optimizer = plain;
    }
    if (step.optimizer != nullptr) return;
    name_suggestions near(name);
    for (const optimizer_spec& o : optimizers) near.add_candidate(o.name);
    throw_usage(option_name, "no optimizer " + quote(name) + near.suggestion_or_list());
}

LLMCOST_INLINE void read_recompute(std::string_view text, training_schedule& step) {
    constexpr std::string_view option_name = "--recompute", full = "full";
    if (text == "none" || text.empty()) return;
    if (text == "selective") {
        step.recompute = recompute_mode::selective;
    } else if (text == "operators") {
        step.recompute = recompute_mode::full;
        step.saves_operators = true;
    } else if (text == full || text.starts_with("full:")) {
        step.recompute = recompute_mode::full;
        if (text != full)
            step.num_recomputed_layers =
                static_cast<std::int32_t>(parse_integer(option_name, text.substr(5), 1, 100'000));
    } else {
        throw_usage(option_name, "expected none, selective, operators, full or full:N; found " + quote(text));
    }
}

/// Throws: `usage` for options that cannot be combined.
LLMCOST_INLINE void check_schedule(const arguments& args, const training_schedule& step, bool in_half) {
    const bool parts = step.data_parallel_size > 1 && step.sharding != sharding_strategy::ddp;
    const std::string_view shared = args.has(option::fsdp) ? "--fsdp" : "--zero";
    if (args.has(option::fsdp) && args.has(option::zero)) throw_usage("--fsdp", "cannot be combined with --zero");
    if ((args.has(option::fsdp) || args.has(option::zero)) && !args.has(option::shards) &&
        !args.has(option::training_cp))
        throw_usage(shared, "requires --shards");
    if (parts && !step.optimizer->is_elementwise())
        throw_usage(shared, "not supported with --optimizer " + std::string(step.optimizer->name) +
                                (step.optimizer->only_in_backward ? ", which updates parameters during backward"
                                                                  : ", which requires complete matrices"));
    if (step.updates_in_backward() &&
        (parts || step.gradient_accumulation_steps > 1 || step.has_master_weights || step.has_float32_gradients))
        throw_usage("--optimizer",
                    ":in-backward cannot be combined with --zero, --fsdp, --gradient-accumulation, --master-weights or "
                    "--gradient-dtype fp32");
    if (step.sharding == sharding_strategy::fsdp && parts && (step.has_master_weights || step.offloads_optimizer))
        throw_usage("--fsdp", "cannot be combined with --master-weights or --offload optimizer");
    if (parts && step.has_float32_gradients) throw_usage(shared, "cannot be combined with --gradient-dtype fp32");
    if (step.has_master_weights && !in_half) throw_usage("--master-weights", "requires --precision bf16");
    if (args.has(option::gradient_dtype) && args.choice(option::gradient_dtype) == 1 && !in_half)
        throw_usage("--gradient-dtype", "bf16 requires --precision bf16");
}

LLMCOST_INLINE training_schedule read_schedule(const arguments& args, bool in_half) {
    training_schedule step;
    read_optimizer(args.text(option::optimizer, "adamw"), step);
    read_recompute(args.text(option::recompute), step);
    step.num_steps = static_cast<int>(parse_integer("--steps", args.text(option::steps, "2"), 1, 1000));
    step.gradient_accumulation_steps = args.number(option::accumulation, 1);
    step.data_parallel_size = parse_integer("--shards", args.text(option::shards, "1"), 1, 1'000'000);
    step.sharding =
        args.has(option::fsdp) ? sharding_strategy::fsdp : static_cast<sharding_strategy>(args.choice(option::zero));
    step.has_master_weights = args.has(option::master_weights);
    step.has_float32_gradients = in_half && args.choice(option::gradient_dtype, 1) == 0;
    const int offload_mode = args.choice(option::offload);
    step.offloads_activations = offload_mode == 1 || offload_mode == 3;
    step.offloads_optimizer = offload_mode >= 2;
    check_schedule(args, step, in_half);
    return step;
}

}  // namespace llmcost::cli::detail
