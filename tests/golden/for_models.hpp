// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "golden_models.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace llmcost::testing {

/// Types, apart by spaces, that a law does not hold for, and what the reference does instead.
struct law_exception {
    std::string_view types;
    std::string_view why;
};
using law_exceptions = std::vector<law_exception>;

/// Whether a word stands in a list of words.
[[nodiscard]] inline bool has_listed(std::string_view list, std::string_view word) {
    return (' ' + std::string(list) + ' ').find(' ' + std::string(word) + ' ') != std::string::npos;
}
[[nodiscard]] inline bool is_exception(const law_exceptions& exceptions, std::string_view type) {
    return std::ranges::any_of(exceptions, [&](const law_exception& e) { return has_listed(e.types, type); });
}

/// Calls `check(golden_model)` for every model of a golden; what it throws is a failure of that model.
template <class Check>
void for_models(Check check, const law_exceptions& exceptions = {}) {
    REQUIRE(!golden_models().empty());
    for (const golden_model& g : golden_models()) {
        if (is_exception(exceptions, g.golden.model_type)) continue;
        INFO(g.golden.name);
        try {
            check(g);
        } catch (const std::exception& problem) {
            FAIL_CHECK(std::string(problem.what()));
        }
    }
}

}  // namespace llmcost::testing
