// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/forward/attention.hpp>

// Attention with scores in float32 (GPT-J and related decoders).
//
// Shapes: B = batch, S = sequence, d = head size.
namespace llmcost {

/// What is done to attention scores in float32 before the softmax.
enum class score_step : std::uint8_t {
    divide_then_mask,
    mask_then_divide,
    hide_then_mask,  ///< no scale; a table replaces hidden scores by the lowest number
};

/// Attention with scores in float32: (B, S, heads, d) in rows. `pattern` are the pairs that the scores are counted for.
constexpr tensor float32_attention(const layer_context& ctx, trace& t, const query_key_value& qkv,
                                   const attention_pattern& pattern, score_step step) {
    const recorder::fused_kernel_guard fused{
        t, fused_attention_kernel(qkv.query, qkv.key.dim(1), pattern, qkv.key.dim(2))};
    const bool sparse = t.load().attention == attention_scores::causal;
    const tensor rows = t.to(qkv.query, dtype::float32), columns = t.to(qkv.key, dtype::float32).transpose(2, 3);
    tensor scores = t.matmul(rows, columns, sparse ? pattern.visible_pairs() : 0);
    if (step == score_step::divide_then_mask) scores = t.div_scalar(scores);
    if (!sparse && step == score_step::hide_then_mask) scores = t.masked_fill(scores);
    if (!sparse) scores = t.add(scores, ctx.inputs->mask);
    if (step == score_step::mask_then_divide) scores = t.div_scalar(scores);
    const tensor probabilities =
        dropout(t, "attn_dropout", t.to(t.softmax(scores), qkv.value.type), dropout_position::attention);
    return t.contiguous(t.matmul(probabilities, qkv.value).transpose(1, 2));
}

}  // namespace llmcost
