// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/mixtral.hpp>
#include <llmcost/layers/state_space.hpp>

namespace llmcost::arch {

namespace jamba_detail {

constexpr tensor recurrent_block(const layer_context& ctx, trace& t, const tensor& x) {
    const selective_state_space layer{ctx.config.hidden_size, ctx.config.ssm,
                                      ctx.config.hidden_act,  ctx.class_of("MambaMixer"),
                                      state_norm::weighted,   ctx.class_of(ctx.spec.names.norm_class)};
    return t.call(ctx.spec.names.recurrent_block, layer, x);
}

}  // namespace jamba_detail

/// Attention and experts in every so many-th layer, Mamba mixers and plain blocks in the others.
constexpr void parse_jamba(config_view json, model_config& config) {
    const literal experts = json.contains("num_local_experts") ? "num_local_experts" : "num_experts";
    config.moe.num_experts = json.non_negative(experts, config.moe.num_experts);
    if (config.moe.num_experts > 1) parse_experts(json, config, experts);
    parse_load_balancing(json, config);
    config.moe.norm_topk_prob = false;
    config.moe.intermediate_size = config.intermediate_size;
    config.ssm = {
        .state_size = json.positive("mamba_d_state", 16),
        .conv_kernel = json.positive("mamba_d_conv", 4),
        .intermediate_size = checked_size(json, "mamba_expand", json.positive("mamba_expand", 2), config.hidden_size),
        .time_step_rank = (config.hidden_size + 15) / 16,
        .use_bias = json.boolean("mamba_proj_bias", false),
        .use_conv_bias = json.boolean("mamba_conv_bias", true)};
    if (const auto rank = json.find("mamba_dt_rank"); rank && !(rank->is_string() && rank->as_string() == "auto"))
        config.ssm.time_step_rank = rank->as_positive();
    config.attention_bias = config.output_bias = config.mlp_bias = false;
    const auto every = [&](literal period, std::int64_t n, literal offset, std::int64_t default_offset) {
        const std::int64_t step = json.positive(period, n), first = json.non_negative(offset, default_offset);
        if (first >= step) throw_invalid_value(json, offset, "a number below the period");
        return [=](std::int64_t i) { return i % step == first; };
    };
    const auto attends = every("attn_layer_period", 8, "attn_layer_offset", 4);
    const auto has_several = every("expert_layer_period", 2, "expert_layer_offset", 1);
    set_layers(json, config, [&](std::int64_t i) {
        return layer_spec{attends(i) ? token_mixer_kind::full_attention : token_mixer_kind::recurrent,
                          config.moe.num_experts > 1 && has_several(i)};
    });
}

// transformers/models/jamba: Mamba mixers with norms of their own, attention without positions, experts without norming
inline constexpr model_spec jamba = [](model_spec spec) {
    spec.model_type = "jamba";
    spec.class_prefix = "Jamba";
    spec.parse_config = parse_jamba;
    spec.supported_heads = classifying_decoder_heads;
    spec.router = router_kind::softmax_top_k;
    spec.rotary = rotary_style::none;
    spec.mask_policy = mask_kind::full_and_present;
    spec.recurrent_block = jamba_detail::recurrent_block;
    spec.supported_layers = attention_layers | token_mixer_kind::recurrent;
    spec.names.norm = "final_layernorm";
    spec.names.pre_mlp_norm = "pre_ff_layernorm";
    spec.names.recurrent_block = "mamba";
    spec.names.mlp = "feed_forward";
    spec.names.router = "router";
    spec.names.layer_class = "AttentionDecoderLayer";
    spec.names.recurrent_layer_class = "MambaDecoderLayer";
    spec.defaults.vocab_size = 65536;
    spec.defaults.hidden_size = 4096;
    spec.defaults.intermediate_size = 14336;
    spec.defaults.num_hidden_layers = 32;
    spec.defaults.num_attention_heads = 32;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.max_position_embeddings = 262144;
    spec.defaults.moe.num_experts = 16;
    spec.defaults.moe.num_experts_per_tok = 2;
    return spec;
}(mixtral);

}  // namespace llmcost::arch
