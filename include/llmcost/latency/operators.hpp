// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/device.hpp>
#include <llmcost/string_ref.hpp>

namespace llmcost {

/// What a kernel must do, whatever runs it: the least that any device gets away with.
struct kernel_work {
    double flops = 0;
    double bytes = 0;                ///< to and from memory, each tensor once
    double device::*unit = nullptr;  ///< whose peak bounds it
};

/// Operands of a matrix product as engines name them.
struct operand_row {
    string_ref name;
    double weight_bytes;      ///< per element, scales of blocks included
    double activation_bytes;  ///< as they arrive: quantised inside of the operator where the weights are smaller
    double device::*unit;
};

// nvfp4: 4 bits and a scale of 8 bits per 16 elements
// clang-format off
inline constexpr operand_row operand_table[]{
    {"bfloat16",  2,      2, &device::bf16},
    {"float16",   2,      2, &device::fp16},
    {"fp8",       1,      2, &device::fp8},
    {"fp8_block", 1,      2, &device::fp8},
    {"int8",      1,      2, &device::int8},
    {"nvfp4",     0.5625, 2, &device::fp4},
};
// clang-format on

/// The row of an operand by its name, `bf16` and `fp16` too; nullptr where there is none.
[[nodiscard]] constexpr const operand_row* find_operand(string_ref name) noexcept {
    if (name == "bf16") name = "bfloat16";
    if (name == "fp16" || name == "half") name = "float16";
    for (const operand_row& row : operand_table)
        if (row.name == name) return &row;
    return nullptr;
}

/// A matrix product (m, k) · (k, n): FLOPs 2·m·n·k; bytes of both operands and of a result of two bytes per element.
[[nodiscard]] constexpr kernel_work gemm_work(std::int64_t m, std::int64_t n, std::int64_t k, const operand_row& operand) {
    const auto rows = static_cast<double>(m), columns = static_cast<double>(n), inner = static_cast<double>(k);
    return {2 * rows * columns * inner,
            operand.activation_bytes * rows * inner + operand.weight_bytes * columns * inner + 2 * rows * columns,
            operand.unit};
}

}  // namespace llmcost
