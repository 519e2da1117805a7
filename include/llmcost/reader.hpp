// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include <llmcost/architecture.hpp>
#include <llmcost/config.hpp>
#include <llmcost/string_ref.hpp>

namespace llmcost {

/// The activation function of this name, which stands under a key.
constexpr activation activation_named(config_view config, literal key, string_ref name) {
    for (const activation_row& a : activation_table)
        if (a.name == name) return a.kind;
    fail_unsupported(config, key, "no layer describes this activation function");
}

/// A configuration seen through a row: keys by their standard names, whatever the file calls them.
class keys {
public:
    constexpr keys(const architecture& row, config_view config) noexcept : row_(row), config_(config) {}

    [[nodiscard]] constexpr config_view view() const noexcept { return config_; }
    /// The name that this configuration uses for a standard key, by the row's rule.
    [[nodiscard]] constexpr literal written(literal standard) const {
        for (const key_name& k : row_.keys) {
            if (is_empty(k.written) || string_ref(standard) != k.standard) continue;
            if (k.rule == key_rule::written_only) return k.written;
            const bool here = config_.contains(k.written), there = config_.contains(standard);
            if (here ? k.rule == key_rule::written_first || !there : !there) return k.written;
        }
        return standard;
    }
    /// Whether this type has such a key.
    [[nodiscard]] constexpr bool known(literal standard) const {
        for (const key_name& k : row_.keys)
            if (k.rule == key_rule::absent && string_ref(standard) == k.standard) return false;
        return true;
    }
    [[nodiscard]] constexpr bool present(literal standard) const {
        const auto found = config_.find(written(standard));
        return found && !found->is_null() && known(standard);
    }
    /// A size: the file's, else the default; 0 as a default means that the key has none.
    [[nodiscard]] constexpr std::int64_t positive(literal standard, std::int64_t otherwise) const {
        return otherwise > 0 ? config_.positive(written(standard), otherwise) : config_.positive(written(standard));
    }
    [[nodiscard]] constexpr std::int64_t non_negative(literal standard, std::int64_t otherwise) const {
        return config_.non_negative(written(standard), otherwise);
    }
    [[nodiscard]] constexpr bool boolean(literal standard, bool otherwise) const {
        return known(standard) ? config_.boolean(written(standard), otherwise) : otherwise;
    }
    /// A size that may be absent or null.
    [[nodiscard]] constexpr std::int64_t positive_or(literal standard, std::int64_t otherwise) const {
        return present(standard) ? config_.positive(written(standard)) : otherwise;
    }
    /// An activation function by its name in the file.
    [[nodiscard]] constexpr activation act(literal standard, activation otherwise) const {
        const literal key = written(standard);
        return present(standard) ? activation_named(config_, key, config_.string(key)) : otherwise;
    }

private:
    const architecture& row_;
    config_view config_;
};

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
    {"ForSequenceClassification", head_kind::sequence_classification},
    {"ForTokenClassification", head_kind::token_classification},
    {"ForQuestionAnswering", head_kind::question_answering},
    {"ForImageClassification", head_kind::image_classification},
    {"ForPreTraining", head_kind::pretraining},
    {"EncoderModel", head_kind::encoder},
    {"ForNextSentencePrediction", head_kind::next_sentence},
    {"ForMultipleChoice", head_kind::multiple_choice},
    {"ForMaskedImageModeling", head_kind::masked_image},
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
        if (name == row.names.model_type && row.heads.has(head_kind::none)) return head_kind::none;
        if (name.starts_with("Text")) name.remove_prefix(4);  // beside classes of the same name that see pictures, too
        for (const head_name& h : head_names)
            if (h.suffix == name && row.heads.has(h.head)) return h.head;
        fail_unsupported(config, "architectures", "no row describes this class");
    }
    return by_default();
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

/// Where a configuration of whatever age keeps its rotary parameters (modeling_rope_utils.py,
/// `convert_rope_params_to_dict`).
constexpr maybe<config_view> rope_parameters(config_view config) {
    const auto older = config.optional_object("rope_scaling");
    return older && older->size() > 0 ? older : config.optional_object("rope_parameters");
}
constexpr bool has_type_of_rope(config_view parameters, literal type) {
    for (const literal key : {"rope_type", "type"})
        if (const auto found = parameters.find(key); found && found->is_string()) return found->as_string() == type;
    return false;
}
constexpr bool has_rope_type(config_view config, literal type) {
    const auto place = rope_parameters(config);
    return place && has_type_of_rope(*place, type);
}

/// Refuses what the parameters of single kinds of layers say beyond constants: all layers are described by one rule.
constexpr void check_rope_of_kinds(config_view config) {
    const auto place = rope_parameters(config);
    if (!place) return;
    for (const config_view kind : *place) {
        if (!kind.is_object()) continue;
        for (const literal type : {"dynamic", "longrope"})
            if (has_type_of_rope(kind, type))
                fail_unsupported(kind, "frequencies of one kind of layers that follow the input");
        if (kind.real("partial_rotary_factor", 1) != 1)
            fail_unsupported(kind, "partial_rotary_factor", "rotates a part of the heads of one kind of layers");
    }
}

constexpr frequency_rule read_frequency_rule(config_view config) {
    if (has_rope_type(config, "longrope")) return frequency_rule::picked;
    if (!has_rope_type(config, "dynamic")) return frequency_rule::kept;
    const config_view place = *rope_parameters(config);
    (void)place.real("factor");
    return place.find("factor")->type() == config_view::kind::integer ? frequency_rule::rescaled_by_integer
                                                                      : frequency_rule::rescaled;
}

/// The part of a head that is rotated, from wherever a configuration of whatever age says it.
constexpr double read_partial_rotary_factor(config_view config, double otherwise) {
    constexpr literal key = "partial_rotary_factor";
    if (has_rope_type(config, "proportional")) return 1;  // the other elements are rotated too, by nothing
    const auto rope = rope_parameters(config);
    const config_view place = rope && rope->contains(key) ? *rope : config;
    const double factor = place.real(key, otherwise);
    if (!(factor > 0 && factor <= 1)) fail_value(place, key, "a part of a head above 0 and up to 1");
    return factor;
}

}  // namespace detail

/// A width of so many times so many features, within what layers may add and double without a check.
constexpr std::int64_t checked_width(config_view config, literal key, std::int64_t times, std::int64_t features) {
    const std::int64_t width = checked_product(times, features);
    if (width > largest_input) fail_unsupported(config, key, "makes a width beyond 2147483647 features");
    return width;
}

/// Heads that share hidden_size evenly, whatever `head_dim` says; `written` are the names that their number may have.
constexpr void share_among_heads(config_view config, shape& s, std::initializer_list<literal> written) {
    s.head_dim = s.hidden_size / s.num_attention_heads;
    if (s.head_dim * s.num_attention_heads == s.hidden_size) return;
    for (const literal key : written)
        if (config.contains(key)) fail_value(config, key, "a divisor of hidden_size");
    fail_unsupported(config, "hidden_size", "the default number of attention heads does not divide it");
}

/// What `layer_types` calls the mixers of layers (transformers/configuration_utils.py, `ALLOWED_LAYER_TYPES` and older
/// names).
struct layer_word {
    literal word;
    mixer_kind mixer;
};
inline constexpr layer_word layer_words[]{
    {"full_attention", mixer_kind::full_attention},
    {"attention", mixer_kind::full_attention},
    {"sliding_attention", mixer_kind::sliding_attention},
    {"chunked_attention", mixer_kind::chunked_attention},
    {"linear_attention", mixer_kind::linear},
    {"conv", mixer_kind::linear},
    {"mamba", mixer_kind::linear},
};

/// Writes a plan from `layer_types`, where the file has it; says whether it did. `other` may stand beside full attention.
constexpr bool read_layer_types(config_view config, shape& s, mixer_kind other = mixer_kind::sliding_attention) {
    const auto types = config.find("layer_types");
    if (!types || types->is_null()) return false;
    if (!types->is_array() || static_cast<std::int64_t>(types->size()) != s.num_hidden_layers)
        fail_value(config, "layer_types", "a list with one kind per hidden layer");
    if (s.num_hidden_layers > layer_plan::longest) fail_value(config, "layer_types", "at most 512 layers of mixed kinds");
    for (std::int64_t i = 0; i < s.num_hidden_layers; ++i) {
        const string_ref name = (*types)[static_cast<std::uint32_t>(i)].as_string();
        const layer_word* known = nullptr;
        for (const layer_word& one : layer_words)
            if (one.word == name) known = &one;
        if (known == nullptr) fail_unsupported(config, "layer_types", "no layer describes one of these kinds");
        if (known->mixer != mixer_kind::full_attention && known->mixer != other)
            fail_unsupported(config, "layer_types", "no layer of this type is of one of these kinds");
        s.layers.kinds[i] = layer_kind{known->mixer, false}.code();
    }
    s.layers.mixed = true;
    return true;
}

/// Layers that a list names by their numbers.
class layer_set {
public:
    constexpr layer_set() noexcept = default;
    constexpr explicit layer_set(config_view list) {
        for (const config_view entry : list) {
            const std::int64_t i = entry.as_integer();
            if (i >= 0 && i < layer_plan::longest) named_[i] = true;
        }
    }
    [[nodiscard]] constexpr bool has(std::int64_t layer) const noexcept { return named_[layer]; }

private:
    bool named_[layer_plan::longest]{};
};

/// Writes a plan of one kind for all layers, however many they are.
constexpr void plan_layers(shape& s, layer_kind all) {
    if (s.num_hidden_layers == 0) return;
    s.layers.common = all.code();
    s.layers.mixed = false;
    for (std::int64_t i = 0; i < s.num_hidden_layers && i < layer_plan::longest; ++i) s.layers.kinds[i] = all.code();
}

/// Writes one layer of a plan that is written in order.
constexpr void plan_layer(config_view config, shape& s, std::int64_t i, layer_kind kind) {
    if (s.num_hidden_layers > layer_plan::longest)
        fail_value(config, "num_hidden_layers", "at most 512 layers whose kinds follow a rule");
    if (i == 0) s.layers.common = kind.code(), s.layers.mixed = false;
    s.layers.kinds[i] = kind.code();
    s.layers.mixed = s.layers.mixed || kind.code() != s.layers.common;
}

/// Writes a plan from a rule: `kind_of(i)` for every layer.
template <class KindOf>
constexpr void plan_layers(config_view config, shape& s, const KindOf& kind_of) {
    for (std::int64_t i = 0; i < s.num_hidden_layers; ++i) plan_layer(config, s, i, kind_of(i));
}

/// All layers alike, as where one mask serves them: sliding where the file has a window or says so, else full.
///
/// Source: transformers/cache_utils.py, `get_layer_types_and_kwargs`, which looks at no `model_type`.
constexpr void plan_one_mask(config_view config, shape& s, bool has_windows = true) {
    const auto given = config.find("sliding_window");
    if (has_windows && s.sliding_window == 0 && given && !given->is_null())
        fail_value(config, "sliding_window", "at least 2 tokens, or null");
    mixer_kind mixer = s.sliding_window > 0 ? mixer_kind::sliding_attention : mixer_kind::full_attention;
    if (read_layer_types(config, s) && s.num_hidden_layers > 0) {
        for (std::int64_t i = 1; i < s.num_hidden_layers; ++i)
            if (s.layers.kinds[i] != s.layers.kinds[0])
                fail_unsupported(config, "layer_types", "layers of this type share one mask and are all of one kind");
        mixer = layer_kind::from(s.layers.kinds[0]).mixer;
    }
    if (mixer == mixer_kind::full_attention) s.sliding_window = 0;
    plan_layers(s, {mixer, false});
}

/// Layers that slide do so through a window; of one token the reference's cache would keep everything.
constexpr void check_window(config_view config, const shape& s) {
    if (s.sliding_window >= 2 || !s.layers.has(mixer_kind::sliding_attention, s.num_hidden_layers)) return;
    if (config.contains("use_sliding_window") && !config.boolean("use_sliding_window", false))
        fail_value(config, "use_sliding_window", "true, as layers slide");
    fail_value(config, "sliding_window", "at least 2 tokens, as layers slide");
}

/// What every walk takes for granted, whichever keys the sizes came from.
constexpr void check_heads(const keys& k, const architecture& row, const shape& s) {
    if (s.num_attention_heads == 0) return;
    (void)checked_width(k.view(), k.written("head_dim"), s.num_attention_heads, s.head_dim);
    if (row.rotated != rotation::none && (s.rotary_dim < 2 || s.rotary_dim % 2 != 0 || s.rotary_dim > s.head_dim))
        fail_unsupported(k.view(), k.written("head_dim"), "leaves no even number of rotated elements in a head");
}

/// Reads what most configurations have in common, with the row's defaults; `read` of the row reads the rest.
constexpr shape read_shape(const architecture& row, config_view config) {
    const keys k{row, config};
    shape s = row.defaults;
    s.vocab_size = k.positive_or("vocab_size", s.vocab_size);
    s.hidden_size = k.positive("hidden_size", s.hidden_size);
    s.intermediate_size = k.positive_or("intermediate_size", s.intermediate_size);
    s.num_hidden_layers = k.positive("num_hidden_layers", s.num_hidden_layers);
    s.num_attention_heads = k.positive_or("num_attention_heads", s.num_attention_heads);
    s.num_key_value_heads = !k.present("num_key_value_heads") && config.contains(k.written("num_key_value_heads"))
                                ? 0  // null: as many as heads
                                : k.positive_or("num_key_value_heads", s.num_key_value_heads);
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
    s.head = detail::read_head(row, config);
    s.quantized = config.optional_object("quantization_config").has_value();
    if (const auto labels = config.optional_object("id2label")) s.num_labels = static_cast<std::int64_t>(labels->size());
    s.num_labels = k.positive_or("num_labels", s.num_labels);
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
        if (s.rotary_dim == 0) s.rotary_dim = static_cast<std::int64_t>(static_cast<double>(s.head_dim) * part);
    }
    if (row.rotated != rotation::none)
        detail::check_rope_of_kinds(config), s.frequencies = detail::read_frequency_rule(config);
    if (row.read != nullptr)
        row.read(config, s);
    else
        plan_one_mask(config, s);
    check_heads(k, row, s);
    if (s.frequencies >= frequency_rule::rescaled && s.rotary_dim == 2)
        fail_unsupported(*detail::rope_parameters(config), "factor",
                         "dynamic rope divides by zero where two elements of a head are rotated");
    check_window(config, s);
    return s;
}

}  // namespace llmcost
