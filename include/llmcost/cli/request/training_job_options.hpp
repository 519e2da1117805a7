// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/parallelism_options.hpp>
#include <llmcost/cli/args/schedule_options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/serving/parallel_training.hpp>

// The options for the time of a training job on many devices.
namespace llmcost::cli {

namespace detail {

std::vector<std::string_view> attention_kernel_names(const program&);

}  // namespace detail

namespace option {

inline constexpr option_spec global_batch{.name = "--global-batch",
                                          .aliases = {"--global-batch-size", "--gbs"},
                                          .value = "N",
                                          .type = value_type::number,
                                          .help =
                                              "samples of a step of all data-parallel ranks; sets the microbatches of "
                                              "--batch samples"};
inline constexpr option_spec overlap{.name = "--overlap",
                                     .value = "LIST",
                                     .type = value_type::text,
                                     .help =
                                         "communication at the same time as computation: dp, tp, ep, pp, or none "
                                         "(default dp)"};
inline constexpr option_spec attention_kernel{.name = "--attention-kernel",
                                              .value = "NAME",
                                              .type = value_type::text,
                                              .help =
                                                  "attention of a training step: flash1, flash2, flash3 "
                                                  "(default: measured prefill attention)",
                                              .completions = detail::attention_kernel_names};
inline constexpr option_spec host_microseconds{.name = "--host-microseconds",
                                               .value = "X",
                                               .type = value_type::text,
                                               .help =
                                                   "host time per kernel of a training job that is launched kernel by "
                                                   "kernel (default: by --execution)"};
inline constexpr option_spec recomputation{.name = "--recompute",
                                           .value = "TYPE",
                                           .type = value_type::text,
                                           .help =
                                               "activation checkpointing: none, full, full:N (first N layers), "
                                               "selective, or selective:core_attn+layernorm (default none)",
                                           .completions = detail::recompute_names};

}  // namespace option

/// The options of a training job of `llmcost latency`, in addition to `parallel_options`.
inline constexpr std::array training_job_options{option::training_pp,
                                                 option::training_cp,
                                                 option::training_etp,
                                                 option::training_replicas,
                                                 option::zero,
                                                 option::fsdp,
                                                 option::fsdp_reshard,
                                                 option::gradient_sync,
                                                 option::fsdp_parameter_dtype,
                                                 option::fsdp_reduce_dtype,
                                                 option::sequence_parallel,
                                                 option::pipeline_schedule,
                                                 option::stages_per_rank,
                                                 option::microbatches,
                                                 option::global_batch,
                                                 option::overlap,
                                                 option::attention_kernel,
                                                 option::host_microseconds};

namespace detail {

/// Whether a command line describes a job that `time_parallel_training` estimates.
bool has_training_job(const arguments& args);

/// Parses `selective:core_attn+mlp`. Throws: `usage`.
void read_recomputation(std::string_view text, training_schedule& schedule, training_job& job);

/// A training job. `batch`: samples of a microbatch. Throws: `usage` for values that contradict each other.
training_job read_training_job(const arguments& args, std::int64_t batch);

}  // namespace detail

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/request/impl/training_job_options.ipp>  // IWYU pragma: export
#endif
