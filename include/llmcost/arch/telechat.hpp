// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

namespace telechat_detail {

/// Queries by a projection, keys and values by another.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t d = ctx.config.head_dim, kv_width = ctx.config.num_key_value_heads * d;
    const tensor q = project(ctx, t, "query", ctx.config.num_attention_heads * d, x);
    const tensor key_value = project(ctx, t, "key_value", 2 * kv_width, x);
    return output_projection(
        ctx, t, attention_from_qkv(ctx, t, {q, t.slice(key_value, -1, kv_width), t.slice(key_value, -1, kv_width)}));
}

/// A gated block whose last projection alone has a bias.
constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
    const module_info block{
        .name = ctx.spec.names.mlp, .class_of_module = ctx.class_of("MLP"), .module_role = role::mlp};
    t.enter(block);
    const tensor gate = activate(t, activation::silu, t.call("gate_proj", linear{width, inner}, x));
    const tensor h = t.mul(gate, t.call("up_proj", linear{width, inner}, x));
    return t.leave(block, t.call("down_proj", linear{inner, width, true}, h));
}

constexpr void parse_config(config_view json, model_config& config) {
    set_single_mask(json, config);
    config.output_bias = true;
    for (const literal key : {"apply_residual_connection_post_layernorm", "embed_layernorm"})
        if (json.boolean(key, false)) throw_unsupported(json, key, "unsupported position of a norm");
}

}  // namespace telechat_detail

// modeling_telechat.py of Tele-AI/telechat-7B, modeling_telechat2.py of TeleChat2-7B: Llama under BLOOM's names
inline constexpr model_spec telechat = [](model_spec spec) {
    spec.model_type = "telechat";
    spec.class_prefix = "Telechat";
    spec.is_remote_code = true;
    spec.parse_config = telechat_detail::parse_config;
    spec.dropout_keys = {};
    spec.attention = telechat_detail::attention;
    spec.mlp = telechat_detail::mlp;
    spec.supported_heads = language_heads;
    spec.names.base_model = "transformer";
    spec.names.embed_tokens = "word_embeddings";
    spec.names.layers = "h";
    spec.names.norm = "ln_f";
    spec.names.layer_class = "Block";
    spec.names.attention = "self_attention";
    spec.names.o_proj = "dense";
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.config_keys.add("num_hidden_layers", "n_layer", key_rule::family_name_first);
    spec.config_keys.add("num_attention_heads", "n_head", key_rule::family_name_first);
    spec.config_keys.add("intermediate_size", "ffn_hidden_size", key_rule::family_name_first);
    spec.config_keys.add("max_position_embeddings", "seq_length", key_rule::family_name_first);
    spec.defaults.vocab_size = 160256;
    spec.defaults.intermediate_size = 12288;
    spec.defaults.num_hidden_layers = 30;
    spec.defaults.max_position_embeddings = 8192;
    return spec;
}(llama);

}  // namespace llmcost::arch
