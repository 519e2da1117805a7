// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <llmcost/base/string_ref.hpp>

namespace llmcost {

/// What the value of a key may be.
enum class own_value : std::uint8_t {
    positive,      ///< an integer from 1
    non_negative,  ///< an integer from 0
    boolean,       ///< true is 1
    computed       ///< no key: the family's `read` works it out
};

/// How a size is divided when a layer is split over devices.
enum class splits : std::uint8_t {
    no,      ///< each device has all of it
    evenly,  ///< each has its share, which must be whole
};

/// A size or a switch that only one family has: its key, what it is without one, and how it is divided.
///
/// The table stands in the family's file, beside an enumeration of the same order: `dims.own[rank]`.
struct own_key {
    literal key = "";
    std::int64_t otherwise = 0;
    own_value value = own_value::positive;
    splits divided = splits::no;
};

/// How many sizes of its own a family may have.
inline constexpr std::size_t most_own_keys = 24;

/// The values of a family's table, by its enumeration.
struct own_sizes {
    std::int64_t values[most_own_keys]{};

    [[nodiscard]] constexpr std::int64_t operator[](std::size_t i) const noexcept { return values[i]; }
    [[nodiscard]] constexpr std::int64_t& operator[](std::size_t i) noexcept { return values[i]; }
    /// The same with one value: `own_sizes{}.with(rank, 64)`.
    [[nodiscard]] constexpr own_sizes with(std::size_t i, std::int64_t n) const noexcept {
        own_sizes changed = *this;
        changed.values[i] = n;
        return changed;
    }
    friend constexpr bool operator==(const own_sizes&, const own_sizes&) = default;
};

/// A family's table, as a row refers to it.
struct own_keys {
    const own_key* first = nullptr;
    std::size_t count = 0;

    constexpr own_keys() noexcept = default;
    template <std::size_t N>
    constexpr own_keys(const own_key (&table)[N]) noexcept : first(table), count(N) {
        static_assert(N <= most_own_keys);
    }
    [[nodiscard]] constexpr const own_key* begin() const noexcept { return first; }
    [[nodiscard]] constexpr const own_key* end() const noexcept { return first + count; }
};

}  // namespace llmcost
