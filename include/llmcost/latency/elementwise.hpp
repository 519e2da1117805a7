// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/base/string_ref.hpp>

namespace llmcost {

/// Where a kernel's time lies that nobody measured here, as of `cross_validation_error`: log2 of a ratio to the typical
/// one.
struct typical_interval {
    double low = 0;
    double high = 0;
};

/// An operation on each element by itself: elements that it reads and writes for each that it gives, and how its
/// measured rows lie around the typical time.
struct elementwise_operation {
    string_ref name;
    double moved = 2;
    typical_interval interval{};
};

namespace detail {
/// PyTorch's arithmetic, whose kernels share one template: rows of eleven operations in float32 on four boards
/// (NeuSight) and of sums in 16 bits (Vidur), which caches help.
inline constexpr typical_interval of_arithmetic{-0.81, 0.29};
}  // namespace detail

// The interval is the widest of a device's rows, nine in ten of them (NeuSight, Vidur, LLMServingSim). A scalar is no
// element; silu_mul is of activation times gate; add_norm a residual sum, written too, and the norm of it; a map is any
// of them.
// clang-format off
inline constexpr elementwise_operation elementwise_operations[]{
    {"map",          2, {-0.9, 2.34}},
    {"add",          3, detail::of_arithmetic},
    {"mul",          3, detail::of_arithmetic},
    {"div",          3, detail::of_arithmetic},
    {"power",        3, detail::of_arithmetic},
    {"add_scalar",   2, detail::of_arithmetic},
    {"mul_scalar",   2, detail::of_arithmetic},
    {"div_scalar",   2, detail::of_arithmetic},
    {"power_scalar", 2, detail::of_arithmetic},
    {"relu",         2, detail::of_arithmetic},
    {"gelu",         2, detail::of_arithmetic},
    {"tanh",         2, detail::of_arithmetic},
    {"silu_mul",     3, {-1.72, 0.95}},
    {"add_norm",     4, {-1.62, 0.07}},
    {"rotary",       2, {-1.59, 1.3}},
    {"gather",       2, {-2.01, 2.64}},
};
// clang-format on

/// The row of an operation; of one that has none, that of any map.
[[nodiscard]] constexpr const elementwise_operation& find_elementwise_operation(string_ref operation) noexcept {
    for (const elementwise_operation& row : elementwise_operations)
        if (row.name == operation) return row;
    return elementwise_operations[0];
}

}  // namespace llmcost
