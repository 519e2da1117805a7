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

constexpr double rate_of(config_view number) {
    const double rate = number.as_real();
    if (!(rate >= 0 && rate <= 1)) fail_value(number, "a rate from 0 to 1");
    return rate;
}

/// Reads the rates of dropout by the row's table, those of classifiers where there is one.
constexpr void read_dropout(config_view config, const architecture& row, head_kind head, dropout_set& into) {
    const bool classifies = head != head_kind::none && head != head_kind::causal_lm;
    for (std::size_t i = 0; i < row.drops.count; ++i) {
        const dropout_key& k = row.drops.first[i];
        if (k.place == dropout_of::classifier && !classifies) continue;
        const auto found = config.find(k.key);
        if (found && !found->is_null())
            put_rate(into, k.place, rate_of(*found));
        else if (k.otherwise == as_hidden)
            into.put(k.place, into.has(dropout_of::hidden));
        else if (k.otherwise >= 0)
            put_rate(into, k.place, k.otherwise);
    }
}

}  // namespace llmcost
