// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/experts.hpp>
#include <llmcost/forward/masks_and_rotary.hpp>
#include <llmcost/forward/multi_token_prediction.hpp>
#include <llmcost/forward/softmax_router_with_correction.hpp>

// ERNIE 4.5 MoE. Derived from Llama, with these differences:
//  - interleaved RoPE, computed in float32;
//  - a router that selects experts with a correction bias;
//  - shared experts, and experts only in a range of layers.
//
// Source: transformers/models/ernie4_5_moe

namespace llmcost::arch {

namespace ernie4_5_moe_detail {

enum family_config_index : std::uint8_t { weighs_balance };

inline constexpr family_key family_keys[]{{"output_router_logits", 0, family_key_type::boolean}};

constexpr tensor process_logits(const layer_context& ctx, trace& t, const tensor& scores) {
    add_load_balancing_loss(ctx, t, ctx.config.family[weighs_balance] != 0);
    return scores;
}

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t half = ctx.config.head_dim / 2;
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    const auto in_pairs = [&](const tensor& table) {
        return t.repeat_interleave(table.unsqueeze(1).slice(-1, half), -1, 2);
    };
    const tensor cos = in_pairs(ctx.inputs->cos), sin = in_pairs(ctx.inputs->sin);
    for (tensor* const operand : {&qkv.query, &qkv.key}) *operand = apply_interleaved_rotary(t, *operand, cos, sin);
    update_kv_cache(ctx, t, qkv);
    return output_projection(ctx, t, scaled_dot_product_attention(ctx, t, qkv));
}

constexpr tensor sparse_moe_block(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor tokens = x.view({-1, ctx.config.hidden_size});
    const std::int64_t inner = ctx.config.moe.shared_intermediate_size;
    const tensor shared_output = inner != 0 ? call_mlp(ctx, t, "shared_experts", inner, tokens) : tensor{};
    const tensor routed = call_experts(ctx, t, tokens, t.call("gate", softmax_router_with_correction{ctx}, tokens));
    return (inner != 0 ? t.add(routed, shared_output) : routed).view({x.dim(0), x.dim(1), ctx.config.hidden_size});
}

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    return moe_or_dense_mlp(ctx, t, sparse_moe_block, x);
}

/// Multi-token prediction with dense layers and without a final norm.
///
/// Source: vllm/model_executor/models/ernie_mtp.py.
constexpr void multi_token_prediction(const layer_context& ctx, trace& t, const tensor& x) {
    trace_mtp_layers(ctx, t, x, {.has_final_norm = false});
}

/// Parses `config.json`.
///
/// Layers `moe_layer_start_index` to `moe_layer_end_index` have experts, one in every `moe_layer_interval`.
/// Throws: `config_error` if the number of selected experts exceeds the number of experts.
constexpr void parse_config(config_view json, model_config& config) {
    config.attention_bias = config.output_bias = config.mlp_bias = config.head_bias = json.boolean("use_bias", false);
    config.moe.num_experts = json.positive(json.contains("num_experts") ? "num_experts" : "moe_num_experts", 64);
    const literal picked = json.contains("num_experts_per_tok") ? "num_experts_per_tok" : "moe_k";
    config.moe.num_experts_per_tok = json.positive(picked, 6);
    if (config.moe.num_experts_per_tok > config.moe.num_experts)
        throw_invalid_value(json, picked, "at most the number of experts");
    config.moe.intermediate_size = json.positive("moe_intermediate_size", 1536);
    config.moe.shared_intermediate_size = checked_size(
        json, "moe_num_shared_experts", json.non_negative("moe_num_shared_experts", 2), config.moe.intermediate_size);
    set_single_mask(json, config);
    const token_mixer_kind mixer = config.layers[0].token_mixer;
    const std::int64_t first = json.signed_integer("moe_layer_start_index", 1);
    const std::int64_t end = json.signed_integer("moe_layer_end_index", -1);
    const std::int64_t last = end == -1 ? config.num_hidden_layers - 1 : end,
                       step = json.positive("moe_layer_interval", 1);
    set_layers(json, config, [&](std::int64_t i) {
        return layer_spec{mixer, (i + 1) % step == 0 && i >= first && i <= last};
    });
}

}  // namespace ernie4_5_moe_detail

inline constexpr model_spec ernie4_5_moe = [](model_spec spec) {
    spec.model_type = "ernie4_5_moe";
    spec.class_prefix = "Ernie4_5_Moe";
    spec.parse_config = ernie4_5_moe_detail::parse_config;
    spec.attention = ernie4_5_moe_detail::attention;
    spec.mlp = ernie4_5_moe_detail::mlp;
    spec.supported_heads = language_heads;
    spec.rotary = rotary_style::rotate_half_float32;
    spec.family_keys = ernie4_5_moe_detail::family_keys;
    spec.process_logits = ernie4_5_moe_detail::process_logits;
    spec.multi_token_prediction = ernie4_5_moe_detail::multi_token_prediction;
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.defaults.vocab_size = 103424;
    spec.defaults.hidden_size = 2560;
    spec.defaults.intermediate_size = 12288;
    spec.defaults.num_hidden_layers = 28;
    spec.defaults.num_attention_heads = 20;
    spec.defaults.num_key_value_heads = 4;
    spec.defaults.max_position_embeddings = 131072;
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(llama);

}  // namespace llmcost::arch
