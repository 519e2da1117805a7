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

/// Key rules for keys of Llama that a derived family does not have.
inline constexpr key_name absent_attention_bias{"attention_bias", "", key_rule::absent};
inline constexpr key_name absent_mlp_bias{"mlp_bias", "", key_rule::absent};
/// For types with as many key/value heads as query heads.
inline constexpr key_name absent_num_key_value_heads{"num_key_value_heads", "", key_rule::absent};

/// Heads of decoders with classification heads.
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

// Suffixes of class names in the reference.
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

/// The head of the first class in `architectures` with the prefix of the model spec, or the default head.
constexpr head_kind parse_head(const model_spec& row, config_view json) {
    const auto by_default = [&] {
        if (!row.supported_heads.has(row.defaults.head))
            throw_missing_key(json, "architectures", "a list with a supported class");
        return row.defaults.head;
    };
    const auto list = json.find("architectures");
    if (!list || list->is_null()) return by_default();
    if (!list->is_array()) throw_invalid_value(json, "architectures", "a list of class names");
    for (const config_view entry : *list) {
        string_ref name = entry.as_string();
        if (!name.starts_with(row.class_prefix)) continue;
        name.remove_prefix(string_ref(row.class_prefix).size());
        // Class names from before Transformers had the type, for example `LlavaLlamaForCausalLM`.
        if (!is_empty(row.text_model.key) && !name.starts_with("For") && name.ends_with("ForCausalLM")) continue;
        if (name == row.names.model_class && row.supported_heads.has(head_kind::none)) return head_kind::none;
        if (name == row.names.causal_lm_class && row.supported_heads.has(head_kind::causal_lm))
            return head_kind::causal_lm;
        // Text classes in families that also have multimodal classes.
        if (is_empty(row.text_model.key) && name.starts_with("Text")) name.remove_prefix(4);
        for (const head_name& h : head_names)
            if (h.suffix == name && row.supported_heads.has(h.head)) return h.head;
        throw_unsupported(json, "architectures", "unsupported class");
    }
    return by_default();
}

constexpr std::int64_t read_labels(const config_keys_reader& k, std::int64_t default_value) {
    const auto labels = k.view().optional_object("id2label");
    return k.positive_or("num_labels", labels ? static_cast<std::int64_t>(labels->size()) : default_value);
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

/// Checks properties of heads that every forward pass requires.
constexpr void check_heads(const config_keys_reader& k, const model_spec& row, const model_config& config) {
    if (config.num_attention_heads == 0) return;
    (void)checked_size(k.view(), k.family_key_name("head_dim"), config.num_attention_heads, config.head_dim);
    if (row.rotary != rotary_style::none &&
        (config.rotary_dim < 2 || config.rotary_dim % 2 != 0 || config.rotary_dim > config.head_dim))
        throw_unsupported(k.view(), k.family_key_name("head_dim"),
                          "the number of rotated elements per head is not even");
}

/// Parses the family keys of the model spec.
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

/// Checks that the forward pass supports all layer kinds of the plan.
constexpr void check_kinds(config_view json, const model_spec& row, const model_config& config) {
    for (int i = 0; i < config.layers.num_specs; ++i)
        if (!row.supported_layers.contains(config.layers.specs[i]))
            throw_unsupported(json, "layer_types", "layer type not supported by this model type");
}

/// Parses the standard keys, with the defaults of the model spec, then calls its `parse_config`.
///
/// A component (`is_part`) has no head, independent of its class.
constexpr model_config parse_sizes(const model_spec& row, config_view json, bool is_part = false) {
    const config_keys_reader k{row, json};
    model_config config = row.defaults;
    if (config.vocab_size > 0)
        // Models without tokens have no vocabulary.
        config.vocab_size = k.positive_or("vocab_size", config.vocab_size);
    config.hidden_size = k.positive("hidden_size", config.hidden_size);
    config.intermediate_size = k.positive_or("intermediate_size", config.intermediate_size);
    config.num_hidden_layers = k.positive("num_hidden_layers", config.num_hidden_layers);
    config.num_attention_heads = k.positive_or("num_attention_heads", config.num_attention_heads);
    config.num_key_value_heads =
        !k.is_present("num_key_value_heads") && json.contains(k.family_key_name("num_key_value_heads"))
            ? 0  // null: the number of attention heads
            : k.positive_or("num_key_value_heads", config.num_key_value_heads);
    const auto head_dim = json.find(k.family_key_name("head_dim"));
    if (head_dim && head_dim->is_null() && k.has_standard_key("head_dim"))
        config.head_dim = 0;  // null: hidden_size / num_attention_heads
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
        throw_unsupported(json, "token_classification_bias", "token classifiers without a bias are not supported");
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
                          "dynamic RoPE requires more than two rotated elements per head");
    validate_sliding_window(json, config);
    check_kinds(json, row, config);
    return config;
}

namespace detail {

/// An empty configuration.
inline constexpr config_node no_keys{.type = config_node::kind::object, .end = 1};

}  // namespace detail

/// Enables the load-balancing loss if the text configuration has `output_router_logits`. A `parse_composite_config`.
constexpr void weigh_balance_of_text(config_view json, model& m) {
    const auto text = json.optional_object(m.spec->text_model.key);
    m.config.moe.has_load_balancing_loss =
        text && text->boolean("output_router_logits", false) && m.config.moe.num_experts > 0;
}

}  // namespace llmcost
