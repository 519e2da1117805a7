// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/trace/trace.hpp>

namespace llmcost {

/// Slopes of ALiBi (attention with linear biases): (heads).
///
/// The slopes are powers of one base. Heads beyond the last power of two use powers of a second base. Cost: POW heads.
/// Source: transformers/models/bloom/modeling_bloom.py, `_get_alibi_slopes`.
constexpr tensor alibi_slopes(trace& t, std::int64_t heads) {
    std::int64_t closest = 1;
    while (closest <= heads / 2) closest *= 2;
    const auto powers = [&](std::int64_t n) { return t.pow(t.full({}), trace::buffer({n})); };
    const tensor slopes = powers(closest);
    return closest == heads ? slopes : t.cat({slopes, powers(heads - closest)}, 0);
}

/// ALiBi biases, slope · key position, with one copy per sequence: (batch · heads, 1, length).
///
/// Cost: MULT heads·length.
/// Source: transformers/models/bloom/modeling_bloom.py, `BloomModel.forward`.
constexpr tensor alibi_per_position(trace& t, std::int64_t batch, std::int64_t heads, std::int64_t length) {
    const tensor biases = t.mul(alibi_slopes(t, heads).unsqueeze(1).unsqueeze(2), trace::buffer({length}));
    const tensor repeated = t.copy(biases.unsqueeze(0).expand({batch, heads, 1, length}));
    return t.to(repeated.view({batch * heads, 1, length}), t.activation_type());
}

/// ALiBi biases with a product per sequence in bfloat16 (Falcon): (batch · heads, 1, length).
///
/// Key positions are counted from an attention mask of ones. Cost: MULT batch·heads·length.
/// Source: transformers/models/falcon/modeling_falcon.py, `build_alibi_tensor`.
constexpr tensor alibi_per_token(trace& t, std::int64_t batch, std::int64_t heads, std::int64_t length) {
    const tensor slopes = t.to(alibi_slopes(t, heads).unsqueeze(1), dtype::bfloat16);
    const tensor positions =
        empty_tensor({batch, 1, length}, dtype::bfloat16);  // integers: they do not change the product's type
    return t.to(t.mul(slopes, positions).view({batch * heads, 1, length}), t.activation_type());
}

}  // namespace llmcost
