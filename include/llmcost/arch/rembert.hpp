// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>

namespace llmcost::arch {

namespace rembert_detail {

enum family_config_index : std::uint8_t { output_width };

inline constexpr family_key family_keys[]{{"output_embedding_size", 1664}};

constexpr tensor embed(const layer_context& ctx, trace& t) {
    register_position_ids(ctx, t);
    return embed_in_module(ctx, t, sum_embeddings_in_place);
}

constexpr tensor encode(const layer_context& ctx, trace& t) {
    make_padding_mask(t);
    return forward_encoder_with(ctx, t, {.type = ctx.class_of("Encoder"), .mapping_in = "embedding_hidden_mapping_in"});
}

constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    return bert_layer_with_norms(ctx, t, x, {}, "SelfAttention");
}

/// Scores through a width of their own, tied to nothing.
constexpr tensor lm_head_logits(const layer_context& ctx, trace& t, const tensor_pair& out) {
    const module_info cls{.name = "cls", .class_of_module = ctx.class_of("OnlyMLMHead"), .module_role = role::head};
    const module_info predictions{.name = "predictions", .class_of_module = ctx.class_of("LMPredictionHead")};
    const std::int64_t width = ctx.config.family[output_width];
    t.enter(cls);
    t.enter(predictions);
    tensor h = t.call("dense", linear{ctx.config.hidden_size, width, true}, out.first);
    h = t.call("activation", activation_module{ctx.config.hidden_act}, h);
    h = t.call("LayerNorm", norm_module{norm_kind::layer, width}, h);
    return t.leave(cls, t.leave(predictions, t.call("decoder", linear{width, ctx.config.vocab_size, true}, h)));
}

constexpr tensor score(const layer_context& ctx, trace& t, const tensor_pair& out) {
    return forward_encoder_head(ctx, t, out, lm_head_logits, false);
}

inline constexpr head_set pooled{head_kind::none, head_kind::sequence_classification, head_kind::multiple_choice};

constexpr tensor forward(const layer_context& ctx, trace& t) { return forward_encoder_model(ctx, t, {score, pooled}); }

constexpr void parse_config(config_view json, model_config& config) {
    parse_decoding_encoder(json, config);
    config.embedding_size = json.positive("input_embedding_size", config.embedding_size);
    config.tie_word_embeddings = false;  // modeling_rembert.py names no tied weights
}

}  // namespace rembert_detail

inline constexpr dropout_key rembert_dropout[]{{dropout_position::hidden, "hidden_dropout_prob"},
                                               {dropout_position::attention, "attention_probs_dropout_prob"},
                                               {dropout_position::classifier, "classifier_dropout_prob", 0.1}};

// transformers/models/rembert: BERT with narrow embeddings and a wide language head
inline constexpr model_spec rembert = [](model_spec spec) {
    spec.model_type = "rembert";
    spec.class_prefix = "RemBert";
    spec.forward = rembert_detail::forward;
    spec.parse_config = rembert_detail::parse_config;
    spec.family_keys = rembert_detail::family_keys;
    spec.base_model = rembert_detail::encode;
    spec.embed_tokens = rembert_detail::embed;
    spec.decoder_layer = rembert_detail::decoder_layer;
    spec.attention = divided_attention;
    spec.supported_heads = {head_kind::none,
                            head_kind::causal_lm,
                            head_kind::masked_lm,
                            head_kind::sequence_classification,
                            head_kind::token_classification,
                            head_kind::question_answering,
                            head_kind::multiple_choice};
    spec.names.base_model = "rembert";
    spec.names.causal_lm_class = "ForCausalLM";
    spec.defaults.vocab_size = 250300;
    spec.defaults.hidden_size = 1152;
    spec.defaults.intermediate_size = 4608;
    spec.defaults.num_hidden_layers = 32;
    spec.defaults.num_attention_heads = 18;
    spec.defaults.embedding_size = 256;
    spec.defaults.tie_word_embeddings = false;
    spec.dropout_keys = rembert_dropout;
    return spec;
}(bert);

}  // namespace llmcost::arch
