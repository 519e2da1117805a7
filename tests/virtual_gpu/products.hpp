// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <library_types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "board.hpp"

// Products of matrices as both of cuBLAS's interfaces describe them: stored by columns.
namespace virtual_gpu {

/// Where a batch of matrices lies.
struct matrix {
    cudaDataType_t type = CUDA_R_16BF;
    std::uint64_t rows = 0, columns = 0;
    std::int64_t leading = 0, stride = 0;
    std::int32_t batch = 1;

    /// From the first byte of the first matrix to the last of the last.
    [[nodiscard]] std::size_t bytes() const;
};

/// d = first · second, either turned.
struct product {
    matrix a, b, d;
    bool turns_a = false, turns_b = false;

    [[nodiscard]] std::uint64_t m() const { return turns_a ? a.columns : a.rows; }
    [[nodiscard]] std::uint64_t n() const { return turns_b ? b.rows : b.columns; }
    [[nodiscard]] std::uint64_t k() const { return turns_a ? a.rows : a.columns; }
    [[nodiscard]] double flops() const;
    [[nodiscard]] double bytes() const;
    /// What of cuBLAS's demands it fails; empty where it meets all.
    [[nodiscard]] std::string fault() const;
    /// What it reads and writes at these addresses.
    [[nodiscard]] std::vector<touch> touches(const void* at_a, const void* at_b, void* at_d) const;
    /// Computes it where it is small enough.
    void compute(const void* at_a, const void* at_b, void* at_d, float alpha) const;
};

}  // namespace virtual_gpu
