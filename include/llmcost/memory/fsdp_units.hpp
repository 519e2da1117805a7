// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/trace/collective.hpp>

namespace llmcost::detail {

/// Modules that FSDP gathers and reduces together: one call of `fully_shard`.
struct fsdp_unit {
    std::string name;                      ///< paths of its modules; empty: the model
    std::vector<std::int32_t> parameters;  ///< indices in `tape::parameters`, those of nested units excluded
    std::int32_t first_node = -1;          ///< first and last node in `tape::nodes` that its modules execute
    std::int32_t last_node = -1;
    bool reshards_after_forward = false;
    bool is_expert_unit = false;  ///< distributed experts, which have data-parallel ranks of their own
};

/// The units of a model in the order of its modules. The first one is the model itself.
///
/// With the plan of Transformers, a tied embedding is in one unit with the final norm. The model has the weight of the
/// head, too, and gathers it again.
/// Source: torch/distributed/fsdp/_fully_shard/_fsdp_init.py, `_get_managed_states`;
/// transformers/distributed/fsdp.py, `_resolve_tied_embed_lm_head_plan`, `apply_fully_sharded_data_parallelism`.
[[nodiscard]] std::vector<fsdp_unit> fsdp_units_of(const tape& pass, const fsdp_options& options);

/// The path of the module that declares a parameter.
[[nodiscard]] std::string module_of_parameter(const tape_parameter& p);

/// Rows of dimension 0 that each rank of a sharded parameter has: ceil(rows / ranks); the last ranks have fewer.
///
/// Source: torch/distributed/fsdp/_fully_shard/_fsdp_common.py, `_chunk_with_empty`.
[[nodiscard]] constexpr std::int64_t rows_of_rank(std::int64_t rows, std::int64_t ranks, std::int64_t rank) noexcept {
    const std::int64_t chunk = (rows + ranks - 1) / ranks, left = rows - rank * chunk;
    return left < 0 ? 0 : left < chunk ? left : chunk;
}

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/fsdp_units.ipp>  // IWYU pragma: export
#endif
