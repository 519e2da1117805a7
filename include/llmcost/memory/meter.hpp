// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <llmcost/memory/schedule.hpp>

namespace llmcost::detail {

/// What memory holds while a step is played, and the most of it so far.
class memory_meter {
public:
    explicit memory_meter(memory_timeline& out) : out_(out) {}

    void begin(int step, std::string_view phase) { step_ = step, phase_ = phase; }
    void begin(std::string_view phase) { phase_ = phase; }
    void add(memory_category of, std::uint64_t bytes) { now_.add(of, bytes); }
    void take(memory_category of, std::uint64_t bytes) { now_.take(of, bytes); }
    /// Takes what is there now into the peaks.
    void look(std::string_view at) {
        out_.own_peaks.raise(now_);
        if (now_.total > most_) most_ = now_.total;
        if (now_.total > out_.peak.bytes.total) out_.peak = {now_, step_, phase_, at};
    }
    /// Holds so much more for a moment.
    void pass(memory_category of, std::uint64_t bytes, std::string_view at) { add(of, bytes), look(at), take(of, bytes); }
    /// Notes a moment: what is there, and the most since the one before.
    void note(std::string path) {
        out_.moments.push_back({phase_, std::move(path), now_, most_});
        most_ = now_.total;
    }
    [[nodiscard]] const memory_bytes& now() const noexcept { return now_; }

private:
    memory_timeline& out_;
    memory_bytes now_{};
    std::uint64_t most_ = 0;  ///< the largest total since the last moment that was noted
    int step_ = 0;
    std::string_view phase_;
};

}  // namespace llmcost::detail
