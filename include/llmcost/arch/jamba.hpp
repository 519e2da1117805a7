// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/mixtral.hpp>
#include <llmcost/layers/state_space.hpp>

namespace llmcost::arch {

namespace jamba_detail {

constexpr value recur(const site& here, trace& t, const value& x) {
    const selective_state_space layer{here.dims.hidden_size,   here.dims.ssm,        here.dims.hidden_act,
                                      here.type("MambaMixer"), state_norm::weighted, here.type(here.row.names.norm_type)};
    return t.call(here.row.names.recurrent, layer, x);
}

}  // namespace jamba_detail

/// Attention and experts in every so many-th layer, Mamba mixers and plain blocks in the others.
constexpr void read_jamba(config_view config, sizes& s) {
    const literal experts = config.contains("num_local_experts") ? "num_local_experts" : "num_experts";
    s.moe.num_experts = config.non_negative(experts, s.moe.num_experts);
    if (s.moe.num_experts > 1) read_experts(config, s, experts);
    read_balance(config, s);
    s.moe.norm_topk_prob = false;
    s.moe.intermediate_size = s.intermediate_size;
    s.ssm = {.state_size = config.positive("mamba_d_state", 16),
             .conv_kernel = config.positive("mamba_d_conv", 4),
             .intermediate_size = checked_width(config, "mamba_expand", config.positive("mamba_expand", 2), s.hidden_size),
             .time_step_rank = (s.hidden_size + 15) / 16,
             .use_bias = config.boolean("mamba_proj_bias", false),
             .use_conv_bias = config.boolean("mamba_conv_bias", true)};
    if (const auto rank = config.find("mamba_dt_rank"); rank && !(rank->is_string() && rank->as_string() == "auto"))
        s.ssm.time_step_rank = rank->as_positive();
    s.attention_bias = s.output_bias = s.mlp_bias = false;
    const auto every = [&](literal period, std::int64_t n, literal offset, std::int64_t from) {
        const std::int64_t step = config.positive(period, n), first = config.non_negative(offset, from);
        if (first >= step) fail_value(config, offset, "a number below the period");
        return [=](std::int64_t i) { return i % step == first; };
    };
    const auto attends = every("attn_layer_period", 8, "attn_layer_offset", 4);
    const auto has_several = every("expert_layer_period", 2, "expert_layer_offset", 1);
    plan_layers(config, s, [&](std::int64_t i) {
        return layer_kind{attends(i) ? mixer_kind::full_attention : mixer_kind::recurrent,
                          s.moe.num_experts > 1 && has_several(i)};
    });
}

// transformers/models/jamba: Mamba mixers with norms of their own, attention without positions, experts without norming
inline constexpr architecture jamba = [](architecture a) {
    a.model_type = "jamba", a.prefix = "Jamba", a.read = read_jamba, a.heads = classifying_decoder_heads;
    a.router = router_kind::softmax_top_k, a.rotated = rotation::none, a.masks = mask_rule::full_and_present;
    a.recur = jamba_detail::recur, a.kinds = attention_kinds | mixer_kind::recurrent;
    a.names.norm = "final_layernorm", a.names.norm_before_feed_forward = "pre_ff_layernorm", a.names.recurrent = "mamba";
    a.names.feed_forward = "feed_forward", a.names.router = "router";
    a.names.layer_type = "AttentionDecoderLayer", a.names.recurrent_layer_type = "MambaDecoderLayer";
    a.defaults.vocab_size = 65536, a.defaults.hidden_size = 4096, a.defaults.intermediate_size = 14336;
    a.defaults.num_hidden_layers = 32, a.defaults.num_attention_heads = 32, a.defaults.num_key_value_heads = 8;
    a.defaults.max_position_embeddings = 262144, a.defaults.moe.num_experts = 16, a.defaults.moe.num_experts_per_tok = 2;
    return a;
}(mixtral);

}  // namespace llmcost::arch
