// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/config_view.hpp>
#include <llmcost/model/model_spec.hpp>

// Rotary parameters, in all versions of the configuration format.
namespace llmcost {

namespace detail {

/// The object with the rotary parameters, in all versions of the configuration format.
///
/// Source: transformers/modeling_rope_utils.py, `convert_rope_params_to_dict`.
constexpr maybe<config_view> rope_parameters(config_view json) {
    const auto older = json.optional_object("rope_scaling");
    return older && older->size() > 0 ? older : json.optional_object("rope_parameters");
}
constexpr bool has_type_of_rope(config_view parameters, literal type) {
    for (const literal key : {"rope_type", "type"})
        if (const auto found = parameters.find(key); found && found->is_string()) return found->as_string() == type;
    return false;
}
constexpr bool has_rope_type(config_view json, literal type) {
    const auto place = rope_parameters(json);
    return place && has_type_of_rope(*place, type);
}

/// Scaling of RoPE frequencies with these parameters.
constexpr rope_scaling_kind frequency_rule_of(config_view parameters) {
    if (has_type_of_rope(parameters, "longrope")) return rope_scaling_kind::longrope;
    if (!has_type_of_rope(parameters, "dynamic")) return rope_scaling_kind::none;
    (void)parameters.real("factor");
    return parameters.find("factor")->type() == config_view::kind::integer ? rope_scaling_kind::dynamic_integer_factor
                                                                           : rope_scaling_kind::dynamic;
}

/// Scaling of RoPE frequencies of a layer type: its own parameters, or those of all layers.
constexpr rope_scaling_kind parse_frequency_rule(config_view json, literal layer_type) {
    const auto place = rope_parameters(json);
    if (!place) return rope_scaling_kind::none;
    const auto layer_parameters = place->optional_object(layer_type);
    return frequency_rule_of(layer_parameters ? *layer_parameters : *place);
}

/// For types whose `convert_rope_params_to_dict` scales the frequencies of full layers only.
constexpr void scale_full_layers_alone(config_view json, model_config& config) {
    const auto older = json.optional_object("rope_scaling");
    if (!older || older->size() == 0) return;
    const auto kinds = json.optional_object("rope_parameters");
    const auto sliding = kinds ? kinds->optional_object("sliding_attention") : maybe<config_view>{};
    config.sliding_rope_scaling = sliding ? frequency_rule_of(*sliding) : rope_scaling_kind::none;
}

/// Checks that rotary parameters per layer type are supported.
constexpr void check_rope_of_kinds(config_view json, bool has_separate_tables) {
    const auto place = rope_parameters(json);
    if (!place) return;
    for (const config_view kind : *place) {
        if (!kind.is_object()) continue;
        if (!has_separate_tables && frequency_rule_of(kind) != rope_scaling_kind::none)
            throw_unsupported(kind, "input-dependent RoPE frequencies per layer type are not supported");
        // Default frequencies cover the full head: `compute_default_rope_parameters` of such types ignores the factor.
        const bool is_full_head = has_type_of_rope(kind, "default") || has_type_of_rope(kind, "proportional");
        if (kind.real("partial_rotary_factor", 1) != 1 && !is_full_head)
            throw_unsupported(kind, "partial_rotary_factor", "partial rotary factors per layer type are not supported");
    }
}

/// Whether a configuration has rotary parameters. Does not count as reading a key.
constexpr bool has_rope_parameters(config_view json) {
    for (const config_view member : json)
        if (member.key() == "rope_scaling" || member.key() == "rope_parameters") return true;
    return false;
}

/// The context length with RoPE scaling; 0 if scaling does not change it.
///
/// YaRN: original length · factor. Linear and dynamic: `max_position_embeddings` · factor. The lengths of longrope and
/// llama3 include the factor.
/// Source: vllm/config/model.py, `_get_and_verify_max_len`.
constexpr std::int64_t parse_scaled_context(config_view json, std::int64_t max_position_embeddings) {
    const auto place = rope_parameters(json);
    if (!place || max_position_embeddings <= 0) return 0;
    double tokens = static_cast<double>(max_position_embeddings), factor = 1;
    const auto read = [&](config_view parameters) {
        const bool is_yarn = has_type_of_rope(parameters, "yarn");
        if (!is_yarn && !has_type_of_rope(parameters, "linear") && !has_type_of_rope(parameters, "dynamic")) return;
        const auto scale = parameters.optional_real("factor");
        if (!scale || !(*scale > 0)) return;
        factor = *scale;
        if (is_yarn)
            tokens = parameters.real("original_max_position_embeddings", static_cast<double>(max_position_embeddings));
    };
    read(*place);
    for (const config_view kind : *place)
        if (kind.is_object()) read(kind);
    constexpr double maximum = 1 << 30;
    const double scaled = tokens * factor < maximum ? tokens * factor : maximum;
    const auto rounded = static_cast<std::int64_t>(scaled);
    return rounded > 0 && rounded != max_position_embeddings ? rounded : 0;
}

/// The partial rotary factor in this object.
constexpr double rotated_part_in(config_view place, double default_value) {
    constexpr literal key = "partial_rotary_factor";
    const double factor = place.real(key, default_value);
    if (!(factor > 0 && factor <= 1)) throw_invalid_value(place, key, "a fraction above 0 and at most 1");
    return factor;
}

/// The partial rotary factor, in all versions of the configuration format.
constexpr double parse_partial_rotary_factor(config_view json, double default_value) {
    constexpr literal key = "partial_rotary_factor";
    if (has_rope_type(json, "proportional")) return 1;  // the other elements are rotated, by zero
    const auto rope = rope_parameters(json);
    return rotated_part_in(rope && rope->contains(key) ? *rope : json, default_value);
}

}  // namespace detail

/// Number of rotated elements of a head, if the reference derives it from its tables: the length of `arange(0, dim, 2)`
/// times two.
constexpr std::int64_t round_rotary_dim(std::int64_t head_dim, double part) noexcept {
    const auto elements = static_cast<std::int64_t>(static_cast<double>(head_dim) * part);
    return elements + elements % 2;
}

/// Number of rotated elements of a head in layers of one type, if `rope_parameters` has an object per layer type.
///
/// `default_value`: the default factor of default frequencies. All other frequencies have the default factor 1
/// (modeling_rope_utils.py).
constexpr std::int64_t parse_rotary_dim_of_kind(config_view json, std::int64_t head_dim, literal kind,
                                                double default_value) {
    const auto all = json.optional_object("rope_parameters");
    if (!all) {
        const std::int64_t rotated = round_rotary_dim(head_dim, default_value);
        if (rotated >= 2 && rotated <= head_dim) return rotated;
        throw_unsupported(json, "head_dim", "the number of rotated elements per head is not even");
    }
    const config_view place = all->object(kind);
    const bool plain = detail::has_type_of_rope(place, "default");
    bool known = plain;
    for (const literal type : {"linear", "yarn", "llama3", "dynamic"})
        known = known || detail::has_type_of_rope(place, type);
    if (!known) throw_unsupported(place, "rope_type", "unsupported RoPE type for a layer type");
    constexpr literal key = "partial_rotary_factor";
    const double part = place.real(key, plain ? default_value : 1.0);
    if (!(part > 0 && part <= 1) || round_rotary_dim(head_dim, part) < 2 || round_rotary_dim(head_dim, part) > head_dim)
        throw_invalid_value(place, key, "a fraction with an even number of rotated elements");
    return round_rotary_dim(head_dim, part);
}

/// Parses the scaling of RoPE frequencies per layer type from `rope_parameters`.
constexpr void parse_frequencies_of_kinds(config_view json, model_config& config, literal full, literal sliding) {
    const auto all = json.optional_object("rope_parameters");
    if (!all) return;
    if (const auto kind = all->optional_object(full)) config.rope_scaling = detail::frequency_rule_of(*kind);
    if (const auto kind = all->optional_object(sliding)) config.sliding_rope_scaling = detail::frequency_rule_of(*kind);
}

/// True if layers of a type have RoPE. Each type must have parameters of its own; null: none.
constexpr bool rotates_layers(config_view json, literal kind, bool default_value) {
    if (const auto older = json.optional_object("rope_scaling"); older && older->size() > 0)
        throw_unsupported(json, "rope_scaling", "this model type requires rope_parameters per layer type");
    const auto rope = json.optional_object("rope_parameters");
    if (!rope) return default_value;
    const auto found = rope->find(kind);
    if (!found) throw_missing_key(*rope, kind, "the RoPE parameters of these layers, or null");
    return !found->is_null();
}

/// Number of position axes, and the sum of their frequencies.
struct rotary_sections {
    std::int64_t axes;
    std::int64_t frequencies;
};
constexpr rotary_sections parse_sections(config_view json, rotary_sections default_value) {
    const auto rope = detail::rope_parameters(json);
    const auto list = rope ? rope->optional_array("mrope_section") : maybe<config_view>{};
    if (!list) return default_value;
    rotary_sections found{static_cast<std::int64_t>(list->size()), 0};
    for (const config_view entry : *list) {
        const std::int64_t n = entry.as_integer();
        if (n < 0 || n > max_input || found.frequencies > max_input)
            throw_invalid_value(*rope, "mrope_section", "a list with the number of frequencies per axis");
        found.frequencies += n;
    }
    return found;
}

[[noreturn]] inline void fail_sections(config_view json, literal expected) {
    const auto rope = detail::rope_parameters(json);
    if (rope) throw_invalid_value(*rope, "mrope_section", expected);
    throw_invalid_value(json, "rope_parameters", expected);
}

}  // namespace llmcost
