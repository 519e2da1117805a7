// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/nomic_bert.hpp>

namespace llmcost::arch {

namespace gte_detail {

/// A gated block with dropout in front of its last projection, which has a bias.
constexpr value feed(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
    const module_info mlp{.name = "mlp", .type = here.type("MLP"), .what = role::mlp};
    t.enter(mlp);
    const value gate =
        t.call("act_fn", activation_module{here.dims.hidden_act}, t.call("gate_proj", linear{width, inner}, x));
    const value h = dropout(t, "dropout", t.mul(gate, t.call("up_proj", linear{width, inner}, x)));
    return t.leave(mlp, t.call("down_proj", linear{inner, width, true}, h));
}

constexpr value score_words(const site& here, trace& t, const two_values& out) {
    const module_info lm_head{.name = "lm_head", .type = here.type("LMHead"), .what = role::head};
    const std::int64_t width = here.dims.hidden_size;
    t.enter(lm_head);
    value h = t.unary(torch_function::kept_gelu, op::gelu, t.call("dense", linear{width, width, true}, out.first));
    h = t.call("layer_norm", norm<norm_kind::layer>{width}, h);
    return t.leave(lm_head, t.call("decoder", linear{width, here.dims.vocab_size, true, here.dims.tie_word_embeddings}, h));
}
constexpr value score(const site& here, trace& t, const two_values& out) { return score_states(here, t, out, score_words); }
constexpr value describe(const site& here, trace& t) {
    return describe_encoder(here, t, {.score = score, .pooled = {head_kind::sequence_classification}});
}

/// Segments may be missing.
constexpr void read(config_view config, sizes& s) {
    const std::int64_t segments = config.non_negative("type_vocab_size", s.type_vocab_size);
    s.type_vocab_size = 0;
    nomic_bert_detail::read(config, s);
    s.type_vocab_size = segments;
}

}  // namespace gte_detail

inline constexpr dropout_key gte_dropout[]{{dropout_of::hidden, "hidden_dropout_prob", 0.1},
                                           {dropout_of::attention, "attention_probs_dropout_prob"},
                                           {dropout_of::classifier, "classifier_dropout", as_hidden}};

// transformers/models/gte: Nomic BERT with biases, a language head of its own
inline constexpr architecture gte = [](architecture a) {
    a.model_type = "gte", a.prefix = "Gte", a.describe = gte_detail::describe, a.feed = gte_detail::feed;
    a.read = gte_detail::read;
    a.names.base = "gte";
    a.defaults.vocab_size = 250048, a.defaults.max_position_embeddings = 8192, a.defaults.type_vocab_size = 1;
    a.defaults.hidden_act = activation::gelu, a.defaults.attention_bias = a.defaults.output_bias = true;
    a.drops = gte_dropout;
    return a;
}(nomic_bert);

}  // namespace llmcost::arch
