// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/cohere.hpp>
#include <llmcost/config/experts.hpp>

// Cohere 2 MoE. Derived from Cohere, with these differences:
//  - routed and shared experts;
//  - RoPE only in sliding-window and dense layers.
//
// Source: transformers/models/cohere2_moe

namespace llmcost::arch {

namespace cohere2_moe_detail {

enum family_config_index : std::uint8_t { rms_norms, uses_sigmoid_router, averages };

inline constexpr family_key family_keys[]{
    {.type = family_key_type::computed},  // RMS norm, used if the file has `rms_norm_eps`
    {.type = family_key_type::computed},  // router weights are sigmoids
    {.type = family_key_type::computed},  // routed and shared experts are averaged
};

/// `family_tag` of layers without RoPE.
inline constexpr std::uint8_t unrotated = 1;

constexpr tensor normed_by_either(const layer_context& ctx, trace& t, literal name, const tensor& x) {
    const bool rms = ctx.config.family[rms_norms] != 0;
    const class_name named = ctx.class_of(rms ? "RMSNorm" : "LayerNorm");
    return call_norm(t, name, rms ? norm_kind::rms : norm_kind::layer_spelled, ctx.config.hidden_size, named, x);
}

/// Decoder layer with attention and MLP in parallel after one norm.
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor h = normed_by_either(ctx, t, "input_layernorm", x);
    const tensor a = mix_tokens(ctx, t, h);
    const tensor m = ctx.spec.mlp(ctx, t, h);
    return t.add(t.add(x, a), m);
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const tensor x = ctx.spec.embed_tokens(ctx, t);
    const decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    return normed_by_either(ctx, t, "norm", forward_layers(ctx, t, shared, x));
}

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    return attention_with_optional_rotary(ctx, t, x, ctx.layer.family_tag != unrotated);
}

/// Router: selects the top-k logits, then applies a sigmoid to each or a softmax to all.
constexpr tensor_pair route(const layer_context& ctx, trace& t, const tensor& tokens) {
    const moe_config& moe = ctx.config.moe;
    const tensor logits = t.linear(tokens, t.param("weight", {moe.num_experts, ctx.config.hidden_size}));
    tensor best = t.topk(logits, moe.num_experts_per_tok);
    if (!ctx.config.family[uses_sigmoid_router])
        return {logits, t.to(t.softmax(t.to(best, dtype::float32)), tokens.type)};
    best = t.sigmoid(best);
    if (moe.norm_topk_prob) best = t.div(best, t.sum(best, -1, true));
    return {logits, best};
}

constexpr tensor sparse_moe_block(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor tokens = x.view({-1, ctx.config.hidden_size});
    const std::int64_t inner = ctx.config.moe.shared_intermediate_size;
    tensor out = call_experts(ctx, t, tokens, call_custom_router(ctx, t, route, tokens));
    if (inner != 0) out = t.add(out, call_mlp(ctx, t, "shared_experts", inner, tokens));
    if (inner != 0 && ctx.config.family[averages]) out = t.div_scalar(out);
    return out.view({x.dim(0), x.dim(1), ctx.config.hidden_size});
}

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    return moe_or_dense_mlp(ctx, t, sparse_moe_block, x);
}

/// Returns true if `key` has the value `second`, false for `first`, which is the default.
constexpr bool parse_second(config_view json, literal key, literal first, literal second) {
    const string_ref name = json.string(key, first);
    if (name != first && name != second) throw_unsupported(json, key, "unsupported value");
    return name == second;
}

/// Parses `config.json`. Dense layers have a sliding-window pattern of their own; the pattern of the other layers
/// begins after them.
constexpr void parse_config(config_view json, model_config& config) {
    parse_experts(json, config, "num_experts");
    validate_experts(json, config);
    config.moe.intermediate_size = config.intermediate_size;
    config.moe.shared_intermediate_size =
        checked_size(json, "num_shared_experts", json.non_negative("num_shared_experts", 0), config.intermediate_size);
    config.family[rms_norms] = json.optional_real("rms_norm_eps").has_value();
    config.family[uses_sigmoid_router] = parse_second(json, "expert_selection_fn", "softmax", "sigmoid");
    config.family[averages] = !parse_second(json, "shared_expert_combination_strategy", "average", "sum");
    const std::int64_t dense = json.non_negative("first_k_dense_replace", 0);
    const std::int64_t period = json.positive("sliding_window_pattern", 4);
    const std::int64_t dense_period = json.positive("prefix_dense_sliding_window_pattern", 1);
    const std::int64_t inner =
        json.optional_positive("prefix_dense_intermediate_size").value_or(config.intermediate_size);
    const bool listed = parse_layer_types(json, config);
    if (!listed && dense > config.num_hidden_layers)
        throw_invalid_value(json, "first_k_dense_replace", "at most num_hidden_layers");
    const layer_plan listed_layers = config.layers;
    const sparse_layer_selection experts(json, config, dense);
    set_layers(json, config, [&](std::int64_t i) {
        const bool by_rule = i < dense ? (i + 1) % dense_period != 0 : (i - dense + 1) % period != 0;
        const bool slides = listed ? listed_layers[i].token_mixer == token_mixer_kind::sliding_attention : by_rule;
        const bool turns = slides || (!experts.has(i) && dense_period == 1);
        return layer_spec{slides ? token_mixer_kind::sliding_attention : token_mixer_kind::full_attention,
                          experts.has(i), turns ? std::uint8_t{} : unrotated,
                          experts.has(i) ? 0 : static_cast<std::int32_t>(inner)};
    });
}

}  // namespace cohere2_moe_detail

inline constexpr model_spec cohere2_moe = [](model_spec spec) {
    spec.model_type = "cohere2_moe";
    spec.class_prefix = "Cohere2Moe";
    spec.parse_config = cohere2_moe_detail::parse_config;
    spec.family_keys = cohere2_moe_detail::family_keys;
    spec.supported_layers.max_family_tag = cohere2_moe_detail::unrotated;
    spec.mask_policy = mask_kind::full_and_sliding;
    spec.base_model = cohere2_moe_detail::base;
    spec.decoder_layer = cohere2_moe_detail::decoder_layer;
    spec.attention = cohere2_moe_detail::attention;
    spec.mlp = cohere2_moe_detail::mlp;
    spec.defaults.head_dim = 128;
    spec.defaults.sliding_window = 4096;
    spec.defaults.moe = {.num_experts = 8, .num_experts_per_tok = 2, .norm_topk_prob = true};
    return spec;
}(cohere);

}  // namespace llmcost::arch
