// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include <llmcost/memory/quantized_weights.hpp>
#include <llmcost/memory/tape.hpp>

namespace llmcost {

/// Replaces frozen weights by quantized ones. A product dequantizes its weight temporarily in backward.
///
/// Source: bitsandbytes/autograd/_functions.py, `MatMul4Bit`: saves no input, calls `dequantize_4bit` in backward.
inline void hold_quantized(tape& pass, const stored_weights& stored, dtype otherwise) {
    std::unordered_map<std::string, std::uint64_t> bytes;
    for (const weight_bytes_row& row : stored.rows) bytes[row.parameter] += row.bytes;
    std::vector<std::uint64_t> dequantized_bytes(pass.parameters.size());
    for (std::size_t i = 0; i < pass.parameters.size(); ++i) {
        tape_parameter& p = pass.parameters[i];
        const auto found = bytes.find(p.name);
        const std::uint64_t full_precision_bytes = (count(p.elements) * count(bits_of(otherwise)) / count(8)).to_64();
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
