// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/latent_attention.hpp>

// Sparse attention with an indexer (DeepSeek Sparse Attention).
//
// Shapes: B = batch, S = sequence (new tokens), T = cached plus new tokens.

namespace llmcost {

/// Selects the `top_k` tokens of each query with a small attention: x (B, S, width), low-rank queries (B, S, rank).
///
/// The cache contains its keys, (B, T, dim). It has no gradients.
/// Cost: MULT B·S·T·heads·(dim + 2) in addition to the projections.
/// Source: transformers/models/deepseek_v32/modeling_deepseek_v32.py, `DeepseekV32Indexer`.
struct sparse_indexer {
    std::int64_t heads;
    std::int64_t head_dim;
    std::int64_t top_k;
    rotary_style rotated;
    const latent_attention& attention;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {attention.prefix, "Indexer"}; }
    constexpr tensor forward(trace& t, const tensor& x, const tensor& low) const {
        const trace::no_grad_guard picks{t};
        const tensor q = t.call("wq_b", linear{attention.config.q_lora_rank, heads * head_dim}, low)
                             .view({x.dim(0), x.dim(1), heads, head_dim});
        return route(t, x, q);
    }
    /// Selects tokens after the query projection: q (B, S, heads, dim).
    constexpr tensor route(trace& t, const tensor& x, const tensor& q) const {
        const tensor k = t.call("k_norm", norm_module{norm_kind::layer, head_dim},
                                t.call("wk", linear{attention.width, head_dim}, x));
        const tensor queries = apply_rotary(t, q),
                     keys = update_key_cache(t, apply_rotary(t, k.unsqueeze(2)).squeeze(2));
        const recorder::fused_kernel_guard selected{t, {.kind = fused_kernel_kind::index_selection}};
        const tensor float_queries = t.to(queries, dtype::float32);
        tensor scores = t.matmul(float_queries, t.to(keys.transpose(-1, -2), dtype::float32).unsqueeze(1));
        scores = t.relu(t.mul_scalar(scores));
        const tensor weights =
            t.mul_scalar(t.to(t.call("weights_proj", linear{attention.width, heads}, x), dtype::float32));
        const tensor sums = t.add(t.matmul(weights.unsqueeze(-2), scores).squeeze(-2), attention.mask.select(1));
        t.add_region_edge(workload_axis::total, top_k);
        return t.topk(sums, top_k < sums.dim(-1) ? top_k : sums.dim(-1));
    }

private:
    /// Applies RoPE to the first qk_rope_head_dim elements of each head: (B, S, heads, dim).
    constexpr tensor apply_rotary(trace& t, const tensor& x) const {
        if (rotated == rotary_style::none) return x;
        const std::int64_t part = attention.config.qk_rope_head_dim;
        const tensor rotated_part =
            rotate(t, rotated, x.slice(-1, part).transpose(1, 2), attention.cos, attention.sin).transpose(1, 2);
        return t.cat({rotated_part, x.slice(-1, head_dim - part)}, -1);
    }
    constexpr tensor update_key_cache(trace& t, const tensor& k) const {
        if (t.is_training()) return k;
        const recorder::fused_kernel_guard appended{t, {.kind = fused_kernel_kind::cache, .is_index_key = true}};
        const std::int64_t past = attention.pattern.cached_length;
        const tensor all = past > 0 ? t.cat({trace::buffer({k.dim(0), past, head_dim}), k}, 1) : t.cat({k}, 1);
        t.add_to_cache(all);
        return all;
    }
};

/// Latent attention to the tokens that an indexer selects; all others are masked.
///
/// `runs`: this layer has an indexer. Otherwise it uses the selection of a previous layer.
/// Source: transformers/models/deepseek_v32/modeling_deepseek_v32.py, `DeepseekV32Attention`.
struct indexed_latent_attention {
    latent_attention base;
    std::int64_t heads;
    std::int64_t head_dim;
    std::int64_t top_k;
    rotary_style rotated;
    bool runs = true;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return base.type_name(); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        tensor low;
        const tensor q = base.project_queries(t, x, &low);
        const latent_attention::projected_states p = base.update_latent_cache(t, x, q);
        if (runs) (void)t.call("indexer", sparse_indexer{heads, head_dim, top_k, rotated, base}, x, low);
        return base.output_projection(t, base.latent_attention_forward(t, p, t.masked_fill(base.mask)));
    }
};

}  // namespace llmcost
