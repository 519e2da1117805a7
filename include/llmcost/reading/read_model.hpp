// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/detail/config_edit_distance.hpp>
#include <llmcost/model/architecture.hpp>
#include <llmcost/reading/known_models.hpp>
#include <llmcost/reading/processor.hpp>
#include <llmcost/reading/reader.hpp>

namespace llmcost {

namespace detail {

/// The configuration of a part, and its row.
constexpr component read_component(const component_row& part, config_view config, const known_models& known) {
    const auto given = config.optional_object(part.key);
    const config_view place = given ? *given : part.flat ? config : config_view{&no_keys, 0};
    const architecture* kind = !given && part.missing != nullptr ? part.missing : part.otherwise;
    if (!part.always && (kind == nullptr || (given && place.contains("model_type")))) {
        if (!given) (void)config.object(part.key);
        const string_ref type = place.string("model_type");
        const bool same = kind != nullptr && (type == kind->model_type || (!is_empty(part.also) && type == part.also));
        const bool second = part.second != nullptr && type == part.second->model_type;
        if (!same) kind = second ? part.second : known.find(type);  // else the row with this type's own defaults
        const bool held = second || (kind != nullptr && kind->base != nullptr && is_empty(kind->text.key));
        if (!held) fail_unsupported(place, "model_type", "no row describes this type as a part of another");
    }
    return {kind, read_sizes(*kind, place, true)};
}

/// Refuses an image that a pass has no sizes for: smaller than a kernel, a patch or a window that it meets on its way.
inline void check_images(config_view config, const model& m) {
    if (m.dims.vision.image_height == 0 || m.dims.vocab_size != 0) return;
    try {
        trace t{workload{}};
        m.describe(t);
    } catch (const description_error& e) {
        fail_unsupported(config, e.what());
    } catch (const overflow_error&) {  // whoever counts is told
    }
}

/// What processors are told, which stands in the configuration or was put there from files beside it.
constexpr void read_processor(const architecture& row, config_view config, model& m) {
    m.sound = row.sound;
    if (row.read_sound != nullptr) row.read_sound(config, m);
    if (row.read_processor == nullptr) return;
    if (const auto told = told_beside(config, {"image_processor"})) row.read_processor(*told, m);
}

/// A model that is a text model itself, with or without towers beside it.
constexpr model read_text_itself(const architecture& row, config_view config, const known_models& known) {
    model m{.kind = &row, .dims = read_sizes(row, config)};
    for (std::size_t i = 0; i < most_components && !is_empty(row.beside[i].key); ++i)
        m.beside[i] = read_component(row.beside[i], config, known);
    if (row.read_whole != nullptr) row.read_whole(config, m);
    read_processor(row, config, m);
    if (!__builtin_is_constant_evaluated()) check_images(config, m);
    return m;
}

/// How far a known type is from an unknown one: their edit distance, less where one begins with the other.
constexpr int type_distance(string_ref unknown, string_ref known) noexcept {
    if (unknown.empty()) return edit_distance(unknown, known);
    return known.starts_with(unknown) ? 0 : unknown.starts_with(known) ? 1 : edit_distance(unknown, known);
}

/// Whether a known type is nearer to an unknown one than another: of those that it begins with, the longest.
constexpr bool is_nearer(string_ref unknown, string_ref known, string_ref than) noexcept {
    const int a = type_distance(unknown, known), b = type_distance(unknown, than);
    return a != b ? a < b : unknown.starts_with(known) && known.size() > than.size();
}

/// Says which known types are near to an unknown one: at most a letter in three apart.
[[noreturn]] inline void fail_nearest(const known_models& known, config_view config, string_ref type) {
    char sentence[192]{};  // ends with NUL
    std::size_t n = 0;
    const auto say = [&](string_ref text) {
        for (const char c : text)
            if (n + 1 < sizeof sentence) sentence[n++] = c;
    };
    say("is not known");
    const architecture* named[3]{};
    for (std::size_t k = 0; k < 3; ++k) {
        const architecture* best = nullptr;
        for (const architecture* a : known) {
            if (a == named[0] || a == named[1]) continue;
            if (best == nullptr || is_nearer(type, a->model_type, best->model_type)) best = a;
        }
        if (best == nullptr) break;
        named[k] = best;
        if (type_distance(type, best->model_type) * 3 > static_cast<int>(type.size())) break;
        say(k == 0 ? "; nearest: " : ", ");
        say(best->model_type);
    }
    say("; llmcost models lists those that are");
    fail_unknown_model_type(config, "model_type", sentence);
}

}  // namespace detail

/// The model that a configuration describes by a row: a text model, or one that holds a text model and others.
constexpr model read_model_of(const architecture& row, config_view config, const known_models& known) {
    if (is_empty(row.text.key)) return detail::read_text_itself(row, config, known);
    const component text = detail::read_component(row.text, config, known);
    model m{.kind = &row, .dims = text.dims, .text = text.kind};
    m.dims.head = detail::read_head(row, config);
    if (const dtype type = detail::read_dtype(config); type != dtype::unspecified) m.dims.type = type;
    m.dims.quantized = m.dims.quantized || config.optional_object("quantization_config").has_value();
    const bool ties = keys{row, config}.boolean("tie_word_embeddings", row.defaults.tie_word_embeddings);
    m.dims.tie_word_embeddings = ties || (row.text.ties && text.dims.tie_word_embeddings);
    m.dims.num_labels = detail::read_labels(keys{row, config}, row.defaults.num_labels);
    m.dims.head_bias = m.dims.logits_soft_cap = m.dims.moe.weighs_balance = false;  // of the text model's own head
    read_own_keys(config, row, m.own);
    for (std::size_t i = 0; i < most_components && !is_empty(row.beside[i].key); ++i)
        m.beside[i] = detail::read_component(row.beside[i], config, known);
    if (row.read_whole != nullptr) row.read_whole(config, m);
    detail::read_processor(row, config, m);
    return m;
}

/// Builds the model that a configuration describes by one of the rows; throws `config_error` where none can.
constexpr model read_model_among(const known_models& known, config_view config) {
    const string_ref type = config.string("model_type");
    const architecture* row = known.find(type);
    if (row == nullptr) detail::fail_nearest(known, config, type);
    return read_model_of(*row, config, known);
}

}  // namespace llmcost
