// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/caching_allocator.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <llmcost/base/inline.hpp>

namespace llmcost::detail {

inline constexpr std::uint64_t min_block_bytes = 512;               // kMinBlockSize
inline constexpr std::uint64_t small_bytes = 1U << 20U;             // kSmallSize
inline constexpr std::uint64_t small_segment_bytes = 2U << 20U;     // kSmallBuffer
inline constexpr std::uint64_t large_segment_bytes = 20U << 20U;    // kLargeBuffer
inline constexpr std::uint64_t min_own_segment_bytes = 10U << 20U;  // kMinLargeAlloc
inline constexpr std::uint64_t own_segment_unit = 2U << 20U;        // kRoundLarge

[[nodiscard]] LLMCOST_INLINE std::uint64_t round_up(std::uint64_t bytes, std::uint64_t unit) noexcept {
    return (bytes + unit - 1) / unit * unit;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE std::size_t caching_allocator::allocate(std::uint64_t bytes) {
    const std::uint64_t rounded = std::max(detail::min_block_bytes, detail::round_up(bytes, detail::min_block_bytes));
    const bool is_small = rounded <= detail::small_bytes;
    std::size_t block = take_free_block(rounded, is_small);
    if (block == none)
        block =
            add_segment(is_small                                  ? detail::small_segment_bytes
                        : rounded < detail::min_own_segment_bytes ? detail::large_segment_bytes
                                                                  : detail::round_up(rounded, detail::own_segment_unit),
                        is_small);
    const std::uint64_t rest = blocks_[block].bytes - rounded;
    if (is_small ? rest >= detail::min_block_bytes : rest > detail::small_bytes) split(block, rounded);
    blocks_[block].is_free = false;
    blocks_[block].requested_bytes = bytes;
    statistics_.allocated_bytes += blocks_[block].bytes;
    statistics_.requested_bytes += bytes;
    statistics_.peak_allocated_bytes = std::max(statistics_.peak_allocated_bytes, statistics_.allocated_bytes);
    return block;
}

LLMCOST_INLINE void caching_allocator::free(std::size_t block) {
    statistics_.allocated_bytes -= blocks_[block].bytes;
    statistics_.requested_bytes -= blocks_[block].requested_bytes;
    blocks_[block].is_free = true;
    merge_next(block);
    if (const std::size_t previous = blocks_[block].previous; previous != none && blocks_[previous].is_free) {
        pool_of(blocks_[previous].is_small).erase({blocks_[previous].bytes, blocks_[previous].address, previous});
        pool_of(blocks_[block].is_small).insert({blocks_[block].bytes, blocks_[block].address, block});
        merge_next(previous);
        block = previous;
    }
    pool_of(blocks_[block].is_small).insert({blocks_[block].bytes, blocks_[block].address, block});
}

LLMCOST_INLINE std::size_t caching_allocator::add_segment(std::uint64_t bytes, bool is_small) {
    const std::size_t block = new_block();
    blocks_[block] = {.address = next_address_, .bytes = bytes, .is_small = is_small};
    next_address_ += bytes;
    statistics_.reserved_bytes += bytes;
    ++statistics_.num_segments;
    return block;
}

LLMCOST_INLINE std::size_t caching_allocator::take_free_block(std::uint64_t bytes, bool is_small) {
    std::set<free_block>& pool = pool_of(is_small);
    const auto found = pool.lower_bound({.bytes = bytes});
    if (found == pool.end()) return none;
    const std::size_t block = found->block;
    pool.erase(found);
    return block;
}

LLMCOST_INLINE void caching_allocator::split(std::size_t block, std::uint64_t bytes) {
    const std::size_t rest = new_block();
    memory_block& first = blocks_[block];
    blocks_[rest] = {.address = first.address + bytes,
                     .bytes = first.bytes - bytes,
                     .previous = block,
                     .next = first.next,
                     .is_small = first.is_small,
                     .is_free = true};
    if (first.next != none) blocks_[first.next].previous = rest;
    first.next = rest;
    first.bytes = bytes;
    pool_of(first.is_small).insert({blocks_[rest].bytes, blocks_[rest].address, rest});
}

LLMCOST_INLINE void caching_allocator::merge_next(std::size_t block) {
    const std::size_t next = blocks_[block].next;
    if (next == none || !blocks_[next].is_free) return;
    pool_of(blocks_[next].is_small).erase({blocks_[next].bytes, blocks_[next].address, next});
    blocks_[block].bytes += blocks_[next].bytes;
    blocks_[block].next = blocks_[next].next;
    if (blocks_[next].next != none) blocks_[blocks_[next].next].previous = block;
    unused_.push_back(next);
}

LLMCOST_INLINE std::size_t caching_allocator::new_block() {
    if (unused_.empty()) {
        blocks_.emplace_back();
        return blocks_.size() - 1;
    }
    const std::size_t block = unused_.back();
    unused_.pop_back();
    return block;
}

}  // namespace llmcost
