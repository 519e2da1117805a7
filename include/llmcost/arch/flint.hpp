// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/experts.hpp>

// Flint. Derived from Llama, with these differences:
//  - attention sinks, and full-attention layers without RoPE;
//  - a sigmoid router and a shared expert.
//
// Source: transformers/models/flint

namespace llmcost::arch {

namespace flint_detail {

enum family_config_index : std::uint8_t { weighs_balance };
inline constexpr family_key family_keys[]{
    {"output_router_logits", 0, family_key_type::boolean},
};

/// Attention with sinks: one additional logit per head takes part in the softmax. Scores and softmax are in float32.
constexpr tensor attention_with_sinks(const layer_context& ctx, trace& t, const query_key_value& qkv,
                                      const tensor& sinks) {
    const attention_inputs& s = *ctx.inputs;
    const recorder::fused_kernel_guard fused{
        t, fused_attention_kernel(qkv.query, qkv.key.dim(1), s.pattern, qkv.key.dim(2))};
    const std::int64_t batch = qkv.query.dim(0), heads = qkv.query.dim(1), sequence = qkv.query.dim(2),
                       groups = heads / qkv.key.dim(1);
    const tensor family_keys = repeat_kv(t, qkv.key, groups), values = repeat_kv(t, qkv.value, groups);
    const bool sparse = t.load().attention == attention_scores::causal;
    const tensor q = t.to(qkv.query, dtype::float32), k = t.to(family_keys, dtype::float32);
    tensor scores = t.mul_scalar(t.matmul(q, k.transpose(2, 3), sparse ? s.pattern.visible_pairs() : 0));
    if (!sparse) scores = t.add(scores, s.mask);
    const tensor column = sinks.view({1, heads, 1, 1}).expand({batch, heads, sequence, 1});
    tensor features = t.slice(t.softmax(t.cat({scores, column}, -1)), -1, s.pattern.key_length());
    if (scores.visible_pairs != 0) trace::set_visible_pairs(features, scores.visible_pairs);
    features = functional_dropout(t, t.to(features, qkv.value.type), dropout_position::attention);
    return t.contiguous(t.matmul(features, values).transpose(1, 2));
}

/// Self-attention with sinks. Only sliding-window layers apply RoPE.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor sinks = t.float32_param("sinks", {ctx.config.num_attention_heads});
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    apply_qk_norm(ctx, t, qkv, ctx.config.head_dim, ctx.config.head_dim);
    transpose_heads(qkv);
    if (ctx.layer.token_mixer == token_mixer_kind::sliding_attention) apply_rotary(ctx, t, qkv);
    update_kv_cache(ctx, t, qkv);
    const tensor found = attention_with_sinks(ctx, t, qkv, sinks);
    return output_projection(ctx, t, t.reshape(found, {x.dim(0), x.dim(1), -1}));
}

/// Top-k router: sigmoid scores in float32, optionally divided by their sum. Returns (tokens, k).
struct top_k_router {
    layer_context ctx;

    static constexpr role module_role = role::router;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("TopKRouter"); }
    constexpr tensor_pair forward(trace& t, const tensor& tokens) const {
        const moe_config& moe = ctx.config.moe;
        const tensor weight = t.float32_param("weight", {moe.num_experts, ctx.config.hidden_size});
        const tensor float_tokens = t.to(tokens, dtype::float32);
        const tensor logits = t.linear(float_tokens, t.to(weight, dtype::float32));
        const tensor largest = t.topk(t.sigmoid(logits), moe.num_experts_per_tok);
        return {logits, moe.norm_topk_prob ? t.div(largest, t.sum(largest, -1, true)) : largest};
    }
};

/// MoE block: routed experts and a shared expert without a gate.
struct mixture {
    layer_context ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("SparseMoeBlock"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor tokens = x.view({-1, ctx.config.hidden_size});
        const tensor_pair routing = t.call("gate", top_k_router{ctx}, tokens);
        t.record_router_logits(routing.first);
        const tensor routed = call_experts(ctx, t, tokens, routing.second);
        const tensor shared = call_mlp(ctx, t, "shared_expert", ctx.config.moe.shared_intermediate_size, tokens);
        return t.reshape(t.add(routed, shared), {x.dim(0), x.dim(1), ctx.config.hidden_size});
    }
};

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    return ctx.layer.has_experts ? t.call("mlp", mixture{ctx}, x) : default_mlp(ctx, t, x);
}

/// Adds the load-balancing loss, computed from router logits in float32. The loss over labels is separate.
constexpr tensor process_logits(const layer_context& ctx, trace& t, const tensor& logits) {
    const recorder::detach_guard unread{t};
    const std::int64_t routers = ctx.config.layers.num_layers_with_experts(ctx.config.num_hidden_layers);
    if (ctx.config.family[weighs_balance] != 0 && routers > 0)
        load_balancing_loss(t, routers, t.load().batch * t.load().sequence, ctx.config.moe, dtype::float32);
    return logits;
}

/// Parses `config.json`. The first two layers, every fourth and the last have full attention. The first two are dense.
constexpr void parse_config(config_view json, model_config& config) {
    require_sliding_window(json);
    parse_experts(json, config, "num_experts");
    config.moe.shared_intermediate_size = json.positive("shared_expert_intermediate_size", 1024);
    const std::int64_t step = json.positive("decoder_sparse_step", 1);
    const auto list = json.optional_array("mlp_only_layers");
    const layer_set dense = list ? layer_set(*list) : layer_set{};
    const bool listed = parse_layer_types(json, config);
    const layer_plan listed_layers = config.layers;
    set_layers(json, config, [&](std::int64_t i) {
        const bool full = i < 2 || i % 4 == 1 || i == config.num_hidden_layers - 1;
        const token_mixer_kind default_token_mixer =
            full ? token_mixer_kind::full_attention : token_mixer_kind::sliding_attention;
        const bool sparse = config.moe.num_experts > 0 && (i + 1) % step == 0 && !(list ? dense.has(i) : i < 2);
        return layer_spec{listed ? listed_layers[i].token_mixer : default_token_mixer, sparse};
    });
}

}  // namespace flint_detail

inline constexpr model_spec flint = [](model_spec spec) {
    spec.supported_heads = language_heads;
    spec.model_type = "flint";
    spec.class_prefix = "Flint";
    spec.parse_config = flint_detail::parse_config;
    spec.attention = flint_detail::attention;
    spec.mlp = flint_detail::mlp;
    spec.process_logits = flint_detail::process_logits;
    spec.family_keys = flint_detail::family_keys;
    spec.norm = norm_kind::rms_cast_last;
    spec.mask_policy = mask_kind::full_and_sliding;
    spec.defaults.vocab_size = 150144;
    spec.defaults.hidden_size = 2048;
    spec.defaults.intermediate_size = 6144;
    spec.defaults.num_hidden_layers = 49;
    spec.defaults.num_key_value_heads = 4;
    spec.defaults.head_dim = 128;
    spec.defaults.max_position_embeddings = 262144;
    spec.defaults.sliding_window = 513;
    spec.defaults.moe = {
        .num_experts = 256, .num_experts_per_tok = 6, .intermediate_size = 512, .norm_topk_prob = true};
    spec.config_keys.add("mlp_bias", key_rule::absent);
    return spec;
}(llama);

}  // namespace llmcost::arch
