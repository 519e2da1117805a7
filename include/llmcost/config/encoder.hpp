// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/keys.hpp>
#include <llmcost/layers/sequence_summary.hpp>
#include <llmcost/model/model_spec.hpp>

// Configuration keys that text encoders share.
namespace llmcost {

/// Parses keys of text encoders with any head size.
constexpr void parse_encoder_heads(config_view json, model_config& config) {
    if (json.non_negative("chunk_size_feed_forward", 0) != 0)
        throw_unsupported(json, "chunk_size_feed_forward", "chunked feed-forward blocks are not supported");
    if (config.head == head_kind::question_answering && config.num_labels != 2)
        throw_invalid_value(json, json.contains("num_labels") ? "num_labels" : "id2label",
                            "two labels for a question answering head");
    config.sliding_window = 0;
    config.num_key_value_heads = config.num_attention_heads;
    if (config.type_vocab_size > 0) config.type_vocab_size = json.positive("type_vocab_size", config.type_vocab_size);
}

/// Parses keys of text encoders with head_dim = hidden_size / num_attention_heads.
constexpr void parse_encoder(config_view json, model_config& config) {
    parse_encoder_heads(json, config);
    if (config.hidden_size % config.num_attention_heads != 0)
        throw_invalid_value(json, "num_attention_heads", "a divisor of hidden_size");
    config.head_dim = config.hidden_size / config.num_attention_heads;
}

/// Parses keys of text encoders that can also be decoders.
constexpr void parse_decoding_encoder(config_view json, model_config& config) {
    config.is_causal = json.boolean("is_decoder", false);
    config.add_cross_attention = json.boolean("add_cross_attention", false);
    if (config.is_causal && config.head != head_kind::none && config.head != head_kind::causal_lm)
        throw_unsupported(json, "is_decoder", "this class is not supported as a decoder");
    if (config.add_cross_attention && !config.is_causal)
        throw_invalid_value(json, "add_cross_attention", "false unless is_decoder is true");
    parse_encoder(json, config);
}

/// Parses keys of text encoders that cannot be decoders.
constexpr void parse_encoder_only(config_view json, model_config& config) {
    if (json.boolean("is_decoder", false))
        throw_unsupported(json, "is_decoder", "this model type is not supported as a decoder");
    parse_encoder(json, config);
}

/// Parses the summary of a sequence, starting from the defaults `s` of the family.
///
/// Source: transformers/models/xlm/modeling_xlm.py, `XLMSequenceSummary`.
constexpr std::int64_t parse_sequence_summary(config_view json, summary_form s) {
    if (const auto kind = json.optional_string("summary_type")) {
        if (*kind == "last")
            s.kind = summary_kind::last;
        else if (*kind == "first")
            s.kind = summary_kind::first;
        else if (*kind == "mean")
            s.kind = summary_kind::mean;
        else if (*kind == "cls_index")
            s.kind = summary_kind::picked;
        else
            throw_unsupported(json, "summary_type", "unsupported summary type");
    }
    s.projects = json.boolean("summary_use_proj", s.projects);
    s.to_labels = json.boolean("summary_proj_to_labels", s.to_labels);
    s.drops_first = json.real("summary_first_dropout", s.drops_first ? 1 : 0) > 0;
    s.drops_last = json.real("summary_last_dropout", s.drops_last ? 1 : 0) > 0;
    const auto act = json.find("summary_activation");
    if (!act) return s.packed();
    s.activates = !act->is_null() && !act->as_string().empty();
    if (s.activates) s.act = activation_named(json, "summary_activation", act->as_string());
    return s.packed();
}

/// Checks the summary of a multiple choice head, which must have the hidden size.
constexpr void validate_sequence_summary(config_view json, const model_config& config, std::int64_t packed) {
    const summary_form form = summary_form::unpacked(packed);
    if (config.head == head_kind::multiple_choice && form.projects && form.to_labels && config.num_labels > 0)
        throw_unsupported(json, "summary_proj_to_labels", "multiple choice with projection to labels is not supported");
}

}  // namespace llmcost
