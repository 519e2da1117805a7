// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/decoder.hpp>

// GPT-NeoX. Derived from the default decoder.
//
// Source: transformers/models/gpt_neox: configuration_gpt_neox.py, modeling_gpt_neox.py

namespace llmcost::arch {

namespace gpt_neox_detail {

/// Self-attention with partial RoPE, from a fused projection that is ordered by head.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, d = ctx.config.head_dim,
                       inner = ctx.config.num_attention_heads * d;
    const tensor fused = project(ctx, t, "query_key_value", 3 * inner, x);
    const tensor part = fused.view({x.dim(0), x.dim(1), -1, 3 * d}).transpose(1, 2).slice(-1, d);
    query_key_value qkv{part, part, part};
    apply_rotary(ctx, t, qkv);
    update_kv_cache(ctx, t, qkv);
    return t.call("dense", linear{inner, width, ctx.config.attention_bias}, scaled_dot_product_attention(ctx, t, qkv));
}

/// Decoder layer. The MLP has its own norm. Its input is the layer input (parallel) or the attention's sum
/// (sequential).
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const auto mlp = [&](const tensor& h) {
        const tensor mlp_input = apply_norm(ctx, t, "post_attention_layernorm", h);
        return dropout(t, "post_mlp_dropout", ctx.spec.mlp(ctx, t, mlp_input));
    };
    tensor a = mix_tokens(ctx, t, apply_norm(ctx, t, "input_layernorm", x));
    a = dropout(t, "post_attention_dropout", a);
    if (ctx.config.parallel_residual) return t.add(t.add(mlp(x), a), x);
    a = t.add(a, x);
    return t.add(mlp(a), a);
}

constexpr tensor embed(const layer_context& ctx, trace& t) { return dropout(t, "emb_dropout", embed_tokens(ctx, t)); }

/// Parses `config.json`. The rotary part of a head is `partial_rotary_factor`, else `rotary_pct`, else a quarter.
constexpr void parse_config(config_view json, model_config& config) {
    set_single_mask(json, config);
    const std::int64_t width = config.head_dim;  // only the rotary tables use `head_dim`
    divide_by_heads(json, config, {"num_attention_heads"});
    const auto rope = detail::rope_parameters(json);
    const bool stated = rope && rope->contains("partial_rotary_factor");
    const config_view place = stated ? *rope : json;
    const literal key = stated ? "partial_rotary_factor" : "rotary_pct";
    const double factor = detail::has_rope_type(json, "proportional") ? 1 : place.real(key, 0.25);
    if (!(factor > 0 && factor <= 1)) throw_invalid_value(place, key, "a fraction of a head above 0 and at most 1");
    config.rotary_dim = round_rotary_dim(width, factor);
    if (config.rotary_dim == 0)
        throw_invalid_value(place, key, "a fraction of a head with at least one rotary element");
    config.attention_bias = json.boolean("attention_bias", true);
    config.mlp_bias = true;
    config.parallel_residual = json.boolean("use_parallel_residual", true);
}

inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "hidden_dropout"},
                                             {dropout_position::attention, "attention_dropout"},
                                             {dropout_position::classifier, "classifier_dropout", 0.1}};

}  // namespace gpt_neox_detail

inline constexpr model_spec gpt_neox = [](model_spec spec) {
    spec.model_type = "gpt_neox";
    spec.class_prefix = "GPTNeoX";
    spec.parse_config = gpt_neox_detail::parse_config;
    spec.embed_tokens = gpt_neox_detail::embed;
    spec.decoder_layer = gpt_neox_detail::decoder_layer;
    spec.attention = gpt_neox_detail::attention;
    spec.norm = norm_kind::layer;
    spec.dense_mlp = mlp_kind::plain;
    spec.has_partial_rotary = true;
    spec.supported_heads = answering_decoder_heads;
    spec.names.base_model = spec.names.base_model_for_question_answering = "gpt_neox";
    spec.names.token_classifier = "classifier";
    spec.names.embed_tokens = "embed_in";
    spec.names.norm = "final_layer_norm";
    spec.names.attention = "attention";
    spec.names.layer_class = "Layer";
    spec.names.mlp_modules = {.up = "dense_h_to_4h", .down = "dense_4h_to_h", .act = "act"};
    spec.defaults.vocab_size = 50432;
    spec.defaults.hidden_size = 6144;
    spec.defaults.intermediate_size = 24576;
    spec.defaults.num_hidden_layers = 44;
    spec.defaults.num_attention_heads = 64;
    spec.defaults.max_position_embeddings = 2048;
    spec.defaults.hidden_act = activation::gelu;
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.dropout_keys = gpt_neox_detail::dropout_rates;
    return spec;
}(default_decoder);

}  // namespace llmcost::arch
