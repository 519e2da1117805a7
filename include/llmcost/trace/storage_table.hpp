// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <llmcost/base/count.hpp>
#include <llmcost/trace/tensor.hpp>

namespace llmcost {

/// The storages of a trace: which are saved for backward, and how often each exists in repeated code.
class storage_table {
    static constexpr std::int32_t max_storages = 16384;

public:
    /// Adds a storage and returns its id.
    [[nodiscard]] constexpr std::int32_t add() {
        if (next_ >= max_storages) throw_overflow_error("overflow: too many storages in one layer");
        if (next_ % 64 == 0) saved_.bits[static_cast<std::size_t>(next_) / 64] = 0;
        return next_++;
    }
    [[nodiscard]] constexpr std::int32_t mark() const noexcept { return next_; }
    /// Releases all ids from a mark on, so that the next layer can reuse them.
    constexpr void release_from(std::int32_t mark) noexcept {
        for (std::int32_t s = mark; s < next_; ++s) set_saved(s, false);
        next_ = mark;
    }
    /// Gives a tensor a new id after its former one was released.
    constexpr void move_to_new_id(tensor& v, bool saved) {
        v.storage_id = add();
        set_saved(v.storage_id, saved);
    }

    [[nodiscard]] constexpr bool is_saved(std::int32_t s) const noexcept {
        return s >= 0 && (saved_.bits[static_cast<std::size_t>(s) / 64] >> (s % 64) & 1U) != 0;
    }
    constexpr void set_saved(std::int32_t s, bool is_set) noexcept {
        if (s < 0) return;
        std::uint64_t& bits = saved_.bits[static_cast<std::size_t>(s) / 64];
        const std::uint64_t bit = std::uint64_t{1} << (s % 64);
        bits = is_set ? bits | bit : bits & ~bit;
    }

    /// A snapshot of which storages are saved. Bits beyond the existing storages are unspecified.
    struct saved_state {
        std::uint64_t bits[max_storages / 64];
    };
    constexpr void save_state(saved_state& to) const noexcept {
        for (std::int32_t s = 0; s < next_; s += 64) to.bits[s / 64] = saved_.bits[s / 64];
    }
    constexpr void restore_state(const saved_state& saved) noexcept {
        for (std::int32_t s = 0; s < next_; s += 64) saved_.bits[s / 64] = saved.bits[s / 64];
    }

    /// Storages added from here on exist `times` times each.
    constexpr void push_multiplier(count times) {
        if (level_ + 1 >= max_levels) throw_description_error("loops are nested too deeply");
        levels_[static_cast<std::size_t>(++level_)] = {next_, times};
    }
    constexpr void pop_multiplier() noexcept { --level_; }
    /// How often a storage exists: the repetition count at its creation.
    [[nodiscard]] constexpr count multiplier_of(std::int32_t storage) const noexcept {
        for (int i = level_; i > 0; --i)
            if (levels_[static_cast<std::size_t>(i)].first <= storage)
                return levels_[static_cast<std::size_t>(i)].times;
        return count{1};
    }

private:
    static constexpr int max_levels = 8;
    struct level {
        std::int32_t first = 0;
        count times{1};
    };

    level levels_[max_levels]{};
    saved_state saved_;
    std::int32_t next_ = 0;
    int level_ = 0;
};

}  // namespace llmcost
