// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/decoder.hpp>

namespace llmcost::arch {

namespace moshi_detail {

/// A linear layer in a wrapper module; the depth decoder has one per codebook instead.
struct wrapped_linear {
    std::int64_t in;
    std::int64_t out;
    class_name named;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const { return t.call("linear", linear{in, out}, x); }
};

/// A norm whose weight is cast to float32 first.
struct float_norm {
    std::int64_t width;
    class_name named;

    static constexpr role module_role = role::norm;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor weight = t.param("weight", {width});
        const tensor h = t.to(x, dtype::float32);
        const tensor out = t.mul(h, t.rsqrt(t.add_scalar(t.mean(t.pow(h, 2), -1, true))));
        return t.to(t.mul(out, t.to(weight, dtype::float32)), x.type);
    }
};
constexpr tensor normed_in_float(const layer_context& ctx, trace& t, literal name, const tensor& x) {
    return t.call(name, float_norm{ctx.config.hidden_size, ctx.class_of("RMSNorm")}, x);
}

constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor middle = t.add(x, mix_tokens(ctx, t, normed_in_float(ctx, t, "input_layernorm", x)));
    return t.add(middle, ctx.spec.mlp(ctx, t, normed_in_float(ctx, t, "post_attention_layernorm", middle)));
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const tensor x = ctx.spec.embed_tokens(ctx, t);
    return normed_in_float(ctx, t, "norm", forward_layers(ctx, t, ctx.spec.prepare_inputs(ctx, t), x));
}

/// Every layer makes rotary tables of its own.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const model_config& config = ctx.config;
    const std::int64_t width = config.hidden_size, d = config.head_dim, expanded_width = config.num_attention_heads * d;
    const std::int64_t kv_size = config.num_key_value_heads * d;
    const class_name named = ctx.class_of("Linear");
    query_key_value qkv;
    qkv.query = t.call("q_proj", wrapped_linear{width, expanded_width, named}, x);
    qkv.key = t.call("k_proj", wrapped_linear{width, kv_size, named}, x);
    qkv.value = t.call("v_proj", wrapped_linear{width, kv_size, named}, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    const rotary_table table{config.rotary_dim, ctx.class_of(ctx.spec.names.rotary_class), rotary_frequencies{config}};
    const auto tables = t.call(ctx.spec.names.rotary, table, t.load().sequence);
    for (tensor* const operand : {&qkv.query, &qkv.key})
        *operand = rotate(t, rotary_style::rotate_half, *operand, tables.first, tables.second);
    update_kv_cache(ctx, t, qkv);
    return t.call("o_proj", wrapped_linear{expanded_width, width, named}, scaled_dot_product_attention(ctx, t, qkv));
}

/// Gated MLP with gate and up fused in one projection, separated by an extra dimension.
constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
    const module_info block{.name = "mlp", .class_of_module = ctx.class_of("GatingMLP"), .module_role = role::mlp};
    t.enter(block);
    const tensor gate_up = t.call("fc1", linear{width, 2 * inner}, x).view({x.dim(0), x.dim(1), 2, inner});
    const tensor gate = t.call("activation_fn", activation_module{ctx.config.hidden_act}, t.select(gate_up, 2));
    return t.leave(block, t.call("fc2", linear{inner, width}, t.mul(gate, t.select(gate_up, 2))));
}

/// The vocabulary plus one additional token.
constexpr tensor embed(const layer_context& ctx, trace& t) {
    const embedding token_embedding{ctx.config.vocab_size + 1, ctx.config.hidden_size};
    return t.call("embed_tokens", token_embedding, shape{t.load().batch, t.load().sequence});
}

constexpr void parse_config(config_view json, model_config& config) {
    set_single_mask(json, config);
    if (config.hidden_size % config.num_attention_heads != 0)
        throw_invalid_value(json, "num_attention_heads", "a divisor of hidden_size");
    if (config.intermediate_size % 2 != 0) throw_invalid_value(json, "ffn_dim", "an even number");
    config.intermediate_size /= 2;
    config.tie_word_embeddings = false;  // the embedding table is longer than the head
}

}  // namespace moshi_detail

// transformers/models/moshi: configuration_moshi.py, modeling_moshi.py; the text decoder by itself
inline constexpr model_spec moshi = [](model_spec spec) {
    spec.model_type = "moshi";
    spec.class_prefix = "Moshi";
    spec.parse_config = moshi_detail::parse_config;
    spec.supported_heads = language_heads;
    spec.embed_tokens = moshi_detail::embed;
    spec.prepare_inputs = make_masks;
    spec.attention = moshi_detail::attention;
    spec.mlp = moshi_detail::mlp;
    spec.base_model = moshi_detail::base;
    spec.decoder_layer = moshi_detail::decoder_layer;
    spec.config_keys.add("intermediate_size", "ffn_dim", key_rule::family_name_only);
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.defaults.vocab_size = 32000;
    spec.defaults.hidden_size = 4096;
    spec.defaults.intermediate_size = 22528;
    spec.defaults.num_hidden_layers = 32;
    spec.defaults.num_attention_heads = 32;
    spec.defaults.max_position_embeddings = 3000;
    spec.defaults.sliding_window = 3000;
    return spec;
}(default_decoder);

}  // namespace llmcost::arch
