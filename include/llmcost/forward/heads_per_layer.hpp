// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/keys.hpp>
#include <llmcost/forward/attention.hpp>

// Gated attention with a number of heads per layer (Laguna, Step 3.7).
namespace llmcost::heads_per_layer {

/// How many numbers of heads the layers of one model may have.
inline constexpr std::uint8_t max_heads = 8;

enum family_config_index : std::uint8_t {
    caps_router,
    gate_per_head,
    full_rotary,
    sliding_rotary,
    weighs_balance,
    first_heads
};
inline constexpr family_key family_keys[]{
    {.type = family_key_type::computed},  // logits of routers are capped
    {.type = family_key_type::computed},  // gates are one number per head
    {.type = family_key_type::computed},  // rotated elements of heads that see everything
    {.type = family_key_type::computed},  // the same of heads with windows
    {"output_router_logits", 0, family_key_type::boolean},
    {.type = family_key_type::computed,
     .split = tensor_parallel_split::sharded},  // heads of layers with flag 0, and so on
    {.type = family_key_type::computed, .split = tensor_parallel_split::sharded},
    {.type = family_key_type::computed, .split = tensor_parallel_split::sharded},
    {.type = family_key_type::computed, .split = tensor_parallel_split::sharded},
    {.type = family_key_type::computed, .split = tensor_parallel_split::sharded},
    {.type = family_key_type::computed, .split = tensor_parallel_split::sharded},
    {.type = family_key_type::computed, .split = tensor_parallel_split::sharded},
    {.type = family_key_type::computed, .split = tensor_parallel_split::sharded},
};

/// Self-attention with a head count per layer. `open` of a projection of the layer input gates the attention output.
/// The projection runs before RoPE or after the scores.
template <class Open>
constexpr tensor attend_gated(const layer_context& ctx, trace& t, const tensor& x, bool gates_first, const Open& open) {
    const model_config& config = ctx.config;
    const std::int64_t batch = x.dim(0), sequence = x.dim(1), d = config.head_dim;
    const std::int64_t heads = config.family[first_heads + ctx.layer.family_tag],
                       kv_size = config.num_key_value_heads * d;
    const bool per_head = config.family[gate_per_head] != 0;
    query_key_value qkv{project(ctx, t, "q_proj", heads * d, x), project(ctx, t, "k_proj", kv_size, x),
                        project(ctx, t, "v_proj", kv_size, x)};
    for (tensor* const operand : {&qkv.query, &qkv.key, &qkv.value}) *operand = operand->view({batch, sequence, -1, d});
    apply_qk_norm(ctx, t, qkv, d, d);
    transpose_heads(qkv);
    const auto project_gate = [&] {
        return t.call("g_proj", linear{config.hidden_size, per_head ? heads : heads * d}, x);
    };
    tensor logits;
    if (gates_first) logits = project_gate();
    const std::int64_t rotated =
        config.family[ctx.layer.token_mixer == token_mixer_kind::sliding_attention ? sliding_rotary : full_rotary];
    for (tensor* const operand : {&qkv.query, &qkv.key})
        *operand =
            rotate_partial(t, rotary_style::rotate_half, *operand, rotated, ctx.inputs->cos, ctx.inputs->sin, true);
    update_kv_cache(ctx, t, qkv);
    tensor found = scaled_dot_product_attention(ctx, t, qkv);
    if (!gates_first) logits = project_gate();
    const tensor gate = open(logits, found.type);
    if (per_head)
        found = t.mul(found.view({batch, sequence, heads, d}), gate.unsqueeze(-1)).view({batch, sequence, heads * d});
    else
        found = t.mul(found, gate);
    return output_projection(ctx, t, found);
}

/// Returns the layer flag for a number of heads.
constexpr std::uint8_t family_tag_of(config_view json, model_config& config, std::int64_t heads) {
    for (std::uint8_t i = 0; i < max_heads; ++i) {
        std::int64_t& slot = config.family[first_heads + i];
        if (slot == 0) slot = heads;
        if (slot == heads) return i;
    }
    throw_invalid_value(json, "num_attention_heads_per_layer", "a list of at most 8 different numbers");
}

}  // namespace llmcost::heads_per_layer
