// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/memory_tracker.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/memory/category.hpp>
#include <llmcost/memory/schedule.hpp>

namespace llmcost::detail {

LLMCOST_INLINE void memory_tracker::begin(int step, std::string_view phase) {
    step_ = step;
    begin(phase);
}

LLMCOST_INLINE void memory_tracker::allocate(memory_category category, std::uint64_t bytes) {
    const std::size_t block = allocate_block(category, bytes);
    if (block != no_block) blocks_[block_key(category, bytes)].push_back(block);
}

LLMCOST_INLINE void memory_tracker::free(memory_category category, std::uint64_t bytes) {
    if (!allocator_ || bytes == 0) return free_block(category, bytes, no_block);
    std::vector<std::size_t>& blocks = blocks_[block_key(category, bytes)];
    free_block(category, bytes, blocks.back());
    blocks.pop_back();
}

LLMCOST_INLINE std::size_t memory_tracker::allocate_block(memory_category category, std::uint64_t bytes) {
    if (!allocator_ || bytes == 0) {  // an empty tensor has no block
        current_bytes_.add(category, bytes);
        return no_block;
    }
    const std::size_t block = allocator_->allocate(bytes);
    current_bytes_.add(category, allocator_->block_bytes(block));
    update_peak(operation_);
    out_.allocator = allocator_->statistics();
    return block;
}

LLMCOST_INLINE void memory_tracker::free_block(memory_category category, std::uint64_t bytes, std::size_t block) {
    if (block == no_block) return current_bytes_.subtract(category, bytes);
    current_bytes_.subtract(category, allocator_->block_bytes(block));
    allocator_->free(block);
}

LLMCOST_INLINE void memory_tracker::allocate_library_workspace(std::uint64_t bytes) {
    if (!allocator_) return;
    (void)allocator_->allocate(bytes);
    out_.library_workspace_bytes += bytes;
    out_.allocator = allocator_->statistics();
}

LLMCOST_INLINE void memory_tracker::update_peak(std::string_view operation_name) {
    out_.peak_by_category.set_maximum(current_bytes_);
    if (current_bytes_.total > phase_peak_.total) phase_peak_ = current_bytes_;
    if (current_bytes_.total > peak_since_snapshot_) peak_since_snapshot_ = current_bytes_.total;
    if (current_bytes_.total > out_.peak.bytes.total) out_.peak = {current_bytes_, step_, phase_, operation_name};
}

LLMCOST_INLINE void memory_tracker::allocate_temporary(memory_category category, std::uint64_t bytes,
                                                       std::string_view operation_name) {
    allocate(category, bytes);
    update_peak(operation_name);
    free(category, bytes);
}

LLMCOST_INLINE void memory_tracker::record_snapshot(std::string path) {
    out_.snapshots.push_back({phase_, std::move(path), current_bytes_, peak_since_snapshot_});
    peak_since_snapshot_ = current_bytes_.total;
}

}  // namespace llmcost::detail
