// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/trace/trace.hpp>

namespace llmcost {

/// Slopes of attention with linear biases, one per head: powers of a base, and of a second one beyond a power of two.
///
/// POW heads. Source: transformers/models/bloom/modeling_bloom.py, `_get_alibi_slopes`.
constexpr tensor alibi_slopes(trace& t, std::int64_t heads) {
    std::int64_t closest = 1;
    while (closest <= heads / 2) closest *= 2;
    const auto powers = [&](std::int64_t n) { return t.pow(t.full({}), trace::buffer({n})); };
    const tensor slopes = powers(closest);
    return closest == heads ? slopes : t.cat({slopes, powers(heads - closest)}, 0);
}

/// Biases of every key position, (batch · heads, 1, length): slopes times positions, one copy per sequence.
///
/// MULT heads·length. Source: transformers/models/bloom/modeling_bloom.py, `BloomModel.forward`.
constexpr tensor alibi_per_position(trace& t, std::int64_t batch, std::int64_t heads, std::int64_t length) {
    const tensor biases = t.mul(alibi_slopes(t, heads).unsqueeze(1).unsqueeze(2), trace::buffer({length}));
    const tensor repeated = t.copy(biases.unsqueeze(0).expand({batch, heads, 1, length}));
    return t.to(repeated.view({batch * heads, 1, length}), t.activation_type());
}

/// The same as Falcon makes it: positions counted from a mask of ones per sequence, the product in bfloat16.
///
/// MULT batch·heads·length. Source: transformers/models/falcon/modeling_falcon.py, `build_alibi_tensor`.
constexpr tensor alibi_per_token(trace& t, std::int64_t batch, std::int64_t heads, std::int64_t length) {
    const tensor slopes = t.to(alibi_slopes(t, heads).unsqueeze(1), dtype::bfloat16);
    const tensor positions =
        empty_tensor({batch, 1, length}, dtype::bfloat16);  // integers, which leave the product's type alone
    return t.to(t.mul(slopes, positions).view({batch * heads, 1, length}), t.activation_type());
}

}  // namespace llmcost
