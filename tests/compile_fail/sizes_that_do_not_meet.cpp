// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// error: throw_size_error
#include <llmcost/trace/trace.hpp>

#include <cstdint>

using namespace llmcost;

constexpr count products(std::int64_t num_rows_of_b) {
    trace t{workload{}};
    const tensor a = t.full({3, 5});
    const tensor b = t.full({num_rows_of_b, 7});
    return t.matmul(a, b).numel;
}

#ifdef MISUSE
constexpr count elements = products(6);
#else
constexpr count elements = products(5);
#endif
static_assert(elements == count(21));
