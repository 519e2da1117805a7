// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/distributed/device_mesh.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/tape.hpp>

// The part of a parameter that a rank of FSDP holds.
namespace llmcost::detail {

/// The part of a parameter that a rank of FSDP holds, in the type in which it is stored.
///
/// `coordinate`: of the rank among those that shard the parameter (`data_coordinate`).
[[nodiscard]] tape_parameter fsdp_part(const tape_parameter& p, const training_schedule& plan, std::int64_t coordinate);

/// The coordinate of a rank among those that shard a parameter. Experts have a mesh of their own, in which
/// expert-parallel ranks are neighbors.
[[nodiscard]] std::int64_t data_coordinate(const training_parallelism& parallel, const device_mesh& mesh,
                                           std::int64_t rank, const tape_parameter& p);

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/distributed/impl/parameter_shards.ipp>  // IWYU pragma: export
#endif
