// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2_moe.hpp>
#include <llmcost/config/gated_delta_net.hpp>
#include <llmcost/forward/gated_delta_net.hpp>
#include <llmcost/forward/multi_token_prediction.hpp>
#include <llmcost/layers/gated_delta_net.hpp>

namespace llmcost::arch {

namespace qwen3_next_detail {

/// Every query brings a gate along, whose sigmoid scales what it found.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const decoder_module_names& n = ctx.spec.names;
    const std::int64_t d = ctx.config.head_dim, heads = ctx.config.num_attention_heads;
    const std::int64_t kv_width = ctx.config.num_key_value_heads * d, batch = x.dim(0), sequence = x.dim(1);
    query_key_value qkv;
    qkv.query = project(ctx, t, n.q_proj, 2 * heads * d, x).view({batch, sequence, heads, 2 * d}).slice(-1, d);
    const tensor gate = t.reshape(qkv.query, {batch, sequence, -1});
    qkv.key = project(ctx, t, n.k_proj, kv_width, x);
    qkv.value = project(ctx, t, n.v_proj, kv_width, x);
    const tensor found = attention_from_qkv(ctx, t, qkv);
    return output_projection(ctx, t, t.mul(found, t.sigmoid(gate)));
}

}  // namespace qwen3_next_detail

/// Experts as in Qwen3-MoE.
constexpr void parse_qwen3_next(config_view json, model_config& config) {
    parse_experts(json, config, "num_experts");
    parse_load_balancing(json, config);
    config.moe.shared_intermediate_size = json.positive("shared_expert_intermediate_size", 512);
    parse_gated_delta_net(json, config);
    set_gated_delta_layers(json, config, expert_layer_selection(json, config));
}

// transformers/models/qwen3_next: gated delta nets, gated attention, experts with a shared one
inline constexpr model_spec qwen3_next = [](model_spec spec) {
    spec.model_type = "qwen3_next";
    spec.class_prefix = "Qwen3Next";
    spec.parse_config = parse_qwen3_next;
    spec.norm = norm_kind::rms_plus_one;
    spec.names.base_model_for_question_answering = "transformer";
    spec.mask_policy = mask_kind::full_and_present;
    spec.has_partial_rotary = true;
    spec.recurrent_block = gated_delta_net_block<false>;
    spec.attention = qwen3_next_detail::attention;
    spec.supported_layers = attention_layers | token_mixer_kind::recurrent;
    spec.multi_token_prediction = mtp_with_last_layer_spec;
    spec.qk_norm = qk_norm_kind::per_head;
    spec.defaults = model_config{
        .vocab_size = 151936,
        .hidden_size = 2048,
        .intermediate_size = 5632,
        .num_hidden_layers = 48,
        .num_attention_heads = 16,
        .num_key_value_heads = 2,
        .head_dim = 256,
        .max_position_embeddings = 32768,
        .moe = {.num_experts = 512, .num_experts_per_tok = 10, .intermediate_size = 512, .norm_topk_prob = true}};
    return spec;
}(qwen2_moe);

}  // namespace llmcost::arch
