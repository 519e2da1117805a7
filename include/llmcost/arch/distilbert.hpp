// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/encoder.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/encoder_model.hpp>

namespace llmcost::arch {

namespace distilbert_detail {

constexpr value sum_embeddings(const site& here, trace& t) {
    const value words = word_embeddings(here, t);
    return norm_embeddings(here, t, t.add(words, position_embeddings(here, t)));
}
constexpr value embed(const site& here, trace& t) {
    return describe_within({.name = "embeddings", .type = {"", "Embeddings"}, .what = role::embedding}, sum_embeddings, here,
                           t);
}
constexpr value encode(const site& here, trace& t) {
    return encode_with(here, t, {.type = {"", "Transformer"}, .name = "transformer", .layer = {"", "TransformerBlock"}});
}

constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size;
    const value mixed = attend_within(t, x, width, here.dims.num_attention_heads, true, {"q_lin", "k_lin", "v_lin"}, false,
                                      bert_layers::reach_of(here));
    return t.call("out_lin", linear{width, width, true}, mixed);
}

constexpr value layer(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size;
    const norm<norm_kind::layer> norms{width};
    const value a = t.call("sa_layer_norm", norms, t.add(mix_by_attention(here, t, x), x));
    const module_info ffn{.name = "ffn", .type = {"", "FFN"}, .what = role::mlp};
    t.enter(ffn);
    value h = t.call("lin1", linear{width, here.dims.intermediate_size, true}, a);
    h = t.call("activation", activation_module{here.dims.hidden_act}, h);
    h = dropout(t, "dropout", t.call("lin2", linear{here.dims.intermediate_size, width, true}, h));
    return t.call("output_layer_norm", norms, t.add(t.leave(ffn, h), a));
}

constexpr value score_words(const site& here, trace& t, const two_values& out) {
    const std::int64_t width = here.dims.hidden_size;
    value h = t.call("vocab_transform", linear{width, width, true}, out.first);
    h = t.call("activation", activation_module{here.dims.hidden_act}, h);
    h = t.call("vocab_layer_norm", norm<norm_kind::layer>{width}, h);
    const linear words{width, here.dims.vocab_size, true, here.dims.tie_word_embeddings};
    return t.call("vocab_projector", head_linear{words}, h);
}
/// A dense layer over each sequence's first state, behind which scores are made of it.
constexpr value pool(const site& here, trace& t, const value& x) {
    const linear dense{here.dims.hidden_size, here.dims.hidden_size, true};
    return t.unary(op::relu, t.call("pre_classifier", dense, t.select(x, 1)));
}
constexpr value score(const site& here, trace& t, const two_values& out) {
    const head_kind head = here.dims.head;
    if (head == head_kind::question_answering)
        return answer_scores(t, dropout(t, "dropout", out.first, dropout_of::answers));
    if (head == head_kind::token_classification) {
        const linear labels{here.dims.hidden_size, here.dims.num_labels, true};
        return t.call("classifier", head_linear{labels}, dropout(t, "dropout", out.first));
    }
    const bool pools = head == head_kind::sequence_classification || head == head_kind::multiple_choice;
    return score_states(here, t, {out.first, pools ? pool(here, t, out.first) : value{}}, score_words);
}
constexpr value describe(const site& here, trace& t) { return describe_encoder(here, t, {.score = score}); }

inline constexpr dropout_key dropout_rates[]{{dropout_of::hidden, "dropout", 0.1},
                                             {dropout_of::attention, "attention_dropout", 0.1},
                                             {dropout_of::classifier, "seq_classif_dropout", 0.2},
                                             {dropout_of::answers, "qa_dropout", 0.1}};

}  // namespace distilbert_detail

// transformers/models/distilbert: BERT without segments and pooler, names of its own
inline constexpr architecture distilbert = [](architecture a) {
    a.model_type = "distilbert", a.prefix = "DistilBert", a.describe = distilbert_detail::describe;
    a.read = read_encoder_alone, a.base = distilbert_detail::encode, a.embed = distilbert_detail::embed;
    a.layer = distilbert_detail::layer, a.attend = distilbert_detail::attend, a.mix = mix_by_attention;
    a.heads = {head_kind::none,
               head_kind::masked_lm,
               head_kind::sequence_classification,
               head_kind::token_classification,
               head_kind::question_answering,
               head_kind::multiple_choice};
    a.names.base = "distilbert";
    a.names.attention = "attention", a.names.attention_type = "SelfAttention";
    a.keys[0] = {"hidden_size", "dim", key_rule::standard_first};
    a.keys[1] = {"num_attention_heads", "n_heads", key_rule::standard_first};
    a.keys[2] = {"num_hidden_layers", "n_layers", key_rule::standard_first};
    a.keys[3] = {"intermediate_size", "hidden_dim", key_rule::written_only};
    a.keys[4] = {"hidden_act", "activation", key_rule::written_only};
    a.defaults.vocab_size = 30522, a.defaults.hidden_size = 768, a.defaults.intermediate_size = 3072;
    a.defaults.num_hidden_layers = 6, a.defaults.num_attention_heads = 12, a.defaults.max_position_embeddings = 512;
    a.defaults.hidden_act = activation::gelu, a.defaults.head = head_kind::masked_lm;
    a.defaults.tie_word_embeddings = true;
    a.keys[5] = no_key_value_heads;
    a.drops = distilbert_detail::dropout_rates;
    return a;
}(shared_encoder);

}  // namespace llmcost::arch
