// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/encoder.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/encoder_model.hpp>

// DistilBERT. Derived from the shared encoder, without segment embeddings and without a pooler.
//
// Source: transformers/models/distilbert

namespace llmcost::arch {

namespace distilbert_detail {

constexpr tensor embed(const layer_context& ctx, trace& t) {
    return forward_in_module(
        {.name = "embeddings", .class_of_module = {"", "Embeddings"}, .module_role = role::embedding},
        sum_embeddings_without_segments, ctx, t);
}

constexpr tensor encode(const layer_context& ctx, trace& t) {
    return forward_encoder_with(
        ctx, t, {.type = {"", "Transformer"}, .name = "transformer", .layer = {"", "TransformerBlock"}});
}

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size;
    const tensor mixed =
        bidirectional_attention(t, x, width, ctx.config.num_attention_heads, true, {"q_lin", "k_lin", "v_lin"}, false,
                                bert_layers::bidirectional_pattern_of(ctx));
    return t.call("out_lin", linear{width, width, true}, mixed);
}

constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size;
    const norm_module norms{norm_kind::layer, width};
    const tensor a = t.call("sa_layer_norm", norms, t.add(attention_token_mixer(ctx, t, x), x));
    const module_info ffn{.name = "ffn", .class_of_module = {"", "FFN"}, .module_role = role::mlp};
    t.enter(ffn);
    tensor h = t.call("lin1", linear{width, ctx.config.intermediate_size, true}, a);
    h = t.call("activation", activation_module{ctx.config.hidden_act}, h);
    h = dropout(t, "dropout", t.call("lin2", linear{ctx.config.intermediate_size, width, true}, h));
    return t.call("output_layer_norm", norms, t.add(t.leave(ffn, h), a));
}

constexpr tensor lm_head_logits(const layer_context& ctx, trace& t, const tensor_pair& out) {
    const std::int64_t width = ctx.config.hidden_size;
    tensor h = t.call("vocab_transform", linear{width, width, true}, out.first);
    h = t.call("activation", activation_module{ctx.config.hidden_act}, h);
    h = t.call("vocab_layer_norm", norm_module{norm_kind::layer, width}, h);
    const linear lm_head{width, ctx.config.vocab_size, true, ctx.config.tie_word_embeddings};
    return t.call("vocab_projector", head_linear{lm_head}, h);
}

/// A dense layer over the first state, followed by the classifier.
constexpr tensor pool(const layer_context& ctx, trace& t, const tensor& x) {
    const linear dense{ctx.config.hidden_size, ctx.config.hidden_size, true};
    return t.relu(t.call("pre_classifier", dense, t.select(x, 1)));
}

constexpr tensor score(const layer_context& ctx, trace& t, const tensor_pair& out) {
    const head_kind head = ctx.config.head;
    if (head == head_kind::question_answering)
        return question_answering_logits(t, dropout(t, "dropout", out.first, dropout_position::question_answering));
    if (head == head_kind::token_classification) {
        const linear labels{ctx.config.hidden_size, ctx.config.num_labels, true};
        return t.call("classifier", head_linear{labels}, dropout(t, "dropout", out.first));
    }
    const bool pools = head == head_kind::sequence_classification || head == head_kind::multiple_choice;
    return forward_encoder_head(ctx, t, {out.first, pools ? pool(ctx, t, out.first) : tensor{}}, lm_head_logits);
}

constexpr tensor forward(const layer_context& ctx, trace& t) { return forward_encoder_model(ctx, t, {.score = score}); }

inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "dropout", 0.1},
                                             {dropout_position::attention, "attention_dropout", 0.1},
                                             {dropout_position::classifier, "seq_classif_dropout", 0.2},
                                             {dropout_position::question_answering, "qa_dropout", 0.1}};

}  // namespace distilbert_detail

inline constexpr model_spec distilbert = [](model_spec spec) {
    spec.model_type = "distilbert";
    spec.class_prefix = "DistilBert";
    spec.forward = distilbert_detail::forward;
    spec.parse_config = parse_encoder_only;
    spec.base_model = distilbert_detail::encode;
    spec.embed_tokens = distilbert_detail::embed;
    spec.decoder_layer = distilbert_detail::decoder_layer;
    spec.attention = distilbert_detail::attention;
    spec.token_mixer = attention_token_mixer;
    spec.supported_heads = {head_kind::none,
                            head_kind::masked_lm,
                            head_kind::sequence_classification,
                            head_kind::token_classification,
                            head_kind::question_answering,
                            head_kind::multiple_choice};
    spec.names.base_model = "distilbert";
    spec.names.attention = "attention";
    spec.names.attention_class = "SelfAttention";
    spec.config_keys.add("hidden_size", "dim", key_rule::standard_name_first);
    spec.config_keys.add("num_attention_heads", "n_heads", key_rule::standard_name_first);
    spec.config_keys.add("num_hidden_layers", "n_layers", key_rule::standard_name_first);
    spec.config_keys.add("intermediate_size", "hidden_dim", key_rule::family_name_only);
    spec.config_keys.add("hidden_act", "activation", key_rule::family_name_only);
    spec.defaults.vocab_size = 30522;
    spec.defaults.hidden_size = 768;
    spec.defaults.intermediate_size = 3072;
    spec.defaults.num_hidden_layers = 6;
    spec.defaults.num_attention_heads = 12;
    spec.defaults.max_position_embeddings = 512;
    spec.defaults.hidden_act = activation::gelu;
    spec.defaults.head = head_kind::masked_lm;
    spec.defaults.tie_word_embeddings = true;
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.dropout_keys = distilbert_detail::dropout_rates;
    return spec;
}(shared_encoder);

}  // namespace llmcost::arch
