// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/heads.hpp>
#include <llmcost/layers/sequence_summary.hpp>
#include <llmcost/walks/decoder.hpp>
#include <llmcost/walks/encoder.hpp>

// A text encoder as BERT's relatives are: what a row's parts are put into, and the words of embeddings, poolers and heads.
namespace llmcost {

// ---- embeddings

/// The width of word embeddings, which may be narrower than the layers.
[[nodiscard]] constexpr std::int64_t embedding_width(const sizes& dims) noexcept {
    return dims.embedding_size != 0 ? dims.embedding_size : dims.hidden_size;
}

/// A table that is looked up for every token, (B, S) -> (B, S, width).
constexpr value look_up_tokens(const site& here, trace& t, literal name, std::int64_t rows) {
    return t.call(name, embedding{rows, embedding_width(here.dims)}, extents{t.load().batch, t.load().sequence});
}
constexpr value word_embeddings(const site& here, trace& t) {
    return look_up_tokens(here, t, "word_embeddings", here.dims.vocab_size);
}
constexpr value segment_embeddings(const site& here, trace& t) {
    return look_up_tokens(here, t, "token_type_embeddings", here.dims.type_vocab_size);
}
/// Learned positions: one row for all sequences, or for each where padding moves them.
constexpr value position_embeddings(const site& here, trace& t, std::int64_t sequences = 1) {
    const workload& load = t.load();
    t.positions(here.dims.max_position_embeddings - here.dims.first_position,
                here.dims.is_decoder ? load.past + load.sequence : load.sequence);
    const embedding places{
        .rows = here.dims.max_position_embeddings, .width = embedding_width(here.dims), .makes_indices = true};
    return t.call("position_embeddings", places, extents{sequences, load.sequence});
}
/// A norm over embeddings, and dropout.
constexpr value norm_embeddings(const site& here, trace& t, const value& x) {
    return dropout(t, "dropout", t.call("LayerNorm", norm<norm_kind::layer>{embedding_width(here.dims)}, x));
}
/// The module around a family's embeddings.
constexpr value embed_within(const site& here, trace& t, source_part part, literal type = "Embeddings") {
    return describe_within({.name = "embeddings", .type = here.type(type), .what = role::embedding}, part, here, t);
}

/// Words, segments and positions, normed.
constexpr value sum_embeddings(const site& here, trace& t) {
    // `position_ids` and `token_type_ids`, a row of integers each
    t.owns_buffer(count(2 * 8) * count(here.dims.max_position_embeddings));
    const value x = t.add(word_embeddings(here, t), segment_embeddings(here, t));
    return norm_embeddings(here, t, t.add(x, position_embeddings(here, t)));
}
constexpr value embed_as_bert(const site& here, trace& t) { return embed_within(here, t, sum_embeddings); }

// ---- the model under a head

/// Every position; of a decoder those before, behind a mask.
constexpr decoder_context all_or_before(const site& here, trace& t) {
    decoder_context c;
    c.full.where = all_positions(t.load().sequence).where;
    if (here.dims.is_decoder) c.full.where = context_of(t, 0), c.full.mask = eager_mask(t, c.full.where, t.load().batch);
    return c;
}

/// A mask of ones that the reference makes where nobody gives one, (batch, past + sequence); nothing reads it in full.
constexpr void make_padding_mask(trace& t) { (void)t.constant({t.load().batch, t.load().past + t.load().sequence}); }

/// Every position, and rotary tables.
constexpr decoder_context all_with_tables(const site& here, trace& t) {
    decoder_context c;
    c.full.where = all_positions(t.load().sequence).where;
    make_rotary_tables(here, t, c.full);
    return c;
}

/// Every position; of layers that slide those so far around each, through a mask where the text is as long as that.
///
/// Source: transformers/masking_utils.py, `_ignore_bidirectional_mask_sdpa`. The mask is made whether layers slide or not.
constexpr decoder_context all_or_around(const site& here, trace& t, std::int64_t radius) {
    const std::int64_t sequence = t.load().sequence, layers = here.dims.num_hidden_layers;
    decoder_context c;
    c.full.where = c.sliding.where = all_positions(sequence).where;
    t.edge(axis::sequence, radius);
    if (sequence >= radius) c.sliding.mask = eager_mask(t, c.sliding.where, t.load().batch);
    if (here.dims.layers.has(mixer_kind::full_attention, layers)) make_rotary_tables(here, t, c.full);
    if (here.dims.layers.has(mixer_kind::sliding_attention, layers)) make_rotary_tables(here, t, c.sliding, true);
    return c;
}

/// What queries find in all positions, or through a mask where there is one: (B, S, heads · d).
constexpr value look_around(const site& here, trace& t, const qkv& of, bool float_softmax) {
    const value* const mask = here.shared->mask.rank != 0 ? &here.shared->mask : nullptr;
    const value mixed =
        eager_attention(t, of.q, of.k, of.v, here.shared->where, {.mask = mask, .float_softmax = float_softmax});
    return t.contiguous(t.reshape(mixed, {mixed.dim(0), mixed.dim(1), -1}));
}

/// Rotated attention over all positions, from projections on.
constexpr value attend_around(const site& here, trace& t, qkv of, bool float_softmax = true) {
    split_heads(here, of);
    heads_first(of);
    turn(here, t, of);
    return look_around(here, t, of, float_softmax);
}
/// The same with a projection each, and one of what was found.
constexpr value attend_around(const site& here, trace& t, const value& x) {
    return join(here, t, attend_around(here, t, project_qkv(here, t, x)));
}

/// What stands around an encoder's layers, and what its class is called.
struct encoder_frame {
    class_name type{};
    literal mapping_in = "";  ///< from the width of embeddings to that of layers
    literal last_norm = "";
    literal name = "encoder";
    class_name layer{};  ///< of layers, where it does not begin as the model's does
};

/// The module around a row's `layer`, of a class of its own.
struct layer_of_class {
    site here;
    class_name named;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x) const { return here.row.layer(here, t, x); }
};

/// From narrow embeddings to the width of layers, where the two differ.
constexpr value project_embeddings(const site& here, trace& t, const value& x) {
    if (x.dim(-1) == here.dims.hidden_size) return x;
    return t.call("embeddings_project", linear{x.dim(-1), here.dims.hidden_size, true}, x);
}
constexpr value embed_and_project(const site& here, trace& t) { return project_embeddings(here, t, embed_as_bert(here, t)); }

/// Embeddings, then layers in a module of their own.
constexpr value encode_with(const site& here, trace& t, const encoder_frame& frame) {
    value x = here.row.embed(here, t);
    const decoder_context shared = here.row.prepare(here, t);
    const module_info encoder{.name = frame.name, .type = frame.type};
    t.enter(encoder);
    if (!is_empty(frame.mapping_in)) x = t.call(frame.mapping_in, linear{x.dim(-1), here.dims.hidden_size, true}, x);
    const class_name layer = is_empty(frame.layer.base) ? here.type(here.row.names.layer_type) : frame.layer;
    for (repetition each = t.repeat(here.dims.num_hidden_layers, here.dims.layers, x); each.next();)
        x = t.call({here.row.names.layers, each.index()}, layer_of_class{here.at(each, shared.of(each.kind())), layer}, x);
    return t.leave(encoder, bert_layers::normed_where_named(here, t, frame.last_norm, x));
}
constexpr value encode(const site& here, trace& t) { return encode_with(here, t, {.type = here.type("Encoder")}); }

/// A dense layer over each sequence's first position.
constexpr value pool_with(const site& here, trace& t, const value& x, activation act) {
    const module_info pooler{.name = "pooler", .type = here.type("Pooler")};
    t.enter(pooler);
    const value first = t.call("dense", linear{here.dims.hidden_size, here.dims.hidden_size, true}, t.select(x, 1));
    return t.leave(pooler, t.call("activation", activation_module{act}, first));
}
constexpr value pool_first(const site& here, trace& t, const value& x) { return pool_with(here, t, x, activation::tanh); }

// ---- heads

/// Makes scores of hidden states and what the pooler gives.
using score_part = value (*)(const site&, trace&, const two_values&);

/// What stands on an encoder.
struct encoder_heads {
    score_part score = nullptr;
    head_set pooled{};             ///< heads whose base model has a pooler
    layer_part pool = pool_first;  ///< (B, S, width) -> (B, width)
    layer_part last = nullptr;     ///< what the base model does to states behind its pooler
};

/// Dropout and scores of labels.
constexpr value classify(const site& here, trace& t, std::int64_t labels, const value& x) {
    return t.call("classifier", head_linear{{here.dims.hidden_size, labels, true}},
                  dropout(t, "dropout", x, dropout_of::classifier));
}
/// Labels of whole sequences from their first states.
constexpr value classify_first_state(const site& here, trace& t, const value& x, activation act = activation::tanh,
                                     literal act_name = "") {
    const classification_head labels{here.dims.hidden_size, here.dims.num_labels, here.type("ClassificationHead"), act,
                                     act_name};
    return t.call("classifier", labels, t.select(x, 1));
}
/// One score of each choice from a summary of its text.
constexpr value choose_by_summary(const site& here, trace& t, const value& x, std::int64_t packed) {
    const sequence_summary sum{summary_form::unpacked(packed), here.dims.hidden_size, here.dims.num_labels,
                               here.type("SequenceSummary")};
    return t.call("classifier", head_linear{{here.dims.hidden_size, 1, true}}, t.call("sequence_summary", sum, x));
}
/// The positions whose words are scored, beside what the pooler gives.
constexpr two_values kept_states(trace& t, const two_values& out) { return {kept_positions(t, out.first), out.second}; }

/// Labels of sequences and choices from what the pooler gives, of tokens and answers from hidden states; else words.
constexpr value score_states(const site& here, trace& t, const two_values& out, score_part words,
                             bool copies_answers = true) {
    switch (here.dims.head) {
        case head_kind::sequence_classification: return classify(here, t, here.dims.num_labels, out.second);
        case head_kind::token_classification: return classify(here, t, here.dims.num_labels, out.first);
        case head_kind::multiple_choice: return classify(here, t, 1, out.second);
        case head_kind::question_answering: return answer_scores(t, out.first, "qa_outputs", copies_answers);
        default: return words(here, t, kept_states(t, out));
    }
}

/// Scores of words: a decoder tied to the word embeddings, with a bias of its own; `named_first`: they are tied to it.
constexpr value scores_of_words(const sizes& dims, trace& t, const value& h, bool named_first = false) {
    const bool tied = dims.tie_word_embeddings;
    return t.call("decoder", linear{h.dim(-1), dims.vocab_size, true, tied && !named_first, tied}, h);
}
/// The bias of the scores, executed as the decoder's that is tied to it; nobody reads one that is not.
constexpr void declare_word_bias(const sizes& dims, trace& t) {
    const recorder::idle_guard unread{t, !dims.tie_word_embeddings};
    (void)t.param("bias", {dims.vocab_size});
}

/// A dense layer, the activation and a norm in front of the scores.
constexpr value transform_and_score(const site& here, trace& t, const value& x, literal norm_name = "LayerNorm") {
    const module_info predictions{.name = "predictions", .type = here.type("LMPredictionHead")};
    const module_info transform{.name = "transform", .type = here.type("PredictionHeadTransform")};
    const std::int64_t width = embedding_width(here.dims);
    t.enter(predictions);
    declare_word_bias(here.dims, t);
    t.enter(transform);
    value h = t.call("dense", linear{here.dims.hidden_size, width, true}, x);
    h = t.call("transform_act_fn", activation_module{here.dims.hidden_act}, h);
    h = t.call(norm_name, norm<norm_kind::layer>{width}, h);
    t.leave(transform);
    return t.leave(predictions, scores_of_words(here.dims, t, h));
}

/// The same in a module of its own, and scores beside it (ELECTRA).
constexpr value generate_and_score(const site& here, trace& t, const two_values& out) {
    const module_info predictions{
        .name = "generator_predictions", .type = here.type("GeneratorPredictions"), .what = role::head};
    const std::int64_t width = embedding_width(here.dims);
    t.enter(predictions);
    value h = t.call("dense", linear{here.dims.hidden_size, width, true}, out.first);
    h = t.call("activation", activation_module{activation::gelu}, h);
    h = t.leave(predictions, t.call("LayerNorm", norm<norm_kind::layer>{width}, h));
    const linear words{width, here.dims.vocab_size, true, here.dims.tie_word_embeddings};
    return t.call("generator_lm_head", head_linear{words}, h);
}

/// Scores of words, of what the next sentence is, or of both, in a module `cls`.
constexpr value score_in_cls(const site& here, trace& t, const two_values& out) {
    const bool sentences = here.dims.head == head_kind::next_sentence, pretrains = here.dims.head == head_kind::pretraining;
    const literal type = sentences ? "OnlyNSPHead" : pretrains ? "PreTrainingHeads" : "OnlyMLMHead";
    const module_info cls{.name = "cls", .type = here.type(type), .what = role::head};
    t.enter(cls);
    value scores;
    if (!sentences) scores = transform_and_score(here, t, out.first);
    if (sentences || pretrains) {
        const recorder::off_loss_guard unread{t, pretrains};
        const value is_next = t.call("seq_relationship", linear{here.dims.hidden_size, 2, true}, out.second);
        if (sentences) scores = is_next;
    }
    return t.leave(cls, scores);
}

/// An encoder, bare or under its head.
///
/// Of a multiple-choice head one batch entry is one choice.
constexpr value describe_encoder(const site& here, trace& t, const encoder_heads& heads) {
    const head_kind head = here.dims.head;
    const bool bare = head == head_kind::none;
    const literal type = head == head_kind::causal_lm ? here.row.names.causal_lm_type : name_of(head);
    const module_info whole{.type = here.type(type)};
    const module_info base{.name = bare ? "" : here.row.names.base, .type = here.type(here.row.names.model_type)};
    if (!bare) t.enter(whole);
    t.enter(base);
    two_values out{here.row.base(here, t), {}};
    if (heads.pooled.has(head)) {
        const bool reads = head == head_kind::next_sentence || head == head_kind::sequence_classification ||
                           head == head_kind::multiple_choice;
        const recorder::off_loss_guard unread{t, !reads};
        out.second = heads.pool(here, t, out.first);
    }
    if (heads.last != nullptr) out.first = heads.last(here, t, out.first);
    t.leave(base);
    if (bare) return out.first;
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    return t.leave(whole, t.returns(out.first, heads.score(here, t, out)));
}

/// Rates of BERT and its relatives.
inline constexpr dropout_key encoder_dropout[]{{dropout_of::hidden, "hidden_dropout_prob", 0.1},
                                               {dropout_of::attention, "attention_probs_dropout_prob", 0.1},
                                               {dropout_of::classifier, "classifier_dropout", as_hidden}};

/// The same of relatives whose heads have no rate of their own.
inline constexpr dropout_key headless_encoder_dropout[]{
    encoder_dropout[0], encoder_dropout[1], {dropout_of::classifier, "hidden_dropout_prob", 0.1}};

/// The parts of an encoder as BERT has them: where its relatives begin.
inline constexpr architecture shared_encoder{
    .base = encode,
    .embed = embed_as_bert,
    .prepare = all_or_before,
    .layer = bert_layer,
    .attend = attend_as_bert,
    .drops = encoder_dropout,
    .rotated = rotation::none,
    .names = {.layers = "layer", .layer_type = "Layer"},
};

}  // namespace llmcost
