// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/trace/dropout.hpp>

namespace llmcost {

/// Default rates that refer to another rate: that of hidden states, or that of the previous entry for this position.
inline constexpr double same_as_hidden = -1, same_as_previous = -2;

/// A dropout rate of a configuration: its position, its key and its default.
struct dropout_key {
    dropout_position position = dropout_position::hidden;
    literal key = "";
    double default_rate = 0;
};

/// The dropout keys of a model family. A model spec without a table does not declare its dropout positions.
struct dropout_key_table {
    const dropout_key* first = nullptr;
    std::size_t count = 0;

    constexpr dropout_key_table() noexcept = default;
    template <std::size_t N>
    constexpr dropout_key_table(const dropout_key (&table)[N]) noexcept : first(table), count(N) {}
    [[nodiscard]] constexpr bool has_entries() const noexcept { return first != nullptr; }
    /// An empty table: the forward function has no dropout.
    [[nodiscard]] static constexpr dropout_key_table none() noexcept;
};

namespace detail {

inline constexpr dropout_key no_dropout[]{{}};

}  // namespace detail

constexpr dropout_key_table dropout_key_table::none() noexcept {
    dropout_key_table empty(detail::no_dropout);
    empty.count = 0;
    return empty;
}

}  // namespace llmcost
