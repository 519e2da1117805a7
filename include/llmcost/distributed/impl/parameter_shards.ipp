// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/distributed/parameter_shards.hpp>

#include <cstdint>

#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/distributed/device_mesh.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/memory/fsdp_units.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/trace/collective.hpp>

namespace llmcost::detail {

LLMCOST_INLINE tape_parameter fsdp_part(const tape_parameter& p, const training_schedule& plan,
                                        std::int64_t coordinate) {
    tape_parameter out = p;
    if (!p.sizes.empty() && p.elements > 0) {
        const std::int64_t ranks = p.is_distributed_expert ? plan.expert_data_parallel_size : plan.data_parallel_size;
        const std::int64_t rows = rows_of_rank(p.sizes[0], ranks, coordinate);
        out.elements = p.elements / static_cast<std::uint64_t>(p.sizes[0]) * static_cast<std::uint64_t>(rows);
        out.sizes[0] = rows;
    }
    const dtype stored = plan.fsdp.stored_type == dtype::unspecified ? p.type : plan.fsdp.stored_type;
    out.bytes = out.elements * static_cast<std::uint64_t>(bits_of(stored)) / 8;
    out.type = stored;
    return out;
}

LLMCOST_INLINE std::int64_t data_coordinate(const training_parallelism& parallel, const device_mesh& mesh,
                                            std::int64_t rank, const tape_parameter& p) {
    const std::int64_t expert_ranks = parallel.data * parallel.context * parallel.tensor;
    return p.is_distributed_expert ? rank % expert_ranks / parallel.expert : mesh.coordinate(rank, mesh_axis::data);
}

}  // namespace llmcost::detail
