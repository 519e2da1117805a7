// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/heads.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/encoder.hpp>

namespace llmcost::arch {

namespace bert_detail {

/// Whether a head makes its scores of what the pooler gives.
constexpr bool reads_pooler(const architecture& row, head_kind head) {
    return head == head_kind::next_sentence || head == head_kind::multiple_choice ||
           (head == head_kind::sequence_classification && !row.flat_heads);
}

/// Embeddings, layers, and where there is one a pooler over the first position: {hidden states, pooled}.
constexpr two_values base(const site& here, trace& t, bool pools) {
    const workload& load = t.load();
    value x = t.call("embeddings", bert_embeddings{here.dims, here.row.prefix, here.row.positions_per_token}, load.batch,
                     load.sequence);
    encoder_reach reach = all_positions(load.sequence);
    if (here.dims.is_decoder) reach.where = context_of(t, 0), reach.mask = eager_mask(t, reach.where, load.batch);
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    t.enter(encoder);
    for (repetition layer = t.repeat(here.dims.num_hidden_layers, x); layer.next();)
        x = t.call({"layer", layer.index()}, bert_layer{here.dims, here.row.prefix, reach}, x);
    t.leave(encoder);
    if (!pools) return {x, x};
    const recorder::off_loss_guard unread{t, !reads_pooler(here.row, here.dims.head)};
    const module_info pooler{.name = "pooler", .type = here.type("Pooler")};
    t.enter(pooler);
    const value first = t.call("dense", linear{here.dims.hidden_size, here.dims.hidden_size, true}, t.select(x, 1));
    return {x, t.leave(pooler, t.call("activation", activation_module{activation::tanh}, first))};
}

/// Scores of words: a decoder tied to the word embeddings, with a bias of its own.
constexpr value word_scores(const sizes& dims, trace& t, const value& h) {
    const bool tied = dims.tie_word_embeddings;
    return t.call("decoder", linear{dims.hidden_size, dims.vocab_size, true, tied, tied}, h);
}

/// The bias of the scores, executed as the decoder's that is tied to it; nobody reads one that is not.
constexpr void declare_bias(const sizes& dims, trace& t) {
    const recorder::idle_guard unread{t, !dims.tie_word_embeddings};
    (void)t.param("bias", {dims.vocab_size});
}

/// A dense layer, the activation and a norm in front of the scores.
constexpr value describe_predictions(const site& here, trace& t, const value& x) {
    const module_info predictions{.name = "predictions", .type = here.type("LMPredictionHead")};
    const module_info transform{.name = "transform", .type = here.type("PredictionHeadTransform")};
    t.enter(predictions);
    declare_bias(here.dims, t);
    t.enter(transform);
    value h = t.call("dense", linear{here.dims.hidden_size, here.dims.hidden_size, true}, x);
    h = t.call("transform_act_fn", activation_module{here.dims.hidden_act}, h);
    h = t.call("LayerNorm", norm<norm_kind::layer>{here.dims.hidden_size}, h);
    t.leave(transform);
    return t.leave(predictions, word_scores(here.dims, t, h));
}

/// Scores of words, of what the next sentence is, or of both.
constexpr value describe_cls(const site& here, trace& t, const value& x, const value& pooled) {
    const bool sentences = here.dims.head == head_kind::next_sentence, pretrains = here.dims.head == head_kind::pretraining;
    const literal type = sentences ? "OnlyNSPHead" : pretrains ? "PreTrainingHeads" : "OnlyMLMHead";
    const module_info cls{.name = "cls", .type = {here.row.prefix, type}, .what = role::head};
    t.enter(cls);
    value out;
    if (!sentences) out = describe_predictions(here, t, x);
    if (sentences || pretrains) {
        const recorder::off_loss_guard unread{t, pretrains};
        const value is_next = t.call("seq_relationship", linear{here.dims.hidden_size, 2, true}, pooled);
        if (sentences) out = is_next;
    }
    return t.leave(cls, out);
}

constexpr value describe_lm_head(const site& here, trace& t, const value& x) {
    const module_info lm_head{.name = "lm_head", .type = here.type("LMHead"), .what = role::head};
    t.enter(lm_head);
    declare_bias(here.dims, t);
    value h = t.call("dense", linear{here.dims.hidden_size, here.dims.hidden_size, true}, x);
    h = t.call("layer_norm", norm<norm_kind::layer>{here.dims.hidden_size}, activate(t, activation::gelu, h));
    return t.leave(lm_head, word_scores(here.dims, t, h));
}

constexpr value describe_head(const site& here, trace& t, const two_values& out) {
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    const auto classify = [&](std::int64_t labels, const value& h) {
        return t.call("classifier", head_linear{{here.dims.hidden_size, labels, true}}, dropout(t, "dropout", h));
    };
    const value kept = t.load().head == logits::last ? t.slice(out.first, 1, 1) : out.first;
    switch (here.dims.head) {
        case head_kind::sequence_classification: {
            if (!here.row.flat_heads) return classify(here.dims.num_labels, out.second);
            const classification_head labels{here.dims.hidden_size, here.dims.num_labels, here.type("ClassificationHead")};
            return t.call("classifier", labels, t.select(out.first, 1));
        }
        case head_kind::token_classification: return classify(here.dims.num_labels, out.first);
        case head_kind::multiple_choice: return classify(1, out.second);
        case head_kind::question_answering: return answer_scores(t, out.first);
        default: break;
    }
    return here.row.flat_heads ? describe_lm_head(here, t, kept) : describe_cls(here, t, kept, out.second);
}

}  // namespace bert_detail

/// An encoder with learned positions and post-norms, or the same as a decoder, bare or under its head.
///
/// Of a multiple-choice head one batch entry is one choice. Attention to an encoder is a decoder's parameters only: the
/// pass is given no encoder's states.
/// Source: transformers/models/bert/modeling_bert.py, transformers/models/roberta/modeling_roberta.py.
constexpr value describe_bert(const site& here, trace& t) {
    const bool bare = here.dims.head == head_kind::none;
    const literal type = here.dims.head == head_kind::causal_lm ? here.row.names.causal_lm_type : name_of(here.dims.head);
    const module_info whole{.type = {here.row.prefix, type}};
    const module_info base{.name = bare ? "" : here.row.names.base, .type = here.type("Model")};
    if (!bare) t.enter(whole);
    t.enter(base);
    const bool pools =
        bare || here.dims.head == head_kind::pretraining || bert_detail::reads_pooler(here.row, here.dims.head);
    const two_values out = bert_detail::base(here, t, pools);
    t.leave(base);
    if (bare) return out.first;
    return t.leave(whole, t.returns(out.first, bert_detail::describe_head(here, t, out)));
}

constexpr void read_bert(config_view config, sizes& s) {
    s.is_decoder = config.boolean("is_decoder", false);
    s.add_cross_attention = config.boolean("add_cross_attention", false);
    if (s.is_decoder && s.head != head_kind::none && s.head != head_kind::causal_lm)
        fail_unsupported(config, "is_decoder", "no row describes this class as a decoder");
    if (s.add_cross_attention && !s.is_decoder)
        fail_value(config, "add_cross_attention", "false where is_decoder is not true");
    if (config.non_negative("chunk_size_feed_forward", 0) != 0)
        fail_unsupported(config, "chunk_size_feed_forward", "no row describes a feed-forward block in chunks");
    if (s.head == head_kind::question_answering && s.num_labels != 2)
        fail_value(config, config.contains("num_labels") ? "num_labels" : "id2label",
                   "two labels under a question-answering head");
    if (s.hidden_size % s.num_attention_heads != 0) fail_value(config, "num_attention_heads", "a divisor of hidden_size");
    s.type_vocab_size = config.positive("type_vocab_size", s.type_vocab_size);
}

/// Positions begin behind the padding's (modeling_roberta.py, `create_position_ids_from_input_ids`).
constexpr void read_roberta(config_view config, sizes& s) {
    read_bert(config, s);
    s.first_position = config.non_negative("pad_token_id", 1) + 1;
    if (s.first_position >= s.max_position_embeddings) fail_value(config, "pad_token_id", "one of the first positions");
}

// transformers/models/bert: configuration_bert.py, modeling_bert.py
inline constexpr architecture bert{
    .model_type = "bert",
    .prefix = "Bert",
    .describe = describe_bert,
    .read = read_bert,
    .rotated = rotation::none,
    .heads = {head_kind::none, head_kind::causal_lm, head_kind::masked_lm, head_kind::pretraining, head_kind::next_sentence,
              head_kind::sequence_classification, head_kind::token_classification, head_kind::question_answering,
              head_kind::multiple_choice},
    .names = {.base = "bert", .causal_lm_type = "LMHeadModel"},
    .defaults = {.vocab_size = 30522,
                 .hidden_size = 768,
                 .intermediate_size = 3072,
                 .num_hidden_layers = 12,
                 .num_attention_heads = 12,
                 .max_position_embeddings = 512,
                 .type_vocab_size = 2,
                 .hidden_act = activation::gelu,
                 .tie_word_embeddings = true},
};

// transformers/models/roberta: positions follow padding, a language head of its own
inline constexpr architecture roberta = [](architecture a) {
    a.model_type = "roberta", a.prefix = "Roberta", a.positions_per_token = a.flat_heads = true;
    a.read = read_roberta;
    a.heads = {head_kind::none,
               head_kind::causal_lm,
               head_kind::masked_lm,
               head_kind::sequence_classification,
               head_kind::token_classification,
               head_kind::question_answering,
               head_kind::multiple_choice};
    a.names.base = "roberta", a.names.causal_lm_type = "ForCausalLM";
    a.defaults.vocab_size = 50265;
    return a;
}(bert);

}  // namespace llmcost::arch
