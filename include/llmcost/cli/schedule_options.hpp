// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/cli/arguments.hpp>
#include <llmcost/memory/schedule.hpp>

// How a step is trained beside the pass itself: its optimizer, passes before it, devices, what is made again, what waits
// elsewhere.
namespace llmcost::cli {

namespace detail {

inline std::vector<std::string_view> optimizer_words(const program&) {
    std::vector<std::string_view> names;
    for (const optimizer_row& o : optimizers) names.push_back(o.name);
    return names;
}
inline std::vector<std::string_view> recompute_words(const program&) { return {"none", "selective", "full"}; }

}  // namespace detail

namespace option {

// clang-format off
inline constexpr option_row
    optimizer      {"--optimizer", value_kind::text,   "NAME", "adamw, muon ... with :fused, :single, :in-backward", "Training", detail::optimizer_words},
    recompute      {"--recompute", value_kind::text,   "WORD", "none, selective, full or full:N layers", {}, detail::recompute_words},
    steps          {"--steps",     value_kind::number, "N",    "optimizer state exists from the first on (2)"},
    accumulation   {"--gradient-accumulation", value_kind::number, "N", "passes of a batch before a step (1)"},
    shards         {"--shards",    value_kind::number, "N",    "devices, a batch on each; figures of one (1)"},
    zero           {"--zero",      value_kind::choice, "0|1|2|3", "what they share: DeepSpeed's stages"},
    fsdp           {"--fsdp",      value_kind::none,   "",     "they share as PyTorch's fully_shard does"},
    master_weights {"--master-weights", value_kind::none, "",  "copies in 32 bits of weights in 16"},
    gradient_dtype {"--gradient-dtype", value_kind::choice, "fp32|bf16", "what gradients are summed in (as the weights)"},
    offload        {"--offload",   value_kind::choice, "none|activations|optimizer|both", "what waits in the host's memory"};
// clang-format on

}  // namespace option

/// How a step is trained.
inline constexpr std::array schedule_options{option::recompute,      option::steps,          option::accumulation,
                                             option::shards,         option::zero,           option::fsdp,
                                             option::master_weights, option::gradient_dtype, option::offload};

namespace detail {

/// `adamw:fused:in-backward`, `galore:rank=64`.
inline void read_optimizer(std::string_view text, training_schedule& step) {
    constexpr std::string_view where = "--optimizer", in_backward = ":in-backward", rank = ":rank=";
    std::string_view name = text;
    if (name.ends_with(in_backward)) step.steps_in_backward = true, name.remove_suffix(in_backward.size());
    if (const std::size_t at = name.find(rank); at != std::string_view::npos && name.substr(0, at) == "galore") {
        step.rank = read_number(where, name.substr(at + rank.size()), 1);
        name = name.substr(0, at);
    }
    step.optimizer = find_optimizer(name);
    if (step.optimizer != nullptr) return;
    nearest_names near(name);
    for (const optimizer_row& o : optimizers) near.offer(o.name);
    refuse(where, "no optimizer " + in_quotes(name) + near.hint_or_all());
}

inline void read_recompute(std::string_view text, training_schedule& step) {
    constexpr std::string_view where = "--recompute", full = "full";
    if (text == "none" || text.empty()) return;
    if (text == "selective") {
        step.recompute = recomputation::selective;
    } else if (text == full || text.starts_with("full:")) {
        step.recompute = recomputation::full;
        if (text != full) step.recomputed_layers = static_cast<std::int32_t>(read_number(where, text.substr(5), 1, 100'000));
    } else {
        refuse(where, "expected none, selective, full or full:N; found " + in_quotes(text));
    }
}

/// Refuses what no trainer does together.
inline void check_schedule(const arguments& given, const training_schedule& step, bool in_half) {
    const bool parts = step.shards > 1 && step.shares != sharing::replicas;
    const std::string_view shared = given.has(option::fsdp) ? "--fsdp" : "--zero";
    if (given.has(option::fsdp) && given.has(option::zero)) refuse("--fsdp", "is a way of its own: leave --zero out");
    if ((given.has(option::fsdp) || given.has(option::zero)) && !given.has(option::shards))
        refuse(shared, "needs --shards, how many devices share");
    if (parts && !step.optimizer->is_elementwise())
        refuse(shared, "a part of a tensor has no step of its own in " + std::string(step.optimizer->name));
    if (step.updates_in_backward() && (parts || step.accumulation > 1 || step.master_weights || step.gradients_in_float))
        refuse("--optimizer", "a step in backward leaves no gradient to sum, to share or to widen");
    if (step.shares == sharing::layers && parts && (step.master_weights || step.offloads_optimizer))
        refuse("--fsdp", "parts are the weights that the optimizer moves: no --master-weights, no --offload optimizer");
    if (parts && step.gradients_in_float) refuse(shared, "sums gradients as wide as the weights");
    if (step.master_weights && !in_half) refuse("--master-weights", "weights are in 32 bits: say --precision bf16");
    if (given.has(option::gradient_dtype) && given.choice(option::gradient_dtype) == 1 && !in_half)
        refuse("--gradient-dtype", "gradients of weights in 32 bits are in 32 bits");
}

inline training_schedule read_schedule(const arguments& given, bool in_half) {
    training_schedule step;
    read_optimizer(given.text(option::optimizer, "adamw"), step);
    read_recompute(given.text(option::recompute), step);
    step.steps = static_cast<int>(read_number("--steps", given.text(option::steps, "2"), 1, 1000));
    step.accumulation = given.number(option::accumulation, 1);
    step.shards = read_number("--shards", given.text(option::shards, "1"), 1, 1'000'000);
    step.shares = given.has(option::fsdp) ? sharing::layers : static_cast<sharing>(given.choice(option::zero));
    step.master_weights = given.has(option::master_weights);
    step.gradients_in_float = in_half && given.choice(option::gradient_dtype, 1) == 0;
    const int away = given.choice(option::offload);
    step.offloads_activations = away == 1 || away == 3, step.offloads_optimizer = away >= 2;
    check_schedule(given, step, in_half);
    return step;
}

}  // namespace detail

}  // namespace llmcost::cli
