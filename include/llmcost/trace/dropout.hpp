// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace llmcost {

/// Where a model drops something in training; a configuration has a rate for each.
enum class dropout_position : std::uint8_t {
    hidden,              ///< what a block gives out
    embeddings,          ///< what the first layer reads
    attention,           ///< probabilities
    mlp,                 ///< between the projections of a feed-forward block
    classifier,          ///< in front of a head
    question_answering,  ///< in front of a question-answering head
    pooler,              ///< in front of a pooler
    stochastic,          ///< layers that run or not, noise on routers; rates of 1
    unconditional,       ///< wherever dropout is kept: the walk has looked at the rate
};

/// The places whose rates are above zero.
struct dropout_set {
    std::uint16_t bits = 0;

    [[nodiscard]] constexpr bool contains(dropout_position place) const noexcept {
        return (bits >> static_cast<unsigned>(place) & 1U) != 0;
    }
    constexpr void set(dropout_position place, bool is_enabled = true) noexcept {
        const auto bit = static_cast<std::uint16_t>(1U << static_cast<unsigned>(place));
        bits = static_cast<std::uint16_t>(is_enabled ? bits | bit : bits & ~bit);
    }
    [[nodiscard]] constexpr dropout_set with_position(dropout_position place) const noexcept {
        dropout_set extended = *this;
        extended.set(place);
        return extended;
    }
    friend constexpr bool operator==(const dropout_set&, const dropout_set&) = default;
};

}  // namespace llmcost
