// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/decoder.hpp>
#include <llmcost/forward/inline_mlp.hpp>

// BioGPT. Derived from the default decoder, with scaled embeddings and learned positions.
//
// Source: transformers/models/biogpt: configuration_biogpt.py, modeling_biogpt.py

namespace llmcost::arch {

namespace biogpt_detail {

/// Embeds tokens with learned positions, from the third entry of the position table. The mask of ones is otherwise
/// unused.
constexpr tensor embed(const layer_context& ctx, trace& t) {
    const workload& load = t.load();
    const std::int64_t max_positions = ctx.config.max_position_embeddings, num_positions = load.past + load.sequence;
    const tensor token_embeddings = scaled_embedding(ctx, t);
    (void)t.full({load.batch, num_positions});
    t.check_positions(max_positions, num_positions);
    const embedding table{.num_embeddings = max_positions + 2,
                          .embedding_dim = ctx.config.hidden_size,
                          .named = ctx.class_of("LearnedPositionalEmbedding")};
    return functional_dropout(t, t.add(token_embeddings, t.call("embed_positions", table, shape{1, load.sequence})),
                              dropout_position::hidden);
}

constexpr void parse_config(config_view json, model_config& config) {
    set_single_mask(json, config);
    divide_by_heads(json, config, {"num_attention_heads"});
}

inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "hidden_dropout_prob", 0.1},
                                             {dropout_position::attention, "attention_probs_dropout_prob", 0.1},
                                             {dropout_position::mlp, "activation_dropout"},
                                             {dropout_position::classifier, "hidden_dropout", 0.1},
                                             {dropout_position::classifier, "classifier_dropout", same_as_previous},
                                             {dropout_position::stochastic, "layerdrop"}};

}  // namespace biogpt_detail

inline constexpr model_spec biogpt = [](model_spec spec) {
    spec.model_type = "biogpt";
    spec.class_prefix = "BioGpt";
    spec.parse_config = biogpt_detail::parse_config;
    spec.supported_heads = decoder_heads;
    spec.embed_tokens = biogpt_detail::embed;
    spec.decoder_layer = inline_mlp_layer;
    spec.attention = attention_without_rotary;
    spec.norm = norm_kind::layer;
    spec.rotary = rotary_style::none;
    spec.names.base_model = "biogpt";
    spec.names.lm_head = "output_projection";
    spec.names.norm = "layer_norm";
    spec.names.token_classifier = "classifier";
    spec.names.o_proj = "out_proj";
    spec.names.embedding_class = "ScaledWordEmbedding";
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.defaults.vocab_size = 42384;
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 4096;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.max_position_embeddings = 1024;
    spec.defaults.hidden_act = activation::gelu;
    spec.defaults.tie_word_embeddings = true;
    spec.defaults.attention_bias = true;
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.dropout_keys = biogpt_detail::dropout_rates;
    return spec;
}(default_decoder);

}  // namespace llmcost::arch
