// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/model_kernel.hpp>

#include <cstdint>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/latency/operator_types.hpp>

namespace llmcost {

LLMCOST_INLINE std::vector<model_kernel> make_collective_kernels(literal name, std::int64_t elements,
                                                                 std::int64_t devices, std::int64_t stride,
                                                                 const operand_type* operand, std::int64_t node) {
    const std::int64_t in_node = node > stride ? node / stride : 1, nodes = (devices + in_node - 1) / in_node,
                       side_by_side = (devices + nodes - 1) / nodes;
    std::vector<model_kernel> all;
    if (side_by_side > 1) {
        model_kernel& k = all.emplace_back();
        k.shape = {.type = find_operator_type("nccl"), .sizes = {elements, side_by_side}, .operand = operand};
        k.shape.variant = name;
    }
    if (nodes == 1) return all;
    std::int64_t steps = 1;
    while (std::int64_t{1} << steps < nodes) ++steps;
    model_kernel& k = all.emplace_back();
    k.shape = {.type = find_operator_type("network"), .sizes = {elements, nodes, side_by_side}, .operand = operand};
    k.num_runs = string_ref(name) == "all_reduce" ? 2 * steps : steps;
    return all;
}

}  // namespace llmcost
