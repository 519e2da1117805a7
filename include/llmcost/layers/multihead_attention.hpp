// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/attention.hpp>
#include <llmcost/layers/linear.hpp>

namespace llmcost {

/// `nn.MultiheadAttention` with `batch_first`: queries (B, L, width), keys (B, S, width) -> (B, L, width).
///
/// Source: torch/nn/functional.py, `multi_head_attention_forward`.
struct multihead_attention {
    std::int64_t width;
    std::int64_t heads;
    bool weights = true;  ///< `need_weights`: also returns the mean of the scores over the heads
    bool hides = false;   ///< a boolean mask excludes keys (`key_padding_mask`)

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "MultiheadAttention"}; }
    /// Cross-attention to keys that are also the values. An additive `mask` (B · heads, L, S) is optional.
    constexpr tensor forward(trace& t, const tensor& queries, const tensor& keys, const tensor* mask = nullptr) const {
        const std::int64_t batch = queries.dim(0), others = keys.dim(1);
        tensor of_keys;
        if (hides) {
            const tensor x = t.full({batch, others}, queries.type).view({batch, 1, 1, others});
            of_keys = t.copy(x.expand({batch, heads, 1, others})).view({batch * heads, 1, others});
            mask = &of_keys;
        }
        const tensor weight = t.param("in_proj_weight", {3 * width, width}),
                     bias = t.param("in_proj_bias", {3 * width});
        const tensor bias_q = t.slice(bias, 0, width), bias_kv = t.slice(bias, 0, 2 * width);
        const tensor q = t.linear(queries.transpose(0, 1), t.slice(weight, 0, width), &bias_q);
        const tensor kv = t.linear(keys.transpose(0, 1), t.slice(weight, 0, 2 * width), &bias_kv);
        const tensor unpacked_kv = t.copy(kv.view({others, batch, 2, width}).permute({2, 0, 1, 3}));
        const tensor k = t.select(unpacked_kv, 0), v = t.select(unpacked_kv, 0);
        return attend(t, q, k, v, mask);
    }
    /// Cross-attention with separate keys and values: one projection each, and a mask converted from booleans.
    constexpr tensor forward(trace& t, const tensor& queries, const tensor& keys, const tensor& values) const {
        const tensor mask = t.full({queries.dim(0) * heads, queries.dim(1), keys.dim(1)}, queries.type);
        const tensor weight = t.param("in_proj_weight", {3 * width, width}),
                     bias = t.param("in_proj_bias", {3 * width});
        const auto project = [&](const tensor& x) {
            const tensor of_one = t.slice(bias, 0, width);
            return t.linear(x.transpose(0, 1), t.slice(weight, 0, width), &of_one);
        };
        const tensor q = project(queries), k = project(keys);
        return attend(t, q, k, project(values), &mask);
    }
    /// Self-attention with one fused projection of queries, keys and values.
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t batch = x.dim(0), length = x.dim(1);
        const tensor weight = t.param("in_proj_weight", {3 * width, width}),
                     bias = t.param("in_proj_bias", {3 * width});
        const tensor packed = t.linear(x.transpose(0, 1), weight, &bias);
        const tensor unpacked_kv = t.contiguous(packed.view({length, batch, 3, width}).permute({2, 0, 1, 3}));
        const tensor q = t.select(unpacked_kv, 0), k = t.select(unpacked_kv, 0);
        return attend(t, q, k, t.select(unpacked_kv, 0));
    }

private:
    /// Attention after the projections: q, k and v (length, B, width) -> (B, length, width).
    constexpr tensor attend(trace& t, const tensor& q, const tensor& k, const tensor& v,
                            const tensor* mask = nullptr) const {
        const std::int64_t length = q.dim(0), batch = q.dim(1), others = k.dim(0), d = width / heads;
        const auto heads_first = [&](const tensor& x, std::int64_t n) {
            return t.reshape(x, {n, batch * heads, d}).transpose(0, 1);
        };
        const tensor queries = heads_first(q, length), keys = heads_first(k, others), values = heads_first(v, others);
        tensor mixed;
        if (weights) {
            const op kind = mask == nullptr ? op::batched_matmul : op::batched_matmul_bias;
            const tensor scores = t.softmax(t.bmm(kind, t.mul_scalar(queries), keys.transpose(1, 2), 0, mask));
            mixed = t.contiguous(t.bmm(scores, values).transpose(0, 1)).view({length * batch, width});
            (void)t.mean(scores.view({batch, heads, length, others}), 1);
        } else {
            const auto by_batch = [&](const tensor& x, std::int64_t n) { return x.view({batch, heads, n, d}); };
            const attention_pattern all{.query_length = length, .cached_length = others - length, .is_causal = false};
            const tensor features =
                over_heads(t, by_batch(queries, length), by_batch(keys, others), by_batch(values, others), all);
            mixed = t.reshape(features.permute({2, 0, 1, 3}), {batch * length, width});
        }
        const linear out{width, width, true, false, false, {"", "NonDynamicallyQuantizableLinear"}};
        // PyTorch reads the weights of `out_proj` directly and never calls the module.
        t.enter({.name = "out_proj", .class_of_module = out.type_name(), .is_leaf = true});
        const tensor w = t.param("weight", {width, width}), b = t.param("bias", {width});
        t.leave({.name = "out_proj", .class_of_module = out.type_name(), .is_leaf = true});
        return t.linear(mixed, w, &b).view({length, batch, width}).transpose(0, 1);
    }
    constexpr tensor over_heads(trace& t, const tensor& q, const tensor& k, const tensor& v,
                                const attention_pattern& all) const {
        if (t.load().implementation != attention_implementation::sdpa) return math_attention_heads(t, q, k, v, all);
        return sdpa_attention_heads(t, q, k, v, all, {});
    }
};

}  // namespace llmcost
