// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/forward/encoder.hpp>
#include <llmcost/layers/attention.hpp>
#include <llmcost/layers/einsum.hpp>

// Block-sparse attention (BigBird).
//
// The first and last block attend to all blocks, and all blocks attend to them. Every other block attends to its
// neighbors and to a few random blocks.
//
// Shapes: B = batch, H = heads, S = sequence, d = head_dim.
namespace llmcost {

struct sparse_blocks {
    std::int64_t size = 0;
    std::int64_t random = 0;     ///< number of random blocks per block, in addition to neighbors, first and last block
    bool integer_masks = false;  ///< integer masks have no cost before they are applied to scores

    /// Maximum sequence length with dense attention, in tokens.
    [[nodiscard]] constexpr std::int64_t max_dense_length() const noexcept { return (5 + 2 * random) * size; }
    [[nodiscard]] constexpr std::int64_t padded(std::int64_t sequence) const noexcept {
        return (sequence + size - 1) / size * size;
    }
};

namespace detail {

/// Adds `(1.0 - mask) * penalty` to the scores.
constexpr void mask_scores(trace& t, tensor& scores, const tensor& mask) {
    t.add_(scores, t.mul_scalar(t.add_scalar(mask)));
}

/// Attention of one block of queries to all keys: q (B, H, size, d) -> (B, H, 1, size, d).
///
/// Writes the attention weights to `features`.
constexpr tensor global_attention(trace& t, const tensor& q, const tensor& k, const tensor& v, const tensor& text,
                                  tensor& features) {
    tensor scores = t.mul_scalar(t.matmul(q, k.transpose(-1, -2)));
    mask_scores(t, scores, text);
    features = t.softmax(scores);
    return t.matmul(features, v).unsqueeze(2);
}

}  // namespace detail

/// Block-sparse attention: q, k, v (B, H, S, d) -> (B, S, H · d). S is a multiple of the block size.
///
/// `text` (B, S) is the padding mask, `band` (B, 1, blocks − 4, size, 3 · size) the mask of neighbors.
/// Source: transformers/models/big_bird/modeling_big_bird.py, `bigbird_block_sparse_attention`.
constexpr tensor block_sparse_attention(trace& t, const tensor& q, const tensor& k, const tensor& v,
                                        const sparse_blocks& blocks, const tensor& text, const tensor& band) {
    const std::int64_t batch = q.dim(0), heads = q.dim(1), length = q.dim(2), d = q.dim(3), size = blocks.size;
    const std::int64_t n = length / size, drawn = blocks.random * size, middle = n - 4;
    const recorder::fused_kernel_guard fused{t, fused_attention_kernel(q, heads, full_pattern(length).pattern, length)};
    const bool integers = blocks.integer_masks;
    const tensor to = (integers ? text : t.to(text, q.type)).view({batch, 1, 1, length});
    const tensor query_mask =
        (integers ? empty_tensor({batch, length}, q.type) : t.to(text, q.type)).view({batch, 1, length, 1});
    const tensor neighbours = integers ? band : t.to(band, q.type), token_embeddings = text.view({batch, n, size});
    const auto blocked = [&](const tensor& x) { return x.view({batch, heads, n, size, d}); };
    const tensor queries = blocked(q), keys = blocked(k), values = blocked(v);
    // The cost is independent of the block index.
    const auto block = [&](const tensor& x) { return t.select(x, 2); };
    const auto inner = [&](const tensor& x, std::int64_t count_of) { return t.slice(x, 2, count_of); };

    // Random blocks, and the mask of padding in them (`_create_rand_mask_from_inputs`).
    tensor drawn_mask;
    {
        const recorder::not_executed_guard free{t, integers};
        const tensor of_each = t.gather(token_embeddings, {batch, heads * (n - 2) * blocks.random, size});
        drawn_mask =
            einsum(t, "blq,bhlk->bhlqk", token_embeddings.slice(1, n - 2), of_each.view({batch, heads, n - 2, drawn}));
    }
    const auto draw = [&](const tensor& x) {
        return t.gather_with_saved_source(x, {batch, heads, (n - 2) * blocks.random, size, d})
            .view({batch, heads, n - 2, drawn, d});
    };
    const tensor drawn_keys = draw(keys), drawn_values = draw(values);

    // The second and the second-last block: four blocks, and the random blocks.
    const auto second_block_attention = [&](tensor& features) {
        const tensor block_keys = t.cat({block(keys), block(keys), block(keys), block(keys), block(drawn_keys)}, 2);
        const tensor block_values =
            t.cat({block(values), block(values), block(values), block(values), block(drawn_values)}, 2);
        tensor scores = t.matmul(block(queries), block_keys.transpose(-1, -2));
        scores = t.mul_scalar(scores);
        tensor combined_mask;
        {
            const recorder::not_executed_guard free{t, integers};
            const tensor ones = t.full({batch, 1, 1, drawn}, to.type);
            const tensor sequence_mask = t.cat({to.slice(3, 3 * size), to.slice(3, size), ones}, 3);
            const tensor dense_mask = t.full({batch, heads, size, 4 * size}, drawn_mask.type);
            combined_mask = t.minimum(sequence_mask, t.cat({dense_mask, block(drawn_mask)}, 3));
        }
        detail::mask_scores(t, scores, combined_mask);
        features = t.softmax(scores);
        return t.matmul(features, block_values).unsqueeze(2);
    };

    tensor attention_weights[5];
    const tensor first = detail::global_attention(t, block(queries), k, v, to, attention_weights[0]);
    const tensor second = second_block_attention(attention_weights[1]);

    // All other blocks: three neighbors, random blocks, first and last block.
    const auto concatenate_neighbors = [&](const tensor& x) {
        return t.cat({inner(x, middle), inner(x, middle), inner(x, middle)}, 3);
    };
    const tensor near_keys = concatenate_neighbors(keys), near_values = concatenate_neighbors(values),
                 asking = inner(queries, middle);
    tensor near = t.mul_scalar(t.matmul(asking, near_keys.transpose(-1, -2)));
    tensor random = t.mul_scalar(t.matmul(asking, inner(drawn_keys, middle).transpose(-1, -2)));
    tensor at_first = t.mul_scalar(einsum(t, "bhlqd,bhkd->bhlqk", asking, block(keys)));
    tensor at_last = t.mul_scalar(einsum(t, "bhlqd,bhkd->bhlqk", asking, block(keys)));
    detail::mask_scores(t, near, neighbours);
    detail::mask_scores(t, at_first, to.slice(3, size).unsqueeze(3));
    detail::mask_scores(t, at_last, to.slice(3, size).unsqueeze(3));
    detail::mask_scores(t, random, drawn_mask.slice(2, middle));
    attention_weights[2] = t.softmax(t.cat({at_first, near, random, at_last}, -1));
    tensor mixed = t.matmul(t.slice(attention_weights[2], 4, 3 * size), near_values);
    t.add_(mixed, t.matmul(t.slice(attention_weights[2], 4, drawn), inner(drawn_values, middle)));
    t.add_(mixed, einsum(t, "bhlqk,bhkd->bhlqd", t.slice(attention_weights[2], 4, size), block(values)));
    t.add_(mixed, einsum(t, "bhlqk,bhkd->bhlqd", t.slice(attention_weights[2], 4, size), block(values)));

    const tensor second_last = second_block_attention(attention_weights[3]);
    const tensor last = detail::global_attention(t, block(queries), k, v, to, attention_weights[4]);
    const tensor all = t.cat({first, second, mixed, second_last, last}, 2).view({batch, heads, length, d});
    const tensor out = t.mul(all, query_mask).transpose(1, 2);
    {
        // The returned attention weights over the full sequence, which have no gradient.
        const recorder::detach_guard detached{t};
        tensor probabilities = t.full({batch, heads, length, length}, q.type);
        for (const tensor& part : attention_weights) t.copy_into_slice(probabilities, part);
    }
    return t.contiguous(out).view({batch, length, heads * d});
}

/// The mask of neighbors, computed once for all layers (`create_band_mask_from_inputs`).
constexpr tensor block_band_mask(trace& t, const sparse_blocks& blocks, const tensor& text) {
    const recorder::not_executed_guard free{t, blocks.integer_masks};
    const std::int64_t batch = text.dim(0), n = text.dim(1) / blocks.size;
    const tensor token_embeddings = text.view({batch, n, blocks.size}), middle = token_embeddings.slice(1, n - 4);
    return einsum(t, "blq,blk->blqk", middle, t.cat({middle, middle, middle}, 2)).unsqueeze(1);
}

}  // namespace llmcost
