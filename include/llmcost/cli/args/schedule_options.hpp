// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/memory/schedule.hpp>

// The options of a training step: optimizer, gradient accumulation, sharding, activation checkpointing, offloading.
namespace llmcost::cli {

namespace detail {

std::vector<std::string_view> optimizer_names(const program&);
inline std::vector<std::string_view> recompute_names(const program&) {
    return {"none", "selective", "operators", "full"};
}

}  // namespace detail

namespace option {

inline constexpr option_spec precision{.name = "--precision",
                                       .value = "TYPE",
                                       .type = value_type::choice,
                                       .choices = "fp32|bf16|bf16-mixed|fp16-mixed|fp8-mixed|fp16|auto",
                                       .help =
                                           "fp32, bf16, fp16, bf16-mixed, fp16-mixed, fp8-mixed or auto: the dtype of "
                                           "the configuration, as Transformers 5 (default auto)"};
inline constexpr option_spec implementation{.name = "--attention-implementation",
                                            .value = "TYPE",
                                            .type = value_type::choice,
                                            .choices = "eager|sdpa|auto",
                                            .help =
                                                "eager, sdpa (fused), or auto: sdpa if the model supports it, as "
                                                "Transformers 5 (default auto)"};
inline constexpr option_spec optimizer{.name = "--optimizer",
                                       .value = "NAME",
                                       .type = value_type::text,
                                       .help = "optimizer; suffixes :fused, :single, :in-backward (default adamw)",
                                       .completions = detail::optimizer_names};
inline constexpr option_spec recompute{
    .name = "--recompute",
    .value = "TYPE",
    .type = value_type::text,
    .help =
        "activation checkpointing: none, selective (attention only), operators (layers, but not attention and "
        "every second matrix product), full, or full:N (first N layers) (default none)",
    .completions = detail::recompute_names};
inline constexpr option_spec steps{.name = "--steps",
                                   .value = "N",
                                   .type = value_type::number,
                                   .help =
                                       "optimizer steps to replay; the optimizer state exists from the end of the "
                                       "first step (default 2)"};
inline constexpr option_spec accumulation{.name = "--gradient-accumulation",
                                          .value = "N",
                                          .type = value_type::number,
                                          .help = "micro-batches per optimizer step (default 1)"};
inline constexpr option_spec shards{.name = "--shards",
                                    .aliases = {"--dp", "--data-parallel-size"},
                                    .value = "N",
                                    .type = value_type::number,
                                    .help = "data-parallel ranks; --batch and all results are per rank (default 1)"};
inline constexpr option_spec training_cp{.name = "--cp",
                                         .aliases = {"--context-parallel-size"},
                                         .value = "N",
                                         .type = value_type::number,
                                         .help = "context-parallel size: ranks that divide a sequence (default 1)"};
inline constexpr option_spec zero{.name = "--zero",
                                  .value = "0|1|2|3",
                                  .type = value_type::choice,
                                  .choices = "0|1|2|3",
                                  .help = "DeepSpeed ZeRO stage across --shards ranks (default 0)"};
inline constexpr option_spec fsdp{.name = "--fsdp", .help = "PyTorch FSDP2 (fully_shard) across --shards ranks"};
inline constexpr option_spec master_weights{.name = "--master-weights",
                                            .help = "keep a float32 copy of 16-bit weights"};
inline constexpr option_spec gradient_dtype{.name = "--gradient-dtype",
                                            .value = "TYPE",
                                            .type = value_type::choice,
                                            .choices = "fp32|bf16",
                                            .help = "accumulate gradients in fp32 or bf16 (default: as the weights)"};
inline constexpr option_spec offload{
    .name = "--offload",
    .value = "TYPE",
    .type = value_type::choice,
    .choices = "none|activations|optimizer|both",
    .help = "offload to host memory: none, activations, optimizer or both (default none)"};

}  // namespace option

/// The options of a training step, except its parallelism.
inline constexpr std::array schedule_options{option::recompute,      option::accumulation,   option::steps,
                                             option::master_weights, option::gradient_dtype, option::offload};
/// The options of data parallelism in training.
inline constexpr std::array sharding_options{option::shards, option::zero, option::fsdp};

namespace detail {

/// Parses `adamw:fused:in-backward` or `galore:rank=64`. Throws: `usage`.
void read_optimizer(std::string_view text, training_schedule& step);

training_schedule read_schedule(const arguments& args, bool in_half);

}  // namespace detail

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/args/impl/schedule_options.ipp>  // IWYU pragma: export
#endif
