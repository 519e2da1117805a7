// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector_types.h>

#include <cstdint>
#include <functional>
#include <string>

// The threads of a block, one after the other on one thread of the host, which wait for each other where kernels say
// so.
namespace virtual_gpu {

/// Where a thread stands.
struct place {
    uint3 thread{}, block{};
    dim3 threads, blocks;
};
/// Where the thread that runs now stands.
extern place current_place;

/// Waits for all threads of the block.
void wait_for_block();
/// The value of the lane at the other end, among the lanes of a mask, which all have to come here.
[[nodiscard]] unsigned exchanged(unsigned mask, unsigned mine, unsigned lane_mask);

/// Runs a kernel's blocks; of a grid of more than `max_threads` its first blocks and its last ones, and of blocks whose
/// threads do not wait for each other a few threads. Why it could not go on; empty where it ended.
[[nodiscard]] std::string run_grid(dim3 blocks, dim3 threads, const std::function<void()>& kernel,
                                   std::uint64_t max_threads);

}  // namespace virtual_gpu
