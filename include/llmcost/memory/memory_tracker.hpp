// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <llmcost/memory/schedule.hpp>

namespace llmcost::detail {

/// The memory in use while a step is replayed, and its peak.
class memory_tracker {
public:
    explicit memory_tracker(memory_timeline& out) : out_(out) {}

    void begin(int step, std::string_view phase) {
        step_ = step;
        phase_ = phase;
    }
    void begin(std::string_view phase) { phase_ = phase; }
    void allocate(memory_category category, std::uint64_t bytes) { now_.add(category, bytes); }
    void free(memory_category category, std::uint64_t bytes) { now_.subtract(category, bytes); }
    /// Updates the peaks with the current memory.
    void update_peak(std::string_view operation_name) {
        out_.peak_by_category.set_maximum(now_);
        if (now_.total > peak_since_snapshot_) peak_since_snapshot_ = now_.total;
        if (now_.total > out_.peak.bytes.total) out_.peak = {now_, step_, phase_, operation_name};
    }
    /// Allocates memory, updates the peaks and frees it.
    void allocate_temporary(memory_category category, std::uint64_t bytes, std::string_view operation_name) {
        allocate(category, bytes);
        update_peak(operation_name);
        free(category, bytes);
    }
    /// Records a snapshot: the current memory, and the peak since the previous snapshot.
    void record_snapshot(std::string path) {
        out_.snapshots.push_back({phase_, std::move(path), now_, peak_since_snapshot_});
        peak_since_snapshot_ = now_.total;
    }
    [[nodiscard]] const memory_bytes& now() const noexcept { return now_; }

private:
    memory_timeline& out_;
    memory_bytes now_{};
    std::uint64_t peak_since_snapshot_ = 0;  ///< the largest total since the last snapshot
    int step_ = 0;
    std::string_view phase_;
};

}  // namespace llmcost::detail
