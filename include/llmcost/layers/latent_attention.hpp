// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/attention.hpp>
#include <llmcost/layers/linear.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/layers/norm.hpp>
#include <llmcost/layers/rotary.hpp>

// Multi-head latent attention (MLA).
//
// Shapes: B = batch, S = sequence (new tokens), T = cached plus new tokens, H = heads. `nope`, `rope` and `v` are the
// head sizes without and with position embeddings and of the values; `rank` is kv_lora_rank.

namespace llmcost {

/// Multi-head latent attention, whose keys and values are expanded from a cached low-rank vector (DeepSeek V2, V3).
///
/// x (B, S, hidden) -> (B, S, hidden). The cache has kv_lora_rank + qk_rope_head_dim elements per token.
/// Source: transformers/models/deepseek_v3/modeling_deepseek_v3.py, `DeepseekV3Attention`.
struct latent_attention {
    std::int64_t width;
    std::int64_t heads;
    mla_config config;
    bool bias;
    literal prefix;
    attention_pattern pattern;
    const tensor& mask;
    const tensor& cos;
    const tensor& sin;
    rotary_style rotated;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {prefix, "Attention"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        return output_projection(t,
                                 latent_attention_forward(t, update_latent_cache(t, x, project_queries(t, x)), mask));
    }

    /// Projects queries, in two steps if q_lora_rank is not 0: x (B, S, hidden) -> (B, H, S, nope + rope).
    ///
    /// Writes the low-rank queries to `low` if it is not null.
    constexpr tensor project_queries(trace& t, const tensor& x, tensor* low = nullptr) const {
        const std::int64_t qk_head_dim = config.qk_nope_head_dim + config.qk_rope_head_dim;
        tensor q = x;
        if (config.q_lora_rank == 0) {
            q = t.call("q_proj", linear{width, heads * qk_head_dim}, q);
        } else {
            q = t.call("q_a_proj", linear{width, config.q_lora_rank, bias}, q);
            q = t.call("q_a_layernorm", norm_module{norm_kind::rms, config.q_lora_rank, {prefix, "RMSNorm"}}, q);
            if (low != nullptr) *low = q;
            q = t.call("q_b_proj", linear{config.q_lora_rank, heads * qk_head_dim}, q);
        }
        return q.view({x.dim(0), x.dim(1), heads, qk_head_dim}).transpose(1, 2);
    }
    /// Queries after RoPE, cached latents (B, 1, T, rank), and cached keys after RoPE (B, 1, T, rope).
    struct projected_states {
        tensor q, latent, k_rope;
    };
    constexpr projected_states update_latent_cache(trace& t, const tensor& x, const tensor& q) const {
        const std::int64_t nope = config.qk_nope_head_dim, rope = config.qk_rope_head_dim, rank = config.kv_lora_rank;
        const std::int64_t batch = x.dim(0), sequence = x.dim(1);
        const tensor compressed = t.call("kv_a_proj_with_mqa", linear{width, rank + rope, bias}, x);
        const norm_module normed{norm_kind::rms, rank, {prefix, "RMSNorm"}};
        projected_states p;
        p.latent = t.call("kv_a_layernorm", normed, compressed.slice(-1, rank)).view({batch, 1, sequence, rank});
        p.k_rope = compressed.slice(-1, rope).view({batch, 1, sequence, rope});
        tensor rotated_query;
        if (rotated != rotary_style::none) {
            rotated_query = rotate(t, rotated, q.slice(-1, rope), cos, sin);
            p.k_rope = rotate(t, rotated, p.k_rope, cos, sin);
        }
        p.latent = update_kv_cache(t, p.latent, pattern);
        p.k_rope = update_kv_cache(t, p.k_rope, pattern);
        p.q = rotated != rotary_style::none ? t.cat({q.slice(-1, nope), rotated_query}, -1) : q;
        return p;
    }
    /// Attention with concatenated heads, before the output projection: (B, S, H · v).
    constexpr tensor latent_attention_forward(trace& t, const projected_states& p, const tensor& masked) const {
        return t.contiguous(t.reshape(attended(t, p, masked), {p.q.dim(0), p.q.dim(2), -1}));
    }
    constexpr tensor output_projection(trace& t, const tensor& found) const {
        return t.call("o_proj", linear{heads * config.v_head_dim, width, bias}, found);
    }
    /// Attention over the expanded keys and values: (B, S, H, v).
    constexpr tensor attended(trace& t, const projected_states& p, const tensor& masked) const {
        const auto& [q, latent, k_rope] = p;
        const std::int64_t nope = config.qk_nope_head_dim, rope = config.qk_rope_head_dim, rank = config.kv_lora_rank;
        const std::int64_t batch = q.dim(0), length = pattern.key_length();
        const recorder::fused_kernel_guard fused{t,
                                                 {.kind = fused_kernel_kind::latent_attention,
                                                  .batch = batch,
                                                  .num_queries = q.dim(2),
                                                  .past_length = pattern.num_previous_tokens,
                                                  .heads = heads,
                                                  .head_dim = nope,
                                                  .rope_dim = rope,
                                                  .value_dim = config.v_head_dim,
                                                  .latent_dim = rank,
                                                  .expansion_module = "kv_b_proj"}};
        const tensor expanded = t.call("kv_b_proj", linear{rank, heads * (nope + config.v_head_dim)}, latent);
        const tensor keys_and_values = expanded.view({batch, length, heads, nope + config.v_head_dim}).transpose(1, 2);
        tensor k = t.full({batch, heads, length, nope + rope}, q.type);
        t.copy_into_slice(k, keys_and_values.slice(-1, nope));
        t.copy_into_slice(k, k_rope.expand({batch, heads, length, rope}));
        return attention_forward(t, q, k, keys_and_values.slice(-1, config.v_head_dim), pattern, {.mask = &masked});
    }
};

}  // namespace llmcost
