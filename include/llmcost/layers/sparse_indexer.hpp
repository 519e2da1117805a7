// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/latent_attention.hpp>

namespace llmcost {

/// Picks the tokens that each query attends to, by small heads of its own: x (B, S, width), low-rank queries (B, S, rank).
///
/// Its keys, (B, T, dim), are kept in the cache. MULT B·S·T·heads·(dim + 2) beside the projections; nothing goes back
/// through it. Source: transformers/models/deepseek_v32/modeling_deepseek_v32.py, `DeepseekV32Indexer`.
struct sparse_indexer {
    std::int64_t heads;
    std::int64_t head_dim;
    std::int64_t top_k;
    rotation rotated;
    const latent_attention& of;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {of.prefix, "Indexer"}; }
    constexpr value describe(trace& t, const value& x, const value& low) const {
        const trace::no_grad_guard picks{t};
        const value q =
            t.call("wq_b", linear{of.dims.q_lora_rank, heads * head_dim}, low).view({x.dim(0), x.dim(1), heads, head_dim});
        return pick(t, x, q);
    }
    /// From queries (B, S, heads, dim) on.
    constexpr value pick(trace& t, const value& x, const value& q) const {
        const value k = t.call("k_norm", norm<norm_kind::layer>{head_dim}, t.call("wk", linear{of.width, head_dim}, x));
        const value queries = turned(t, q), keys = remembered(t, turned(t, k.unsqueeze(2)).squeeze(2));
        value scores = t.matmul(t.to(queries, dtype::float32), t.to(keys.transpose(-1, -2), dtype::float32).unsqueeze(1));
        scores = t.unary(op::relu, t.mul(scores));
        const value weights = t.mul(t.to(t.call("weights_proj", linear{of.width, heads}, x), dtype::float32));
        const value sums = t.add(t.matmul(weights.unsqueeze(-2), scores).squeeze(-2), of.mask.select(1));
        t.edge(axis::total, top_k);
        return t.top_k(sums, top_k < sums.dim(-1) ? top_k : sums.dim(-1));
    }

private:
    /// A part of each head turned by its position, x (B, S, heads, dim).
    constexpr value turned(trace& t, const value& x) const {
        if (rotated == rotation::none) return x;
        const std::int64_t part = of.dims.qk_rope_head_dim;
        const value turned = rotate(t, rotated, x.slice(-1, part).transpose(1, 2), of.cos, of.sin).transpose(1, 2);
        return t.cat({turned, x.slice(-1, head_dim - part)}, -1);
    }
    constexpr value remembered(trace& t, const value& k) const {
        if (t.training()) return k;
        const recorder::fused_guard appended{t, {.kind = fused_kind::cache}};
        const std::int64_t past = of.where.past;
        const value all = past > 0 ? t.cat({trace::buffer({k.dim(0), past, head_dim}), k}, 1) : t.cat({k}, 1);
        t.cache(all);
        return all;
    }
};

/// Latent attention to the tokens that an indexer picks; the others are masked. `runs`: this layer has an indexer, else it
/// takes what the last one picked.
///
/// Source: transformers/models/deepseek_v32/modeling_deepseek_v32.py, `DeepseekV32Attention`.
struct indexed_latent_attention {
    latent_attention base;
    std::int64_t heads;
    std::int64_t head_dim;
    std::int64_t top_k;
    rotation rotated;
    bool runs = true;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return base.type(); }
    constexpr value describe(trace& t, const value& x) const {
        value low;
        const value q = base.queries(t, x, &low);
        const latent_attention::parts p = base.remembered(t, x, q);
        if (runs) (void)t.call("indexer", sparse_indexer{heads, head_dim, top_k, rotated, base}, x, low);
        return base.joined(t, base.looked_up(t, p, t.where(base.mask)));
    }
};

}  // namespace llmcost
