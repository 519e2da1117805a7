// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/heads.hpp>
#include <llmcost/layers/linear.hpp>
#include <llmcost/walks/attention.hpp>
#include <llmcost/walks/context.hpp>
#include <llmcost/walks/feed_forward.hpp>
#include <llmcost/walks/layers.hpp>

// A decoder as most of them are: what a row's parts are put into.
namespace llmcost {

/// Word embeddings, (B, S) -> (B, S, hidden).
constexpr value embed_words(const site& here, trace& t) {
    const workload& load = t.load();
    return t.call(here.row.names.embed_tokens, embedding{here.dims.vocab_size, here.dims.hidden_size},
                  extents{load.batch, load.sequence});
}
/// The same times a constant.
constexpr value embed_words_scaled(const site& here, trace& t) { return t.mul(embed_words(here, t)); }
/// The same times a constant inside of a module of the family's own.
constexpr value embed_words_scaling(const site& here, trace& t) {
    const workload& load = t.load();
    const embedding words{here.dims.vocab_size, here.dims.hidden_size, true, here.type(here.row.names.embedding_type)};
    return t.call(here.row.names.embed_tokens, words, extents{load.batch, load.sequence});
}
/// The same, the constant a buffer.
constexpr value embed_words_scaling_by_buffer(const site& here, trace& t) {
    t.owns_buffer(count(bits_of(t.activation_type()) / 8));
    return embed_words_scaling(here, t);
}

/// The layers of a row over x, each with what its kind of attention reads.
constexpr value describe_layers(const site& here, trace& t, const decoder_context& shared, value x) {
    for (repetition each = t.repeat(here.dims.num_hidden_layers, here.dims.layers, x); each.next();)
        x = t.call({here.row.names.layers, each.index()}, decoder_layer{here.at(each, shared.of(each.kind()))}, x);
    return x;
}

/// Embedding, masks and tables, layers, last norm: the model under a head, or on its own.
constexpr value describe_base(const site& here, trace& t) {
    const value x = here.row.embed(here, t);
    const decoder_context shared = here.row.prepare(here, t);
    return normed(here, t, here.row.names.norm, describe_layers(here, t, shared, x));
}

/// The positions a head looks at: all, the last one, or none.
constexpr value kept_positions(trace& t, const value& x) { return t.load().head == logits::last ? t.slice(x, 1, 1) : x; }

/// Logits times a constant, or by one.
constexpr value multiply_logits(const site&, trace& t, const value& logits) { return t.mul(logits); }
constexpr value divide_logits(const site&, trace& t, const value& logits) { return t.div(logits); }

/// Scores of words for the positions that the workload asks for.
constexpr value describe_word_scores(const site& here, trace& t, const value& x) {
    const sizes& dims = here.dims;
    const linear head{x.dim(-1), dims.vocab_size, dims.head_bias, dims.tie_word_embeddings};
    value out = t.call(here.row.names.lm_head, head_linear{head}, kept_positions(t, x));
    if (here.row.finish != nullptr) out = here.row.finish(here, t, out);
    if (dims.logits_soft_cap) out = t.mul(t.tanh(t.div(out)));
    const recorder::off_loss_guard unread{t};  // the balance is added to a loss over labels
    if (dims.moe.weighs_balance)
        weigh_balance(t, dims.layers.with_experts(dims.num_hidden_layers), x.dim(0) * x.dim(1), dims.moe);
    return out;
}

/// The head of a decoder over its last hidden states; (B, S, width) -> logits.
///
/// Source: transformers/modeling_layers.py, `GenericForSequenceClassification` and its relatives.
constexpr value describe_head(const site& here, trace& t, const value& x) {
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    const std::int64_t labels = here.dims.num_labels;
    switch (here.dims.head) {
        case head_kind::sequence_classification: {
            const value all = t.call("score", head_linear{{x.dim(-1), labels, false}}, x);
            return t.gather(all, {x.dim(0), labels});
        }
        case head_kind::token_classification:
            return t.call(here.row.names.token_classifier, head_linear{{x.dim(-1), labels, true}},
                          dropout(t, "dropout", x, dropout_of::classifier));
        case head_kind::question_answering: return answer_scores(t, x);
        default: return describe_word_scores(here, t, x);
    }
}

/// Modules that predict further tokens, where they are asked for; of a model that holds others, by its text model's row.
constexpr void describe_further(const site& here, trace& t, const value& x) {
    if (here.dims.mtp_layers == 0) return;
    const site place = here.whole.text != nullptr ? here.text() : here;
    if (place.row.predict == nullptr) report_description("no row describes modules that predict further tokens");
    place.row.predict(place, t, x);
}

/// A decoder, bare or under its head: what most `model_type`s are.
constexpr value describe_decoder(const site& here, trace& t) {
    const architecture& row = here.row;
    const class_name type = here.type(row.names.model_type);
    if (here.dims.head == head_kind::none) return describe_within({.type = type}, row.base, here, t);
    const bool answers = here.dims.head == head_kind::question_answering;
    const literal name = answers ? row.names.base_under_answers : row.names.base;
    const module_info whole{
        .type = here.type(here.dims.head == head_kind::causal_lm ? row.names.causal_lm_type : name_of(here.dims.head))};
    t.enter(whole);
    // modeling_layers.py: what these two return has no `past_key_values`
    const trace::dropped_cache_guard dropped{t, answers || here.dims.head == head_kind::token_classification};
    const value x = describe_within({.name = name, .type = type}, row.base, here, t);
    const value out = t.returns(x, describe_head(here, t, x));
    describe_further(here, t, x);
    return t.leave(whole, out);
}

/// The same where the class over sequences' labels is called a text's, beside one that sees.
constexpr value describe_text_decoder(const site& here, trace& t) {
    if (here.dims.head != head_kind::sequence_classification) return describe_decoder(here, t);
    const module_info whole{.type = here.type("TextForSequenceClassification")};
    t.enter(whole);
    const decoder_names& n = here.row.names;
    const value x = describe_within({.name = n.base, .type = here.type(n.model_type)}, here.row.base, here, t);
    return t.leave(whole, t.returns(x, describe_head(here, t, x)));
}

/// The kinds of layers that the shared decoder tells apart.
inline constexpr understood_kinds attention_kinds = [] {
    understood_kinds k = understood_kinds{} | mixer_kind::full_attention | mixer_kind::sliding_attention;
    k.experts = k.inner = true;
    return k;
}();

/// Rates of a decoder that drops probabilities only, and what is in front of a classifier of tokens.
///
/// Source: transformers/modeling_layers.py, `GenericForTokenClassification`.
inline constexpr dropout_key decoder_dropout[]{{dropout_of::attention, "attention_dropout"},
                                               {dropout_of::classifier, "hidden_dropout", 0.1},
                                               {dropout_of::classifier, "classifier_dropout", as_before}};

/// The same with noise on what routers read (Mixtral).
inline constexpr dropout_key noisy_router_dropout[]{
    decoder_dropout[0], decoder_dropout[1], decoder_dropout[2], {dropout_of::drawn, "router_jitter_noise"}};

/// The parts of a decoder as Llama has them: where every row begins that is put together from the shared ones.
inline constexpr architecture shared_decoder{
    .describe = describe_decoder,
    .base = describe_base,
    .embed = embed_words,
    .prepare = masks_and_tables,
    .layer = layer_normed_before,
    .mix = mix_by_attention,
    .attend = attend,
    .feed = feed_forward,
    .residual = add_residual,
    .drops = decoder_dropout,
    .kinds = attention_kinds,
};

}  // namespace llmcost
