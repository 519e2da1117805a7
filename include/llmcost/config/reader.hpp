// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/config/dropout.hpp>
#include <llmcost/config/keys.hpp>
#include <llmcost/config/layer_types.hpp>
#include <llmcost/config/rope.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost {

/// Keys that Llama has and a relative has not.
inline constexpr key_name absent_attention_bias{"attention_bias", "", key_rule::absent};
inline constexpr key_name absent_mlp_bias{"mlp_bias", "", key_rule::absent};
/// Of types with as many keys and values as queries.
inline constexpr key_name absent_num_key_value_heads{"num_key_value_heads", "", key_rule::absent};

/// Heads of the decoders that have classification heads besides the language model's.
inline constexpr head_set decoder_heads{head_kind::none, head_kind::causal_lm, head_kind::sequence_classification,
                                        head_kind::token_classification};
inline constexpr head_set answering_decoder_heads{head_kind::none, head_kind::causal_lm,
                                                  head_kind::sequence_classification, head_kind::token_classification,
                                                  head_kind::question_answering};
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
constexpr head_kind parse_head(const model_spec& row, config_view json) {
    const auto by_default = [&] {
        if (!row.supported_heads.has(row.defaults.head))
            throw_missing_key(json, "architectures", "a list with a class that a row describes");
        return row.defaults.head;
    };
    const auto list = json.find("architectures");
    if (!list || list->is_null()) return by_default();
    if (!list->is_array()) throw_invalid_value(json, "architectures", "a list of class names");
    for (const config_view entry : *list) {
        string_ref name = entry.as_string();
        if (!name.starts_with(row.class_prefix)) continue;
        name.remove_prefix(string_ref(row.class_prefix).size());
        // what others called the class before the reference had the type: `LlavaLlamaForCausalLM`
        if (!is_empty(row.text_model.key) && !name.starts_with("For") && name.ends_with("ForCausalLM")) continue;
        if (name == row.names.model_class && row.supported_heads.has(head_kind::none)) return head_kind::none;
        if (name == row.names.causal_lm_class && row.supported_heads.has(head_kind::causal_lm))
            return head_kind::causal_lm;
        // beside classes of the same name that see pictures, too
        if (is_empty(row.text_model.key) && name.starts_with("Text")) name.remove_prefix(4);
        for (const head_name& h : head_names)
            if (h.suffix == name && row.supported_heads.has(h.head)) return h.head;
        throw_unsupported(json, "architectures", "no row describes this class");
    }
    return by_default();
}

constexpr std::int64_t read_labels(const config_keys_reader& k, std::int64_t otherwise) {
    const auto labels = k.view().optional_object("id2label");
    return k.positive_or("num_labels", labels ? static_cast<std::int64_t>(labels->size()) : otherwise);
}

constexpr dtype parse_dtype(config_view json) {
    for (const literal key : {"dtype", "torch_dtype"}) {
        const auto found = json.find(key);
        if (!found || found->is_null()) continue;
        const dtype type = dtype_from(found->as_string());
        if (type == dtype::unspecified && found->as_string() != "auto")
            throw_invalid_value(json, key, "an element type of PyTorch");
        return type;
    }
    return dtype::unspecified;
}

}  // namespace detail

/// What every walk takes for granted, whichever keys the sizes came from.
constexpr void check_heads(const config_keys_reader& k, const model_spec& row, const model_config& config) {
    if (config.num_attention_heads == 0) return;
    (void)checked_size(k.view(), k.family_key_name("head_dim"), config.num_attention_heads, config.head_dim);
    if (row.rotary != rotary_style::none &&
        (config.rotary_dim < 2 || config.rotary_dim % 2 != 0 || config.rotary_dim > config.head_dim))
        throw_unsupported(k.view(), k.family_key_name("head_dim"),
                          "leaves no even number of rotated elements in a head");
}

/// Reads the sizes that only this family has, by the row's table.
constexpr void parse_own_keys(config_view json, const model_spec& row, family_config& family) {
    for (std::size_t i = 0; i < row.family_keys.size; ++i) {
        const family_key& k = row.family_keys.entries[i];
        switch (k.type) {
            case family_key_type::positive: family[i] = json.positive(k.key, k.default_value); break;
            case family_key_type::non_negative: family[i] = json.non_negative(k.key, k.default_value); break;
            case family_key_type::boolean: family[i] = json.boolean(k.key, k.default_value != 0); break;
            case family_key_type::computed: family[i] = k.default_value; break;
        }
    }
}

/// A plan has kinds of layers only that the row's walk tells apart.
constexpr void check_kinds(config_view json, const model_spec& row, const model_config& config) {
    for (int i = 0; i < config.layers.num_specs; ++i)
        if (!row.supported_layers.contains(config.layers.specs[i]))
            throw_unsupported(json, "layer_types", "no layer of this type is of one of these kinds");
}

/// Reads what most configurations have in common, with the row's defaults; `read` of the row reads the rest. A part of
/// another model has no head, whatever class it names.
constexpr model_config parse_sizes(const model_spec& row, config_view json, bool is_part = false) {
    const config_keys_reader k{row, json};
    model_config config = row.defaults;
    if (config.vocab_size > 0)
        config.vocab_size = k.positive_or("vocab_size", config.vocab_size);  // who reads no tokens has no words
    config.hidden_size = k.positive("hidden_size", config.hidden_size);
    config.intermediate_size = k.positive_or("intermediate_size", config.intermediate_size);
    config.num_hidden_layers = k.positive("num_hidden_layers", config.num_hidden_layers);
    config.num_attention_heads = k.positive_or("num_attention_heads", config.num_attention_heads);
    config.num_key_value_heads =
        !k.is_present("num_key_value_heads") && json.contains(k.family_key_name("num_key_value_heads"))
            ? 0  // null: as many as heads
            : k.positive_or("num_key_value_heads", config.num_key_value_heads);
    const auto head_dim = json.find(k.family_key_name("head_dim"));
    if (head_dim && head_dim->is_null() && k.has_standard_key("head_dim"))
        config.head_dim = 0;  // hidden_size over the heads
    config.head_dim = k.positive_or("head_dim", config.head_dim);
    config.max_position_embeddings = k.positive_or("max_position_embeddings", config.max_position_embeddings);
    config.sliding_window = k.is_present("sliding_window")    ? k.non_negative("sliding_window", 0)
                            : json.contains("sliding_window") ? 0
                                                              : config.sliding_window;
    config.hidden_act = k.act("hidden_act", config.hidden_act);
    config.tie_word_embeddings = k.boolean("tie_word_embeddings", config.tie_word_embeddings);
    config.attention_bias = k.boolean("attention_bias", config.attention_bias);
    config.output_bias = config.attention_bias;
    config.mlp_bias = k.boolean("mlp_bias", config.mlp_bias);
    config.dtype_of_weights = detail::parse_dtype(json);
    config.head = is_part ? head_kind::none : detail::parse_head(row, json);
    parse_dropout(json, row, config.head, config.dropout_positions);
    config.quantized = json.optional_object("quantization_config").has_value();
    config.num_labels = detail::read_labels(k, config.num_labels);
    if (config.head == head_kind::token_classification && !json.boolean("token_classification_bias", true))
        throw_unsupported(json, "token_classification_bias", "no row describes a classifier of tokens without a bias");
    if (config.num_attention_heads > 0) {
        if (config.num_key_value_heads == 0) config.num_key_value_heads = config.num_attention_heads;
        if (config.num_attention_heads % config.num_key_value_heads != 0)
            throw_invalid_value(json, k.family_key_name("num_key_value_heads"), "a divisor of num_attention_heads");
        if (config.head_dim == 0) {
            config.head_dim = config.hidden_size / config.num_attention_heads;
            if (config.head_dim == 0)
                throw_invalid_value(json, k.family_key_name("num_attention_heads"), "at most hidden_size heads");
        }
        const double part = row.has_partial_rotary ? detail::parse_partial_rotary_factor(json, 1.0) : 1.0;
        if (config.rotary_dim == 0)
            config.rotary_dim = row.has_partial_rotary ? round_rotary_dim(config.head_dim, part) : config.head_dim;
    }
    if (row.rotary != rotary_style::none) {
        detail::check_rope_of_kinds(json, row.has_rotary_per_token_mixer);
        config.rope_scaling = detail::parse_frequency_rule(json, "full_attention");
        config.sliding_rope_scaling = detail::parse_frequency_rule(json, "sliding_attention");
    }
    parse_own_keys(json, row, config.family);
    if (row.parse_config != nullptr)
        row.parse_config(json, config);
    else
        set_single_mask(json, config);
    check_heads(k, row, config);
    if ((config.rope_scaling >= rope_scaling_kind::dynamic ||
         config.sliding_rope_scaling >= rope_scaling_kind::dynamic) &&
        config.rotary_dim == 2)
        throw_unsupported(*detail::rope_parameters(json), "factor",
                          "dynamic rope divides by zero where two elements of a head are rotated");
    validate_sliding_window(json, config);
    check_kinds(json, row, config);
    return config;
}

namespace detail {

/// A configuration that says nothing.
inline constexpr config_node no_keys{.type = config_node::kind::object, .end = 1};

}  // namespace detail

/// Models with experts whose head weighs how evenly they are picked, where the text model's part asks for it; their
/// `parse_config`.
constexpr void weigh_balance_of_text(config_view json, model& m) {
    const auto text = json.optional_object(m.spec->text_model.key);
    m.config.moe.has_load_balancing_loss =
        text && text->boolean("output_router_logits", false) && m.config.moe.num_experts > 0;
}

}  // namespace llmcost
