// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <llmcost/base/string_ref.hpp>

// Communication of the ranks of a model that is divided over devices.
namespace llmcost {

/// What a dimension of a mesh of ranks divides.
enum class mesh_axis : std::uint8_t {
    pipeline,        ///< layers
    data_replicate,  ///< samples; ranks hold equal parameters (HSDP)
    data,            ///< samples; ranks may shard parameters
    fully_sharded,   ///< as `data`, in meshes of Transformers
    context,         ///< positions of a sequence
    tensor,          ///< features and heads
    expert,          ///< routed experts
    expert_data,     ///< samples that reach one expert
};
inline constexpr std::size_t num_mesh_axes = 8;
/// The names of axes in the order of `mesh_axis`. Source: torchtitan and Transformers, `DistributedConfig`.
inline constexpr literal mesh_axis_names[num_mesh_axes]{"pp", "dp_replicate", "dp", "fsdp", "cp", "tp", "ep", "efsdp"};

[[nodiscard]] constexpr literal name_of(mesh_axis a) noexcept { return mesh_axis_names[static_cast<std::size_t>(a)]; }

/// An operation of several ranks.
enum class collective_kind : std::uint8_t {
    none,  ///< no communication
    all_reduce,
    all_gather,
    reduce_scatter,
    all_to_all,
    broadcast,
    send,
    recv
};
inline constexpr std::size_t num_collective_kinds = 8;
inline constexpr literal collective_names[num_collective_kinds]{
    "none", "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send", "recv"};

[[nodiscard]] constexpr literal name_of(collective_kind k) noexcept {
    return collective_names[static_cast<std::size_t>(k)];
}

/// A collective between two tensors of a trace, in its forward and its backward.
struct collective_call {
    collective_kind forward = collective_kind::none;
    collective_kind backward = collective_kind::none;
    mesh_axis axis = mesh_axis::tensor;
    std::int64_t ranks = 1;
    std::int64_t part_elements = 0;  ///< of the tensor that a rank gathers or receives, with padding
    bool has_integers = false;       ///< elements are 64-bit integers
    bool is_in_parent = false;       ///< the module around the current one issues it
};

}  // namespace llmcost
