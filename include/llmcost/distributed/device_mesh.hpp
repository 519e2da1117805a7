// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <llmcost/trace/collective.hpp>

// Ranks as a mesh of named dimensions.
namespace llmcost {

/// A dimension of a mesh.
struct mesh_dimension {
    mesh_axis axis{};
    std::int64_t size = 1;
};

/// Ranks in dimensions. The last dimension varies fastest over ranks.
///
/// Source: torch/distributed/device_mesh.py, `init_device_mesh` (row-major).
class device_mesh {
public:
    device_mesh() = default;
    explicit device_mesh(std::vector<mesh_dimension> dimensions);

    [[nodiscard]] const std::vector<mesh_dimension>& dimensions() const noexcept { return dimensions_; }
    [[nodiscard]] std::int64_t world_size() const noexcept;
    /// The size of a dimension; 1 if the mesh does not have it.
    [[nodiscard]] std::int64_t size(mesh_axis axis) const noexcept;
    /// The coordinate of a rank in a dimension; 0 if the mesh does not have it.
    [[nodiscard]] std::int64_t coordinate(std::int64_t rank, mesh_axis axis) const noexcept;
    /// The rank with another coordinate in a dimension.
    [[nodiscard]] std::int64_t peer(std::int64_t rank, mesh_axis axis, std::int64_t coordinate) const noexcept;

private:
    /// The distance of ranks with neighboring coordinates in a dimension; 0 if the mesh does not have it.
    [[nodiscard]] std::int64_t stride(mesh_axis axis) const noexcept;

    std::vector<mesh_dimension> dimensions_;
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/distributed/impl/device_mesh.ipp>  // IWYU pragma: export
#endif
