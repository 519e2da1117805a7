// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/distributed/collective_recorder.hpp>
#include <llmcost/memory/replay_observer.hpp>

// What a rank of a training job holds, computes and communicates in a step.
namespace llmcost {

/// The part of a parameter that a rank holds.
struct parameter_shard {
    std::string name;
    std::vector<std::int64_t> sizes;
    std::uint64_t elements = 0;
    std::uint64_t bytes = 0;
};

/// A rank of a training job.
struct training_rank {
    std::int64_t rank = 0;
    std::vector<std::int64_t> stages{};  ///< of a pipeline
    std::vector<parameter_shard> parameters{};
    std::uint64_t parameters_bytes = 0;         ///< without padding
    std::uint64_t padded_parameters_bytes = 0;  ///< of FSDP with its padding; 0 if a unit has several modules
    std::uint64_t gradients_bytes = 0;
    std::uint64_t buffers_bytes = 0;
    std::uint64_t optimizer_bytes = 0;  ///< state after the first step, with the counters of steps
    /// What autograd keeps after forward; none where it is not known: with context parallelism, and if mixed precision
    /// of FSDP converts buffers.
    std::optional<std::uint64_t> saved_bytes{};
    count forward_flops{};  ///< of products, as FlopCounterMode reports them, of all passes of a step
    count backward_flops{};
    std::vector<collective_event> collectives{};  ///< of a step, in the order in which they are issued
    std::vector<computed_part> parts{};           ///< computation between the collectives
};

}  // namespace llmcost
