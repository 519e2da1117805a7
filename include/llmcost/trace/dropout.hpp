// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace llmcost {

/// A dropout position: a place in a model where training drops elements. The configuration has a rate for each.
enum class dropout_position : std::uint8_t {
    hidden,              ///< output of a block
    embeddings,          ///< input of the first layer
    attention,           ///< attention probabilities
    mlp,                 ///< between the projections of an MLP
    classifier,          ///< input of a classification head
    question_answering,  ///< input of a question-answering head
    pooler,              ///< input of a pooler
    stochastic,          ///< random skipping of layers, noise on routers; rates of 1
    unconditional,       ///< always, if dropout is enabled: the forward function has checked the rate
};

/// The dropout positions whose rates are above zero.
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
