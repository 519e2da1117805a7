// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/model/architecture.hpp>
#include <llmcost/reading/config.hpp>

// Where configurations of whatever age keep what they say of rotary positions.
namespace llmcost {

namespace detail {

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

/// What a pass does to the frequencies of these rotary parameters.
constexpr frequency_rule frequency_rule_of(config_view parameters) {
    if (has_type_of_rope(parameters, "longrope")) return frequency_rule::picked;
    if (!has_type_of_rope(parameters, "dynamic")) return frequency_rule::kept;
    (void)parameters.real("factor");
    return parameters.find("factor")->type() == config_view::kind::integer ? frequency_rule::rescaled_by_integer
                                                                           : frequency_rule::rescaled;
}

/// The rule of layers of this kind, from parameters of their own or, where there are none, from those of all.
constexpr frequency_rule read_frequency_rule(config_view config, literal layer_type) {
    const auto place = rope_parameters(config);
    if (!place) return frequency_rule::kept;
    const auto own = place->optional_object(layer_type);
    return frequency_rule_of(own ? *own : *place);
}

/// Types whose `convert_rope_params_to_dict` scales the frequencies of full layers only.
constexpr void scale_full_layers_alone(config_view config, sizes& s) {
    const auto older = config.optional_object("rope_scaling");
    if (!older || older->size() == 0) return;
    const auto kinds = config.optional_object("rope_parameters");
    const auto sliding = kinds ? kinds->optional_object("sliding_attention") : maybe<config_view>{};
    s.sliding_frequencies = sliding ? frequency_rule_of(*sliding) : frequency_rule::kept;
}

/// Refuses rotary parameters of single kinds of layers that no part of a row tells apart.
constexpr void check_rope_of_kinds(config_view config, bool tables_apart) {
    const auto place = rope_parameters(config);
    if (!place) return;
    for (const config_view kind : *place) {
        if (!kind.is_object()) continue;
        if (!tables_apart && frequency_rule_of(kind) != frequency_rule::kept)
            fail_unsupported(kind, "frequencies of one kind of layers that follow the input");
        // plain frequencies are of the whole head: such a type's `compute_default_rope_parameters` reads no part
        const bool whole = has_type_of_rope(kind, "default") || has_type_of_rope(kind, "proportional");
        if (kind.real("partial_rotary_factor", 1) != 1 && !whole)
            fail_unsupported(kind, "partial_rotary_factor", "rotates a part of the heads of one kind of layers");
    }
}

/// The part of a head that is rotated, as one object says it.
constexpr double rotated_part_in(config_view place, double otherwise) {
    constexpr literal key = "partial_rotary_factor";
    const double factor = place.real(key, otherwise);
    if (!(factor > 0 && factor <= 1)) fail_value(place, key, "a part of a head above 0 and up to 1");
    return factor;
}

/// The same from wherever a configuration of whatever age says it.
constexpr double read_partial_rotary_factor(config_view config, double otherwise) {
    constexpr literal key = "partial_rotary_factor";
    if (has_rope_type(config, "proportional")) return 1;  // the other elements are rotated too, by nothing
    const auto rope = rope_parameters(config);
    return rotated_part_in(rope && rope->contains(key) ? *rope : config, otherwise);
}

}  // namespace detail

/// Elements of a head that a part of it rotates, where the reference asks its tables how many: whole pairs, as many as
/// `arange(0, dim, 2)` has frequencies.
constexpr std::int64_t whole_pairs(std::int64_t head_dim, double part) noexcept {
    const auto elements = static_cast<std::int64_t>(static_cast<double>(head_dim) * part);
    return elements + elements % 2;
}

/// Elements of a head that layers of one kind rotate, where `rope_parameters` has an object for each kind.
///
/// `otherwise` is the part that plain frequencies take where the object says nothing; others take all then
/// (modeling_rope_utils.py).
constexpr std::int64_t read_rotary_dim_of_kind(config_view config, std::int64_t head_dim, literal kind, double otherwise) {
    const auto all = config.optional_object("rope_parameters");
    if (!all) {
        const std::int64_t rotated = whole_pairs(head_dim, otherwise);
        if (rotated >= 2 && rotated <= head_dim) return rotated;
        fail_unsupported(config, "head_dim", "leaves no even number of rotated elements in a head");
    }
    const config_view place = all->object(kind);
    const bool plain = detail::has_type_of_rope(place, "default");
    bool known = plain;
    for (const literal type : {"linear", "yarn", "llama3", "dynamic"})
        known = known || detail::has_type_of_rope(place, type);
    if (!known) fail_unsupported(place, "rope_type", "no row describes such frequencies of one kind of layers");
    constexpr literal key = "partial_rotary_factor";
    const double part = place.real(key, plain ? otherwise : 1.0);
    if (!(part > 0 && part <= 1) || whole_pairs(head_dim, part) < 2 || whole_pairs(head_dim, part) > head_dim)
        fail_value(place, key, "a part of a head that leaves an even number of rotated elements");
    return whole_pairs(head_dim, part);
}

/// What a pass does to the frequencies of layers of each kind, where `rope_parameters` has an object for each.
constexpr void read_frequencies_of_kinds(config_view config, sizes& s, literal full, literal sliding) {
    const auto all = config.optional_object("rope_parameters");
    if (!all) return;
    if (const auto kind = all->optional_object(full)) s.frequencies = detail::frequency_rule_of(*kind);
    if (const auto kind = all->optional_object(sliding)) s.sliding_frequencies = detail::frequency_rule_of(*kind);
}

/// Whether layers of a kind rotate, where each kind must have parameters of its own: null says no.
constexpr bool rotates_layers(config_view config, literal kind, bool otherwise) {
    if (const auto older = config.optional_object("rope_scaling"); older && older->size() > 0)
        fail_unsupported(config, "rope_scaling", "this type reads rope_parameters alone, by kinds of layers");
    const auto rope = config.optional_object("rope_parameters");
    if (!rope) return otherwise;
    const auto found = rope->find(kind);
    if (!found) fail_missing(*rope, kind, "the parameters of these layers, or null");
    return !found->is_null();
}

/// How many frequencies the first three axes of positions have, or all of them; without the key, so many.
struct rotary_sections {
    std::int64_t axes;
    std::int64_t frequencies;
};
constexpr rotary_sections read_sections(config_view config, rotary_sections otherwise) {
    const auto rope = detail::rope_parameters(config);
    const auto list = rope ? rope->optional_array("mrope_section") : maybe<config_view>{};
    if (!list) return otherwise;
    rotary_sections found{static_cast<std::int64_t>(list->size()), 0};
    for (const config_view entry : *list) {
        const std::int64_t n = entry.as_integer();
        if (n < 0 || n > largest_input || found.frequencies > largest_input)
            fail_value(*rope, "mrope_section", "a list of how many frequencies each axis has");
        found.frequencies += n;
    }
    return found;
}

[[noreturn]] inline void fail_sections(config_view config, literal expected) {
    const auto rope = detail::rope_parameters(config);
    if (rope) fail_value(*rope, "mrope_section", expected);
    fail_value(config, "rope_parameters", expected);
}

}  // namespace llmcost
