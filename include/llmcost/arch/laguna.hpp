// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/experts.hpp>
#include <llmcost/forward/heads_per_layer.hpp>

namespace llmcost::arch {

namespace laguna_detail {

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    return heads_per_layer::attend_gated(ctx, t, x, false, [&](const tensor& logits, dtype type) {
        return t.to(t.softplus(t.to(logits, dtype::float32)), type);
    });
}

constexpr tensor_pair route(const layer_context& ctx, trace& t, const tensor& tokens) {
    const moe_config& moe = ctx.config.moe;
    const tensor weight = t.param("weight", {moe.num_experts, ctx.config.hidden_size});
    const tensor correction = t.frozen_parameter("e_score_correction_bias", {moe.num_experts});
    tensor logits = t.to(t.linear(tokens, weight), dtype::float32);
    if (ctx.config.family[heads_per_layer::caps_router]) logits = t.mul_scalar(t.tanh(t.div_scalar(logits)));
    const tensor best = select_with_correction(t, t.sigmoid(logits), correction, moe.num_experts_per_tok);
    return {logits, t.to(t.div(best, t.sum(best, -1, true)), tokens.type)};
}

constexpr tensor sparse_moe_block(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor tokens = x.view({-1, ctx.config.hidden_size});
    const tensor shared_output = call_mlp(ctx, t, "shared_experts", ctx.config.moe.shared_intermediate_size, tokens);
    const tensor weights = call_custom_router(ctx, t, route, tokens);
    const tensor routed = t.mul_scalar(call_experts(ctx, t, tokens, weights));
    return t.add(routed, shared_output).view({x.dim(0), x.dim(1), ctx.config.hidden_size});
}

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    return moe_or_dense_mlp(ctx, t, sparse_moe_block, x);
}

constexpr decoder_inputs prepare_inputs(const layer_context& ctx, trace& t) {
    return prepare_inputs_per_token_mixer(
        ctx, t, {ctx.config.family[heads_per_layer::full_rotary], ctx.config.family[heads_per_layer::sliding_rotary]},
        rotary_style::rotate_half);
}

constexpr tensor process_logits(const layer_context& ctx, trace& t, const tensor& scores) {
    add_load_balancing_loss(ctx, t, ctx.config.family[heads_per_layer::weighs_balance] != 0);
    return scores;
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_experts(json, config, "num_experts");
    validate_experts(json, config);
    config.moe.shared_intermediate_size = json.positive("shared_expert_intermediate_size", 512);
    config.family[heads_per_layer::caps_router] = json.real("moe_router_logit_softcapping", 0) > 0;
    if (json.boolean("moe_apply_router_weight_on_input", false))
        throw_invalid_value(json, "moe_apply_router_weight_on_input",
                            "false, the only value that the reference supports");
    const auto gating = json.find("gating");
    config.family[heads_per_layer::gate_per_head] =
        !gating || (gating->is_boolean() ? gating->as_boolean() : gating->as_string() == "per-head");
    const bool listed = parse_layer_types(json, config);
    const layer_plan listed_layers = config.layers;
    const auto heads = json.optional_array("num_attention_heads_per_layer");
    if (heads && static_cast<std::int64_t>(heads->size()) != config.num_hidden_layers)
        throw_invalid_value(json, "num_attention_heads_per_layer", "a list with one number per hidden layer");
    const sparse_layer_selection experts(json, config, 1);
    set_layers(json, config, [&](std::int64_t i) {
        const std::int64_t n =
            heads ? (*heads)[static_cast<std::uint32_t>(i)].as_positive() : config.num_attention_heads;
        if (n % config.num_key_value_heads != 0)
            throw_invalid_value(json, "num_attention_heads_per_layer", "multiples of num_key_value_heads");
        (void)checked_size(json, "num_attention_heads_per_layer", n, config.head_dim);
        return layer_spec{listed ? listed_layers[i].token_mixer : token_mixer_kind::full_attention, experts.has(i),
                          heads_per_layer::family_tag_of(json, config, n)};
    });
    parse_frequencies_of_kinds(json, config, "full_attention", "sliding_attention");
    if (config.layers.contains(token_mixer_kind::full_attention, config.num_hidden_layers))
        config.family[heads_per_layer::full_rotary] = parse_rotary_dim_of_kind(
            json, config.head_dim, "full_attention", json.contains("rope_parameters") ? 1.0 : 0.5);
    if (config.layers.contains(token_mixer_kind::sliding_attention, config.num_hidden_layers))
        config.family[heads_per_layer::sliding_rotary] =
            parse_rotary_dim_of_kind(json, config.head_dim, "sliding_attention", 1.0);
}

}  // namespace laguna_detail

// transformers/models/laguna: heads by layer, gated by softplus; a part of each head rotated, by kind of layer
inline constexpr model_spec laguna = [](model_spec spec) {
    spec.model_type = "laguna";
    spec.class_prefix = "Laguna";
    spec.parse_config = laguna_detail::parse_config;
    spec.family_keys = heads_per_layer::family_keys;
    spec.supported_heads = language_heads;
    spec.rotary = rotary_style::none;
    spec.mask_policy = mask_kind::present;
    spec.prepare_inputs = laguna_detail::prepare_inputs;
    spec.attention = laguna_detail::attention;
    spec.mlp = laguna_detail::mlp;
    spec.process_logits = laguna_detail::process_logits;
    spec.supported_layers.max_family_tag = heads_per_layer::max_heads - 1;
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.defaults.vocab_size = 100352;
    spec.defaults.hidden_size = 2048;
    spec.defaults.intermediate_size = 8192;
    spec.defaults.num_hidden_layers = 40;
    spec.defaults.num_attention_heads = 48;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.head_dim = 128;
    spec.defaults.max_position_embeddings = 131072;
    spec.defaults.sliding_window = 512;
    spec.defaults.moe = {.num_experts = 256, .num_experts_per_tok = 8, .intermediate_size = 512};
    return spec;
}(llama);

}  // namespace llmcost::arch
