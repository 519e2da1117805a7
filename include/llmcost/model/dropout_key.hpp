// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/trace/dropout.hpp>

namespace llmcost {

/// What a rate is where a configuration has none: that of hidden states, or what an entry before has said of its place.
inline constexpr double same_as_hidden = -1, same_as_previous = -2;

/// A rate of dropout: where it holds, under which key it stands, what it is without one.
struct dropout_key {
    dropout_position position = dropout_position::hidden;
    literal key = "";
    double default_rate = 0;
};

/// A family's table, as a row refers to it; a row without one does not say where its walk drops something.
struct dropout_key_table {
    const dropout_key* first = nullptr;
    std::size_t count = 0;

    constexpr dropout_key_table() noexcept = default;
    template <std::size_t N>
    constexpr dropout_key_table(const dropout_key (&table)[N]) noexcept : first(table), count(N) {}
    [[nodiscard]] constexpr bool has_entries() const noexcept { return first != nullptr; }
    /// Of a row whose walk drops nothing that has a key in this table.
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
