// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <llmcost/base/config_text.hpp>
#include <llmcost/base/config_view.hpp>
#include <llmcost/base/maybe.hpp>
#include <llmcost/base/quantization_block.hpp>
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
    {"MTP", head_kind::multi_token_prediction},
    {"MTPModel", head_kind::multi_token_prediction},          // vLLM
    {"ForCausalLMNextN", head_kind::multi_token_prediction},  // SGLang
};

constexpr char lower_case(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Removes a prefix regardless of case and underscores: `KimiK25` begins with `Kimi_K25`. False if there is none.
constexpr bool remove_class_prefix(string_ref& name, string_ref prefix) noexcept {
    string_ref rest = name;
    for (const char c : prefix) {
        if (rest.starts_with("_")) rest.remove_prefix(1);
        if (c == '_') continue;
        if (rest.empty() || lower_case(rest[0]) != lower_case(c)) return false;
        rest.remove_prefix(1);
    }
    name = rest;
    return true;
}

/// Whether a type has multi-token prediction modules. Those of a composite type belong to its text model.
constexpr bool has_multi_token_prediction(const model_spec& row) noexcept {
    const model_spec* const text = is_empty(row.text_model.key) ? &row : row.text_model.default_spec;
    return text != nullptr && text->multi_token_prediction != nullptr;
}

/// Whether a type has a head. Each type with multi-token prediction has its modules as a draft head.
constexpr bool has_head(const model_spec& row, head_kind head) noexcept {
    return row.supported_heads.has(head) ||
           (head == head_kind::multi_token_prediction && has_multi_token_prediction(row));
}

/// The head of a class name without the prefix of the model spec; nothing if the type has no such class.
constexpr maybe<head_kind> find_head(const model_spec& row, string_ref suffix) {
    if (suffix == row.names.model_class && row.supported_heads.has(head_kind::none)) return head_kind::none;
    if (suffix == row.names.causal_lm_class && row.supported_heads.has(head_kind::causal_lm))
        return head_kind::causal_lm;
    // Text classes in families that also have multimodal classes.
    if (is_empty(row.text_model.key) && suffix.starts_with("Text")) suffix.remove_prefix(4);
    for (const head_name& h : head_names)
        if (h.suffix == suffix && has_head(row, h.head)) return h.head;
    return {};
}

/// Whether a list that is separated by spaces has a name.
constexpr bool has_name(string_ref list, string_ref name) noexcept {
    while (!list.empty()) {
        std::size_t end = 0;
        while (end < list.size() && list[end] != ' ') ++end;
        if (list.substr(0, end) == name) return true;
        list.remove_prefix(end < list.size() ? end + 1 : end);
    }
    return false;
}

/// Whether a class name is from before Transformers had the composite type: `LlavaLlamaForCausalLM`. `suffix` has no
/// prefix of the model spec.
constexpr bool is_older_class(const model_spec& row, string_ref suffix) noexcept {
    return !is_empty(row.text_model.key) && !suffix.starts_with("For") && suffix.ends_with("ForCausalLM");
}

/// Throws `unsupported` for a class that the type does not have, with the classes that it has.
[[noreturn]] inline void refuse_class(const model_spec& row, config_view entry) {
    char buffer[512];
    bounded_text message(buffer);
    message.write("unsupported class ");
    append_value(message, entry);
    message.write("; --as-class NAME selects a class of ").write(row.model_type);
    const char* separator = ": ";
    for (unsigned h = 0; h < 32; ++h) {
        const auto head = static_cast<head_kind>(h);
        if (!row.supported_heads.has(head)) continue;
        message.write(separator).write(row.class_prefix);
        message.write(head == head_kind::none        ? row.names.model_class
                      : head == head_kind::causal_lm ? row.names.causal_lm_class
                                                     : name_of(head));
        separator = ", ";
    }
    fail_at(config_problem::unsupported, entry, {}, message.view());
}

/// Whether a module of remote code implements the type: `modeling_deepseek` for `deepseek_v3`.
constexpr bool is_module_of_type(const model_spec& row, string_ref name) noexcept {
    for (const literal prefix : {"modeling_", "hf_"})
        if (name.starts_with(prefix)) name.remove_prefix(string_ref(prefix).size());
    string_ref type = row.model_type;
    return !name.empty() && remove_class_prefix(type, name);
}

/// Whether a value of `auto_map` (`[repository--]module.Class`) is a class or a module of the type.
constexpr bool is_remote_class_of_type(const model_spec& row, string_ref name) noexcept {
    for (std::size_t i = 0; i + 1 < name.size(); ++i)
        if (name[i] == '-' && name[i + 1] == '-') {
            name.remove_prefix(i + 2);
            break;
        }
    std::size_t dot = name.size();
    while (dot > 0 && name[dot - 1] != '.') --dot;
    string_ref class_of_model = name.substr(dot, name.size() - dot);
    if (remove_class_prefix(class_of_model, row.class_prefix) && find_head(row, class_of_model)) return true;
    return dot > 0 && is_module_of_type(row, name.substr(0, dot - 1));
}

/// Whether the type has one of the classes in `architectures`. True without classes.
constexpr bool has_class(const model_spec& row, config_view json) {
    const auto list = json.find("architectures");
    if (!list || !list->is_array() || list->size() == 0) return true;
    for (const config_view entry : *list) {
        string_ref name = entry.as_string();
        if (has_name(row.alternative_classes, name) ||
            (remove_class_prefix(name, row.class_prefix) && (find_head(row, name) || is_older_class(row, name))))
            return true;
    }
    return false;
}

/// Checks that the type has one of the models in `auto_map`.
///
/// Throws: `unsupported` if it has none.
constexpr void check_remote_classes(const model_spec& row, config_view json) {
    const auto remote_classes = json.find("auto_map");
    if (!remote_classes || !remote_classes->is_object()) return;
    maybe<config_view> other;
    for (const config_view entry : *remote_classes) {
        if (!entry.key().starts_with("AutoModel") || !entry.is_string()) continue;
        if (is_remote_class_of_type(row, entry.as_string())) return;
        if (!other) other = entry;
    }
    if (other) refuse_class(row, *other);
}

/// Checks that the type has one of the classes in `architectures`, and one of the models in `auto_map`.
///
/// Throws: `unsupported` if it has none: the default class has other parameters.
constexpr void check_classes(const model_spec& row, config_view json) {
    if (!has_class(row, json)) refuse_class(row, (*json.find("architectures"))[0]);
    check_remote_classes(row, json);
}

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
        if (!remove_class_prefix(name, row.class_prefix) || is_older_class(row, name)) continue;
        if (const maybe<head_kind> head = find_head(row, name)) return *head;
        refuse_class(row, entry);
    }
    return by_default();
}

constexpr std::int64_t read_labels(const config_keys_reader& k, std::int64_t default_value) {
    const auto labels = k.view().optional_object("id2label");
    return k.positive_or("num_labels", labels ? static_cast<std::int64_t>(labels->size()) : default_value);
}

/// The element type under the first of two keys that is present.
constexpr dtype parse_dtype_of_keys(config_view json, literal first, literal second) {
    for (const literal key : {first, second}) {
        const auto found = json.find(key);
        if (!found || found->is_null()) continue;
        const dtype type = dtype_from(found->as_string());
        if (type == dtype::unspecified && found->as_string() != "auto")
            throw_invalid_value(json, key, "an element type of PyTorch");
        return type;
    }
    return dtype::unspecified;
}

/// The element type of the weights: `dtype`, or `torch_dtype`.
constexpr dtype parse_dtype(config_view json) { return parse_dtype_of_keys(json, "dtype", "torch_dtype"); }

}  // namespace detail

/// Parses a draft head that is the multi-token prediction module of a model.
///
/// Its layer has experts if the model has some. Files of the module alone (SGLang) have one layer, to which the rule
/// for dense first layers does not apply. Source: sglang, models/deepseek_nextn.py, `is_nextn`;
/// scripts/export_deepseek_nextn.py. Throws: `config_error` for several modules, of which a draft step executes one per
/// token.
constexpr void parse_mtp_head(config_view json, model_config& config) {
    config.mtp_layers = 1;
    for (const literal key :
         {"num_nextn_predict_layers", "mtp_num_hidden_layers", "mtp_num_layers", "num_mtp_layers", "num_mtp_modules"})
        if (json.positive(key, 1) > 1) throw_unsupported(json, key, "a draft head with several modules");
    layer_spec& last = config.layers.specs[config.layers.spec_index(config.num_hidden_layers - 1)];
    last.has_experts = last.has_experts || config.moe.num_experts > 0;
}

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
    const bool has_rotary = row.rotary != rotary_style::none || detail::has_rope_parameters(json);
    if (has_rotary && !row.context_includes_scaling)
        config.scaled_context = detail::parse_scaled_context(json, config.max_position_embeddings);
    if (has_rotary) config.num_position_axes = parse_sections(json, {1, 0}).axes;
    config.sliding_window = k.is_present("sliding_window")    ? k.non_negative("sliding_window", 0)
                            : json.contains("sliding_window") ? 0
                                                              : config.sliding_window;
    config.hidden_act = k.act("hidden_act", config.hidden_act);
    config.tie_word_embeddings = k.boolean("tie_word_embeddings", config.tie_word_embeddings);
    config.attention_bias = k.boolean("attention_bias", config.attention_bias);
    config.output_bias = config.attention_bias;
    config.mlp_bias = k.boolean("mlp_bias", config.mlp_bias);
    config.dtype_of_weights = detail::parse_dtype(json);
    if ((row.supported_layers | token_mixer_kind::recurrent).token_mixers == row.supported_layers.token_mixers)
        config.recurrent_state_dtype = detail::parse_dtype_of_keys(json, "mamba_ssm_dtype", "mamba_ssm_cache_dtype");
    config.head = is_part ? head_kind::none : detail::parse_head(row, json);
    parse_dropout(json, row, config.head, config.dropout_positions);
    config.quantized = find_quantization(json).has_value();
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
    if (config.head == head_kind::multi_token_prediction) parse_mtp_head(json, config);
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
