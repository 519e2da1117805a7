// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace virtual_gpu {

/// When a stream used memory last, as the number of its piece of work, and wrote it last.
struct use {
    std::uint64_t last = 0, last_written = 0;
};

struct allocation {
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;
    std::size_t number = 0;  ///< in the order in which it was taken
    int gpu = 0;
    void* pages = nullptr;  ///< null where it is the sanitizer's
    std::size_t mapped = 0;
    std::map<std::uint64_t, use> by_stream;
};

/// Memory that was taken and is still held, in the order in which it was.
struct piece {
    void* address = nullptr;
    std::size_t bytes = 0;
};
[[nodiscard]] std::vector<piece> pieces();

/// What an address lies in; null where it lies in nothing.
[[nodiscard]] allocation* allocation_of(const void* address);

}  // namespace virtual_gpu
