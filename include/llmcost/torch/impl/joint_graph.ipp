// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/torch/joint_graph.hpp>

#include <cstddef>
#include <cstdint>

#include <llmcost/base/inline.hpp>

namespace llmcost {

LLMCOST_INLINE std::int32_t storage_of(const joint_graph& graph, std::int32_t node) noexcept {
    while (graph.nodes[static_cast<std::size_t>(node)].kind == fx_node_kind::view)
        node = graph.nodes[static_cast<std::size_t>(node)].inputs.front();
    return node;
}

}  // namespace llmcost
