// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The price tables that a test may change. This program alone gives the library another `price_of`, `backward_of`,
// `price` and `torch_flops`, which read copies; every file of it includes this header before any other of the library.

#include <array>
#include <cstddef>
#include <type_traits>

#define op_cost_of built_in_op_cost_of
#define backward_op_cost_of built_in_backward_op_cost_of
#include <llmcost/trace/ops.hpp>  // IWYU pragma: export
#undef op_cost_of
#undef backward_op_cost_of

namespace llmcost {
namespace testing {
inline std::array<op_cost, num_ops> prices = std::to_array(op_costs);
inline std::array<backward_op_cost, num_ops> backward_prices = std::to_array(backward_table);
}  // namespace testing
[[nodiscard]] constexpr const op_cost& op_cost_of(op kind) noexcept {
    if (std::is_constant_evaluated()) return built_in_op_cost_of(kind);
    return testing::prices[static_cast<std::size_t>(kind)];
}
[[nodiscard]] constexpr const backward_op_cost& backward_op_cost_of(op kind) noexcept {
    if (std::is_constant_evaluated()) return built_in_backward_op_cost_of(kind);
    return testing::backward_prices[static_cast<std::size_t>(kind)];
}
}  // namespace llmcost

#define primitives_of(totals) built_in_primitives_of(totals)
#define torch_flops(sums) built_in_torch_flops(sums)
#include <llmcost/trace/trace_totals.hpp>  // IWYU pragma: export
#undef primitives_of
#undef torch_flops

namespace llmcost {

/// As the library's, from the copy.
[[nodiscard]] constexpr primitives<count> primitives_of(const trace_totals& sums) {
    primitives<count> plus, minus, out;
    for (std::size_t i = 0; i < num_ops; ++i) {
        const op_count& done = sums.operations[i];
        if (done.work == count{} && done.rows == count{}) continue;
        const op_cost& p = op_cost_of(static_cast<op>(i));
        for (std::size_t k = 0; k < num_primitives; ++k) {
            const auto coefficient = primitive_members<std::int8_t>[k];
            const auto figure = primitive_members<count>[k];
            detail::add_cost(plus.*figure, minus.*figure, p.per_work.*coefficient, done.work);
            detail::add_cost(plus.*figure, minus.*figure, p.per_row.*coefficient, done.rows);
        }
    }
    for (const auto figure : primitive_members<count>) out.*figure = plus.*figure - minus.*figure;
    return out;
}

/// As the library's, from the copy.
[[nodiscard]] constexpr count torch_flops(const trace_totals& sums) {
    count n;
    for (std::size_t i = 0; i < num_ops; ++i)
        n += sums.operations[i].work * count(op_cost_of(static_cast<op>(i)).torch_flops);
    return n;
}

}  // namespace llmcost
