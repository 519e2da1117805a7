// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/decoder.hpp>

// CTRL. Derived from the default decoder, with sinusoidal positions and a head with a bias.
//
// Source: transformers/models/ctrl: configuration_ctrl.py, modeling_ctrl.py

namespace llmcost::arch {

namespace ctrl_detail {

/// Decoder layer. The class names of its modules have no prefix.
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
    const module_info attention{
        .name = "multi_head_attention", .class_of_module = {"", "MultiHeadAttention"}, .module_role = role::attn};
    const module_info block{.name = "ffn", .class_of_module = {"", "Sequential"}, .module_role = role::mlp};
    tensor h = apply_norm(ctx, t, "layernorm1", x);
    t.enter(attention);
    h = t.leave(attention, attention_without_rotary(ctx, t, h));
    const tensor middle = t.add(x, dropout(t, "dropout1", h));
    h = apply_norm(ctx, t, "layernorm2", middle);
    t.enter(block);
    h = t.call("1", activation_module{activation::relu}, t.call("0", linear{width, inner, true}, h));
    h = t.leave(block, t.call("2", linear{inner, width, true}, h));
    return t.add(middle, dropout(t, "dropout2", h));
}

/// Sums scaled embeddings (in place), sinusoidal positions and a zero instead of segment embeddings.
constexpr tensor embed(const layer_context& ctx, trace& t) {
    const workload& load = t.load();
    const std::int64_t max_positions = ctx.config.max_position_embeddings, width = ctx.config.hidden_size;
    tensor token_embeddings = embed_tokens(ctx, t);
    t.mul_(token_embeddings);
    t.check_positions(max_positions, load.past + load.sequence);
    t.register_buffer({max_positions, width}, dtype::float32);  // `pos_encoding`
    tensor table = trace::buffer({max_positions, width});
    table.type = token_embeddings.type;  // `self.pos_encoding.to(dtype=inputs_embeds.dtype)`
    const tensor places = t.gather(table, {1, load.sequence, width});
    return dropout(t, "dropout", t.add_scalar(t.add(token_embeddings, places)), dropout_position::embeddings);
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    tensor x = ctx.spec.embed_tokens(ctx, t);
    const decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, ctx.config.layers, x); layer_loop.next();) {
        const module_info model_info{.name = "h", .index = layer_loop.index(), .class_of_module = {"", "EncoderLayer"}};
        t.enter(model_info);
        x = t.leave(model_info, decoder_layer(ctx.for_layer(layer_loop, shared.for_layer(layer_loop.layer())), t, x));
    }
    return apply_norm(ctx, t, "layernorm", x);
}

constexpr void parse_config(config_view json, model_config& config) {
    set_single_mask(json, config);
    divide_by_heads(json, config, {"n_head", "num_attention_heads"});
}

inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "resid_pdrop", 0.1},
                                             {dropout_position::embeddings, "embd_pdrop", 0.1}};

}  // namespace ctrl_detail

inline constexpr model_spec ctrl = [](model_spec spec) {
    spec.model_type = "ctrl";
    spec.class_prefix = "CTRL";
    spec.parse_config = ctrl_detail::parse_config;
    spec.supported_heads = language_heads;
    spec.base_model = ctrl_detail::base;
    spec.embed_tokens = ctrl_detail::embed;
    spec.norm = norm_kind::layer;
    spec.rotary = rotary_style::none;
    spec.names.base_model = "transformer";
    spec.names.causal_lm_class = "LMHeadModel";
    spec.names.embed_tokens = "w";
    spec.names.q_proj = "Wq";
    spec.names.k_proj = "Wk";
    spec.names.v_proj = "Wv";
    spec.names.o_proj = "dense";
    spec.config_keys.add("hidden_size", "n_embd", key_rule::standard_name_first);
    spec.config_keys.add("max_position_embeddings", "n_positions", key_rule::standard_name_first);
    spec.config_keys.add("num_attention_heads", "n_head", key_rule::standard_name_first);
    spec.config_keys.add("num_hidden_layers", "n_layer", key_rule::standard_name_first);
    spec.config_keys.add("intermediate_size", "dff", key_rule::family_name_only);
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.defaults.vocab_size = 246534;
    spec.defaults.hidden_size = 1280;
    spec.defaults.intermediate_size = 8192;
    spec.defaults.num_hidden_layers = 48;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.max_position_embeddings = 256;
    spec.defaults.tie_word_embeddings = spec.defaults.head_bias = true;
    spec.defaults.attention_bias = true;
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.dropout_keys = ctrl_detail::dropout_rates;
    return spec;
}(default_decoder);

}  // namespace llmcost::arch
