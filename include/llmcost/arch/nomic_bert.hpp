// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/encoder.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/encoder_model.hpp>

namespace llmcost::arch {

namespace nomic_bert_detail {

constexpr value sum_embeddings(const site& here, trace& t) {
    const value words = word_embeddings(here, t);
    if (here.dims.type_vocab_size == 0) return norm_embeddings(here, t, words);
    return norm_embeddings(here, t, t.add(words, segment_embeddings(here, t)));
}
constexpr value embed(const site& here, trace& t) { return embed_within(here, t, sum_embeddings); }
constexpr value base(const site& here, trace& t) {
    const value x = here.row.embed(here, t);
    const decoder_context shared = here.row.prepare(here, t);
    return describe_layers(here, t, shared, x);
}

constexpr value attend(const site& here, trace& t, const value& x) {
    return join(here, t, attend_around(here, t, project_qkv(here, t, x), false));
}

/// A norm behind each block's sum.
constexpr value layer(const site& here, trace& t, const value& x) {
    const norm<norm_kind::layer> norms{here.dims.hidden_size};
    value h = dropout(t, "post_attention_dropout", mix_by_attention(here, t, x));
    const value middle = t.call("post_attention_layernorm", norms, t.add(x, h));
    h = dropout(t, "post_mlp_dropout", here.row.feed(here, t, middle));
    return t.call("post_mlp_layernorm", norms, t.add(middle, h));
}

constexpr value score_in_cls(const site& here, trace& t, const two_values& out) {
    const module_info cls{.name = "cls", .type = here.type("OnlyMLMHead"), .what = role::head};
    t.enter(cls);
    return t.leave(cls, transform_and_score(here, t, out.first, "layer_norm"));
}
constexpr value score(const site& here, trace& t, const two_values& out) { return score_states(here, t, out, score_in_cls); }
constexpr value describe(const site& here, trace& t) {
    return describe_encoder(here, t, {.score = score, .pooled = {head_kind::sequence_classification}});
}

/// Heads may be of any width; biases are not the configuration's.
constexpr void read(config_view config, sizes& s) {
    read_encoder_of_heads(config, s);
    s.rotary_dim = s.head_dim;
}

}  // namespace nomic_bert_detail

inline constexpr dropout_key nomic_bert_dropout[]{{dropout_of::hidden, "hidden_dropout_prob"},
                                                  {dropout_of::attention, "attention_probs_dropout_prob"},
                                                  {dropout_of::classifier, "classifier_dropout", as_hidden}};

// transformers/models/nomic_bert: BERT with rotated heads and a gated feed-forward block
inline constexpr architecture nomic_bert = [](architecture a) {
    a.model_type = "nomic_bert", a.prefix = "NomicBert", a.describe = nomic_bert_detail::describe;
    a.read = nomic_bert_detail::read, a.base = nomic_bert_detail::base, a.embed = nomic_bert_detail::embed;
    a.prepare = all_with_tables, a.layer = nomic_bert_detail::layer, a.mix = mix_by_attention;
    a.attend = nomic_bert_detail::attend, a.feed = feed_forward, a.rotated = rotation::half;
    a.heads = {head_kind::none, head_kind::masked_lm, head_kind::sequence_classification, head_kind::token_classification};
    a.names.base = "nomic_bert", a.names.layers = "layers";
    a.keys[0] = no_attention_bias, a.keys[1] = no_mlp_bias;
    a.defaults.vocab_size = 30528, a.defaults.hidden_size = 768, a.defaults.intermediate_size = 3072;
    a.defaults.num_hidden_layers = a.defaults.num_attention_heads = 12, a.defaults.max_position_embeddings = 2048;
    a.defaults.type_vocab_size = 2, a.defaults.head = head_kind::masked_lm, a.defaults.tie_word_embeddings = true;
    a.keys[2] = no_key_value_heads;
    a.drops = nomic_bert_dropout;
    return a;
}(shared_encoder);

}  // namespace llmcost::arch
