// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/sequence_summary.hpp>
#include <llmcost/model/architecture.hpp>
#include <llmcost/reading/keys.hpp>

// What configurations of text encoders have in common beyond the keys of all.
namespace llmcost {

/// Feed-forward blocks at once, two scores of an answer; heads of any width.
constexpr void read_encoder_of_heads(config_view config, sizes& s) {
    if (config.non_negative("chunk_size_feed_forward", 0) != 0)
        fail_unsupported(config, "chunk_size_feed_forward", "no row describes a feed-forward block in chunks");
    if (s.head == head_kind::question_answering && s.num_labels != 2)
        fail_value(config, config.contains("num_labels") ? "num_labels" : "id2label",
                   "two labels under a question-answering head");
    s.sliding_window = 0;
    s.num_key_value_heads = s.num_attention_heads;
    if (s.type_vocab_size > 0) s.type_vocab_size = config.positive("type_vocab_size", s.type_vocab_size);
}

/// The same, of heads that share the width.
constexpr void read_encoder(config_view config, sizes& s) {
    read_encoder_of_heads(config, s);
    if (s.hidden_size % s.num_attention_heads != 0) fail_value(config, "num_attention_heads", "a divisor of hidden_size");
    s.head_dim = s.hidden_size / s.num_attention_heads;
}

/// The same, of a type that may be a decoder.
constexpr void read_encoder_decoding(config_view config, sizes& s) {
    s.is_decoder = config.boolean("is_decoder", false);
    s.add_cross_attention = config.boolean("add_cross_attention", false);
    if (s.is_decoder && s.head != head_kind::none && s.head != head_kind::causal_lm)
        fail_unsupported(config, "is_decoder", "no row describes this class as a decoder");
    if (s.add_cross_attention && !s.is_decoder)
        fail_value(config, "add_cross_attention", "false where is_decoder is not true");
    read_encoder(config, s);
}

/// Of a type that is written for encoders alone: a decoder's cache is nobody's.
constexpr void read_encoder_alone(config_view config, sizes& s) {
    if (config.boolean("is_decoder", false))
        fail_unsupported(config, "is_decoder", "no row describes this type as a decoder");
    read_encoder(config, s);
}

/// What a summary of a sequence does, beyond a family's defaults (modeling_xlm.py, `XLMSequenceSummary`).
constexpr std::int64_t read_summary(config_view config, summary_form s) {
    if (const auto kind = config.optional_string("summary_type")) {
        if (*kind == "last")
            s.kind = summary_kind::last;
        else if (*kind == "first")
            s.kind = summary_kind::first;
        else if (*kind == "mean")
            s.kind = summary_kind::mean;
        else if (*kind == "cls_index")
            s.kind = summary_kind::picked;
        else
            fail_unsupported(config, "summary_type", "no layer describes this summary of a sequence");
    }
    s.projects = config.boolean("summary_use_proj", s.projects);
    s.to_labels = config.boolean("summary_proj_to_labels", s.to_labels);
    s.drops_first = config.real("summary_first_dropout", s.drops_first ? 1 : 0) > 0;
    s.drops_last = config.real("summary_last_dropout", s.drops_last ? 1 : 0) > 0;
    const auto act = config.find("summary_activation");
    if (!act) return s.packed();
    s.activates = !act->is_null() && !act->as_string().empty();
    if (s.activates) s.act = activation_named(config, "summary_activation", act->as_string());
    return s.packed();
}

/// Of a head that makes one score of a summary, which must be as wide as the layers.
constexpr void check_summary(config_view config, const sizes& s, std::int64_t packed) {
    const summary_form how = summary_form::unpacked(packed);
    if (s.head == head_kind::multiple_choice && how.projects && how.to_labels && s.num_labels > 0)
        fail_unsupported(config, "summary_proj_to_labels", "no row describes choices made of labels");
}

}  // namespace llmcost
