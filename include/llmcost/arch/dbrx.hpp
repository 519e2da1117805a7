// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/experts.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/decoder.hpp>

// DBRX. Derived from the default decoder, with these differences:
//  - one clamped projection for queries, keys and values;
//  - norms without biases.
//
// The backward assumes that every expert is active, or as many experts as tokens · k.
// Source: transformers/models/dbrx: configuration_dbrx.py, modeling_dbrx.py

namespace llmcost::arch {

namespace dbrx_detail {

enum family_config_index : std::uint8_t { normed_weights };
inline constexpr family_key family_keys[]{{.type = family_key_type::computed}};

constexpr norm_module norm_without_bias(const layer_context& ctx) {
    return norm_module{norm_kind::layer, ctx.config.hidden_size, {}, true, false};
}

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, kv_size = ctx.config.num_key_value_heads * ctx.config.head_dim;
    const tensor all = t.clamp(t.call("Wqkv", linear{width, width + 2 * kv_size}, x));
    query_key_value qkv{all.slice(-1, width), all.slice(-1, kv_size), all.slice(-1, kv_size)};
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    apply_rotary(ctx, t, qkv);
    update_kv_cache(ctx, t, qkv);
    return t.call("out_proj", linear{width, width}, scaled_dot_product_attention(ctx, t, qkv));
}

/// Experts whose matrices are stored contiguously, called one by one.
struct glu_experts : routed_experts_base {
    class_name inner_named;

    static constexpr bool is_leaf = false;
    constexpr tensor forward(trace& t, const tensor& inputs, const tensor& routing) const {
        const auto [x, weights] = adapt_inputs(t, inputs, routing);
        const recorder::fused_kernel_guard fused{t, make_fused_kernel(x.dim(0))};
        const std::int64_t picks = checked_product(x.dim(0), num_experts_per_tok);
        const std::int64_t hit = picks < num_experts ? picks : num_experts;
        const module_info mlp{.name = "mlp", .class_of_module = inner_named};
        const tensor rows = dispatch_tokens(t, t.split_sequentially(x, hit));
        t.enter(mlp);
        const shape sizes{num_experts * intermediate_size, hidden_size};
        const tensor w1 = param(t, "w1", sizes), v1 = param(t, "v1", sizes), w2 = param(t, "w2", sizes);
        const tensor gate = select_expert(t, w1, hit), up = select_expert(t, v1, hit), down = select_expert(t, w2, hit);
        tensor h = t.matmul(rows, gate.transpose(0, 1));
        const tensor up_projected = t.matmul(rows, up.transpose(0, 1));
        h = t.mul(t.call("activation_fn", activation_module{act}, h), up_projected);
        h = t.leave(mlp, t.matmul(h, down));
        return combine_expert_outputs(t, x, t.split_sequentially(weights, hit), h);
    }

private:
    /// Selects one expert's matrix. Every active expert selects its own.
    constexpr tensor select_expert(trace& t, const tensor& all, std::int64_t hit) const {
        return t.select_repeatedly(all.view({num_experts, intermediate_size, hidden_size}), 0, hit);
    }
};

/// L1 norm over each row. Its backward computes signs.
constexpr tensor absolute_norm(trace& t, const tensor& x) {
    tensor plain = x;
    plain.requires_grad = false;
    tensor out = t.vector_norm(plain, -1, true);
    if (!x.requires_grad) return out;
    t.save_for_backward(x);
    t.record_autograd_function(out, x);
    t.add_backward_cost({.mult = count(x.numel), .cmp = count(x.numel)});
    return out;
}

/// Router: selects the top-k softmax probabilities, optionally divided by their sum.
constexpr tensor route(const layer_context& ctx, trace& t, const tensor& x) {
    const moe_config& moe = ctx.config.moe;
    const module_info router{.name = "router", .class_of_module = ctx.class_of("Router"), .module_role = role::router};
    t.enter(router);
    const tensor logits =
        t.leave(router, t.call("layer", linear{x.dim(-1), moe.num_experts}, x.view({-1, ctx.config.hidden_size})));
    const tensor weights = t.topk(t.softmax(logits), moe.num_experts_per_tok);
    return ctx.config.family[normed_weights] != 0 ? t.div(weights, absolute_norm(t, weights)) : weights;
}

constexpr tensor sparse_moe_block(const layer_context& ctx, trace& t, const tensor& x) {
    const moe_config& moe = ctx.config.moe;
    const tensor weights = route(ctx, t, x);
    const tensor tokens = t.reshape(x, {-1, ctx.config.hidden_size});
    const routed_experts_base all{ctx.config.hidden_size,  moe.intermediate_size, moe.num_experts,
                                  moe.num_experts_per_tok, ctx.config.hidden_act, ctx.class_of("Experts")};
    const tensor out = t.call("experts", glu_experts{all, ctx.class_of("ExpertGLU")}, tokens, weights);
    return out.view({x.dim(0), x.dim(1), x.dim(2)});
}

constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const module_info norm_attn_norm{.name = "norm_attn_norm", .class_of_module = ctx.class_of("NormAttentionNorm")};
    t.enter(norm_attn_norm);
    const tensor a = mix_tokens(ctx, t, t.call("norm_1", norm_without_bias(ctx), x));
    const tensor middle = t.add(functional_dropout(t, a, dropout_position::hidden), x);
    const tensor h = t.leave(norm_attn_norm, t.call("norm_2", norm_without_bias(ctx), middle));
    return t.add(middle, functional_dropout(t, t.call("ffn", custom_moe_module{ctx, sparse_moe_block}, h),
                                            dropout_position::hidden));
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const tensor x = ctx.spec.embed_tokens(ctx, t);
    const decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    return t.call("norm_f", norm_without_bias(ctx), forward_layers(ctx, t, shared, x));
}

constexpr void parse_moe_config(config_view json, model_config& config) {
    config.moe.num_experts = json.positive("moe_num_experts", 4);
    config.moe.num_experts_per_tok = json.positive("moe_top_k", 1);
    config.moe.intermediate_size = json.positive("ffn_hidden_size", 3584);
    if (config.moe.num_experts_per_tok > config.moe.num_experts)
        throw_invalid_value(json, "moe_top_k", "at most the number of experts");
    (void)checked_size(json, "ffn_hidden_size", config.moe.num_experts, config.moe.intermediate_size);
    if (const auto act = json.optional_object("ffn_act_fn"))
        if (const auto name = act->optional_string("name")) config.hidden_act = activation_named(*act, "name", *name);
    const literal norm = "moe_normalize_expert_weights";
    const auto power = json.contains(norm) ? json.optional_real(norm) : maybe<double>{1.0};
    if (power && *power != 1) throw_unsupported(json, norm, "unsupported norm of the expert weights; expected 1");
    config.family[normed_weights] = power.has_value();
}

/// Parses `config.json`, which has separate objects for attention and experts.
constexpr void parse_config(config_view json, model_config& config) {
    const auto attention = json.optional_object("attn_config");
    // modeling_dbrx.py: `DbrxAttention.__init__` and `forward` require both
    if (!attention || !attention->contains("rope_theta"))
        throw_missing_key(json, "attn_config", "an object with rope_theta");
    if (!attention->optional_real("clip_qkv"))
        throw_missing_key(*attention, "clip_qkv", "a number, the limit of the reference's clamp");
    config.head_dim = config.rotary_dim = config.hidden_size / config.num_attention_heads;
    if (config.head_dim * config.num_attention_heads != config.hidden_size)
        throw_invalid_value(json, "n_heads", "a divisor of d_model");
    config.num_key_value_heads = attention->positive("kv_n_heads", 1);
    if (config.num_attention_heads % config.num_key_value_heads != 0)
        throw_invalid_value(*attention, "kv_n_heads", "a divisor of n_heads");
    if (config.tie_word_embeddings) throw_invalid_value(json, "tie_word_embeddings", "false");
    if (json.boolean("output_router_logits", false))
        throw_unsupported(json, "output_router_logits", "the load-balancing loss of this model type is not supported");
    set_rate(config.dropout_positions, dropout_position::attention, attention->real("attn_pdrop", 0));
    const auto ffn_config = json.optional_object("ffn_config");
    parse_moe_config(ffn_config ? *ffn_config : config_view{&detail::no_keys, 0}, config);
    set_single_mask(json, config);
    config.layers.fill({config.layers[0].token_mixer, true});
}

inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "resid_pdrop"}};

}  // namespace dbrx_detail

inline constexpr model_spec dbrx = [](model_spec spec) {
    spec.model_type = "dbrx";
    spec.class_prefix = "Dbrx";
    spec.parse_config = dbrx_detail::parse_config;
    spec.family_keys = dbrx_detail::family_keys;
    spec.base_model = dbrx_detail::base;
    spec.decoder_layer = dbrx_detail::decoder_layer;
    spec.attention = dbrx_detail::attention;
    spec.supported_heads = language_heads;
    spec.norm = norm_kind::layer;
    spec.names.base_model = "transformer";
    spec.names.embed_tokens = "wte";
    spec.names.layers = "blocks";
    spec.names.layer_class = "Block";
    spec.names.attention = "attn";
    spec.names.moe_class = "FFN";
    spec.config_keys.add("hidden_size", "d_model", key_rule::standard_name_first);
    spec.config_keys.add("num_attention_heads", "n_heads", key_rule::standard_name_first);
    spec.config_keys.add("num_hidden_layers", "n_layers", key_rule::standard_name_first);
    spec.config_keys.add("max_position_embeddings", "max_seq_len", key_rule::standard_name_first);
    spec.config_keys.add("head_dim", key_rule::absent);
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.config_keys.add("intermediate_size", key_rule::absent);
    spec.config_keys.add("hidden_act", key_rule::absent);
    spec.defaults.vocab_size = 32000;
    spec.defaults.hidden_size = 2048;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.max_position_embeddings = 2048;
    spec.dropout_keys = dbrx_detail::dropout_rates;
    return spec;
}(default_decoder);

}  // namespace llmcost::arch
