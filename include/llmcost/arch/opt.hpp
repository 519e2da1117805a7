// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/decoder.hpp>
#include <llmcost/forward/inline_mlp.hpp>
#include <llmcost/forward/opt_decoder.hpp>

namespace llmcost::arch {

namespace opt_detail {

/// Queries are scaled before they meet keys, and scores again.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size;
    query_key_value qkv = project_qkv(ctx, t, x);
    qkv.query = t.mul_scalar(qkv.query);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    update_kv_cache(ctx, t, qkv);
    const tensor heads = scaled_dot_product_attention(ctx, t, qkv);
    return t.call("out_proj", linear{heads.dim(-1), width, ctx.config.attention_bias}, heads);
}

/// Attention and feed-forward block, the latter over rows of tokens.
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const model_config& config = ctx.config;
    const std::int64_t width = config.hidden_size, inner = config.intermediate_size;
    const bool is_post_norm = config.family[opt_decoder::norms_after_sums] != 0;
    tensor h = is_post_norm ? x : opt_decoder::call_layer_norm(ctx, t, "self_attn_layer_norm", x);
    h = t.add(x, functional_dropout(t, mix_tokens(ctx, t, h), dropout_position::hidden));
    if (is_post_norm) h = opt_decoder::call_layer_norm(ctx, t, "self_attn_layer_norm", h);
    const tensor rows = t.reshape(h, {-1, width});
    h = is_post_norm ? rows : opt_decoder::call_layer_norm(ctx, t, "final_layer_norm", rows);
    h = t.call("fc1", mlp_child<linear>{{width, inner, config.mlp_bias}}, h);
    h = t.call("activation_fn", mlp_child<activation_module>{{config.hidden_act}}, h);
    h = t.call("fc2", last_mlp_child<linear>{{inner, width, config.mlp_bias}}, h);
    h = t.add(rows, functional_dropout(t, h, dropout_position::hidden)).view({x.dim(0), x.dim(1), width});
    return is_post_norm ? opt_decoder::call_layer_norm(ctx, t, "final_layer_norm", h) : h;
}

constexpr tensor decoder(const layer_context& ctx, trace& t) {
    return opt_decoder::decode(ctx, t, opt_decoder::embed_input_ids(ctx, t));
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_in_module({.name = "decoder", .class_of_module = ctx.class_of("Decoder")}, decoder, ctx, t);
}

constexpr void parse_config(config_view json, model_config& config) {
    set_single_mask(json, config);
    divide_by_heads(json, config, {"num_attention_heads"});
    config.embedding_size = json.positive("word_embed_proj_dim", config.hidden_size);
    config.attention_bias = config.output_bias = config.mlp_bias = json.boolean("enable_bias", true);
    config.family[opt_decoder::norms_after_sums] = !json.boolean("do_layer_norm_before", true);
    config.family[opt_decoder::final_norm] =
        config.family[opt_decoder::norms_after_sums] == 0 && !json.boolean("_remove_final_layer_norm", false);
}

inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "dropout", 0.1},
                                             {dropout_position::attention, "attention_dropout"},
                                             {dropout_position::stochastic, "layerdrop"}};

}  // namespace opt_detail

// transformers/models/opt: configuration_opt.py, modeling_opt.py; learned positions, scaled queries
inline constexpr model_spec opt = [](model_spec spec) {
    spec.model_type = "opt";
    spec.class_prefix = "OPT";
    spec.parse_config = opt_detail::parse_config;
    spec.family_keys = opt_decoder::family_keys;
    spec.dropout_keys = opt_detail::dropout_rates;
    spec.base_model = opt_detail::base;
    spec.decoder_layer = opt_detail::decoder_layer;
    spec.attention = opt_detail::attention;
    spec.rotary = rotary_style::none;
    spec.supported_heads = {head_kind::none, head_kind::causal_lm, head_kind::sequence_classification,
                            head_kind::question_answering};
    spec.config_keys.add("intermediate_size", "ffn_dim", key_rule::family_name_only);
    spec.config_keys.add("hidden_act", "activation_function", key_rule::family_name_only);
    spec.defaults.vocab_size = 50272;
    spec.defaults.hidden_size = 768;
    spec.defaults.intermediate_size = 3072;
    spec.defaults.num_hidden_layers = 12;
    spec.defaults.num_attention_heads = 12;
    spec.defaults.max_position_embeddings = 2048;
    spec.defaults.hidden_act = activation::relu;
    spec.defaults.tie_word_embeddings = true;
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    return spec;
}(default_decoder);

}  // namespace llmcost::arch
