// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <llmcost/model/architecture.hpp>
#include <llmcost/reading/config.hpp>

namespace llmcost {

/// Notes a rate of dropout; one of 1 drops everything, which no walk describes.
constexpr void put_rate(dropout_set& into, dropout_of place, double rate) {
    into.put(rate < 1 ? place : dropout_of::drawn, rate > 0);
}

/// Reads the rates of dropout by the row's table, those of classifiers where there is one. What is no number drops nothing:
/// only training reads it.
constexpr void read_dropout(config_view config, const architecture& row, head_kind head, dropout_set& into) {
    const bool classifies = head != head_kind::none && head != head_kind::causal_lm;
    for (std::size_t i = 0; i < row.drops.count; ++i) {
        const dropout_key& k = row.drops.first[i];
        if (k.place == dropout_of::classifier && !classifies) continue;
        const auto found = config.find(k.key);
        if (found && found->is_number())
            put_rate(into, k.place, found->as_extended_real());
        else if (k.otherwise == as_hidden)
            into.put(k.place, into.has(dropout_of::hidden));
        else if (k.otherwise >= 0)
            put_rate(into, k.place, k.otherwise);
    }
}

}  // namespace llmcost
