// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <llmcost/memory/category.hpp>
#include <llmcost/memory/schedule.hpp>

namespace llmcost::detail {

/// The memory in use while a step is replayed, and its peak.
class memory_tracker {
public:
    explicit memory_tracker(memory_timeline& out) : out_(out) {}

    void begin(int step, std::string_view phase);
    void begin(std::string_view phase) { phase_ = phase; }
    void allocate(memory_category category, std::uint64_t bytes) { current_bytes_.add(category, bytes); }
    void free(memory_category category, std::uint64_t bytes) { current_bytes_.subtract(category, bytes); }
    /// Updates the peaks with the current memory.
    void update_peak(std::string_view operation_name);
    /// Allocates memory, updates the peaks and frees it.
    void allocate_temporary(memory_category category, std::uint64_t bytes, std::string_view operation_name);
    /// Records a snapshot: the current memory, and the peak since the previous snapshot.
    void record_snapshot(std::string path);
    [[nodiscard]] const memory_bytes& now() const noexcept { return current_bytes_; }

private:
    memory_timeline& out_;
    memory_bytes current_bytes_{};
    std::uint64_t peak_since_snapshot_ = 0;  ///< the largest total since the last snapshot
    int step_ = 0;
    std::string_view phase_;
};

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/memory_tracker.ipp>  // IWYU pragma: export
#endif
