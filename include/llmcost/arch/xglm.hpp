// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/batched_attention.hpp>
#include <llmcost/forward/decoder.hpp>
#include <llmcost/forward/inline_mlp.hpp>
#include <llmcost/forward/sinusoidal_positions.hpp>

namespace llmcost::arch {

namespace xglm_detail {

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    return batched_attention(ctx, t, x, true);
}

constexpr tensor embed(const layer_context& ctx, trace& t) {
    const workload& load = t.load();
    const std::int64_t max_positions = ctx.config.max_position_embeddings, width = ctx.config.hidden_size;
    const tensor token_embeddings = scaled_embedding(ctx, t);
    t.check_positions(max_positions, load.past + load.sequence);
    const sinusoidal_positions table{max_positions + 2, width, ctx.class_of("SinusoidalPositionalEmbedding")};
    const tensor x = t.add(token_embeddings, t.call("embed_positions", table, std::int64_t{1}, load.sequence));
    return functional_dropout(t, x, dropout_position::hidden);
}

constexpr void parse_config(config_view json, model_config& config) {
    set_single_mask(json, config);
    divide_by_heads(json, config, {"attention_heads", "num_attention_heads"});
    if (json.boolean("add_cross_attention", false))
        throw_unsupported(json, "add_cross_attention", "cross-attention is not supported by this model type");
}

inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "dropout", 0.1},
                                             {dropout_position::attention, "attention_dropout", 0.1},
                                             {dropout_position::mlp, "activation_dropout"},
                                             {dropout_position::stochastic, "layerdrop"}};

}  // namespace xglm_detail

// transformers/models/xglm: configuration_xglm.py, modeling_xglm.py; scaled embeddings, sinusoidal positions
inline constexpr model_spec xglm = [](model_spec spec) {
    spec.model_type = "xglm";
    spec.class_prefix = "XGLM";
    spec.parse_config = xglm_detail::parse_config;
    spec.supported_heads = language_heads;
    spec.embed_tokens = xglm_detail::embed;
    spec.decoder_layer = inline_mlp_layer;
    spec.attention = xglm_detail::attention;
    spec.norm = norm_kind::layer;
    spec.rotary = rotary_style::none;
    spec.names.norm = "layer_norm";
    spec.names.o_proj = "out_proj";
    spec.names.embedding_class = "ScaledWordEmbedding";
    spec.config_keys.add("hidden_size", "d_model", key_rule::standard_name_first);
    spec.config_keys.add("num_attention_heads", "attention_heads", key_rule::standard_name_first);
    spec.config_keys.add("num_hidden_layers", "num_layers", key_rule::standard_name_first);
    spec.config_keys.add("intermediate_size", "ffn_dim", key_rule::family_name_only);
    spec.config_keys.add("hidden_act", "activation_function", key_rule::family_name_only);
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.defaults.vocab_size = 256008;
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 4096;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.max_position_embeddings = 2048;
    spec.defaults.hidden_act = activation::gelu;
    spec.defaults.tie_word_embeddings = true;
    spec.defaults.attention_bias = spec.defaults.output_bias = true;
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.dropout_keys = xglm_detail::dropout_rates;
    return spec;
}(default_decoder);

}  // namespace llmcost::arch
