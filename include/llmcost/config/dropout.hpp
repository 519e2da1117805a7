// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <llmcost/base/config_view.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost {

/// Sets a dropout rate. A rate of 1 drops everything, which the trace does not support.
constexpr void set_rate(dropout_set& positions, dropout_position place, double rate) {
    positions.set(rate < 1 ? place : dropout_position::stochastic, rate > 0);
}

constexpr double parse_rate(config_view number) {
    const double rate = number.as_real();
    if (!(rate >= 0 && rate <= 1)) throw_invalid_value(number, "a rate from 0 to 1");
    return rate;
}

/// Parses the dropout rates in the table of the model spec. Rates of classifiers apply to classification heads only.
constexpr void parse_dropout(config_view json, const model_spec& row, head_kind head, dropout_set& positions) {
    const bool classifies = head != head_kind::none && head != head_kind::causal_lm;
    for (std::size_t i = 0; i < row.dropout_keys.count; ++i) {
        const dropout_key& k = row.dropout_keys.first[i];
        if (k.position == dropout_position::classifier && !classifies) continue;
        const auto found = json.find(k.key);
        if (found && !found->is_null())
            set_rate(positions, k.position, parse_rate(*found));
        else if (k.default_rate == same_as_hidden)
            positions.set(k.position, positions.contains(dropout_position::hidden));
        else if (k.default_rate >= 0)
            set_rate(positions, k.position, k.default_rate);
    }
}

}  // namespace llmcost
