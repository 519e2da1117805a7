// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/forward/attention.hpp>
#include <llmcost/forward/layers.hpp>
#include <llmcost/forward/masks_and_rotary.hpp>
#include <llmcost/forward/mlp.hpp>
#include <llmcost/layers/heads.hpp>
#include <llmcost/layers/linear.hpp>

// The default decoder. It calls the functions of a model spec.
//
// Shapes: B = batch, S = sequence (new tokens).
namespace llmcost {

/// Token embeddings: (B, S) -> (B, S, hidden).
constexpr tensor embed_tokens(const layer_context& ctx, trace& t) {
    const workload& load = t.load();
    return t.call(ctx.spec.names.embed_tokens, embedding{ctx.config.vocab_size, ctx.config.hidden_size},
                  shape{load.batch, load.sequence});
}
/// Token embeddings times a constant: (B, S) -> (B, S, hidden).
constexpr tensor embed_tokens_scaled(const layer_context& ctx, trace& t) { return t.mul_scalar(embed_tokens(ctx, t)); }
/// Token embeddings times a constant, with the product in the family's embedding module: (B, S) -> (B, S, hidden).
constexpr tensor scaled_embedding(const layer_context& ctx, trace& t) {
    const workload& load = t.load();
    const embedding token_embedding{ctx.config.vocab_size, ctx.config.hidden_size, true,
                                    ctx.class_of(ctx.spec.names.embedding_class)};
    return t.call(ctx.spec.names.embed_tokens, token_embedding, shape{load.batch, load.sequence});
}
/// Token embeddings times a constant that is a buffer of the family's embedding module: (B, S) -> (B, S, hidden).
constexpr tensor scaled_embedding_with_buffer(const layer_context& ctx, trace& t) {
    t.register_buffer(count(bits_of(t.activation_type()) / 8));
    return scaled_embedding(ctx, t);
}

/// Calls all layers: (B, S, hidden) -> (B, S, hidden). Each layer uses the inputs of its kind of attention.
constexpr tensor forward_layers(const layer_context& ctx, trace& t, const decoder_inputs& shared, tensor x) {
    t.record_module_input(x);  // the variable `inputs_embeds` of the model's forward
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, ctx.config.layers, x); layer_loop.next();)
        x = t.call({ctx.spec.names.layers, layer_loop.index()},
                   decoder_layer{ctx.for_layer(layer_loop, shared.for_layer(layer_loop.layer()))}, x);
    return x;
}

/// The base model: embedding, masks, rotary tables, layers, final norm. Returns (B, S, hidden).
constexpr tensor forward_base_model(const layer_context& ctx, trace& t) {
    const tensor x = ctx.spec.embed_tokens(ctx, t);
    const decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    return apply_norm(ctx, t, ctx.spec.names.norm, forward_layers(ctx, t, shared, x));
}

/// Hidden states of the positions with logits: all, or the last one.
constexpr tensor logits_to_keep(trace& t, const tensor& x) {
    return t.load().head == logits::last ? t.slice(x, 1, 1) : x;
}

/// Logits times a constant.
constexpr tensor scale_logits(const layer_context&, trace& t, const tensor& logits) { return t.mul_scalar(logits); }
/// Logits divided by a constant.
constexpr tensor divide_logits_by_scale(const layer_context&, trace& t, const tensor& logits) {
    return t.div_scalar(logits);
}

/// Logits of the language model head for the positions of the workload: (B, S, hidden) -> (B, S, vocab).
constexpr tensor lm_head_logits(const layer_context& ctx, trace& t, const tensor& x) {
    const model_config& config = ctx.config;
    const linear head{x.dim(-1), config.vocab_size, config.head_bias, config.tie_word_embeddings};
    tensor out = [&] {
        const bool is_float32 = ctx.spec.has_float32_lm_head && t.load().keeps_float32_parameters;
        if (!is_float32) return t.call(ctx.spec.names.lm_head, head_linear{head}, logits_to_keep(t, x));
        const trace::float32_parameters_guard typed{t};
        return t.call(ctx.spec.names.lm_head, head_linear{head}, t.to(logits_to_keep(t, x), dtype::float32));
    }();
    if (ctx.spec.process_logits != nullptr) out = ctx.spec.process_logits(ctx, t, out);
    if (config.logits_soft_cap) out = t.mul_scalar(t.tanh(t.div_scalar(out)));
    const recorder::detach_guard unread{t};  // the load-balancing loss requires labels
    if (config.moe.has_load_balancing_loss)
        load_balancing_loss(t, config.layers.num_layers_with_experts(config.num_hidden_layers), x.dim(0) * x.dim(1),
                            config.moe);
    return out;
}

/// Logits of the head of a decoder: (B, S, hidden) -> (B, S, vocab), (B, labels) or (B, S, labels).
///
/// Source: transformers/modeling_layers.py, `GenericForSequenceClassification` and similar classes.
constexpr tensor forward_head(const layer_context& ctx, trace& t, const tensor& x) {
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    const std::int64_t labels = ctx.config.num_labels;
    switch (ctx.config.head) {
        case head_kind::sequence_classification: {
            const tensor all = t.call("score", head_linear{{x.dim(-1), labels, false}}, x);
            return t.gather(all, {x.dim(0), labels});
        }
        case head_kind::token_classification:
            return t.call(ctx.spec.names.token_classifier, head_linear{{x.dim(-1), labels, true}},
                          dropout(t, "dropout", x, dropout_position::classifier));
        case head_kind::question_answering: return question_answering_logits(t, x);
        default: return lm_head_logits(ctx, t, x);
    }
}

/// Multi-token prediction modules of the model or, in a composite model, of its text model, if enabled.
///
/// Throws: `description_error` if the model spec has none.
constexpr void forward_multi_token_prediction(const layer_context& ctx, trace& t, const tensor& x) {
    if (ctx.config.mtp_layers == 0) return;
    const layer_context place = ctx.model.text_spec != nullptr ? ctx.text_model() : ctx;
    if (place.spec.multi_token_prediction == nullptr)
        throw_description_error("multi-token prediction is not supported for this model");
    place.spec.multi_token_prediction(place, t, x);
}

/// The multi-token prediction module of a model as a draft head, which reads hidden states of the target model.
constexpr tensor forward_mtp_head(const layer_context& ctx, trace& t) {
    const module_info head{.class_of_module = ctx.class_of(name_of(ctx.config.head))};
    t.enter(head);
    const tensor states = t.input({t.load().batch, t.load().sequence, ctx.config.hidden_size});
    forward_multi_token_prediction(ctx, t, states);
    return t.leave(head, states);
}

/// A decoder, with or without a head. Most model types use this function.
constexpr tensor forward_decoder(const layer_context& ctx, trace& t) {
    if (ctx.config.head == head_kind::multi_token_prediction) return forward_mtp_head(ctx, t);
    const model_spec& row = ctx.spec;
    const class_name type = ctx.class_of(row.names.model_class);
    if (ctx.config.head == head_kind::none) return forward_in_module({.class_of_module = type}, row.base_model, ctx, t);
    const bool answers = ctx.config.head == head_kind::question_answering;
    const literal name = answers ? row.names.base_model_for_question_answering : row.names.base_model;
    const module_info model_info{.class_of_module =
                                     ctx.class_of(ctx.config.head == head_kind::causal_lm ? row.names.causal_lm_class
                                                                                          : name_of(ctx.config.head))};
    t.enter(model_info);
    // modeling_layers.py: the outputs of these two heads have no `past_key_values`.
    const trace::discarded_cache_guard dropped{t, answers || ctx.config.head == head_kind::token_classification};
    const tensor x = forward_in_module({.name = name, .class_of_module = type}, row.base_model, ctx, t);
    const tensor out = t.select_model_output(x, forward_head(ctx, t, x));
    forward_multi_token_prediction(ctx, t, x);
    return t.leave(model_info, out);
}

/// A decoder with a sequence classification head named `TextForSequenceClassification`, in a multimodal family.
constexpr tensor forward_text_decoder(const layer_context& ctx, trace& t) {
    if (ctx.config.head != head_kind::sequence_classification) return forward_decoder(ctx, t);
    const module_info model_info{.class_of_module = ctx.class_of("TextForSequenceClassification")};
    t.enter(model_info);
    const decoder_module_names& n = ctx.spec.names;
    const tensor x = forward_in_module({.name = n.base_model, .class_of_module = ctx.class_of(n.model_class)},
                                       ctx.spec.base_model, ctx, t);
    return t.leave(model_info, t.select_model_output(x, forward_head(ctx, t, x)));
}

/// Layer kinds that the default decoder supports.
inline constexpr supported_layer_set attention_layers = [] {
    supported_layer_set k =
        supported_layer_set{} | token_mixer_kind::full_attention | token_mixer_kind::sliding_attention;
    k.experts = k.has_intermediate_size = true;
    return k;
}();

/// Dropout rates of attention probabilities and of the token classification head.
///
/// Source: transformers/modeling_layers.py, `GenericForTokenClassification`.
inline constexpr dropout_key decoder_dropout[]{{dropout_position::attention, "attention_dropout"},
                                               {dropout_position::classifier, "hidden_dropout", 0.1},
                                               {dropout_position::classifier, "classifier_dropout", same_as_previous}};

/// Dropout rates of a decoder with router jitter noise (Mixtral).
inline constexpr dropout_key router_jitter_dropout[]{
    decoder_dropout[0], decoder_dropout[1], decoder_dropout[2], {dropout_position::stochastic, "router_jitter_noise"}};

/// Base model spec of decoders (Llama).
inline constexpr model_spec default_decoder{
    .forward = forward_decoder,
    .base_model = forward_base_model,
    .embed_tokens = embed_tokens,
    .prepare_inputs = prepare_decoder_inputs,
    .decoder_layer = pre_norm_layer,
    .token_mixer = attention_token_mixer,
    .attention = attention,
    .mlp = default_mlp,
    .add_residual = add_residual,
    .dropout_keys = decoder_dropout,
    .supported_layers = attention_layers,
};

/// Dropout rates with their defaults of 0, and a classifier that follows the hidden states.
inline constexpr dropout_key hidden_and_attention_dropout[]{
    {dropout_position::hidden, "hidden_dropout"},
    {dropout_position::attention, "attention_dropout"},
    {dropout_position::classifier, "hidden_dropout", 0},
    {dropout_position::classifier, "classifier_dropout", same_as_previous}};

}  // namespace llmcost
