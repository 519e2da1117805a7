// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/torch/split_reduction.hpp>

#include <algorithm>
#include <cstdint>

#include <llmcost/base/inline.hpp>
#include <llmcost/torch/fusion_group.hpp>

namespace llmcost::detail {

/// The divisor of a number that is closest to a target.
[[nodiscard]] LLMCOST_INLINE std::uint64_t closest_divisor(std::uint64_t number, std::uint64_t target) noexcept {
    const auto distance = [&](std::uint64_t d) { return d > target ? d - target : target - d; };
    std::uint64_t best = 1;
    for (std::uint64_t d = 1; d * d <= number; ++d) {
        if (number % d != 0) continue;
        for (const std::uint64_t divisor : {d, number / d})
            if (distance(divisor) < distance(best)) best = divisor;
    }
    return best;
}

/// The elements that a thread reduces. `blocks`: those that occupy the device; `threads`: per block along the
/// reduction; `tolerance`: to an even division.
[[nodiscard]] LLMCOST_INLINE std::uint64_t elements_per_thread(const fusion_group& group, const inductor_device& device,
                                                               std::uint64_t blocks, std::uint64_t threads,
                                                               std::uint64_t tolerance) noexcept {
    constexpr std::uint64_t min_elements = 32, max_elements = 512;
    const std::uint64_t num_threads = device.num_multiprocessors * device.max_threads_per_multiprocessor;
    const std::uint64_t all = group.elements * group.reduced;
    if (all < min_elements * num_threads) return min_elements;
    const bool is_large = all >= max_elements * num_threads;
    const std::uint64_t target =
        is_large ? max_elements : (group.reduced + threads * blocks - 1) / std::max<std::uint64_t>(threads * blocks, 1);
    const std::uint64_t closest = closest_divisor(group.reduced, target);
    const std::uint64_t distance = closest > target ? closest - target : target - closest;
    if (distance >= (is_large ? 50 : tolerance)) return target;
    return is_large ? closest : std::max(closest, min_elements);
}

LLMCOST_INLINE std::uint64_t num_partial_results(const fusion_group& group, const inductor_device& device) {
    constexpr std::uint64_t threads_per_block = 256, min_reduced = 32;
    if (!group.has_reduction || group.is_mixed || group.is_external || group.elements == 0) return 1;
    if (!group.is_column_reduction) {
        constexpr std::uint64_t max_single_block = 8192;
        if (group.elements >= 2 * device.num_multiprocessors || group.reduced <= max_single_block) return 1;
        const std::uint64_t blocks =
            device.num_multiprocessors * device.max_threads_per_multiprocessor / (2 * threads_per_block);
        const std::uint64_t size =
            elements_per_thread(group, device, (blocks + group.elements - 1) / group.elements, threads_per_block, 30);
        return (group.reduced + size * threads_per_block - 1) / (size * threads_per_block);
    }
    if (group.reduced <= min_reduced || group.elements >= device.num_multiprocessors * 2 * 32) return 1;
    constexpr std::uint64_t rows_per_thread = 4, columns_per_block = 128;
    const std::uint64_t column_blocks = (group.elements + columns_per_block - 1) / columns_per_block;
    const std::uint64_t blocks = device.num_multiprocessors * device.max_threads_per_multiprocessor / threads_per_block;
    const std::uint64_t size =
        elements_per_thread(group, device, (blocks + column_blocks - 1) / column_blocks, rows_per_thread, 20);
    return (group.reduced + rows_per_thread * size - 1) / (rows_per_thread * size);
}

LLMCOST_INLINE fusion_group split_reduction(fusion_group& group, std::uint64_t parts) {
    constexpr std::uint64_t partial_bytes = 4;  // of float32
    fusion_group sum = group;
    sum.read.clear();
    sum.bytes_read = group.elements * parts * partial_bytes;
    sum.reduced = parts;
    group.written.clear();
    group.bytes_written = sum.bytes_read;
    return sum;
}

}  // namespace llmcost::detail
