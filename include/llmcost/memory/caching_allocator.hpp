// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace llmcost {

/// The figures of PyTorch's CUDA allocator, in bytes.
struct allocator_statistics {
    std::uint64_t allocated_bytes = 0;       ///< `torch.cuda.memory_allocated`: blocks in use
    std::uint64_t peak_allocated_bytes = 0;  ///< `torch.cuda.max_memory_allocated`
    std::uint64_t requested_bytes = 0;       ///< sizes in use, before rounding
    std::uint64_t reserved_bytes = 0;        ///< `torch.cuda.memory_reserved`: segments; a segment is never returned
    std::uint64_t num_segments = 0;          ///< calls of `cudaMalloc`
    friend bool operator==(const allocator_statistics&, const allocator_statistics&) = default;
};

/// PyTorch's caching allocator of one device and one stream, with default settings and without a limit of memory.
///
///     block_bytes = 512 · max(1, ceil(bytes / 512))
///
/// A block of at most 1 MiB is in the small pool, whose segments have 2 MiB. In the large pool a block below 10 MiB
/// begins a segment of 20 MiB; a larger one begins a segment of its own size, rounded up to 2 MiB.
///
/// A request takes the smallest free block of its pool that is large enough. The rest is split off if it has at least
/// 512 bytes in the small pool, and more than 1 MiB in the large one. Otherwise it counts as allocated. A freed block
/// is merged with free neighbors of its segment.
///
/// Source: c10/cuda/CUDACachingAllocator.cpp, `round_size`, `get_pool`, `get_allocation_size`, `get_free_block`,
/// `should_split`, `alloc_found_block`, `free_block`; c10/core/AllocatorConfig.h, `kSmallSize` to `kRoundLarge`.
class caching_allocator {
public:
    /// Allocates a block and returns its number.
    std::size_t allocate(std::uint64_t bytes);
    void free(std::size_t block);
    /// Bytes of a block that count as allocated.
    [[nodiscard]] std::uint64_t block_bytes(std::size_t block) const noexcept { return blocks_[block].bytes; }
    [[nodiscard]] const allocator_statistics& statistics() const noexcept { return statistics_; }

private:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);
    struct memory_block {
        std::uint64_t address = 0, bytes = 0, requested_bytes = 0;
        std::size_t previous = none, next = none;  ///< neighbors in the segment
        bool is_small = false, is_free = false;
    };
    struct free_block {
        std::uint64_t bytes = 0, address = 0;
        std::size_t block = 0;
        friend auto operator<=>(const free_block&, const free_block&) = default;
    };
    [[nodiscard]] std::set<free_block>& pool_of(bool is_small) { return is_small ? small_blocks_ : large_blocks_; }
    std::size_t add_segment(std::uint64_t bytes, bool is_small);
    /// Takes the best free block; `none` if no block is large enough.
    std::size_t take_free_block(std::uint64_t bytes, bool is_small);
    void split(std::size_t block, std::uint64_t bytes);
    /// Extends a block by its next neighbor if that is free.
    void merge_next(std::size_t block);
    std::size_t new_block();

    std::vector<memory_block> blocks_;
    std::vector<std::size_t> unused_;  ///< numbers of merged blocks
    std::set<free_block> small_blocks_, large_blocks_;
    std::uint64_t next_address_ = 0;
    allocator_statistics statistics_;
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/caching_allocator.ipp>  // IWYU pragma: export
#endif
