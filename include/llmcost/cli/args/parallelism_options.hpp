// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/schedule_options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/distributed/training_memory.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/memory/schedule.hpp>

// The options that divide a training job over devices: parallelism, pipeline schedule, gathering and reduction.
namespace llmcost::cli {

namespace detail {

std::vector<std::string_view> schedule_names(const program&);

}  // namespace detail

namespace option {

inline constexpr option_spec training_tp{.name = "--tp",
                                         .aliases = {"--tensor-parallel-size", "--tensor-model-parallel-size"},
                                         .value = "N",
                                         .type = value_type::number,
                                         .help = "tensor-parallel size (default 1)"};
inline constexpr option_spec training_pp{.name = "--pp",
                                         .aliases = {"--pipeline-parallel-size", "--pipeline-model-parallel-size"},
                                         .value = "N",
                                         .type = value_type::number,
                                         .help = "pipeline-parallel size (default 1)"};
inline constexpr option_spec training_ep{.name = "--ep",
                                         .aliases = {"--expert-parallel-size", "--expert-model-parallel-size"},
                                         .value = "N",
                                         .type = value_type::number,
                                         .help = "expert-parallel size (default 1)"};
inline constexpr option_spec training_etp{.name = "--etp",
                                          .aliases = {"--expert-tensor-parallel-size"},
                                          .value = "N",
                                          .type = value_type::number,
                                          .help = "ranks that divide each expert (default 1)"};
inline constexpr option_spec training_replicas{.name = "--dp-replicate",
                                               .value = "N",
                                               .type = value_type::number,
                                               .help = "replicas of the shards of --dp: HSDP (default 1)"};
inline constexpr option_spec ddp{.name = "--ddp", .help = "DistributedDataParallel across --dp ranks (default)"};
inline constexpr option_spec training_split{
    .name = "--split",
    .value = "RULES",
    .type = value_type::choice,
    .choices = "torch|transformers|megatron",
    .help =
        "program whose rules divide the model: torch (parallelize_module), transformers "
        "(tp_plan) or megatron (default torch)"};
inline constexpr option_spec tp_plan{.name = "--tp-plan",
                                     .value = "PLAN",
                                     .type = value_type::choice,
                                     .choices = "plain|sequence|sequence+loss",
                                     .help =
                                         "plan of --split torch: plain, sequence (norms along the sequence) or "
                                         "sequence+loss (logits stay divided) (default plain)"};
inline constexpr option_spec sequence_parallel{.name = "--sequence-parallel",
                                               .help = "divide norms and residuals along the sequence"};
inline constexpr option_spec pipeline_schedule{.name = "--schedule",
                                               .value = "NAME",
                                               .type = value_type::text,
                                               .help =
                                                   "pipeline schedule: gpipe, 1f1b, interleaved, looped-bfs, "
                                                   "zb-h1, interleaved-zero-bubble, zbv, dualpipev (default 1f1b)",
                                               .completions = detail::schedule_names};
inline constexpr option_spec stages_per_rank{
    .name = "--stages-per-rank",
    .aliases = {"--virtual-stages", "--vpp", "--virtual-pipeline-model-parallel-size"},
    .value = "N",
    .type = value_type::number,
    .help = "pipeline stages of a rank (default 1)"};
inline constexpr option_spec first_stage_layers{
    .name = "--first-stage-layers",
    .aliases = {"--decoder-first-pipeline-num-layers"},
    .value = "N",
    .type = value_type::number,
    .help = "layers of the first pipeline stage (default: as many as the others)"};
inline constexpr option_spec last_stage_layers{
    .name = "--last-stage-layers",
    .aliases = {"--decoder-last-pipeline-num-layers"},
    .value = "N",
    .type = value_type::number,
    .help = "layers of the last pipeline stage (default: as many as the others)"};
inline constexpr option_spec cp_comm_type{
    .name = "--cp-comm-type",
    .value = "TYPE",
    .type = value_type::choice,
    .choices = "p2p|all_gather|a2a",
    .help = "communication of --cp with --split megatron: p2p (ring), all_gather or a2a (heads) (default p2p)"};
inline constexpr option_spec cross_entropy{
    .name = "--cross-entropy",
    .aliases = {"--cross-entropy-fusion-impl"},
    .value = "KERNEL",
    .type = value_type::choice,
    .choices = "native|te",
    .help = "cross-entropy of --split megatron: native (PyTorch) or te (Transformer Engine) (default native)"};
inline constexpr option_spec recompute_modules{
    .name = "--recompute-modules",
    .value = "LIST",
    .type = value_type::text,
    .help = "modules of --split megatron that backward computes again: core_attn, layernorm, mlp, moe, moe_act"};
inline constexpr option_spec microbatches{.name = "--microbatches",
                                          .aliases = {"--num-microbatches"},
                                          .value = "N",
                                          .type = value_type::number,
                                          .help =
                                              "microbatches of --batch samples of a pipeline per step (default: "
                                              "pipeline stages)"};
inline constexpr option_spec cp_rotate{.name = "--cp-rotate",
                                       .value = "TYPE",
                                       .type = value_type::choice,
                                       .choices = "allgather|alltoall",
                                       .help =
                                           "how keys and values of --cp travel: allgather, or alltoall in turns "
                                           "(default allgather)"};
inline constexpr option_spec fsdp_reshard{.name = "--fsdp-reshard",
                                          .value = "true|false|N",
                                          .type = value_type::text,
                                          .help =
                                              "reshard layers after forward: true, false, or to N ranks (default "
                                              "true)"};
inline constexpr option_spec fsdp_wrap{.name = "--fsdp-wrap",
                                       .value = "UNITS",
                                       .type = value_type::choice,
                                       .choices = "layers|embedding+layers+head",
                                       .help = "modules that fully_shard is applied to (default layers)"};
inline constexpr option_spec fsdp_parameter_dtype{.name = "--fsdp-parameter-dtype",
                                                  .value = "TYPE",
                                                  .type = value_type::choice,
                                                  .choices = "fp32|bf16|fp16",
                                                  .help =
                                                      "type in which FSDP gathers parameters (default: as the "
                                                      "weights)"};
inline constexpr option_spec fsdp_reduce_dtype{.name = "--fsdp-reduce-dtype",
                                               .value = "TYPE",
                                               .type = value_type::choice,
                                               .choices = "fp32|bf16|fp16",
                                               .help =
                                                   "type in which FSDP reduces gradients (default: as gathered "
                                                   "parameters)"};
inline constexpr option_spec gradient_sync{.name = "--gradient-sync",
                                           .value = "TYPE",
                                           .type = value_type::choice,
                                           .choices = "all|last|last-all-reduce",
                                           .help =
                                               "accumulated batches that reduce gradients: all, the last, or the last "
                                               "across replicas (default all)"};
inline constexpr option_spec clip{
    .name = "--clip", .value = "NORM", .type = value_type::number, .help = "clip the norm of the gradients"};
inline constexpr option_spec bucket_mb{.name = "--bucket-mb",
                                       .value = "MIB",
                                       .type = value_type::number,
                                       .help = "size of DDP's buckets in MiB (default 25, the first 1)"};
inline constexpr option_spec trace_files{
    .name = "--trace",
    .value = "FILE",
    .type = value_type::file,
    .help = "write an execution trace of each of --ranks: FILE.0.et, FILE.1.et ..."};
inline constexpr option_spec trace_format{
    .name = "--trace-format",
    .value = "FORMAT",
    .type = value_type::choice,
    .choices = "chakra|simai",
    .help = "format of --trace: chakra, or simai: workload files FILE.0.txt ... of SimAI (default chakra)"};
inline constexpr option_spec ranks{.name = "--ranks",
                                   .value = "LIST",
                                   .type = value_type::text,
                                   .help = "ranks to print with their collectives: 0,4,7, or all"};

}  // namespace option

/// The options that divide a training job over devices, except data parallelism.
inline constexpr std::array training_parallelism_options{option::training_replicas,
                                                         option::ddp,
                                                         option::fsdp_reshard,
                                                         option::fsdp_wrap,
                                                         option::fsdp_parameter_dtype,
                                                         option::fsdp_reduce_dtype,
                                                         option::gradient_sync,
                                                         option::bucket_mb,
                                                         option::clip,
                                                         option::training_tp,
                                                         option::tp_plan,
                                                         option::sequence_parallel,
                                                         option::training_pp,
                                                         option::pipeline_schedule,
                                                         option::stages_per_rank,
                                                         option::microbatches,
                                                         option::training_cp,
                                                         option::cp_rotate,
                                                         option::training_ep,
                                                         option::training_etp,
                                                         option::first_stage_layers,
                                                         option::last_stage_layers,
                                                         option::training_split,
                                                         option::cp_comm_type,
                                                         option::cross_entropy,
                                                         option::recompute_modules,
                                                         option::ranks,
                                                         option::trace_files,
                                                         option::trace_format};

namespace detail {

/// Completes a schedule with the options of FSDP, DDP and gradient accumulation. Throws: `usage`.
void read_sharding(const arguments& args, training_schedule& step);
/// The parallelism of a training job. Throws: `usage` for values that contradict each other.
training_parallelism read_training_parallelism(const arguments& args);
/// Whether ranks of a job hold different parts of a model, other than shards of data parallelism.
[[nodiscard]] bool divides_model(const training_parallelism& parallel) noexcept;
/// The options of `--split megatron`. Sets the recomputation of attention. Throws: `usage`.
megatron_settings read_megatron_settings(const arguments& args, training_schedule& step);
/// The ranks of `--ranks`; none without the option. Throws: `usage` for a rank that does not exist.
std::vector<std::int64_t> read_ranks(const arguments& args, std::int64_t world_size);

}  // namespace detail

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/args/impl/parallelism_options.ipp>  // IWYU pragma: export
#endif
