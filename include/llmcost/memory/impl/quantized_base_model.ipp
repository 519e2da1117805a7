// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/quantized_base_model.hpp>

#include <cstdint>
#include <string>
#include <unordered_map>

#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/memory/quantized_weights.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/trace/ops.hpp>

namespace llmcost {

LLMCOST_INLINE void store_quantized(tape& pass, const stored_weights& stored, dtype default_type) {
    std::unordered_map<std::string, std::uint64_t> bytes;
    for (const weight_bytes_row& row : stored.rows) bytes[row.parameter] += row.bytes;
    std::vector<std::uint64_t> dequantized_bytes(pass.parameters.size());
    for (std::size_t i = 0; i < pass.parameters.size(); ++i) {
        tape_parameter& p = pass.parameters[i];
        const auto found = bytes.find(p.name);
        const std::uint64_t full_precision_bytes =
            (count(p.elements) * count(bits_of(default_type)) / count(8)).to_64();
        if (p.is_trainable || found == bytes.end() || found->second == full_precision_bytes) continue;
        p.bytes = found->second;
        dequantized_bytes[i] = full_precision_bytes;
    }
    for (tape_node& n : pass.nodes)
        for (const tape_edge& e : n.inputs)
            if (e.parameter >= 0 && n.has_backward && op_cost_of(n.kind).torch_flops != 0)
                n.backward_temporary_bytes += dequantized_bytes[static_cast<std::size_t>(e.parameter)];
}

}  // namespace llmcost
