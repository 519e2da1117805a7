// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/model/architecture.hpp>
#include <llmcost/reading/config.hpp>
#include <llmcost/reading/dropout.hpp>
#include <llmcost/reading/keys.hpp>
#include <llmcost/reading/layer_types.hpp>
#include <llmcost/reading/rope.hpp>

namespace llmcost {

/// Keys that Llama has and a relative has not.
inline constexpr key_name no_attention_bias{"attention_bias", "", key_rule::absent};
inline constexpr key_name no_mlp_bias{"mlp_bias", "", key_rule::absent};
/// Of types with as many keys and values as queries.
inline constexpr key_name no_key_value_heads{"num_key_value_heads", "", key_rule::absent};

/// Heads of the decoders that have classification heads besides the language model's.
inline constexpr head_set decoder_heads{head_kind::none, head_kind::causal_lm, head_kind::sequence_classification,
                                        head_kind::token_classification};
inline constexpr head_set answering_decoder_heads{head_kind::none, head_kind::causal_lm, head_kind::sequence_classification,
                                                  head_kind::token_classification, head_kind::question_answering};
inline constexpr head_set classifying_decoder_heads{head_kind::none, head_kind::causal_lm,
                                                    head_kind::sequence_classification};
inline constexpr head_set language_heads{head_kind::none, head_kind::causal_lm};

namespace detail {

struct head_name {
    literal suffix;
    head_kind head;
};

// the endings of the reference's class names
inline constexpr head_name head_names[] = {
    {"Model", head_kind::none},
    {"ForCausalLM", head_kind::causal_lm},
    {"LMHeadModel", head_kind::causal_lm},
    {"ForMaskedLM", head_kind::masked_lm},
    {"ForConditionalGeneration", head_kind::conditional_generation},
    {"MTModel", head_kind::conditional_generation},
    {"ForSpeechToText", head_kind::conditional_generation},
    {"ForSequenceClassification", head_kind::sequence_classification},
    {"ForTokenClassification", head_kind::token_classification},
    {"ForQuestionAnswering", head_kind::question_answering},
    {"ForImageClassification", head_kind::image_classification},
    {"ForSemanticSegmentation", head_kind::semantic_segmentation},
    {"ForObjectDetection", head_kind::object_detection},
    {"ForVideoClassification", head_kind::video_classification},
    {"ForImageClassificationLearned", head_kind::image_classification_learned},
    {"ForPreTraining", head_kind::pretraining},
    {"EncoderModel", head_kind::encoder},
    {"BaseModel", head_kind::encoder},
    {"ForNextSentencePrediction", head_kind::next_sentence},
    {"ForMultipleChoice", head_kind::multiple_choice},
    {"ForImageClassificationWithTeacher", head_kind::image_classification_with_teacher},
    {"ForMaskedImageModeling", head_kind::masked_image},
    {"ForAudioClassification", head_kind::audio_classification},
    {"ForCTC", head_kind::ctc},
};

/// The class in `architectures` that this row's prefix begins, or what the type is by itself.
constexpr head_kind read_head(const architecture& row, config_view config) {
    const auto by_default = [&] {
        if (!row.heads.has(row.defaults.head))
            fail_missing(config, "architectures", "a list with a class that a row describes");
        return row.defaults.head;
    };
    const auto list = config.find("architectures");
    if (!list || list->is_null()) return by_default();
    if (!list->is_array()) fail_value(config, "architectures", "a list of class names");
    for (const config_view entry : *list) {
        string_ref name = entry.as_string();
        if (!name.starts_with(row.prefix)) continue;
        name.remove_prefix(string_ref(row.prefix).size());
        // what others called the class before the reference had the type: `LlavaLlamaForCausalLM`
        if (!is_empty(row.text.key) && !name.starts_with("For") && name.ends_with("ForCausalLM")) continue;
        if (name == row.names.model_type && row.heads.has(head_kind::none)) return head_kind::none;
        if (name == row.names.causal_lm_type && row.heads.has(head_kind::causal_lm)) return head_kind::causal_lm;
        // beside classes of the same name that see pictures, too
        if (is_empty(row.text.key) && name.starts_with("Text")) name.remove_prefix(4);
        for (const head_name& h : head_names)
            if (h.suffix == name && row.heads.has(h.head)) return h.head;
        fail_unsupported(config, "architectures", "no row describes this class");
    }
    return by_default();
}

constexpr std::int64_t read_labels(const keys& k, std::int64_t otherwise) {
    const auto labels = k.view().optional_object("id2label");
    return k.positive_or("num_labels", labels ? static_cast<std::int64_t>(labels->size()) : otherwise);
}

constexpr dtype read_dtype(config_view config) {
    for (const literal key : {"dtype", "torch_dtype"}) {
        const auto found = config.find(key);
        if (!found || found->is_null()) continue;
        const dtype type = dtype_from(found->as_string());
        if (type == dtype::unspecified && found->as_string() != "auto")
            fail_value(config, key, "an element type of PyTorch");
        return type;
    }
    return dtype::unspecified;
}

}  // namespace detail

/// What every walk takes for granted, whichever keys the sizes came from.
constexpr void check_heads(const keys& k, const architecture& row, const sizes& s) {
    if (s.num_attention_heads == 0) return;
    (void)checked_width(k.view(), k.written("head_dim"), s.num_attention_heads, s.head_dim);
    if (row.rotated != rotation::none && (s.rotary_dim < 2 || s.rotary_dim % 2 != 0 || s.rotary_dim > s.head_dim))
        fail_unsupported(k.view(), k.written("head_dim"), "leaves no even number of rotated elements in a head");
}

/// Reads the sizes that only this family has, by the row's table.
constexpr void read_own_keys(config_view config, const architecture& row, own_sizes& into) {
    for (std::size_t i = 0; i < row.own.count; ++i) {
        const own_key& k = row.own.first[i];
        switch (k.value) {
            case own_value::positive: into[i] = config.positive(k.key, k.otherwise); break;
            case own_value::non_negative: into[i] = config.non_negative(k.key, k.otherwise); break;
            case own_value::boolean: into[i] = config.boolean(k.key, k.otherwise != 0); break;
            case own_value::computed: into[i] = k.otherwise; break;
        }
    }
}

/// A plan has kinds of layers only that the row's walk tells apart.
constexpr void check_kinds(config_view config, const architecture& row, const sizes& s) {
    for (int i = 0; i < s.layers.count; ++i)
        if (!row.kinds.has(s.layers.kinds[i]))
            fail_unsupported(config, "layer_types", "no layer of this type is of one of these kinds");
}

/// Reads what most configurations have in common, with the row's defaults; `read` of the row reads the rest. A part of
/// another model has no head, whatever class it names.
constexpr sizes read_sizes(const architecture& row, config_view config, bool is_part = false) {
    const keys k{row, config};
    sizes s = row.defaults;
    if (s.vocab_size > 0) s.vocab_size = k.positive_or("vocab_size", s.vocab_size);  // who reads no tokens has no words
    s.hidden_size = k.positive("hidden_size", s.hidden_size);
    s.intermediate_size = k.positive_or("intermediate_size", s.intermediate_size);
    s.num_hidden_layers = k.positive("num_hidden_layers", s.num_hidden_layers);
    s.num_attention_heads = k.positive_or("num_attention_heads", s.num_attention_heads);
    s.num_key_value_heads = !k.present("num_key_value_heads") && config.contains(k.written("num_key_value_heads"))
                                ? 0  // null: as many as heads
                                : k.positive_or("num_key_value_heads", s.num_key_value_heads);
    const auto head_dim = config.find(k.written("head_dim"));
    if (head_dim && head_dim->is_null() && k.known("head_dim")) s.head_dim = 0;  // hidden_size over the heads
    s.head_dim = k.positive_or("head_dim", s.head_dim);
    s.max_position_embeddings = k.positive_or("max_position_embeddings", s.max_position_embeddings);
    s.sliding_window = k.present("sliding_window")         ? k.non_negative("sliding_window", 0)
                       : config.contains("sliding_window") ? 0
                                                           : s.sliding_window;
    s.hidden_act = k.act("hidden_act", s.hidden_act);
    s.tie_word_embeddings = k.boolean("tie_word_embeddings", s.tie_word_embeddings);
    s.attention_bias = k.boolean("attention_bias", s.attention_bias);
    s.output_bias = s.attention_bias;
    s.mlp_bias = k.boolean("mlp_bias", s.mlp_bias);
    s.type = detail::read_dtype(config);
    s.head = is_part ? head_kind::none : detail::read_head(row, config);
    read_dropout(config, row, s.head, s.drops);
    s.quantized = config.optional_object("quantization_config").has_value();
    s.num_labels = detail::read_labels(k, s.num_labels);
    if (s.head == head_kind::token_classification && !config.boolean("token_classification_bias", true))
        fail_unsupported(config, "token_classification_bias", "no row describes a classifier of tokens without a bias");
    if (s.num_attention_heads > 0) {
        if (s.num_key_value_heads == 0) s.num_key_value_heads = s.num_attention_heads;
        if (s.num_attention_heads % s.num_key_value_heads != 0)
            fail_value(config, k.written("num_key_value_heads"), "a divisor of num_attention_heads");
        if (s.head_dim == 0) {
            s.head_dim = s.hidden_size / s.num_attention_heads;
            if (s.head_dim == 0) fail_value(config, k.written("num_attention_heads"), "at most hidden_size heads");
        }
        const double part = row.joins_rotated ? detail::read_partial_rotary_factor(config, 1.0) : 1.0;
        if (s.rotary_dim == 0) s.rotary_dim = row.joins_rotated ? whole_pairs(s.head_dim, part) : s.head_dim;
    }
    if (row.rotated != rotation::none) {
        detail::check_rope_of_kinds(config, row.rotary_per_mixer);
        s.frequencies = detail::read_frequency_rule(config, "full_attention");
        s.sliding_frequencies = detail::read_frequency_rule(config, "sliding_attention");
    }
    read_own_keys(config, row, s.own);
    if (row.read != nullptr)
        row.read(config, s);
    else
        plan_one_mask(config, s);
    check_heads(k, row, s);
    if ((s.frequencies >= frequency_rule::rescaled || s.sliding_frequencies >= frequency_rule::rescaled) &&
        s.rotary_dim == 2)
        fail_unsupported(*detail::rope_parameters(config), "factor",
                         "dynamic rope divides by zero where two elements of a head are rotated");
    check_window(config, s);
    check_kinds(config, row, s);
    return s;
}

namespace detail {

/// A configuration that says nothing.
inline constexpr config_node no_keys{.type = config_node::kind::object, .end = 1};

}  // namespace detail

/// Models with experts whose head weighs how evenly they are picked, where the text model's part asks for it; their
/// `read_whole`.
constexpr void weigh_balance_of_text(config_view config, model& m) {
    const auto text = config.optional_object(m.kind->text.key);
    m.dims.moe.weighs_balance = text && text->boolean("output_router_logits", false) && m.dims.moe.num_experts > 0;
}

}  // namespace llmcost
