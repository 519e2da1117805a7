// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/forward/attention.hpp>

// Attention that multiplies the matrices of all heads in one batch.
namespace llmcost {

/// Scaled queries over keys of all heads in one batch; scores perhaps held above the lowest number.
constexpr tensor batched_attention(const layer_context& ctx, trace& t, const tensor& x, bool holds) {
    const std::int64_t batch = x.dim(0), sequence = x.dim(1), width = ctx.config.hidden_size, d = ctx.config.head_dim;
    const std::int64_t heads = ctx.config.num_attention_heads;
    const attention_pattern& pattern = ctx.inputs->pattern;
    const tensor scaled = t.mul_scalar(project(ctx, t, "q_proj", width, x));
    query_key_value qkv{scaled, project(ctx, t, "k_proj", width, x), project(ctx, t, "v_proj", width, x)};
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    update_kv_cache(ctx, t, qkv);
    tensor found;
    {
        const recorder::fused_kernel_guard fused{t, fused_attention_kernel(qkv.query, heads, pattern, qkv.key.dim(2))};
        const std::int64_t length = qkv.key.dim(2);
        const bool sparse = t.load().attention == attention_scores::causal;
        const tensor q = t.reshape(qkv.query, {batch * heads, sequence, d}),
                     k = t.reshape(qkv.key, {batch * heads, length, d});
        const tensor v = t.reshape(qkv.value, {batch * heads, length, d});
        tensor scores = t.bmm(op::batched_matmul, q, k.transpose(1, 2), sparse ? pattern.visible_pairs() : 0);
        if (!sparse) {
            scores = t.add(scores.view({batch, heads, sequence, length}), ctx.inputs->mask);
            if (holds) scores = t.maximum(scores, t.full({}));
            scores = scores.view({batch * heads, sequence, length});
        }
        found = t.bmm(functional_dropout(t, t.softmax(scores), dropout_position::attention), v)
                    .view({batch, heads, sequence, d});
    }
    return output_projection(ctx, t, t.reshape(found.transpose(1, 2), {batch, sequence, width}));
}

}  // namespace llmcost
