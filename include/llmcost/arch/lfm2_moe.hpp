// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/lfm2.hpp>
#include <llmcost/config/experts.hpp>

namespace llmcost::arch {

namespace lfm2_moe_detail {

enum family_config_index : std::uint8_t { corrects };

inline constexpr family_key family_keys[]{{"use_expert_bias", 1, family_key_type::boolean}};

constexpr tensor_pair route(const layer_context& ctx, trace& t, const tensor& tokens) {
    const moe_config& moe = ctx.config.moe;
    const std::int64_t k = moe.num_experts_per_tok;
    const tensor logits = t.linear(tokens, t.param("weight", {moe.num_experts, ctx.config.hidden_size}));
    const tensor scores = t.sigmoid(logits);
    tensor best = ctx.config.family[corrects]
                      ? select_with_correction(t, scores, correction_bias(t, moe.num_experts, true), k)
                      : t.topk(scores, k);
    if (moe.norm_topk_prob) best = t.div(best, t.add_scalar(t.sum(best, -1, true)));
    return {logits, t.mul_scalar(best)};
}

constexpr tensor sparse_moe_block(const layer_context& ctx, trace& t, const tensor& x) {
    const moe_config& moe = ctx.config.moe;
    const tensor tokens = x.view({-1, ctx.config.hidden_size});
    const tensor weights = call_custom_router(ctx, t, route, tokens);
    const routed_experts_base all{ctx.config.hidden_size,  moe.intermediate_size, moe.num_experts,
                                  moe.num_experts_per_tok, activation::silu,      ctx.class_of("Experts")};
    // the activation is a function, no module
    const auto gate = [](trace& tracer, const tensor& gate_up) {
        const tensor half = gate_up.slice(-1, gate_up.dim(-1) / 2);
        return tracer.mul(activate(tracer, activation::silu, half), half);
    };
    return t.call("experts", with_custom_gate<true>(all, gate), tokens, weights).view({x.dim(0), x.dim(1), -1});
}

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    return moe_or_dense_mlp(ctx, t, sparse_moe_block, x);
}

/// Parses `config.json`: layers after the dense ones have experts; the file lists the convolution layers.
constexpr void parse_config(config_view json, model_config& config) {
    config.tie_word_embeddings = json.boolean("tie_embedding", config.tie_word_embeddings);
    parse_experts(json, config, "num_experts");
    validate_experts(json, config);
    config.hidden_act = activation::silu;
    config.ssm.conv_kernel = json.positive("conv_L_cache", 3);
    config.ssm.use_bias = json.boolean("conv_bias", false);
    if (!parse_layer_types(json, config, token_mixer_kind::recurrent))
        throw_missing_key(json, "layer_types", "a list with one kind per hidden layer");
    const std::int64_t dense = json.non_negative("num_dense_layers", 2);
    const layer_plan listed_layers = config.layers;
    set_layers(json, config, [&](std::int64_t i) { return layer_spec{listed_layers[i].token_mixer, i >= dense}; });
}

}  // namespace lfm2_moe_detail

// transformers/models/lfm2_moe: LFM2 with experts that a router with sigmoids picks
inline constexpr model_spec lfm2_moe = [](model_spec spec) {
    spec.model_type = "lfm2_moe";
    spec.class_prefix = "Lfm2Moe";
    spec.parse_config = lfm2_moe_detail::parse_config;
    spec.family_keys = lfm2_moe_detail::family_keys;
    spec.mlp = lfm2_moe_detail::mlp;
    spec.names.rotary = "pos_emb";
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.defaults.hidden_size = 2048;
    spec.defaults.intermediate_size = 7168;
    spec.defaults.moe = {
        .num_experts = 32, .num_experts_per_tok = 4, .intermediate_size = 1792, .norm_topk_prob = true};
    return spec;
}(lfm2);

}  // namespace llmcost::arch
