// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <llmcost/model/model_spec.hpp>

// The tensor-parallel plans of Transformers: rules from names of modules and parameters to styles.
namespace llmcost {

/// How a module or a parameter is divided among tensor-parallel ranks, by the name of Transformers.
///
/// Source: transformers/distributed/tensor_parallel.py, `ALL_PARALLEL_STYLES`.
enum class tensor_parallel_style : std::uint8_t {
    none,
    all_reduce,
    colwise,
    colwise_gather_output,
    embedding_colwise,
    embedding_rowwise,
    local_params,
    mla_kv_a_proj,
    moe_identity_expert,
    moe_tp_experts,
    packed_colwise,
    packed_rowwise,
    replicate,
    replicated_with_grad_allreduce,
    rowwise,
    rowwise_split_input
};

/// A rule of a plan: a pattern of module or parameter names, in which `*` is the index of a layer.
struct tensor_parallel_rule {
    std::string_view pattern{};
    tensor_parallel_style style{};
};

/// The plan of a model type.
struct tensor_parallel_plan {
    std::vector<tensor_parallel_rule> rules{};  ///< patterns relative to the base model
    tensor_parallel_style head = tensor_parallel_style::none;
    bool distributes_experts = false;  ///< it has a plan of expert parallelism

    /// The style of a module or a parameter by its complete path.
    ///
    /// The token embedding of a model with rules is divided by rows.
    /// Source: transformers/distributed/mixin.py, `_init_parallel_plans`.
    [[nodiscard]] tensor_parallel_style style_of(std::string_view path) const;
};

/// The plan of a model; none for a model type without one.
[[nodiscard]] std::optional<tensor_parallel_plan> find_tensor_parallel_plan(const model& m);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/distributed/impl/tensor_parallel_plan.ipp>  // IWYU pragma: export
#endif
