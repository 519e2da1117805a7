// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The price tables that a test may change. This program alone gives the library another `price_of`, `backward_of`, `price`
// and `torch_flops`, which read copies; every file of it includes this header before any other of the library.

#include <array>
#include <cstddef>
#include <type_traits>

#define price_of built_in_price_of
#define backward_of built_in_backward_of
#include <llmcost/trace/ops.hpp>  // IWYU pragma: export
#undef price_of
#undef backward_of

namespace llmcost {
namespace testing {
inline std::array<op_price, op_kinds> prices = std::to_array(op_table);
inline std::array<backward_price, op_kinds> backward_prices = std::to_array(backward_table);
}  // namespace testing
[[nodiscard]] constexpr const op_price& price_of(op kind) noexcept {
    if (std::is_constant_evaluated()) return built_in_price_of(kind);
    return testing::prices[static_cast<std::size_t>(kind)];
}
[[nodiscard]] constexpr const backward_price& backward_of(op kind) noexcept {
    if (std::is_constant_evaluated()) return built_in_backward_of(kind);
    return testing::backward_prices[static_cast<std::size_t>(kind)];
}
}  // namespace llmcost

#define price(sums) built_in_price(sums)
#define torch_flops(sums) built_in_torch_flops(sums)
#include <llmcost/trace/ledger.hpp>  // IWYU pragma: export
#undef price
#undef torch_flops

namespace llmcost {

/// As the library's, from the copy.
[[nodiscard]] constexpr primitives<count> price(const ledger& sums) {
    primitives<count> plus, minus, out;
    for (std::size_t i = 0; i < op_kinds; ++i) {
        const amount& done = sums.operations[i];
        if (done.work == count{} && done.rows == count{}) continue;
        const op_price& p = price_of(static_cast<op>(i));
        for (std::size_t k = 0; k < primitive_kinds; ++k) {
            const auto coefficient = primitive_members<std::int8_t>[k];
            const auto figure = primitive_members<count>[k];
            detail::add_charge(plus.*figure, minus.*figure, p.per_work.*coefficient, done.work);
            detail::add_charge(plus.*figure, minus.*figure, p.per_row.*coefficient, done.rows);
        }
    }
    for (const auto figure : primitive_members<count>) out.*figure = plus.*figure - minus.*figure;
    return out;
}

/// As the library's, from the copy.
[[nodiscard]] constexpr count torch_flops(const ledger& sums) {
    count n;
    for (std::size_t i = 0; i < op_kinds; ++i)
        n += sums.operations[i].work * count(price_of(static_cast<op>(i)).torch_flops);
    return n;
}

}  // namespace llmcost
