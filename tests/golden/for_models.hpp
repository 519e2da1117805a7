// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "golden_models.hpp"
#include "law_exceptions.hpp"

#include <doctest/doctest.h>

#include <exception>
#include <string>

namespace llmcost::testing {

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
