// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <llmcost/memory/caching_allocator.hpp>
#include <llmcost/memory/category.hpp>
#include <llmcost/memory/schedule.hpp>

namespace llmcost::detail {

/// The memory in use while a step is replayed, and its peak.
///
/// With a caching allocator, bytes are those of its blocks, and every allocation updates the peaks. Otherwise they are
/// the bytes of the tensors.
class memory_tracker {
public:
    static constexpr std::size_t no_block = static_cast<std::size_t>(-1);

    memory_tracker(memory_timeline& out, bool has_caching_allocator) : out_(out) {
        if (has_caching_allocator) allocator_.emplace();
    }
    [[nodiscard]] bool has_caching_allocator() const noexcept { return allocator_.has_value(); }

    void begin(int step, std::string_view phase);
    void begin(std::string_view phase) {
        phase_ = phase;
        phase_peak_ = current_bytes_;
    }
    /// The memory at the peak of the current phase.
    [[nodiscard]] const memory_bytes& phase_peak() const noexcept { return phase_peak_; }
    /// Sets the operation that the next allocations belong to.
    void set_operation(std::string_view name) { operation_ = name; }
    void allocate(memory_category category, std::uint64_t bytes);
    /// Frees the last memory that `allocate` allocated with this category and size.
    void free(memory_category category, std::uint64_t bytes);
    /// Allocates memory that `free_block` frees. Returns `no_block` without a caching allocator.
    [[nodiscard]] std::size_t allocate_block(memory_category category, std::uint64_t bytes);
    void free_block(memory_category category, std::uint64_t bytes, std::size_t block);
    /// Allocates memory of a library that is never freed and belongs to no category.
    void allocate_library_workspace(std::uint64_t bytes);
    /// Updates the peaks with the current memory.
    void update_peak(std::string_view operation_name);
    /// Allocates memory, updates the peaks and frees it.
    void allocate_temporary(memory_category category, std::uint64_t bytes, std::string_view operation_name);
    /// Records a snapshot: the current memory, and the peak since the previous snapshot.
    void record_snapshot(std::string path);
    [[nodiscard]] const memory_bytes& now() const noexcept { return current_bytes_; }

private:
    /// The key of the blocks of a category and a size.
    [[nodiscard]] static std::uint64_t block_key(memory_category category, std::uint64_t bytes) noexcept {
        constexpr std::uint64_t max_categories = 16;
        return bytes * max_categories + static_cast<std::uint64_t>(category);
    }

    memory_timeline& out_;
    memory_bytes current_bytes_{}, phase_peak_{};
    std::optional<caching_allocator> allocator_;
    std::unordered_map<std::uint64_t, std::vector<std::size_t>> blocks_;  ///< by `block_key`
    std::string_view operation_;
    std::uint64_t peak_since_snapshot_ = 0;  ///< the largest total since the last snapshot
    int step_ = 0;
    std::string_view phase_;
};

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/memory_tracker.ipp>  // IWYU pragma: export
#endif
