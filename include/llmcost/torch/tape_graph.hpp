// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <llmcost/memory/tape.hpp>
#include <llmcost/torch/joint_graph.hpp>
#include <llmcost/torch/reduction_operators.hpp>

namespace llmcost::detail {

/// Translates the nodes of a tape into ATen operators.
class tape_graph final : private reduction_operators {
public:
    tape_graph(const tape& pass, bool has_backward) : reduction_operators(pass, has_backward) {}

    [[nodiscard]] joint_graph build();

private:
    std::int32_t add_operation(std::size_t i);
};

}  // namespace llmcost::detail

namespace llmcost {

/// Builds the graph of a tape as AOTAutograd traces it, with the decompositions of Inductor.
///
/// Requires the operands of the tape. `has_backward`: false for a forward pass without gradients.
/// Source: torch/_functorch/aot_autograd.py; torch/_inductor/decomposition.py; torch/_decomp/decompositions.py;
/// gradients: tools/autograd/derivatives.yaml.
[[nodiscard]] joint_graph build_joint_graph(const tape& pass, bool has_backward);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/torch/impl/tape_graph.ipp>  // IWYU pragma: export
#endif
