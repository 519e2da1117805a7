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
        const std::int64_t nope = dims.qk_nope_head_dim, rope = dims.qk_rope_head_dim, rank = dims.kv_lora_rank;
        const std::int64_t batch = x.dim(0), sequence = x.dim(1);
        const class_name norm_type{prefix, "RMSNorm"};
        value q = x;
        if (dims.q_lora_rank == 0) {
            q = t.call("q_proj", linear{width, heads * (nope + rope)}, q);
        } else {
            q = t.call("q_a_proj", linear{width, dims.q_lora_rank, bias}, q);
            q = t.call("q_a_layernorm", norm<norm_kind::rms>{dims.q_lora_rank, norm_type}, q);
            q = t.call("q_b_proj", linear{dims.q_lora_rank, heads * (nope + rope)}, q);
        }
        q = q.view({batch, sequence, heads, nope + rope}).transpose(1, 2);
        const value compressed = t.call("kv_a_proj_with_mqa", linear{width, rank + rope, bias}, x);
        value latent = t.call("kv_a_layernorm", norm<norm_kind::rms>{rank, norm_type}, compressed.slice(-1, rank));
        latent = latent.view({batch, 1, sequence, rank});
        value k_rope = compressed.slice(-1, rope).view({batch, 1, sequence, rope});
        const value q_rope = rotate(t, rotated, q.slice(-1, rope), cos, sin);
        k_rope = rotate(t, rotated, k_rope, cos, sin);
        latent = update_cache(t, latent, where);
        k_rope = update_cache(t, k_rope, where);
        q = t.cat({q.slice(-1, nope), q_rope}, -1);
        const value flat = t.contiguous(t.reshape(attended(t, q, latent, k_rope), {batch, sequence, -1}));
        return t.call("o_proj", linear{heads * dims.v_head_dim, width, bias}, flat);
    }

private:
    /// The context of queries (B, H, S, nope + rope) over latents (B, 1, T, rank) and turned keys (B, 1, T, rope).
    constexpr value attended(trace& t, const value& q, const value& latent, const value& k_rope) const {
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
        return eager_attention(t, q, k, both.slice(-1, dims.v_head_dim), where, {.mask = &mask});
    }
};

}  // namespace llmcost
