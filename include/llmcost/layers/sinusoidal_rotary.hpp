// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/trace/trace.hpp>

namespace llmcost {

/// Sines and cosines of the new positions, gathered from a table of all positions: (1, sequence, dim) of type `type`.
///
/// Every layer copies the table. Written elements: positions·dim + sequence·dim.
/// Source: transformers/models/gptj/modeling_gptj.py, `_get_embed_positions`.
constexpr tensor pick_sinusoids(trace& t, std::int64_t positions, std::int64_t sequence, std::int64_t dim, dtype type) {
    t.check_positions(positions, t.load().past + t.load().sequence);
    const tensor table = t.copy(trace::buffer({1, positions, dim}));
    return t.to(t.gather(table, {1, sequence, dim}), type);
}

/// Applies interleaved RoPE: x (batch, sequence, heads, dim), sinusoids (1, sequence, dim) -> shape of x.
///
/// Cost: MULT 2 and ADD 1 per element, NEG 1 per pair.
/// Source: transformers/models/gptj/modeling_gptj.py, `apply_rotary_pos_emb`.
constexpr tensor rotate_every_two(trace& t, const tensor& x, const tensor& sinusoids) {
    const std::int64_t sequence = x.dim(1), dim = x.dim(-1), pairs = dim / 2;
    const auto doubled = [&] {
        const tensor half = sinusoids.slice(-1, pairs).unsqueeze(2).unsqueeze(-1);
        return t.copy(half.expand({1, sequence, 1, pairs, 2})).view({1, sequence, 1, dim});
    };
    const tensor sin = doubled(), cos = doubled();
    const tensor even = t.slice(x, -1, pairs, 2), odd = t.slice(x, -1, pairs, 2), plain = t.mul(x, cos);
    const tensor rotated_half = t.cat({t.neg(odd).unsqueeze(-1), even.unsqueeze(-1)}, -1);
    return t.add(plain, t.mul(rotated_half.view({x.dim(0), sequence, x.dim(2), dim}), sin));
}

}  // namespace llmcost
