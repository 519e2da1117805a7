// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/memory_tracker.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <llmcost/base/inline.hpp>
#include <llmcost/memory/category.hpp>
#include <llmcost/memory/schedule.hpp>

namespace llmcost::detail {

LLMCOST_INLINE void memory_tracker::begin(int step, std::string_view phase) {
    step_ = step;
    phase_ = phase;
}

LLMCOST_INLINE void memory_tracker::update_peak(std::string_view operation_name) {
    out_.peak_by_category.set_maximum(current_bytes_);
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
