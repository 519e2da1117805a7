// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <llmcost/base/string_ref.hpp>

namespace llmcost {

/// What the value of a key may be.
enum class family_key_type : std::uint8_t {
    positive,      ///< an integer from 1
    non_negative,  ///< an integer from 0
    boolean,       ///< true is 1
    computed       ///< no key: the family's `read` works it out
};

/// How a size is divided when a layer is split over devices.
enum class tensor_parallel_split : std::uint8_t {
    replicated,  ///< each device has all of it
    sharded,     ///< each has its share, which must be whole
};

/// A size or a switch that only one family has: its key, what it is without one, and how it is divided.
///
/// The table stands in the family's file, beside an enumeration of the same order: `dims.own[rank]`.
struct family_key {
    literal key = "";
    std::int64_t default_value = 0;
    family_key_type type = family_key_type::positive;
    tensor_parallel_split split = tensor_parallel_split::replicated;
};

/// How many sizes of its own a family may have.
inline constexpr std::size_t max_family_keys = 24;

/// The values of a family's table, by its enumeration.
struct family_config {
    std::int64_t values[max_family_keys]{};

    [[nodiscard]] constexpr std::int64_t operator[](std::size_t i) const noexcept { return values[i]; }
    [[nodiscard]] constexpr std::int64_t& operator[](std::size_t i) noexcept { return values[i]; }
    /// The same with one value: `family_config{}.with(rank, 64)`.
    [[nodiscard]] constexpr family_config with_value(std::size_t i, std::int64_t n) const noexcept {
        family_config changed = *this;
        changed.values[i] = n;
        return changed;
    }
    friend constexpr bool operator==(const family_config&, const family_config&) = default;
};

/// A family's table, as a row refers to it.
struct family_key_table {
    const family_key* entries = nullptr;
    std::size_t size = 0;

    constexpr family_key_table() noexcept = default;
    template <std::size_t N>
    constexpr family_key_table(const family_key (&table)[N]) noexcept : entries(table), size(N) {
        static_assert(N <= max_family_keys);
    }
    [[nodiscard]] constexpr const family_key* begin() const noexcept { return entries; }
    [[nodiscard]] constexpr const family_key* end() const noexcept { return entries + size; }
};

}  // namespace llmcost
