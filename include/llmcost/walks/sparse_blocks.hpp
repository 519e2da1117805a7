// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/attention.hpp>
#include <llmcost/layers/einsum.hpp>
#include <llmcost/walks/encoder.hpp>

// Attention in blocks: the first and last see and are seen by all, each sees its neighbours and a few at random (BigBird).
namespace llmcost {

struct sparse_blocks {
    std::int64_t size = 0;
    std::int64_t random = 0;     ///< blocks that each sees beside its neighbours, the first and the last
    bool integer_masks = false;  ///< masks cost nothing until scores are hidden

    /// A text no longer than this is attended to in full.
    [[nodiscard]] constexpr std::int64_t longest_in_full() const noexcept { return (5 + 2 * random) * size; }
    [[nodiscard]] constexpr std::int64_t padded(std::int64_t sequence) const noexcept {
        return (sequence + size - 1) / size * size;
    }
};

namespace detail {

/// What is hidden from some queries: `(1.0 - mask) * penalty`, added to their scores.
constexpr void hide_in(trace& t, value& scores, const value& mask) { t.in_place(op::add, scores, t.mul(t.add(mask))); }

/// Queries of one block at all keys of the text.
constexpr value attend_from_end(trace& t, const value& q, const value& k, const value& v, const value& text, value& seen) {
    value scores = t.mul(t.matmul(q, k.transpose(-1, -2)));
    hide_in(t, scores, text);
    seen = t.softmax(scores);
    return t.matmul(seen, v).unsqueeze(2);
}

}  // namespace detail

/// Attention through blocks, q, k, v (B, H, S, d) -> (B, S, H · d), S a multiple of the blocks' size.
///
/// `text` (B, S) is the mask of words and padding, `band` that of neighbours, (B, 1, blocks - 4, size, 3 · size).
/// Source: transformers/models/big_bird/modeling_big_bird.py, `bigbird_block_sparse_attention`.
constexpr value attend_in_blocks(trace& t, const value& q, const value& k, const value& v, const sparse_blocks& blocks,
                                 const value& text, const value& band) {
    const std::int64_t batch = q.dim(0), heads = q.dim(1), length = q.dim(2), d = q.dim(3), size = blocks.size;
    const std::int64_t n = length / size, drawn = blocks.random * size, middle = n - 4;
    const recorder::fused_guard fused{t, fused_attention(q, heads, all_positions(length).where, length)};
    const bool integers = blocks.integer_masks;
    const value to = (integers ? text : t.to(text, q.type)).view({batch, 1, 1, length});
    const value from = (integers ? dense({batch, length}, q.type) : t.to(text, q.type)).view({batch, 1, length, 1});
    const value neighbours = integers ? band : t.to(band, q.type), words = text.view({batch, n, size});
    const auto blocked = [&](const value& x) { return x.view({batch, heads, n, size, d}); };
    const value queries = blocked(q), keys = blocked(k), values = blocked(v);
    const auto block = [&](const value& x) { return t.select(x, 2); };  // one of them: where it stands changes nothing
    const auto inner = [&](const value& x, std::int64_t count_of) { return t.slice(x, 2, count_of); };

    // random blocks of each, and which of their words are none (`_create_rand_mask_from_inputs`)
    value drawn_mask;
    {
        const recorder::idle_guard free{t, integers};
        const value of_each = t.gather(words, {batch, heads * (n - 2) * blocks.random, size});
        drawn_mask = einsum(t, "blq,bhlk->bhlqk", words.slice(1, n - 2), of_each.view({batch, heads, n - 2, drawn}));
    }
    const auto draw = [&](const value& x) {
        return t.gather_along(x, {batch, heads, (n - 2) * blocks.random, size, d}).view({batch, heads, n - 2, drawn, d});
    };
    const value drawn_keys = draw(keys), drawn_values = draw(values);

    // the second block and the last but one: four blocks beside the random ones
    const auto beside_end = [&](value& seen) {
        const value own_keys = t.cat({block(keys), block(keys), block(keys), block(keys), block(drawn_keys)}, 2);
        const value own_values = t.cat({block(values), block(values), block(values), block(values), block(drawn_values)}, 2);
        value scores = t.matmul(block(queries), own_keys.transpose(-1, -2));
        scores = t.mul(scores);
        value shown;
        {
            const recorder::idle_guard free{t, integers};
            const value ones = t.constant({batch, 1, 1, drawn}, to.type);
            const value more = t.constant({batch, heads, size, 4 * size}, drawn_mask.type);
            shown = t.minimum(t.cat({to.slice(3, 3 * size), to.slice(3, size), ones}, 3), t.cat({more, block(drawn_mask)}, 3));
        }
        detail::hide_in(t, scores, shown);
        seen = t.softmax(scores);
        return t.matmul(seen, own_values).unsqueeze(2);
    };

    value seen[5];
    const value first = detail::attend_from_end(t, block(queries), k, v, to, seen[0]);
    const value second = beside_end(seen[1]);

    // all in between: three neighbours, random blocks, the first and the last
    const auto around = [&](const value& x) { return t.cat({inner(x, middle), inner(x, middle), inner(x, middle)}, 3); };
    const value near_keys = around(keys), near_values = around(values), asking = inner(queries, middle);
    value near = t.mul(t.matmul(asking, near_keys.transpose(-1, -2)));
    value random = t.mul(t.matmul(asking, inner(drawn_keys, middle).transpose(-1, -2)));
    value at_first = t.mul(einsum(t, "bhlqd,bhkd->bhlqk", asking, block(keys)));
    value at_last = t.mul(einsum(t, "bhlqd,bhkd->bhlqk", asking, block(keys)));
    detail::hide_in(t, near, neighbours);
    detail::hide_in(t, at_first, to.slice(3, size).unsqueeze(3));
    detail::hide_in(t, at_last, to.slice(3, size).unsqueeze(3));
    detail::hide_in(t, random, drawn_mask.slice(2, middle));
    seen[2] = t.softmax(t.cat({at_first, near, random, at_last}, -1));
    value mixed = t.matmul(t.slice(seen[2], 4, 3 * size), near_values);
    t.in_place(op::add, mixed, t.matmul(t.slice(seen[2], 4, drawn), inner(drawn_values, middle)));
    t.in_place(op::add, mixed, einsum(t, "bhlqk,bhkd->bhlqd", t.slice(seen[2], 4, size), block(values)));
    t.in_place(op::add, mixed, einsum(t, "bhlqk,bhkd->bhlqd", t.slice(seen[2], 4, size), block(values)));

    const value second_last = beside_end(seen[3]);
    const value last = detail::attend_from_end(t, block(queries), k, v, to, seen[4]);
    const value all = t.cat({first, second, mixed, second_last, last}, 2).view({batch, heads, length, d});
    const value out = t.mul(all, from).transpose(1, 2);
    {
        const recorder::off_loss_guard told_only{t};  // what each has seen of the whole text, handed out beside
        value probabilities = t.constant({batch, heads, length, length}, q.type);
        for (const value& part : seen) t.copy_into(probabilities, part);
    }
    return t.contiguous(out).view({batch, length, heads * d});
}

/// The mask of neighbours, made once for all layers (`create_band_mask_from_inputs`).
constexpr value band_of(trace& t, const sparse_blocks& blocks, const value& text) {
    const recorder::idle_guard free{t, blocks.integer_masks};
    const std::int64_t batch = text.dim(0), n = text.dim(1) / blocks.size;
    const value words = text.view({batch, n, blocks.size}), middle = words.slice(1, n - 4);
    return einsum(t, "blq,blk->blqk", middle, t.cat({middle, middle, middle}, 2)).unsqueeze(1);
}

}  // namespace llmcost
