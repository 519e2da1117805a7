// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/experts.hpp>

// Doge. Derived from Llama, with these differences:
//  - a dynamic mask computed from the values;
//  - learned scales of the residuals;
//  - experts selected by pairs of keys.
//
// Source: transformers/models/doge

namespace llmcost::arch {

namespace doge_detail {

enum family_config_index : std::uint8_t { keeps_keys, retrieves_experts };
inline constexpr family_key family_keys[]{
    {"keep_window_size", 2048},               // maximum keys per query: those with the largest mask values
    {"is_moe", 0, family_key_type::boolean},  // 1 = experts stored in two tables, in addition to the MLP
};

/// Dynamic mask computed from the values. Masked keys are filled, as are all but the largest if there are too many.
constexpr tensor dynamic_mask(const layer_context& ctx, trace& t, const tensor& of_keys) {
    const std::int64_t sequence = ctx.inputs->pattern.query_length, length = of_keys.dim(2),
                       keep_window_size = ctx.config.family[keeps_keys];
    const tensor expanded = of_keys.unsqueeze(2).expand({of_keys.dim(0), of_keys.dim(1), sequence, length});
    tensor mask = t.masked_fill(expanded);
    t.add_region_edge(workload_axis::total, keep_window_size + 1);
    const std::int64_t window =
        ctx.inputs->pattern.window;  // with a full cache, there are this many more keys than new tokens
    if (window > 0 && keep_window_size + 2 > window)
        t.add_region_edge(workload_axis::sequence, keep_window_size + 2 - window);
    if (length <= keep_window_size) return mask;
    const tensor none = t.zeros_like(mask);
    {
        const recorder::detach_guard indices{t};
        (void)t.topk(mask, keep_window_size);
    }
    (void)t.scatter(none);
    return t.masked_fill(mask);
}

/// Self-attention with a key mask computed from the values: exp(A · softplus(values · weight)).
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t heads = ctx.config.num_attention_heads, groups = ctx.config.num_key_value_heads;
    const std::int64_t d = ctx.config.head_dim, batch = x.dim(0);
    const tensor a = t.param("A", {groups});
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    apply_qk_norm(ctx, t, qkv, d, d);
    transpose_heads(qkv);
    apply_rotary(ctx, t, qkv);
    update_kv_cache(ctx, t, qkv);
    const tensor values = t.reshape(qkv.value.transpose(1, 2), {batch, qkv.value.dim(2), -1});
    const tensor steps = t.call("dt_proj", linear{groups * d, groups, ctx.config.attention_bias}, values);
    const tensor of_keys = t.exp(t.mul(a, t.softplus(steps))).transpose(-1, -2);
    const tensor mask = repeat_kv(t, dynamic_mask(ctx, t, of_keys), heads / groups);
    const tensor found = attention_forward(t, qkv.query, qkv.key, qkv.value, ctx.inputs->pattern, {.mask = &mask});
    return output_projection(ctx, t, t.contiguous(t.reshape(found, {batch, x.dim(1), -1})));
}

/// A table of experts, one row each. Every token selects k of them: (tokens, k, width).
struct expert_rows {
    const moe_config& moe;
    std::int64_t width;

    static constexpr role module_role = role::experts;
    static constexpr bool is_leaf = true;
    [[nodiscard]] static constexpr class_name type_name() { return {"", "Embedding"}; }
    constexpr tensor forward(trace& t, std::int64_t tokens) const {
        const tensor table = t.param("weight", {moe.num_experts, width}, moe.num_experts_per_tok, moe.num_experts);
        return t.gather(table, {tokens, moe.num_experts_per_tok, width});
    }
};

/// An MLP and experts of one feature each. The score of an expert is the sum of two logits.
struct retrieval {
    layer_context ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("CDMoE"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const moe_config& moe = ctx.config.moe;
        const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
        const std::int64_t tokens = x.dim(0) * x.dim(1), sides = moe.n_group;
        const activation_module act{ctx.config.hidden_act};
        const tensor logits = t.call("router_gate", linear{width, 2 * sides}, x).view({2, tokens, sides});
        const tensor top_scores = t.topk(logits, sides);
        const tensor sums = t.add(top_scores.select(0).unsqueeze(-1), top_scores.select(0).unsqueeze(-2));
        tensor weights = t.softmax(t.topk(sums.view({tokens, sides * sides}), moe.num_experts_per_tok));
        if (moe.norm_topk_prob) t.div_(weights, t.sum(weights, -1, true));
        const tensor down = t.call("down_embed", expert_rows{moe, width}, tokens);
        const tensor up = t.call("up_embed", expert_rows{moe, width}, tokens);
        const tensor found = t.matmul(down, x.view({tokens, width, 1})).view({tokens, moe.num_experts_per_tok});
        const tensor scaled = t.mul(t.call("act_fn", act, found), weights).view({tokens, 1, moe.num_experts_per_tok});
        const tensor routed = t.matmul(scaled, up).view({x.dim(0), x.dim(1), width});
        const tensor gate = t.call("act_fn", act, t.call("gate_proj", linear{width, inner, ctx.config.mlp_bias}, x));
        const tensor expanded = t.mul(gate, t.call("up_proj", linear{width, inner, ctx.config.mlp_bias}, x));
        return t.add(t.call("down_proj", linear{inner, width, ctx.config.mlp_bias}, expanded), routed);
    }
};

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    return ctx.config.family[retrieves_experts] != 0 ? t.call("mlp", retrieval{ctx}, x) : default_mlp(ctx, t, x);
}

/// Decoder layer. The residual is scaled element by element.
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor input_residual = t.param("input_residual", {ctx.config.hidden_size});
    const tensor later = t.param("post_attention_residual", {ctx.config.hidden_size});
    tensor h = mix_tokens(ctx, t, apply_norm(ctx, t, "input_layernorm", x));
    h = functional_dropout(t, h, dropout_position::hidden);
    const tensor middle = t.add(t.mul(input_residual, x), h);
    h = ctx.spec.mlp(ctx, t, apply_norm(ctx, t, "post_attention_layernorm", middle));
    h = functional_dropout(t, h, dropout_position::hidden);
    return t.add(t.mul(later, middle), h);
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_window(json, config);
    if (config.family[retrieves_experts] == 0) return;
    if (json.boolean("output_router_logits", false))
        throw_unsupported(json, "output_router_logits", "the load-balancing loss of this model type is not supported");
    config.moe.num_experts = json.positive("num_experts", 16384);
    config.moe.num_experts_per_tok = json.positive("num_experts_per_tok", 64);
    config.moe.norm_topk_prob = json.boolean("norm_topk_prob", false);
    config.moe.n_group = 1;  // keys per side: floor(sqrt(num_experts))
    while ((config.moe.n_group + 1) * (config.moe.n_group + 1) <= config.moe.num_experts) ++config.moe.n_group;
    if (config.moe.num_experts_per_tok > config.moe.n_group * config.moe.n_group)
        throw_invalid_value(json, "num_experts_per_tok", "at most the number of pairs of keys");
}

inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "hidden_dropout"},
                                             {dropout_position::attention, "attention_dropout"}};

}  // namespace doge_detail

inline constexpr model_spec doge = [](model_spec spec) {
    spec.supported_heads = classifying_decoder_heads;
    spec.model_type = "doge";
    spec.class_prefix = "Doge";
    spec.parse_config = doge_detail::parse_config;
    spec.family_keys = doge_detail::family_keys;
    spec.decoder_layer = doge_detail::decoder_layer;
    spec.attention = doge_detail::attention;
    spec.mlp = doge_detail::mlp;
    spec.defaults.vocab_size = 32768;
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 2048;
    spec.defaults.num_attention_heads = 8;
    spec.dropout_keys = doge_detail::dropout_rates;
    return spec;
}(llama);

}  // namespace llmcost::arch
