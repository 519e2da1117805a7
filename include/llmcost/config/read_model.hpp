// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <llmcost/base/edit_distance.hpp>
#include <llmcost/base/quantization_block.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/config/model_registry.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost {

namespace detail {

/// Whether `architectures` has a class.
constexpr bool names_class(config_view json, string_ref name) {
    const auto list = json.find("architectures");
    if (name.empty() || !list || !list->is_array()) return false;
    for (const config_view entry : *list)
        if (entry.is_string() && entry.as_string() == name) return true;
    return false;
}

/// The draft head of a class in `architectures`, or null.
///
/// A draft head with decoder layers has the `model_type` of its layers (`llama`, `qwen3`), so that only its class
/// distinguishes it from a language model. One without such layers (Medusa) is not in a file of another type.
/// `has_known_type`: the file has the `model_type` of another spec.
constexpr const model_spec* find_draft_head(const model_registry& known, config_view json, bool has_known_type) {
    const auto list = json.find("architectures");
    if (!list || !list->is_array()) return nullptr;
    for (const config_view entry : *list) {
        if (!entry.is_string()) continue;
        for (const model_spec* row : known)
            if (row->draft != draft_kind::none && (!has_known_type || row->draft != draft_kind::one_per_head) &&
                has_name(row->alternative_classes, entry.as_string()))
                return row;
    }
    return nullptr;
}

/// Throws `unsupported` for a size in the enclosing object, which the type does not read.
[[noreturn]] inline void fail_flat_size(const model_spec& row, config_view size) {
    char buffer[192];
    bounded_text message(buffer);
    message.write("not read by ").write(row.model_type).write(", whose text model is ").write(row.text_model.key);
    fail_at(config_problem::unsupported, size, {}, message.write("; expected the sizes there").view());
}

/// Throws `unsupported` if sizes of the text model are in the enclosing object, where the type does not read them.
constexpr void refuse_flat_sizes(const model_spec& row, config_view json) {
    if (is_empty(row.text_model.key) || row.text_model.is_flat || json.optional_object(row.text_model.key) ||
        names_class(json, row.text_model.flat_class))
        return;
    for (const literal key : {"hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size"}) {
        const auto found = json.find(key);
        if (!found || !found->is_number()) continue;
        fail_flat_size(row, *found);
    }
}

/// Parses the configuration of a component and selects its model spec.
constexpr component_model parse_component(const component_spec& part, config_view json, const model_registry& known) {
    const auto nested_json = json.optional_object(part.key);
    const bool is_flat = part.is_flat || names_class(json, part.flat_class);
    const config_view place = nested_json ? *nested_json : is_flat ? json : config_view{&no_keys, 0};
    const model_spec* kind = !nested_json && part.spec_if_absent != nullptr ? part.spec_if_absent : part.default_spec;
    if (!part.ignores_model_type && (kind == nullptr || (nested_json && place.contains("model_type")))) {
        if (!nested_json) (void)json.object(part.key);
        const string_ref type = place.string("model_type");
        const bool is_same_type =
            kind != nullptr && (type == kind->model_type ||
                                (!is_empty(part.alternative_model_type) && type == part.alternative_model_type));
        const bool second = part.additional_spec != nullptr && type == part.additional_spec->model_type;
        if (!is_same_type)
            kind = second ? part.additional_spec : known.find(type);  // else: the spec with the defaults of this type
        const bool is_supported =
            second || (kind != nullptr && kind->base_model != nullptr && is_empty(kind->text_model.key));
        if (!is_supported) throw_unsupported(place, "model_type", "this model type is not supported as a component");
    }
    return {kind, parse_sizes(*kind, place, true)};
}

/// Checks that a forward pass supports the image size: at least that of kernels, patches and windows.
inline void check_images(config_view json, const model& m) {
    if (m.config.vision.image_height == 0 || m.config.vocab_size != 0) return;
    try {
        trace t{workload{}};
        m.trace_with_loss(t);
    } catch (const description_error& e) {
        throw_unsupported(json, e.what());
    } catch (const overflow_error&) {  // counting reports the overflow
    }
}

/// Parses processor parameters, which are in the configuration or were added from files next to it.
constexpr void parse_processor_config(const model_spec& row, config_view json, model& m) {
    m.audio_preprocessing = row.audio_preprocessing;
    if (row.parse_feature_extractor != nullptr) row.parse_feature_extractor(json, m);
    if (row.parse_image_processor == nullptr) return;
    if (const auto nested_json = find_processor_config(json, {"image_processor"}))
        row.parse_image_processor(*nested_json, m);
}

/// The object with the sizes: one of `nested_config_keys`, otherwise the configuration.
constexpr config_view find_sizes(const model_spec& row, config_view json) {
    if (!is_empty(row.nested_config_keys))
        for (const config_view child : json)
            if (child.is_object() && has_name(row.nested_config_keys, child.key())) return *json.find(child.key());
    return json;
}

/// Parses a model that is a text model itself, with or without encoders.
constexpr model parse_text_itself(const model_spec& row, config_view json, const model_registry& known) {
    const config_view sizes = find_sizes(row, json);
    model m{.spec = &row, .config = parse_sizes(row, sizes)};
    if (sizes.index() != json.index()) {
        if (const dtype type = parse_dtype(json); type != dtype::unspecified) m.config.dtype_of_weights = type;
        m.config.quantized = m.config.quantized || find_quantization(json).has_value();
    }
    for (std::size_t i = 0; i < max_components && !is_empty(row.components[i].key); ++i)
        m.components[i] = parse_component(row.components[i], json, known);
    if (row.parse_composite_config != nullptr) row.parse_composite_config(json, m);
    parse_processor_config(row, json, m);
    if (!__builtin_is_constant_evaluated()) check_images(json, m);
    return m;
}

/// Distance of two model types: edit distance, or less if one is a prefix of the other.
constexpr int type_distance(string_ref unknown, string_ref known) noexcept {
    if (unknown.empty()) return edit_distance(unknown, known);
    return known.starts_with(unknown) ? 0 : unknown.starts_with(known) ? 1 : edit_distance(unknown, known);
}

/// True if `known` is closer to the unknown type than `reference`. Among prefixes, the longest is closest.
constexpr bool is_nearer(string_ref unknown, string_ref known, string_ref reference) noexcept {
    const int a = type_distance(unknown, known), b = type_distance(unknown, reference);
    return a != b ? a < b : unknown.starts_with(known) && known.size() > reference.size();
}

/// Throws an error that lists up to three similar model types, with at most a third of the letters changed.
[[noreturn]] inline void fail_nearest(const model_registry& known, config_view json, string_ref type) {
    char message[192]{};  // ends with NUL
    std::size_t n = 0;
    const auto append = [&](string_ref text) {
        for (const char c : text)
            if (n + 1 < sizeof message) message[n++] = c;
    };
    append("is not supported");
    const model_spec* named[3]{};
    for (std::size_t k = 0; k < 3; ++k) {
        const model_spec* best = nullptr;
        for (const model_spec* spec : known) {
            if (spec == named[0] || spec == named[1]) continue;
            if (best == nullptr || is_nearer(type, spec->model_type, best->model_type)) best = spec;
        }
        if (best == nullptr) break;
        named[k] = best;
        if (type_distance(type, best->model_type) * 3 > static_cast<int>(type.size())) break;
        append(k == 0 ? "; nearest: " : ", ");
        append(best->model_type);
    }
    append("; llmcost models lists all supported types");
    fail_unknown_model_type(json, "model_type", message);
}

}  // namespace detail

/// The multi-token prediction module of a composite model, a draft head that reads the text configuration alone.
///
/// Source: vllm/model_executor/models/qwen3_5_mtp.py, `Qwen3_5MTP`, which reads `hf_text_config`.
constexpr model parse_text_mtp_head(const model_spec& row, config_view json, const component_model& text) {
    model m{.spec = text.spec, .config = text.config};
    m.config.head = head_kind::multi_token_prediction;
    parse_mtp_head(json.object(row.text_model.key), m.config);
    if (const dtype type = detail::parse_dtype(json); type != dtype::unspecified) m.config.dtype_of_weights = type;
    m.config.quantized = m.config.quantized || find_quantization(json).has_value();
    return m;
}

/// The model of a configuration with this model spec: a text model, or a composite model.
constexpr model parse_model_of(const model_spec& row, config_view json, const model_registry& known) {
    if (is_empty(row.text_model.key)) return detail::parse_text_itself(row, json, known);
    const component_model text = detail::parse_component(row.text_model, json, known);
    if (detail::parse_head(row, json) == head_kind::multi_token_prediction) return parse_text_mtp_head(row, json, text);
    model m{.spec = &row, .config = text.config, .text_spec = text.spec};
    m.config.head = detail::parse_head(row, json);
    if (const dtype type = detail::parse_dtype(json); type != dtype::unspecified) m.config.dtype_of_weights = type;
    m.config.quantized = m.config.quantized || find_quantization(json).has_value();
    const bool ties = config_keys_reader{row, json}.boolean("tie_word_embeddings", row.defaults.tie_word_embeddings);
    m.config.tie_word_embeddings = ties || (row.text_model.ties_embeddings && text.config.tie_word_embeddings);
    m.config.num_labels = detail::read_labels(config_keys_reader{row, json}, row.defaults.num_labels);
    m.config.head_bias = m.config.logits_soft_cap = m.config.moe.has_load_balancing_loss =
        false;  // those of the text model's own head
    parse_own_keys(json, row, m.family);
    for (std::size_t i = 0; i < max_components && !is_empty(row.components[i].key); ++i)
        m.components[i] = detail::parse_component(row.components[i], json, known);
    if (row.parse_composite_config != nullptr) row.parse_composite_config(json, m);
    detail::parse_processor_config(row, json, m);
    return m;
}

/// The model of a configuration, with the model spec of its `model_type`, or of its class if that is a draft head.
///
/// Throws: `config_error` if the configuration is not supported.
constexpr model parse_model_among(const model_registry& known, config_view json) {
    const model_spec* row = nullptr;
    const auto named = json.find("model_type");
    if (named && named->is_string()) row = known.find(named->as_string());
    if (row != nullptr && detail::has_class(*row, json)) {
        detail::check_remote_classes(*row, json);
    } else {
        if (const model_spec* const head = detail::find_draft_head(known, json, row != nullptr)) row = head;
        if (row == nullptr) detail::fail_nearest(known, json, json.string("model_type"));
        detail::check_classes(*row, json);
    }
    detail::refuse_flat_sizes(*row, json);
    return parse_model_of(*row, json, known);
}

}  // namespace llmcost
