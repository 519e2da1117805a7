// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <llmcost/base/string_ref.hpp>

namespace llmcost {

/// Valid values of a configuration key.
enum class family_key_type : std::uint8_t {
    positive,      ///< an integer of at least 1
    non_negative,  ///< an integer of at least 0
    boolean,       ///< false is 0, true is 1
    computed       ///< no key: the family's `parse_config` computes the value
};

/// Effect of tensor parallelism on a size.
enum class tensor_parallel_split : std::uint8_t {
    replicated,  ///< each rank has the full size
    sharded,     ///< each rank has an equal, integral share
};

/// A size or switch that only one model family has: its configuration key, default value and sharding.
///
/// The table is in the family's file. An enumeration in the same order is the index: `config.family[rank]`.
struct family_key {
    literal key = "";
    std::int64_t default_value = 0;
    family_key_type type = family_key_type::positive;
    tensor_parallel_split split = tensor_parallel_split::replicated;
};

/// Maximum number of family keys.
inline constexpr std::size_t max_family_keys = 25;

/// Values of the family keys, indexed by the family's enumeration.
struct family_config {
    std::int64_t values[max_family_keys]{};

    [[nodiscard]] constexpr std::int64_t operator[](std::size_t i) const noexcept { return values[i]; }
    [[nodiscard]] constexpr std::int64_t& operator[](std::size_t i) noexcept { return values[i]; }
    /// A copy with one changed value: `family_config{}.with_value(rank, 64)`.
    [[nodiscard]] constexpr family_config with_value(std::size_t i, std::int64_t n) const noexcept {
        family_config changed = *this;
        changed.values[i] = n;
        return changed;
    }
    friend constexpr bool operator==(const family_config&, const family_config&) = default;
};

/// A reference to the table of family keys of a model spec.
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
