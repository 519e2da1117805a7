// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/deepseek_v3.hpp>
#include <llmcost/arch/deepseek_v32.hpp>
#include <llmcost/config/latent_attention.hpp>

namespace llmcost::arch {

namespace axk1_detail {

constexpr tensor sparse_moe_block(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size;
    const tensor weights = call_router(ctx, t, x);
    const tensor routed = call_experts(ctx, t, x.view({-1, width}), weights).view({x.dim(0), x.dim(1), width});
    const tensor out = t.add(routed, call_mlp(ctx, t, "shared_experts", ctx.config.moe.shared_intermediate_size, x));
    return apply_norm(ctx, t, "post_mlp_layernorm", out);
}

/// DeepSeek V3's MoE block.
constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    return moe_or_dense_mlp(ctx, t, sparse_moe_block, x);
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_latent_attention(json, config);
    if (config.mla.q_lora_rank == 0) throw_invalid_value(json, "q_lora_rank", "a positive integer");
    config.rope_interleave = json.boolean("rope_interleave", true);
    parse_grouped_experts(json, config, {.shared = 1});
    set_expert_layers(json, config);
}

}  // namespace axk1_detail

// A.X K1. Derived from DeepSeek V3, with a norm after the MoE block.
//
// Source: transformers/models/axk1
inline constexpr model_spec axk1 = [](model_spec spec) {
    spec.model_type = "axk1";
    spec.multi_token_prediction = nullptr;
    spec.class_prefix = "AXK1";
    spec.parse_config = axk1_detail::parse_config;
    spec.mlp = axk1_detail::mlp;
    spec.defaults.vocab_size = 163840;
    spec.defaults.num_attention_heads = 64;
    spec.defaults.num_key_value_heads = 64;
    spec.defaults.max_position_embeddings = 32768;
    spec.defaults.moe.num_experts = 192;
    spec.defaults.mla = deepseek_v32.defaults.mla;
    return spec;
}(deepseek_v3);

}  // namespace llmcost::arch
