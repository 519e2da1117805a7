// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// error: report_description
#include <llmcost/trace/trace.hpp>

#include <cstdint>

using namespace llmcost;

constexpr count products(std::int64_t rows_of_second) {
    trace t{workload{}};
    const value a = t.constant({3, 5});
    const value b = t.constant({rows_of_second, 7});
    return t.matmul(a, b).elements;
}

#ifdef MISUSE
constexpr count elements = products(6);
#else
constexpr count elements = products(5);
#endif
static_assert(elements == count(21));
