// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/linear.hpp>

namespace llmcost {

/// `nn.MultiheadAttention`, batch first, of queries (batch, L, width) over keys (batch, S, width) that are the values, too.
///
/// Source: torch/nn/functional.py, `multi_head_attention_forward` with weights.
struct multihead_attention {
    std::int64_t width;
    std::int64_t heads;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {"", "MultiheadAttention"}; }
    constexpr value describe(trace& t, const value& queries, const value& keys) const {
        const std::int64_t batch = queries.dim(0), length = queries.dim(1), others = keys.dim(1), d = width / heads;
        const value weight = t.param("in_proj_weight", {3 * width, width}), bias = t.param("in_proj_bias", {3 * width});
        const value bias_q = t.slice(bias, 0, width), bias_kv = t.slice(bias, 0, 2 * width);
        const value q = t.linear(queries.transpose(0, 1), t.slice(weight, 0, width), &bias_q);
        const value kv = t.linear(keys.transpose(0, 1), t.slice(weight, 0, 2 * width), &bias_kv);
        const value apart = t.copy(kv.view({others, batch, 2, width}).permute({2, 0, 1, 3}));
        const auto heads_first = [&](const value& x, std::int64_t n) {
            return t.reshape(x, {n, batch * heads, d}).transpose(0, 1);
        };
        const value k = heads_first(t.select(apart, 0), others), v = heads_first(t.select(apart, 0), others);
        const value scores = t.softmax(t.bmm(t.mul(heads_first(q, length)), k.transpose(1, 2)));
        const value mixed = t.contiguous(t.bmm(scores, v).transpose(0, 1)).view({length * batch, width});
        (void)t.mean(scores.view({batch, heads, length, others}), 1);
        const linear out{width, width, true, false, false, {"", "NonDynamicallyQuantizableLinear"}};
        // its weights are read beside the module: `out_proj` is never called
        t.enter({.name = "out_proj", .type = out.type(), .leaf = true});
        const value w = t.param("weight", {width, width}), b = t.param("bias", {width});
        t.leave({.name = "out_proj", .type = out.type(), .leaf = true});
        return t.linear(mixed, w, &b).view({length, batch, width}).transpose(0, 1);
    }
};

}  // namespace llmcost
