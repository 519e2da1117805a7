// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/forward/decoder.hpp>
#include <llmcost/forward/encoder.hpp>
#include <llmcost/layers/heads.hpp>
#include <llmcost/layers/sequence_summary.hpp>

// Encoder-only text models (BERT): the default functions of a model spec, and embeddings, poolers and heads.
//
// Shapes: B = batch, S = sequence.
namespace llmcost {

// ---- embeddings

/// Size of the word embeddings, which can be smaller than the hidden size.
[[nodiscard]] constexpr std::int64_t embedding_width(const model_config& config) noexcept {
    return config.embedding_size != 0 ? config.embedding_size : config.hidden_size;
}

/// An embedding with one lookup per token: (B, S) -> (B, S, width).
constexpr tensor embedding_lookup(const layer_context& ctx, trace& t, literal name, std::int64_t rows) {
    return t.call(name, embedding{rows, embedding_width(ctx.config)}, shape{t.load().batch, t.load().sequence});
}
constexpr tensor word_embeddings(const layer_context& ctx, trace& t) {
    return embedding_lookup(ctx, t, "word_embeddings", ctx.config.vocab_size);
}
constexpr tensor segment_embeddings(const layer_context& ctx, trace& t) {
    return embedding_lookup(ctx, t, "token_type_embeddings", ctx.config.type_vocab_size);
}
/// Learned position embeddings, looked up once, or once per sequence if padding changes positions.
constexpr tensor position_embeddings(const layer_context& ctx, trace& t, std::int64_t sequences = 1) {
    const workload& load = t.load();
    t.check_positions(ctx.config.max_position_embeddings - ctx.config.position_offset,
                      ctx.config.is_causal ? load.past + load.sequence : load.sequence);
    const embedding places{.num_embeddings = ctx.config.max_position_embeddings,
                           .embedding_dim = embedding_width(ctx.config),
                           .creates_indices = true};
    return t.call("position_embeddings", places, shape{sequences, load.sequence});
}
/// Norm and dropout of embeddings.
constexpr tensor norm_embeddings(const layer_context& ctx, trace& t, const tensor& x) {
    return dropout(t, "dropout", t.call("LayerNorm", norm_module{norm_kind::layer, embedding_width(ctx.config)}, x));
}
/// Calls the embedding function of a family in its module.
constexpr tensor embed_in_module(const layer_context& ctx, trace& t, forward_function part,
                                 literal type = "Embeddings") {
    return forward_in_module(
        {.name = "embeddings", .class_of_module = ctx.class_of(type), .module_role = role::embedding}, part, ctx, t);
}

/// Registers the buffer `position_ids`, an int64 vector.
constexpr void register_position_ids(const layer_context& ctx, trace& t) {
    t.register_integer_buffer(ctx.config.max_position_embeddings);
}
/// Registers the buffers `position_ids` and `token_type_ids`, one int64 vector each.
constexpr void register_position_buffers(const layer_context& ctx, trace& t) {
    t.register_integer_buffer(2 * ctx.config.max_position_embeddings);
}

/// Sum of word, segment and position embeddings, followed by norm and dropout: (B, S, width).
constexpr tensor sum_embeddings(const layer_context& ctx, trace& t) {
    register_position_buffers(ctx, t);
    const tensor tokens = word_embeddings(ctx, t);
    const tensor x = t.add(tokens, segment_embeddings(ctx, t));
    return norm_embeddings(ctx, t, t.add(x, position_embeddings(ctx, t)));
}
constexpr tensor bert_embeddings(const layer_context& ctx, trace& t) { return embed_in_module(ctx, t, sum_embeddings); }

// ---- base model

/// Decoder inputs without rotary tables: bidirectional, or causal with a mask if `is_causal`.
constexpr decoder_inputs causal_or_bidirectional(const layer_context& ctx, trace& t) {
    decoder_inputs c;
    c.full.pattern = full_pattern(t.load().sequence).pattern;
    if (ctx.config.is_causal) {
        c.full.pattern = attention_pattern_of(t, 0);
        c.full.mask = eager_mask(t, c.full.pattern, t.load().batch);
    }
    return c;
}

/// The default padding mask of ones, (batch, past + sequence). No operation reads it.
constexpr void make_padding_mask(trace& t) { (void)t.full({t.load().batch, t.load().past + t.load().sequence}); }

/// Inputs of bidirectional attention with rotary tables.
constexpr decoder_inputs bidirectional_with_rotary(const layer_context& ctx, trace& t) {
    decoder_inputs c;
    c.full.pattern = full_pattern(t.load().sequence).pattern;
    compute_rotary_embeddings(ctx, t, c.full);
    return c;
}

/// Inputs of bidirectional layers, some of them with a local window of `radius` tokens on each side.
///
/// Local layers use a mask if the sequence has at least `radius` tokens. The mask is created even without local layers.
/// Source: transformers/masking_utils.py, `_ignore_bidirectional_mask_sdpa`.
constexpr decoder_inputs bidirectional_or_local(const layer_context& ctx, trace& t, std::int64_t radius) {
    const std::int64_t sequence = t.load().sequence, layers = ctx.config.num_hidden_layers;
    decoder_inputs c;
    c.full.pattern = c.sliding.pattern = full_pattern(sequence).pattern;
    t.add_region_edge(workload_axis::sequence, radius);
    if (sequence >= radius) c.sliding.mask = eager_mask(t, c.sliding.pattern, t.load().batch);
    if (ctx.config.layers.contains(token_mixer_kind::full_attention, layers)) compute_rotary_embeddings(ctx, t, c.full);
    if (ctx.config.layers.contains(token_mixer_kind::sliding_attention, layers))
        compute_rotary_embeddings(ctx, t, c.sliding, true);
    return c;
}

/// Bidirectional attention, with the mask of the layer if there is one: (B, H, S, d) -> (B, S, H · d).
constexpr tensor bidirectional_sdpa(const layer_context& ctx, trace& t, const query_key_value& qkv,
                                    bool float_softmax) {
    const tensor* const mask = ctx.inputs->mask.rank != 0 ? &ctx.inputs->mask : nullptr;
    const tensor mixed = attention_forward(t, qkv.query, qkv.key, qkv.value, ctx.inputs->pattern,
                                           {.mask = mask, .has_float32_softmax = float_softmax});
    return t.contiguous(t.reshape(mixed, {mixed.dim(0), mixed.dim(1), -1}));
}

/// Bidirectional attention with RoPE after the projections: returns (B, S, H · d).
constexpr tensor local_attention(const layer_context& ctx, trace& t, query_key_value qkv, bool float_softmax = true) {
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    apply_rotary(ctx, t, qkv);
    return bidirectional_sdpa(ctx, t, qkv, float_softmax);
}
/// Bidirectional attention with RoPE, with separate projections: (B, S, hidden) -> (B, S, hidden).
constexpr tensor local_attention(const layer_context& ctx, trace& t, const tensor& x) {
    return output_projection(ctx, t, local_attention(ctx, t, project_qkv(ctx, t, x)));
}

/// Module and class names of an encoder and its layers.
struct encoder_frame {
    class_name type{};
    literal mapping_in = "";  ///< linear layer from the embedding size to the hidden size; empty: none
    literal last_norm = "";
    literal name = "encoder";
    class_name layer{};  ///< class of the layers; empty: the class prefix of the model plus `layer_class`
};

/// A layer module with its own class name. It calls `model_spec::decoder_layer`.
struct layer_of_class {
    layer_context ctx;
    class_name named;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const { return ctx.spec.decoder_layer(ctx, t, x); }
};

/// Projects embeddings to the hidden size if the sizes differ.
constexpr tensor project_embeddings(const layer_context& ctx, trace& t, const tensor& x) {
    if (x.dim(-1) == ctx.config.hidden_size) return x;
    return t.call("embeddings_project", linear{x.dim(-1), ctx.config.hidden_size, true}, x);
}
constexpr tensor embed_and_project(const layer_context& ctx, trace& t) {
    return project_embeddings(ctx, t, bert_embeddings(ctx, t));
}

/// Embeddings, then the layers in an encoder module. Returns (B, S, hidden).
constexpr tensor forward_encoder_with(const layer_context& ctx, trace& t, const encoder_frame& frame) {
    tensor x = ctx.spec.embed_tokens(ctx, t);
    const decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    const module_info encoder{.name = frame.name, .class_of_module = frame.type};
    t.enter(encoder);
    if (!is_empty(frame.mapping_in)) x = t.call(frame.mapping_in, linear{x.dim(-1), ctx.config.hidden_size, true}, x);
    const class_name layer = is_empty(frame.layer.suffix) ? ctx.class_of(ctx.spec.names.layer_class) : frame.layer;
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, ctx.config.layers, x); layer_loop.next();)
        x = t.call({ctx.spec.names.layers, layer_loop.index()},
                   layer_of_class{ctx.for_layer(layer_loop, shared.for_layer(layer_loop.layer())), layer}, x);
    return t.leave(encoder, bert_layers::apply_norm_if_named(ctx, t, frame.last_norm, x));
}
constexpr tensor forward_encoder(const layer_context& ctx, trace& t) {
    return forward_encoder_with(ctx, t, {.type = ctx.class_of("Encoder")});
}

/// Pooler: a linear layer and an activation over the first token. (B, S, hidden) -> (B, hidden).
constexpr tensor pool_sequence(const layer_context& ctx, trace& t, const tensor& x, activation act) {
    const module_info pooler{.name = "pooler", .class_of_module = ctx.class_of("Pooler")};
    t.enter(pooler);
    const tensor first = t.call("dense", linear{ctx.config.hidden_size, ctx.config.hidden_size, true}, t.select(x, 1));
    return t.leave(pooler, t.call("activation", activation_module{act}, first));
}
constexpr tensor pool_first_token(const layer_context& ctx, trace& t, const tensor& x) {
    return pool_sequence(ctx, t, x, activation::tanh);
}

// ---- heads

/// Computes logits from the hidden states and the pooler output.
using score_part = tensor (*)(const layer_context&, trace&, const tensor_pair&);

/// Head functions of an encoder model.
struct encoder_heads {
    score_part score = nullptr;
    head_set pooled{};                               ///< heads whose base model has a pooler
    layer_forward_function pool = pool_first_token;  ///< (B, S, width) -> (B, width)
    layer_forward_function last = nullptr;           ///< applied to the hidden states after the pooler; null: none
};

/// Dropout and a linear classifier: (…, hidden) -> (…, labels).
constexpr tensor classify(const layer_context& ctx, trace& t, std::int64_t labels, const tensor& x) {
    return t.call("classifier", head_linear{{ctx.config.hidden_size, labels, true}},
                  dropout(t, "dropout", x, dropout_position::classifier));
}
/// Sequence classification from the first token: (B, S, hidden) -> (B, labels).
constexpr tensor classify_first_state(const layer_context& ctx, trace& t, const tensor& x,
                                      activation act = activation::tanh, literal act_name = "") {
    const classification_head labels{ctx.config.hidden_size, ctx.config.num_labels, ctx.class_of("ClassificationHead"),
                                     act, act_name};
    return t.call("classifier", labels, t.select(x, 1));
}
/// Multiple choice: one logit per choice, from a sequence summary. (B, S, hidden) -> (B, 1).
constexpr tensor choose_by_summary(const layer_context& ctx, trace& t, const tensor& x, std::int64_t packed) {
    const sequence_summary sum{summary_form::unpacked(packed), ctx.config.hidden_size, ctx.config.num_labels,
                               ctx.class_of("SequenceSummary")};
    return t.call("classifier", head_linear{{ctx.config.hidden_size, 1, true}}, t.call("sequence_summary", sum, x));
}
/// The hidden states with logits, and the pooler output.
constexpr tensor_pair select_states(trace& t, const tensor_pair& out) {
    return {logits_to_keep(t, out.first), out.second};
}

/// Logits of the head.
///
/// Sequence classification and multiple choice use the pooler output, all other heads the hidden states.
constexpr tensor forward_encoder_head(const layer_context& ctx, trace& t, const tensor_pair& out, score_part lm_head,
                                      bool copies_answers = true) {
    switch (ctx.config.head) {
        case head_kind::sequence_classification: return classify(ctx, t, ctx.config.num_labels, out.second);
        case head_kind::token_classification: return classify(ctx, t, ctx.config.num_labels, out.first);
        case head_kind::multiple_choice: return classify(ctx, t, 1, out.second);
        case head_kind::question_answering:
            return question_answering_logits(t, out.first, "qa_outputs", copies_answers);
        default: return lm_head(ctx, t, select_states(t, out));
    }
}

/// Logits over the vocabulary with a bias. `named_first`: the word embeddings are tied to this weight, not vice versa.
constexpr tensor mlm_logits(const model_config& config, trace& t, const tensor& h, bool named_first = false) {
    const bool tied = config.tie_word_embeddings;
    return t.call("decoder", linear{h.dim(-1), config.vocab_size, true, tied && !named_first, tied}, h);
}
/// Declares the bias of the logits, to which the decoder's bias is tied. Not executed without tied weights.
constexpr void declare_lm_head_bias(const model_config& config, trace& t) {
    const recorder::not_executed_guard unread{t, !config.tie_word_embeddings};
    (void)t.param("bias", {config.vocab_size});
}

/// Masked language model head: linear, activation, norm, logits. (B, S, hidden) -> (B, S, vocab).
constexpr tensor transform_and_score(const layer_context& ctx, trace& t, const tensor& x,
                                     literal norm_name = "LayerNorm") {
    const module_info predictions{.name = "predictions", .class_of_module = ctx.class_of("LMPredictionHead")};
    const module_info transform{.name = "transform", .class_of_module = ctx.class_of("PredictionHeadTransform")};
    const std::int64_t width = embedding_width(ctx.config);
    t.enter(predictions);
    declare_lm_head_bias(ctx.config, t);
    t.enter(transform);
    tensor h = t.call("dense", linear{ctx.config.hidden_size, width, true}, x);
    h = t.call("transform_act_fn", activation_module{ctx.config.hidden_act}, h);
    h = t.call(norm_name, norm_module{norm_kind::layer, width}, h);
    t.leave(transform);
    return t.leave(predictions, mlm_logits(ctx.config, t, h));
}

/// Masked language model head with a separate module for linear, activation and norm (ELECTRA).
constexpr tensor generate_and_score(const layer_context& ctx, trace& t, const tensor_pair& out) {
    const module_info predictions{.name = "generator_predictions",
                                  .class_of_module = ctx.class_of("GeneratorPredictions"),
                                  .module_role = role::head};
    const std::int64_t width = embedding_width(ctx.config);
    t.enter(predictions);
    tensor h = t.call("dense", linear{ctx.config.hidden_size, width, true}, out.first);
    h = t.call("activation", activation_module{activation::gelu}, h);
    h = t.leave(predictions, t.call("LayerNorm", norm_module{norm_kind::layer, width}, h));
    const linear lm_head{width, ctx.config.vocab_size, true, ctx.config.tie_word_embeddings};
    return t.call("generator_lm_head", head_linear{lm_head}, h);
}

/// Masked language model logits, next sentence logits, or both, in the module `cls`.
constexpr tensor score_in_cls(const layer_context& ctx, trace& t, const tensor_pair& out) {
    const bool is_next_sentence = ctx.config.head == head_kind::next_sentence,
               pretrains = ctx.config.head == head_kind::pretraining;
    const literal type = is_next_sentence ? "OnlyNSPHead" : pretrains ? "PreTrainingHeads" : "OnlyMLMHead";
    const module_info cls{.name = "cls", .class_of_module = ctx.class_of(type), .module_role = role::head};
    t.enter(cls);
    tensor scores;
    if (!is_next_sentence) scores = transform_and_score(ctx, t, out.first);
    if (is_next_sentence || pretrains) {
        const recorder::detach_guard unread{t, pretrains};
        const tensor is_next = t.call("seq_relationship", linear{ctx.config.hidden_size, 2, true}, out.second);
        if (is_next_sentence) scores = is_next;
    }
    return t.leave(cls, scores);
}

/// An encoder model with or without a head.
///
/// With a multiple-choice head, one batch entry is one choice.
constexpr tensor forward_encoder_model(const layer_context& ctx, trace& t, const encoder_heads& heads) {
    const head_kind head = ctx.config.head;
    const bool bare = head == head_kind::none;
    const literal type = head == head_kind::causal_lm ? ctx.spec.names.causal_lm_class : name_of(head);
    const module_info model_info{.class_of_module = ctx.class_of(type)};
    const module_info base{.name = bare ? "" : ctx.spec.names.base_model,
                           .class_of_module = ctx.class_of(ctx.spec.names.model_class)};
    if (!bare) t.enter(model_info);
    t.enter(base);
    tensor_pair out{ctx.spec.base_model(ctx, t), {}};
    if (heads.pooled.has(head)) {
        const bool reads = head == head_kind::next_sentence || head == head_kind::sequence_classification ||
                           head == head_kind::multiple_choice;
        const recorder::detach_guard unread{t, !reads};
        out.second = heads.pool(ctx, t, out.first);
    }
    if (heads.last != nullptr) out.first = heads.last(ctx, t, out.first);
    t.leave(base);
    if (bare) return out.first;
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    return t.leave(model_info, t.select_model_output(out.first, heads.score(ctx, t, out)));
}

/// Dropout rates of BERT and derived families.
inline constexpr dropout_key encoder_dropout[]{{dropout_position::hidden, "hidden_dropout_prob", 0.1},
                                               {dropout_position::attention, "attention_probs_dropout_prob", 0.1},
                                               {dropout_position::classifier, "classifier_dropout", same_as_hidden}};

/// Dropout rates of families whose heads have no rate of their own.
inline constexpr dropout_key headless_encoder_dropout[]{
    encoder_dropout[0], encoder_dropout[1], {dropout_position::classifier, "hidden_dropout_prob", 0.1}};

/// Base model spec of text encoders (BERT).
inline constexpr model_spec shared_encoder{
    .base_model = forward_encoder,
    .embed_tokens = bert_embeddings,
    .prepare_inputs = causal_or_bidirectional,
    .decoder_layer = bert_layer,
    .attention = bert_attention,
    .dropout_keys = encoder_dropout,
    .rotary = rotary_style::none,
    .names = {.layers = "layer", .layer_class = "Layer"},
};

constexpr tensor bert_head_logits(const layer_context& ctx, trace& t, const tensor_pair& out) {
    return forward_encoder_head(ctx, t, out, score_in_cls);
}

/// The bert_heads of BERT. Heads over tokens and answer spans have no pooler.
inline constexpr encoder_heads bert_heads{
    .score = bert_head_logits,
    .pooled = {head_kind::none, head_kind::pretraining, head_kind::next_sentence, head_kind::sequence_classification,
               head_kind::multiple_choice},
};

constexpr tensor score_in_lm_head(const layer_context& ctx, trace& t, const tensor_pair& out) {
    const module_info lm_head{
        .name = "lm_head", .class_of_module = ctx.class_of("OnlyLMHead"), .module_role = role::head};
    t.enter(lm_head);
    declare_lm_head_bias(ctx.config, t);
    return t.leave(lm_head, mlm_logits(ctx.config, t, logits_to_keep(t, out.first)));
}

/// Sums embeddings of tokens, segments and positions; positions are added in place.
constexpr tensor sum_embeddings_in_place(const layer_context& ctx, trace& t) {
    const tensor tokens = word_embeddings(ctx, t);
    tensor x = t.add(tokens, segment_embeddings(ctx, t));
    t.add_(x, position_embeddings(ctx, t));
    return norm_embeddings(ctx, t, x);
}

/// Language head without a pooling head: (…, hidden) -> (…, vocabulary).
constexpr tensor score_in_mlm_cls(const layer_context& ctx, trace& t, const tensor_pair& out) {
    const module_info cls{.name = "cls", .class_of_module = ctx.class_of("OnlyMLMHead"), .module_role = role::head};
    t.enter(cls);
    return t.leave(cls, transform_and_score(ctx, t, out.first));
}

/// Sums embeddings of tokens and positions, without segments.
constexpr tensor sum_embeddings_without_segments(const layer_context& ctx, trace& t) {
    register_position_ids(ctx, t);
    const tensor token_embeddings = word_embeddings(ctx, t);
    return norm_embeddings(ctx, t, t.add(token_embeddings, position_embeddings(ctx, t)));
}

}  // namespace llmcost
