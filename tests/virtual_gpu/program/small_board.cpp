// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// A GPU so slow that few of a sweep's large operators are worth its time, and those of all families are.
#include <cstddef>

#include "../board.hpp"

namespace {

[[maybe_unused]] const bool chosen = [] {
    virtual_gpu::board& b = virtual_gpu::at_hand();
    b.name = "NVIDIA Virtual 1";
    b.multiprocessors = 2;
    b.memory_bytes = 16'000'000'000;
    b.clock_kilohertz = 500'000;
    b.memory_clock_kilohertz = 5'000;
    b.memory_bus_bits = 5120;
    b.bytes_per_second = 2.0 * 5e6 * 5120 / 8;
    b.flops_per_second = 2 * 4096 * 5e8;
    b.cache_bytes = std::size_t{1} << 20;
    b.max_threads = 256;  // kernels run as a whole in other tests
    return true;
}();

}  // namespace
