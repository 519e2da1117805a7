// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/distributed/training_rank.hpp>

// Workload files of SimAI, a network simulator.
namespace llmcost {

/// Nanoseconds that a rank computes in a step. SimAI has no FLOPs, so that they come from an estimate.
struct simai_compute {
    double forward_nanoseconds = 0;   ///< of all microbatches
    double backward_nanoseconds = 0;  ///< of all microbatches, with recomputation
};

/// Why SimAI has no workload for a job; empty if it has.
[[nodiscard]] std::string simai_error(const training_parallelism& parallel);

/// The workload file of a rank.
///
///     HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: TP ep: EP pp: PP vpp: STAGES ga: MICROBATCHES
///         all_gpus: RANKS checkpoints: 0 checkpoint_initiates: 0 pp_comm: BYTES
///     NUMBER OF LINES
///     NAME -1 TIME COMM BYTES TIME COMM BYTES TIME COMM BYTES 100
///
/// The header is one line. A line has the computation in nanoseconds and a collective, three times: of forward, of
/// input gradients, and of weight gradients. Those of data-parallel ranks are weight gradients. Bytes are those of the
/// larger buffer of a rank. SimAI executes the lines in order, then their gradients from the last line to the first.
/// Collectives of backward are in the line of their module, further ones in lines of their own.
///
/// The computation of forward and backward is distributed equally over the lines with their collectives of
/// tensor-parallel and expert-parallel ranks, or over all lines if there are none. Messages between pipeline stages are
/// `pp_comm`. The sum of tied embeddings over stages has no group.
///
/// Source: aliyun/aicb, workload_generator/SimAI_training_workload_generator.py, `Work_Item`, `dump_file`;
/// aliyun/SimAI, astra-sim-alibabacloud/astra-sim/workload/Workload.cc, `initialize_workload`,
/// `iterate_hybrid_parallel_Transformer_fwd_in_bckwd`.
[[nodiscard]] std::string simai_workload_of(const training_rank& rank, const training_parallelism& parallel,
                                            const simai_compute& compute = {});

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/distributed/impl/simai_workload.ipp>  // IWYU pragma: export
#endif
