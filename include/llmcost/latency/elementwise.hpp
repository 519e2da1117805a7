// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/base/string_ref.hpp>

namespace llmcost {

/// The interval of times of unmeasured kernels, as log2 of the ratio to the default prediction.
struct typical_interval {
    double low = 0;
    double high = 0;
};

/// An elementwise operation: elements read and written per output element, and its interval.
struct elementwise_operation {
    string_ref name;
    double moved = 2;
    typical_interval interval{};
};

namespace detail {
/// PyTorch's arithmetic kernels share one template. Data: eleven operations in float32 on four GPUs (NeuSight), and
/// sums in 16 bits (Vidur), which benefit from caches.
inline constexpr typical_interval arithmetic_interval{-0.81, 0.29};
}  // namespace detail

// The interval is the widest 90 % interval of a device (NeuSight, Vidur, LLMServingSim). A scalar is not an element.
// silu_mul: activation(x) · gate. add_norm: a residual sum, which is written, and its norm. map: any operation.
// clang-format off
inline constexpr elementwise_operation elementwise_operations[]{
    {"map",          2, {-0.9, 2.34}},
    {"add",          3, detail::arithmetic_interval},
    {"mul",          3, detail::arithmetic_interval},
    {"div",          3, detail::arithmetic_interval},
    {"power",        3, detail::arithmetic_interval},
    {"add_scalar",   2, detail::arithmetic_interval},
    {"mul_scalar",   2, detail::arithmetic_interval},
    {"div_scalar",   2, detail::arithmetic_interval},
    {"power_scalar", 2, detail::arithmetic_interval},
    {"relu",         2, detail::arithmetic_interval},
    {"gelu",         2, detail::arithmetic_interval},
    {"tanh",         2, detail::arithmetic_interval},
    {"silu_mul",     3, {-1.72, 0.95}},
    {"add_norm",     4, {-1.62, 0.07}},
    {"rotary",       2, {-1.59, 1.3}},
    {"gather",       2, {-2.01, 2.64}},
};
// clang-format on

/// The entry of an operation; `map` for an unknown operation.
[[nodiscard]] constexpr const elementwise_operation& find_elementwise_operation(string_ref operation) noexcept {
    for (const elementwise_operation& row : elementwise_operations)
        if (row.name == operation) return row;
    return elementwise_operations[0];
}

}  // namespace llmcost
