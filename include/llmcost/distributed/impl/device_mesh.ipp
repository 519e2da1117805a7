// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/distributed/device_mesh.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/trace/collective.hpp>

namespace llmcost {

LLMCOST_INLINE device_mesh::device_mesh(std::vector<mesh_dimension> dimensions) : dimensions_(std::move(dimensions)) {}

LLMCOST_INLINE std::int64_t device_mesh::world_size() const noexcept {
    std::int64_t ranks = 1;
    for (const mesh_dimension& d : dimensions_) ranks *= d.size;
    return ranks;
}

LLMCOST_INLINE std::int64_t device_mesh::size(mesh_axis axis) const noexcept {
    for (const mesh_dimension& d : dimensions_)
        if (d.axis == axis) return d.size;
    return 1;
}

LLMCOST_INLINE std::int64_t device_mesh::stride(mesh_axis axis) const noexcept {
    std::int64_t ranks = 1;
    for (std::size_t i = dimensions_.size(); i-- > 0; ranks *= dimensions_[i].size)
        if (dimensions_[i].axis == axis) return ranks;
    return 0;
}

LLMCOST_INLINE std::int64_t device_mesh::coordinate(std::int64_t rank, mesh_axis axis) const noexcept {
    const std::int64_t step = stride(axis);
    return step == 0 ? 0 : rank / step % size(axis);
}

LLMCOST_INLINE std::int64_t device_mesh::peer(std::int64_t rank, mesh_axis axis,
                                              std::int64_t coordinate_of_peer) const noexcept {
    return rank + (coordinate_of_peer - coordinate(rank, axis)) * stride(axis);
}

}  // namespace llmcost
