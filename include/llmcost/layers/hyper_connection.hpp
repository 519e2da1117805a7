// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/trace/trace.hpp>

namespace llmcost {

/// RMS norm without a weight: x · rsqrt(mean(x²) + ε), with the factor in float32.
struct unweighted_norm {
    class_name named;

    static constexpr role module_role = role::norm;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor scale = t.rsqrt(t.add_scalar(t.mean(t.pow(t.to(x, dtype::float32), 2), -1, true)));
        return t.mul(x, t.to(scale, x.type));
    }
};

/// Tensors that connect a block to n streams of hidden states.
struct stream_weights {
    tensor post;       ///< weight of the block's output in each stream, (B, S, n)
    tensor comb;       ///< mixing matrix of the streams, (B, S, n, n)
    tensor collapsed;  ///< input of the block, (B, S, width)
};

/// Hyper-connections of a block with n streams: `post · block(pre · x) + combᵀ · x`.
///
/// Shapes: x (B, S, n, width) -> (B, S, n, width).
/// `comb` is made doubly stochastic by alternating normalization of rows and columns.
/// Cost: MULT tokens·n·(n + 2)·n·width, norms and weights; DIV 2·steps·n² per token.
/// Source: transformers/models/deepseek_v4/modeling_deepseek_v4.py, `DeepseekV4HyperConnection`.
struct hyper_connection {
    std::int64_t streams;
    std::int64_t steps;  ///< number of normalization steps of rows and columns
    literal prefix;

    [[nodiscard]] constexpr module_info module_of(literal name) const {
        return {.name = name, .class_of_module = {prefix, "HyperConnection"}};
    }
    constexpr stream_weights read(trace& t, literal name, const tensor& x) const {
        const module_info m = module_of(name);
        t.enter(m);
        const std::int64_t n = streams, all = (2 + n) * n, batch = x.dim(0), sequence = x.dim(1), width = n * x.dim(3);
        const tensor fn = t.float32_param("fn", {all, width}), base = t.float32_param("base", {all}),
                     scale = t.float32_param("scale", {3});
        const tensor flat = t.to(x.view({batch, sequence, -1}), dtype::float32);
        const tensor normed = t.call("input_norm", unweighted_norm{{prefix, "UnweightedRMSNorm"}}, flat);
        const tensor mixes = t.linear(normed, t.to(fn, dtype::float32));
        const auto affine = [&](const tensor& w, const tensor& b) { return t.add(t.mul(w, scale.select(0)), b); };
        const tensor pre = t.add_scalar(t.sigmoid(affine(mixes.slice(-1, n), base.slice(0, n))));
        stream_weights out;
        out.post = t.mul_scalar(t.sigmoid(affine(mixes.slice(-1, n), base.slice(0, n))));
        const tensor square = mixes.slice(-1, n * n).view({batch, sequence, n, n});
        tensor comb = t.add_scalar(t.softmax_method(affine(square, base.slice(0, n * n).view({n, n}))));
        const auto divided = [&](int dim) { return t.div(comb, t.add_scalar(t.sum(comb, dim, true))); };
        comb = divided(-2);
        for (loop layer_loop = t.loop_time_steps(steps - 1, comb); layer_loop.next();) {
            comb = divided(-1);
            comb = divided(-2);
        }
        out.comb = comb;
        out.collapsed = t.to(t.sum(t.mul(pre.unsqueeze(-1), x), 2), x.type);
        t.leave(m);
        return out;
    }
    /// The streams after the block: (B, S, n, width). `block` is the block's output.
    static constexpr tensor write(trace& t, const stream_weights& w, const tensor& block, const tensor& x) {
        const tensor spread = t.mul(t.to(w.post, x.type).unsqueeze(-1), block.unsqueeze(-2));
        return t.add(spread, t.matmul(t.to(w.comb, x.type).transpose(-1, -2), x));
    }
};

}  // namespace llmcost
