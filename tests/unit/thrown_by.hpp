// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/text/error.hpp>

#include <doctest/doctest.h>

#include <string>

namespace llmcost::testing {

/// What an error says that is thrown with this code.
template <class F>
std::string thrown_by(F f, errc code = errc::bad_value) {
    try {
        f();
    } catch (const error& problem) {
        CHECK(problem.code() == code);
        return problem.what();
    }
    return "nothing was thrown";
}

}  // namespace llmcost::testing
