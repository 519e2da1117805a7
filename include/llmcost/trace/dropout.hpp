// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace llmcost {

/// Where a model drops something in training; a configuration has a rate for each.
enum class dropout_of : std::uint8_t {
    hidden,      ///< what a block gives out
    embeddings,  ///< what the first layer reads
    attention,   ///< probabilities
    inner,       ///< between the projections of a feed-forward block
    classifier,  ///< in front of a head
    answers,     ///< in front of a question-answering head
    pooler,      ///< in front of a pooler
    drawn,       ///< layers that run or not, noise on routers; rates of 1
    always,      ///< wherever dropout is kept: the walk has looked at the rate
};

/// The places whose rates are above zero.
struct dropout_set {
    std::uint16_t bits = 0;

    [[nodiscard]] constexpr bool has(dropout_of place) const noexcept {
        return (bits >> static_cast<unsigned>(place) & 1U) != 0;
    }
    constexpr void put(dropout_of place, bool on = true) noexcept {
        const auto bit = static_cast<std::uint16_t>(1U << static_cast<unsigned>(place));
        bits = static_cast<std::uint16_t>(on ? bits | bit : bits & ~bit);
    }
    [[nodiscard]] constexpr dropout_set with(dropout_of place) const noexcept {
        dropout_set more = *this;
        more.put(place);
        return more;
    }
    friend constexpr bool operator==(const dropout_set&, const dropout_set&) = default;
};

}  // namespace llmcost
