// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

// The buffers of reductions on a CUDA device.
namespace llmcost {

/// Threads that one multiprocessor of a CUDA device runs at the same time.
///
/// Source: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
[[nodiscard]] constexpr std::uint64_t threads_per_multiprocessor(std::int32_t capability) noexcept {
    if (capability == 75) return 1024;
    return (capability > 80 && capability < 90) || capability >= 120 ? 1536 : 2048;
}

/// Bytes of the buffer with which PyTorch sums the rows of a matrix (rows, columns) on a CUDA device: the gradient of a
/// bias. 0 if each column is summed by one thread block.
///
/// A thread block has up to 512 / v threads in rows of up to 32 threads, which sum v columns each. A thread has
/// rows / block_height values. If these are at least 256, c thread blocks share the columns of a block, with at least
/// 16 values per thread:
///
///     bytes = 4 · columns · c · block_width · v
///
/// v is 4, 2 or 1: the largest that divides the number of columns. `device_threads`: threads that all multiprocessors
/// run at the same time, 132 · 2048 for H100 and H200.
///
/// Source: aten/src/ATen/native/cuda/Reduce.cuh, `setReduceConfig`, `set_block_dimension`, `get_output_vec_size`,
/// `global_memory_size`.
[[nodiscard]] constexpr std::uint64_t column_sum_buffer_bytes(std::uint64_t rows, std::uint64_t columns,
                                                              std::uint64_t device_threads) noexcept {
    if (rows == 0 || columns == 0) return 0;
    constexpr std::uint64_t max_threads = 512, warp_size = 32;
    constexpr std::uint64_t min_values_per_thread = 16, max_values_per_thread = 256;
    const auto divide_up = [](std::uint64_t n, std::uint64_t divisor) { return (n + divisor - 1) / divisor; };
    const std::uint64_t vector_size = columns % 4 == 0 ? 4 : columns % 2 == 0 ? 2 : 1;
    const std::uint64_t threads = max_threads / vector_size, outputs = columns / vector_size;
    const std::uint64_t width_limit = std::min(std::bit_floor(outputs), threads);
    const std::uint64_t height =
        std::min(std::min(std::bit_floor(rows), threads), threads / std::min(width_limit, warp_size));
    const std::uint64_t width = std::min(width_limit, threads / height);
    if (rows < std::min(height * min_values_per_thread, max_values_per_thread)) return 0;
    const std::uint64_t values = divide_up(rows, height), blocks = divide_up(outputs, width);
    const std::uint64_t target = device_threads / (width * height);
    if (values < max_values_per_thread || blocks > target) return 0;
    const std::uint64_t blocks_per_output =
        std::max(std::min(divide_up(target, blocks), divide_up(values, min_values_per_thread)),
                 divide_up(values, max_values_per_thread));
    return blocks_per_output > 1 ? 4 * columns * blocks_per_output * width * vector_size : 0;
}

static_assert(column_sum_buffer_bytes(32 * 197, 384, 132 * 2048) == 19464192);
static_assert(column_sum_buffer_bytes(32 * 197, 1536, 132 * 2048) == 77856768);

}  // namespace llmcost
