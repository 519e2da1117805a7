// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>

namespace llmcost::arch {

namespace rembert_detail {

enum own : std::uint8_t { output_width };
inline constexpr own_key keys[]{{"output_embedding_size", 1664}};

constexpr value sum_embeddings(const site& here, trace& t) {
    value x = t.add(word_embeddings(here, t), segment_embeddings(here, t));
    t.in_place(op::add, x, position_embeddings(here, t));
    return norm_embeddings(here, t, x);
}
constexpr value embed(const site& here, trace& t) { return embed_within(here, t, sum_embeddings); }
constexpr value encode(const site& here, trace& t) {
    make_padding_mask(t);
    return encode_with(here, t, {.type = here.type("Encoder"), .mapping_in = "embedding_hidden_mapping_in"});
}
constexpr value layer(const site& here, trace& t, const value& x) {
    return bert_layer_with(here, t, x, {}, "SelfAttention");
}

/// Scores through a width of their own, tied to nothing.
constexpr value score_words(const site& here, trace& t, const two_values& out) {
    const module_info cls{.name = "cls", .type = here.type("OnlyMLMHead"), .what = role::head};
    const module_info predictions{.name = "predictions", .type = here.type("LMPredictionHead")};
    const std::int64_t width = here.dims.own[output_width];
    t.enter(cls);
    t.enter(predictions);
    value h = t.call("dense", linear{here.dims.hidden_size, width, true}, out.first);
    h = t.call("activation", activation_module{here.dims.hidden_act}, h);
    h = t.call("LayerNorm", norm<norm_kind::layer>{width}, h);
    return t.leave(cls, t.leave(predictions, t.call("decoder", linear{width, here.dims.vocab_size, true}, h)));
}
constexpr value score(const site& here, trace& t, const two_values& out) {
    return score_states(here, t, out, score_words, false);
}
inline constexpr head_set pooled{head_kind::none, head_kind::sequence_classification, head_kind::multiple_choice};
constexpr value describe(const site& here, trace& t) { return describe_encoder(here, t, {score, pooled}); }

constexpr void read(config_view config, sizes& s) {
    read_encoder_decoding(config, s);
    s.embedding_size = config.positive("input_embedding_size", s.embedding_size);
    s.tie_word_embeddings = false;  // modeling_rembert.py names no tied weights
}

}  // namespace rembert_detail

inline constexpr dropout_key rembert_dropout[]{{dropout_of::hidden, "hidden_dropout_prob"},
                                               {dropout_of::attention, "attention_probs_dropout_prob"},
                                               {dropout_of::classifier, "classifier_dropout_prob", 0.1}};

// transformers/models/rembert: BERT with narrow embeddings and a wide language head
inline constexpr architecture rembert = [](architecture a) {
    a.model_type = "rembert", a.prefix = "RemBert", a.describe = rembert_detail::describe, a.read = rembert_detail::read;
    a.own = rembert_detail::keys, a.base = rembert_detail::encode, a.embed = rembert_detail::embed;
    a.layer = rembert_detail::layer, a.attend = attend_dividing;
    a.heads = {head_kind::none,
               head_kind::causal_lm,
               head_kind::masked_lm,
               head_kind::sequence_classification,
               head_kind::token_classification,
               head_kind::question_answering,
               head_kind::multiple_choice};
    a.names.base = "rembert", a.names.causal_lm_type = "ForCausalLM";
    a.defaults.vocab_size = 250300, a.defaults.hidden_size = 1152, a.defaults.intermediate_size = 4608;
    a.defaults.num_hidden_layers = 32, a.defaults.num_attention_heads = 18, a.defaults.embedding_size = 256;
    a.defaults.tie_word_embeddings = false;
    a.drops = rembert_dropout;
    return a;
}(bert);

}  // namespace llmcost::arch
