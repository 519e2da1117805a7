// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/attention.hpp>
#include <llmcost/layers/linear.hpp>
#include <llmcost/layers/norm.hpp>
#include <llmcost/layers/rotary.hpp>
#include <llmcost/model/sizes.hpp>

namespace llmcost {

/// Multi-head latent attention: keys and values expanded from a cached low-rank vector (DeepSeek V2, V3).
///
/// x (B, S, hidden) -> (B, S, hidden); the cache holds kv_lora_rank + qk_rope_head_dim elements per token.
/// Source: transformers/models/deepseek_v3/modeling_deepseek_v3.py, `DeepseekV3Attention`.
struct latent_attention {
    std::int64_t width;
    std::int64_t heads;
    mla_sizes dims;
    bool bias;
    literal prefix;
    context where;
    const value& mask;
    const value& cos;
    const value& sin;
    rotation rotated;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {prefix, "Attention"}; }
    constexpr value describe(trace& t, const value& x) const {
        return joined(t, looked_up(t, remembered(t, x, queries(t, x)), mask));
    }

    /// Queries of x, (B, H, S, nope + rope), by way of a low-rank vector where there is one, which is left in `low`.
    constexpr value queries(trace& t, const value& x, value* low = nullptr) const {
        const std::int64_t each = dims.qk_nope_head_dim + dims.qk_rope_head_dim;
        value q = x;
        if (dims.q_lora_rank == 0) {
            q = t.call("q_proj", linear{width, heads * each}, q);
        } else {
            q = t.call("q_a_proj", linear{width, dims.q_lora_rank, bias}, q);
            q = t.call("q_a_layernorm", norm<norm_kind::rms>{dims.q_lora_rank, {prefix, "RMSNorm"}}, q);
            if (low != nullptr) *low = q;
            q = t.call("q_b_proj", linear{dims.q_lora_rank, heads * each}, q);
        }
        return q.view({x.dim(0), x.dim(1), heads, each}).transpose(1, 2);
    }
    /// Queries with their positions, and what the cache holds: latents (B, 1, T, rank) and turned keys (B, 1, T, rope).
    struct parts {
        value q, latent, k_rope;
    };
    constexpr parts remembered(trace& t, const value& x, const value& q) const {
        const std::int64_t nope = dims.qk_nope_head_dim, rope = dims.qk_rope_head_dim, rank = dims.kv_lora_rank;
        const std::int64_t batch = x.dim(0), sequence = x.dim(1);
        const value compressed = t.call("kv_a_proj_with_mqa", linear{width, rank + rope, bias}, x);
        const norm<norm_kind::rms> normed{rank, {prefix, "RMSNorm"}};
        parts p;
        p.latent = t.call("kv_a_layernorm", normed, compressed.slice(-1, rank)).view({batch, 1, sequence, rank});
        p.k_rope = compressed.slice(-1, rope).view({batch, 1, sequence, rope});
        value turned;
        if (rotated != rotation::none) {
            turned = rotate(t, rotated, q.slice(-1, rope), cos, sin);
            p.k_rope = rotate(t, rotated, p.k_rope, cos, sin);
        }
        p.latent = update_cache(t, p.latent, where);
        p.k_rope = update_cache(t, p.k_rope, where);
        p.q = rotated != rotation::none ? t.cat({q.slice(-1, nope), turned}, -1) : q;
        return p;
    }
    /// What queries find, heads side by side: (B, S, H · v).
    constexpr value looked_up(trace& t, const parts& p, const value& masked) const {
        return t.contiguous(t.reshape(attended(t, p, masked), {p.q.dim(0), p.q.dim(2), -1}));
    }
    constexpr value joined(trace& t, const value& found) const {
        return t.call("o_proj", linear{heads * dims.v_head_dim, width, bias}, found);
    }
    /// The same in heads: (B, S, H, v).
    constexpr value attended(trace& t, const parts& p, const value& masked) const {
        const auto& [q, latent, k_rope] = p;
        const std::int64_t nope = dims.qk_nope_head_dim, rope = dims.qk_rope_head_dim, rank = dims.kv_lora_rank;
        const std::int64_t batch = q.dim(0), length = where.length();
        const recorder::fused_guard fused{t,
                                          {.kind = fused_kind::latent_attention,
                                           .batch = batch,
                                           .sequence = q.dim(2),
                                           .past = where.seen,
                                           .heads = heads,
                                           .head_dim = nope,
                                           .rope_dim = rope,
                                           .value_dim = dims.v_head_dim,
                                           .latent_dim = rank,
                                           .expansion = "kv_b_proj"}};
        const value expanded = t.call("kv_b_proj", linear{rank, heads * (nope + dims.v_head_dim)}, latent);
        const value both = expanded.view({batch, length, heads, nope + dims.v_head_dim}).transpose(1, 2);
        value k = t.constant({batch, heads, length, nope + rope}, q.type);
        t.copy_into(k, both.slice(-1, nope));
        t.copy_into(k, k_rope.expand({batch, heads, length, rope}));
        return eager_attention(t, q, k, both.slice(-1, dims.v_head_dim), where, {.mask = &masked});
    }
};

}  // namespace llmcost
