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
    string_ref aliases[2];
    double weight_bytes;      ///< per element, scales of blocks included
    double activation_bytes;  ///< as they arrive: quantised inside of the operator where the weights are smaller
    double device::*unit;
};

// nvfp4: 4 bits and a scale of 8 bits per 16 elements
// clang-format off
inline constexpr operand_row operand_table[]{
    {"bfloat16",  {"bf16", ""},     2,      2, &device::bf16},
    {"float16",   {"fp16", "half"}, 2,      2, &device::fp16},
    {"fp8",       {"", ""},         1,      2, &device::fp8},
    {"fp8_block", {"", ""},         1,      2, &device::fp8},
    {"int8",      {"", ""},         1,      2, &device::int8},
    {"nvfp4",     {"", ""},         0.5625, 2, &device::fp4},
};
// clang-format on

/// The row of an operand by one of its names; nullptr where there is none.
[[nodiscard]] constexpr const operand_row* find_operand(string_ref name) noexcept {
    if (name.empty()) return nullptr;
    for (const operand_row& row : operand_table)
        if (row.name == name || row.aliases[0] == name || row.aliases[1] == name) return &row;
    return nullptr;
}

/// Seconds that some work needs at a datasheet's peak, and at its bandwidth of memory.
struct datasheet_seconds {
    double compute = 0;
    double memory = 0;
};
[[nodiscard]] constexpr datasheet_seconds seconds_of(const device& d, const kernel_work& work) noexcept {
    return {work.flops / (d.*work.unit * 1e12), work.bytes / (d.memory_bandwidth * 1e9)};
}

/// The least time of some work: at the peak of its unit, and at the bandwidth of memory for what its cache cannot hold.
[[nodiscard]] constexpr double least_seconds(const device& d, kernel_work work) noexcept {
    const double beyond_cache = work.bytes - d.cache_megabytes * 1e6;
    work.bytes = beyond_cache > 0 ? beyond_cache : 0;
    const datasheet_seconds s = seconds_of(d, work);
    return s.compute > s.memory ? s.compute : s.memory;
}

/// A matrix product (m, k) · (k, n): FLOPs 2·m·n·k; bytes of both operands and of a result of two bytes per element.
[[nodiscard]] constexpr kernel_work gemm_work(std::int64_t m, std::int64_t n, std::int64_t k, const operand_row& operand) {
    const auto rows = static_cast<double>(m), columns = static_cast<double>(n), inner = static_cast<double>(k);
    return {2 * rows * columns * inner,
            operand.activation_bytes * rows * inner + operand.weight_bytes * columns * inner + 2 * rows * columns,
            operand.unit};
}

}  // namespace llmcost
