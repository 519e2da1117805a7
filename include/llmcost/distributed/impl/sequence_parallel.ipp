// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/distributed/sequence_parallel.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/trace/ops.hpp>

namespace llmcost {

LLMCOST_INLINE std::vector<bool> sequence_divided_tensors(const tape& pass, const tape& undivided) {
    std::vector<bool> out(pass.tensors.size());
    if (undivided.tensors.size() != pass.tensors.size()) return out;
    for (std::size_t t = 0; t < pass.tensors.size(); ++t)
        out[t] = pass.tensors[t].requires_grad && pass.tensors[t].bytes == undivided.tensors[t].bytes;
    for (const tape_node& n : pass.nodes) {
        if (n.kind != op::attention) continue;
        for (const tape_edge& e : n.inputs)
            if (e.tensor >= 0) out[static_cast<std::size_t>(e.tensor)] = false;
    }
    if (pass.loss >= 0) out[static_cast<std::size_t>(pass.loss)] = false;
    return out;
}

LLMCOST_INLINE void divide_sequence(tape& pass, const std::vector<bool>& divided, std::int64_t tensor) {
    const auto ranks = static_cast<std::uint64_t>(tensor);
    const auto is_divided = [&](std::int32_t t) { return t >= 0 && divided[static_cast<std::size_t>(t)]; };
    for (std::size_t t = 0; t < pass.tensors.size(); ++t)
        if (divided[t]) pass.tensors[t].bytes /= ranks;
    for (tape_node& n : pass.nodes) {
        for (tape_edge& e : n.inputs)
            if (is_divided(e.tensor)) e.bytes /= ranks;
        if (!is_divided(n.output)) continue;
        n.output_bytes /= ranks;
        n.saved_extra_bytes /= ranks;
        n.saved_view_bytes /= ranks;
    }
}

}  // namespace llmcost
