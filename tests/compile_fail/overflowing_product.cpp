// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// error: throw_overflow_error
#include <llmcost/base/count.hpp>

#include <cstdint>

constexpr llmcost::count largest_64 = ~std::uint64_t{};
#ifdef MISUSE
constexpr llmcost::count product = largest_64 * largest_64 * largest_64;
#else
constexpr llmcost::count product = largest_64 * largest_64;
#endif
static_assert(product > largest_64);
