// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <llmcost/base/string_ref.hpp>

namespace llmcost::cuda {

/// The number of tokens · top_k rows that each expert gets, in descending order, at most the number of tokens. Rows
/// are spread evenly, or by `power_law_A`: density x^-A on 1 to 0.8 · experts at the quantiles of the experts (as
/// ai-dynamo/aiconfigurator draws them).
[[nodiscard]] inline std::vector<std::int64_t> expert_rows(std::int64_t tokens, std::int64_t top_k,
                                                           std::int64_t experts, string_ref distribution) {
    if (top_k > experts) throw std::runtime_error("more experts a token than there are");
    const auto n = static_cast<std::size_t>(experts);
    std::vector<double> weight(n, 1.0);
    if (distribution != "balanced") {
        const std::string name(distribution);
        if (!name.starts_with("power_law_")) throw std::runtime_error("no distribution " + name);
        const double power = 1 - std::stod(name.substr(10)),
                     maximum = std::max(1.0, 0.8 * static_cast<double>(experts));
        for (std::size_t i = 0; i < n; ++i) {
            const double u = 1 - (static_cast<double>(i) + 0.5) / static_cast<double>(n);
            weight[i] = std::pow((std::pow(maximum, power) - 1) * u + 1, 1 / power);
        }
    }
    double sum = 0;
    for (const double w : weight) sum += w;
    std::vector<std::int64_t> rows(n);
    std::int64_t left = tokens * top_k;
    for (std::size_t i = 0; i < n; ++i) {
        rows[i] = std::min(tokens, static_cast<std::int64_t>(static_cast<double>(tokens * top_k) * weight[i] / sum));
        left -= rows[i];
    }
    for (std::size_t i = 0; left > 0; i = (i + 1) % n)  // what rounding and the limit left over
        if (rows[i] < tokens) {
            ++rows[i];
            --left;
        }
    return rows;
}

}  // namespace llmcost::cuda
