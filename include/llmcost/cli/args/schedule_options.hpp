// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/memory/schedule.hpp>

// How a step is trained beside the pass itself: its optimizer, passes before it, devices, what is made again, what
// waits elsewhere.
namespace llmcost::cli {

namespace detail {

inline std::vector<std::string_view> optimizer_names(const program&) {
    std::vector<std::string_view> names;
    for (const optimizer_spec& o : optimizers) names.push_back(o.name);
    return names;
}
inline std::vector<std::string_view> recompute_names(const program&) { return {"none", "selective", "full"}; }

}  // namespace detail

namespace option {

// clang-format off
inline constexpr option_spec
    optimizer      {"--optimizer", value_type::text,   "NAME", "adamw, muon ... with :fused, :single, :in-backward", "Training", detail::optimizer_names},
    recompute      {"--recompute", value_type::text,   "WORD", "none, selective, full or full:N layers", {}, detail::recompute_names},
    steps          {"--steps",     value_type::number, "N",    "optimizer state exists from the first on (2)"},
    accumulation   {"--gradient-accumulation", value_type::number, "N", "passes of a batch before a step (1)"},
    shards         {"--shards",    value_type::number, "N",    "devices, a batch on each; figures of one (1)"},
    zero           {"--zero",      value_type::choice, "0|1|2|3", "what they share: DeepSpeed's stages"},
    fsdp           {"--fsdp",      value_type::none,   "",     "they share as PyTorch's fully_shard does"},
    master_weights {"--master-weights", value_type::none, "",  "copies in 32 bits of weights in 16"},
    gradient_dtype {"--gradient-dtype", value_type::choice, "fp32|bf16", "what gradients are summed in (as the weights)"},
    offload        {"--offload",   value_type::choice, "none|activations|optimizer|both", "what waits in the host's memory"};
// clang-format on

}  // namespace option

/// How a step is trained.
inline constexpr std::array schedule_options{option::recompute,      option::steps,          option::accumulation,
                                             option::shards,         option::zero,           option::fsdp,
                                             option::master_weights, option::gradient_dtype, option::offload};

namespace detail {

/// `adamw:fused:in-backward`, `galore:rank=64`.
inline void read_optimizer(std::string_view text, training_schedule& step) {
    constexpr std::string_view option_name = "--optimizer", in_backward = ":in-backward", rank = ":rank=";
    std::string_view name = text;
    if (name.ends_with(in_backward)) {
        step.has_optimizer_in_backward = true;
        name.remove_suffix(in_backward.size());
    }
    if (const std::size_t at = name.find(rank); at != std::string_view::npos && name.substr(0, at) == "galore") {
        step.galore_rank = parse_integer(option_name, name.substr(at + rank.size()), 1);
        name = name.substr(0, at);
    }
    step.optimizer = find_optimizer(name);
    if (step.optimizer != nullptr) return;
    name_suggestions near(name);
    for (const optimizer_spec& o : optimizers) near.add_candidate(o.name);
    throw_usage(option_name, "no optimizer " + quote(name) + near.suggestion_or_list());
}

inline void read_recompute(std::string_view text, training_schedule& step) {
    constexpr std::string_view option_name = "--recompute", full = "full";
    if (text == "none" || text.empty()) return;
    if (text == "selective") {
        step.recompute = recompute_mode::selective;
    } else if (text == full || text.starts_with("full:")) {
        step.recompute = recompute_mode::full;
        if (text != full)
            step.num_recomputed_layers =
                static_cast<std::int32_t>(parse_integer(option_name, text.substr(5), 1, 100'000));
    } else {
        throw_usage(option_name, "expected none, selective, full or full:N; found " + quote(text));
    }
}

/// Refuses what no trainer does together.
inline void check_schedule(const arguments& args, const training_schedule& step, bool in_half) {
    const bool parts = step.data_parallel_size > 1 && step.sharding != sharding_strategy::ddp;
    const std::string_view shared = args.has(option::fsdp) ? "--fsdp" : "--zero";
    if (args.has(option::fsdp) && args.has(option::zero))
        throw_usage("--fsdp", "is a way of its own: leave --zero out");
    if ((args.has(option::fsdp) || args.has(option::zero)) && !args.has(option::shards))
        throw_usage(shared, "needs --shards, how many devices share");
    if (parts && !step.optimizer->is_elementwise())
        throw_usage(shared, "a part of a tensor has no step of its own in " + std::string(step.optimizer->name));
    if (step.updates_in_backward() &&
        (parts || step.gradient_accumulation_steps > 1 || step.has_master_weights || step.has_float32_gradients))
        throw_usage("--optimizer", "a step in backward leaves no gradient to sum, to share or to widen");
    if (step.sharding == sharding_strategy::fsdp && parts && (step.has_master_weights || step.offloads_optimizer))
        throw_usage("--fsdp",
                    "parts are the weights that the optimizer moves: no --master-weights, no --offload optimizer");
    if (parts && step.has_float32_gradients) throw_usage(shared, "sums gradients as wide as the weights");
    if (step.has_master_weights && !in_half)
        throw_usage("--master-weights", "weights are in 32 bits: say --precision bf16");
    if (args.has(option::gradient_dtype) && args.choice(option::gradient_dtype) == 1 && !in_half)
        throw_usage("--gradient-dtype", "gradients of weights in 32 bits are in 32 bits");
}

inline training_schedule read_schedule(const arguments& args, bool in_half) {
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

}  // namespace detail

}  // namespace llmcost::cli
