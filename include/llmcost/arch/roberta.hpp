// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>

namespace llmcost::arch {

namespace roberta_detail {

/// Padding moves positions, so that every sequence looks up its own.
constexpr value sum_embeddings(const site& here, trace& t) {
    const value x = t.add(word_embeddings(here, t), segment_embeddings(here, t));
    return norm_embeddings(here, t, t.add(x, position_embeddings(here, t, t.load().batch)));
}
constexpr value embed(const site& here, trace& t) { return embed_within(here, t, sum_embeddings); }

/// A language head; of some relatives it stands in front of the model, so that its decoder names the tied weight.
constexpr value score_words_of(const site& here, trace& t, const value& x, bool named_first) {
    const module_info lm_head{.name = "lm_head", .type = here.type("LMHead"), .what = role::head};
    const std::int64_t width = here.dims.hidden_size;
    t.enter(lm_head);
    declare_word_bias(here.dims, t);
    const value h = t.unary(torch_function::kept_gelu, op::gelu, t.call("dense", linear{width, width, true}, x));
    const value normed = t.call("layer_norm", norm<norm_kind::layer>{width}, h);
    return t.leave(lm_head, scores_of_words(here.dims, t, normed, named_first));
}
constexpr value score_words(const site& here, trace& t, const two_values& out) {
    return score_words_of(here, t, out.first, false);
}
constexpr value score_words_named_first(const site& here, trace& t, const two_values& out) {
    return score_words_of(here, t, out.first, true);
}
constexpr value score_with(const site& here, trace& t, const two_values& out, score_part words) {
    if (here.dims.head == head_kind::sequence_classification) return classify_first_state(here, t, out.first);
    return score_states(here, t, out, words);
}
constexpr value score(const site& here, trace& t, const two_values& out) { return score_with(here, t, out, score_words); }
constexpr value score_named_first(const site& here, trace& t, const two_values& out) {
    return score_with(here, t, out, score_words_named_first);
}
inline constexpr head_set pooled{head_kind::none, head_kind::multiple_choice};
constexpr value describe(const site& here, trace& t) { return describe_encoder(here, t, {score, pooled}); }

/// Classes that are made with their head in front of the model (modeling_xlm_roberta.py, `XLMRobertaForMaskedLM`).
constexpr value sum_embeddings_named_later(const site& here, trace& t) {
    const bool tied =
        here.dims.tie_word_embeddings && (here.dims.head == head_kind::masked_lm || here.dims.head == head_kind::causal_lm);
    const embedding words{here.dims.vocab_size, here.dims.hidden_size, false, {"", "Embedding"}, tied};
    value x = t.call("word_embeddings", words, extents{t.load().batch, t.load().sequence});
    x = t.add(x, segment_embeddings(here, t));
    return norm_embeddings(here, t, t.add(x, position_embeddings(here, t, t.load().batch)));
}
constexpr value embed_named_later(const site& here, trace& t) { return embed_within(here, t, sum_embeddings_named_later); }
constexpr value describe_head_first(const site& here, trace& t) {
    return describe_encoder(here, t, {score_named_first, pooled});
}

/// Positions begin behind the padding's (modeling_roberta.py, `create_position_ids_from_input_ids`).
constexpr void read(config_view config, sizes& s) {
    read_encoder_decoding(config, s);
    s.first_position = config.non_negative("pad_token_id", 1) + 1;
    if (s.first_position >= s.max_position_embeddings) fail_value(config, "pad_token_id", "one of the first positions");
}

/// Embeddings without a norm, which stands in front of each block instead, and behind all layers.
constexpr value sum_embeddings_plainly(const site& here, trace& t) {
    const value x = t.add(word_embeddings(here, t), segment_embeddings(here, t));
    return dropout(t, "dropout", t.add(x, position_embeddings(here, t, t.load().batch)));
}
constexpr value embed_plainly(const site& here, trace& t) { return embed_within(here, t, sum_embeddings_plainly); }
constexpr value encode_xl(const site& here, trace& t) {
    return encode_with(here, t, {.type = here.type("Encoder"), .last_norm = "LayerNorm"});
}
constexpr value layer_xl(const site& here, trace& t, const value& x) {
    return bert_layer_with(here, t, x, {.attention = "self_attn_layer_norm", .layer = "LayerNorm", .drops = false});
}

constexpr value layer_prelayernorm(const site& here, trace& t, const value& x) {
    return bert_layer_with(here, t, x, {.attention = "LayerNorm", .intermediate = "LayerNorm"});
}
/// The norm behind all layers is the model's.
constexpr value encode_prelayernorm(const site& here, trace& t) {
    return bert_layers::normed_where_named(here, t, "LayerNorm", encode(here, t));
}

}  // namespace roberta_detail

// transformers/models/roberta: positions follow padding, a language head of its own
inline constexpr architecture roberta = [](architecture a) {
    a.model_type = "roberta", a.prefix = "Roberta", a.describe = roberta_detail::describe, a.read = roberta_detail::read;
    a.embed = roberta_detail::embed;
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

// transformers/models/xlm_roberta: RoBERTa behind its language head
inline constexpr architecture xlm_roberta = [](architecture a) {
    a.model_type = "xlm-roberta", a.prefix = "XLMRoberta", a.defaults.vocab_size = 30522;
    a.describe = roberta_detail::describe_head_first, a.embed = roberta_detail::embed_named_later;
    return a;
}(roberta);

// transformers/models/camembert: the same
inline constexpr architecture camembert = [](architecture a) {
    a.model_type = "camembert", a.prefix = "Camembert";
    return a;
}(xlm_roberta);

// transformers/models/data2vec: modeling_data2vec_text.py, RoBERTa under another name
inline constexpr architecture data2vec_text = [](architecture a) {
    a.model_type = "data2vec-text", a.prefix = "Data2VecText", a.names.base = "data2vec_text";
    a.defaults.vocab_size = 30522;
    return a;
}(roberta);

// transformers/models/xlm_roberta_xl: norms in front of blocks, none over embeddings, one behind all layers
inline constexpr architecture xlm_roberta_xl = [](architecture a) {
    a.model_type = "xlm-roberta-xl", a.prefix = "XLMRobertaXL", a.base = roberta_detail::encode_xl;
    a.embed = roberta_detail::embed_plainly, a.layer = roberta_detail::layer_xl;
    a.defaults.vocab_size = 250880, a.defaults.hidden_size = 2560, a.defaults.intermediate_size = 10240;
    a.defaults.num_hidden_layers = 36, a.defaults.num_attention_heads = 32, a.defaults.max_position_embeddings = 514;
    a.defaults.type_vocab_size = 1;
    return a;
}(roberta);

// transformers/models/roberta_prelayernorm: norms in front of blocks, and one behind all layers
inline constexpr architecture roberta_prelayernorm = [](architecture a) {
    a.model_type = "roberta-prelayernorm", a.prefix = "RobertaPreLayerNorm";
    a.base = roberta_detail::encode_prelayernorm, a.layer = roberta_detail::layer_prelayernorm;
    a.names.base = "roberta_prelayernorm";
    return a;
}(roberta);

}  // namespace llmcost::arch
