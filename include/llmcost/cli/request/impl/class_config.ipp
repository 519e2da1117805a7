// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/request/class_config.hpp>

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/maybe.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/bundled/bundled_config.hpp>
#include <llmcost/cli/args/variant.hpp>
#include <llmcost/json.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/nearest_name.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE std::string_view text_view(string_ref text) { return {text.data(), text.size()}; }

/// The class name of a configuration without `model_type`; otherwise empty.
LLMCOST_INLINE std::string_view named_class(config_view root) {
    const auto name = root.is_object() ? root.find("_class_name") : maybe<config_view>{};
    return name && name->is_string() && !root.find("model_type") ? text_view(name->as_string()) : std::string_view{};
}

/// Whether a custom model reads configurations of a class.
LLMCOST_INLINE bool reads_class(config_view description, std::string_view name) {
    const auto rules = description.find("configuration");
    if (!rules) return false;
    const auto classes = rules->find("class_names");
    if (!classes) return text_view(description.string("class")) == name;
    for (const config_view entry : *classes)
        if (text_view(entry.as_string()) == name) return true;
    return false;
}

LLMCOST_INLINE std::vector<std::pair<std::string, std::string>> class_config_reader::read() const {
    std::vector<std::pair<std::string, std::string>> out;
    for (const config_view entry : configuration_) {
        const std::string_view key = text_view(entry.key());
        if (entry.is_null() && contains("never_null", key)) fail_at(entry, "null is not supported");
        if (key.starts_with('_') || contains("ignored", key) || entry.is_null()) continue;
        if (key == "sizes" && entry.is_object()) {  // from --set
            for (const config_view size : entry)
                out.emplace_back("sizes." + std::string(text_view(size.key())), size_text(size));
            continue;
        }
        if (const auto accepted = part("only", key)) {
            check_accepted(entry, *accepted);
            continue;
        }
        const auto size = sizes_.find(entry.key());
        const auto value_names = part("words", key);
        if (!size) refuse_key(entry);
        if (contains("rates", key)) {
            out.emplace_back("sizes." + std::string(key), entry.as_real() > 0 ? "1" : "0");
            continue;
        }
        std::string value;
        if (entry.is_array()) {
            for (const config_view item : entry)
                value.append(value.empty() ? "[" : ",").append(number_of(item, value_names));
            value = value.empty() ? "[]" : value + ']';
            if (!size->is_array()) throw_invalid_value(entry, "one value");
        } else {
            value = number_of(entry, value_names);
            if (size->is_array()) value = repeated(entry, value);
        }
        out.emplace_back("sizes." + std::string(key), value);
    }
    return out;
}

LLMCOST_INLINE maybe<config_view> class_config_reader::part(const char* name, std::string_view key) const {
    const auto all = rules_.find(name);
    return all ? all->find(string_ref(key.data(), key.size())) : maybe<config_view>{};
}

LLMCOST_INLINE bool class_config_reader::contains(const char* list, std::string_view key) const {
    const auto all = rules_.find(list);
    if (!all) return false;
    for (const config_view entry : *all)
        if (text_view(entry.as_string()) == key) return true;
    return false;
}

LLMCOST_INLINE std::string class_config_reader::format_value(config_view v) {
    if (v.is_null()) return "null";
    if (v.is_string()) return '"' + std::string(text_view(v.as_string())) + '"';
    if (v.is_boolean()) return v.as_boolean() ? "true" : "false";
    if (v.is_integer()) return std::to_string(v.as_integer());
    return v.is_number() ? "another number" : "a list or an object";
}

LLMCOST_INLINE void class_config_reader::check_accepted(config_view entry, config_view accepted) {
    std::string all;
    for (const config_view one : accepted) {
        if (entry.is_number() && one.is_number() ? entry.as_real() == one.as_real()
                                                 : format_value(one) == format_value(entry))
            return;
        all += format_value(one) + " or ";
    }
    fail_at(entry, "expected " + all + "null, found " + format_value(entry));
}

LLMCOST_INLINE std::string class_config_reader::number_of(config_view v, const maybe<config_view>& value_names) {
    if (value_names && v.is_string()) {
        if (const auto found = value_names->find(v.as_string())) return std::to_string(found->as_integer());
        name_suggestions near(text_view(v.as_string()));
        for (const config_view known : *value_names) near.add_candidate(text_view(known.key()));
        fail_at(v, "unsupported value" + near.suggestion_or_list());
    }
    if (v.is_boolean()) return v.as_boolean() ? "true" : "false";
    if (v.is_number()) {
        const double real = v.as_real();
        if (v.is_integer() || (std::floor(real) == real && std::fabs(real) < 1e15))
            return std::to_string(v.is_integer() ? v.as_integer() : static_cast<std::int64_t>(real));
        throw_invalid_value(v, "an integer");
    }
    throw_invalid_value(v, value_names ? "a name or an integer" : "an integer, true or false");
}

LLMCOST_INLINE std::string class_config_reader::repeated(config_view entry, const std::string& value) const {
    const auto list_key = part("each", text_view(entry.key()));
    if (!list_key) throw_invalid_value(entry, "a list");
    const auto configured = configuration_.find(list_key->as_string()), usual = sizes_.find(list_key->as_string());
    const config_view list = configured && configured->is_array() ? *configured : *usual;
    std::string out;
    for ([[maybe_unused]] const config_view one : list) out.append(out.empty() ? "[" : ",").append(value);
    return out + ']';
}

LLMCOST_INLINE void class_config_reader::refuse_key(config_view entry) const {
    name_suggestions near(text_view(entry.key()));
    for (const config_view size : sizes_) near.add_candidate(text_view(size.key()));
    fail_at(entry, "unsupported key" + near.suggestion_text("; nearest: "));
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE std::optional<config_document> description_from_class(const config_document& configuration,
                                                                     std::span<const bundled_config> bundled) {
    const std::string name(detail::named_class(configuration.root()));
    if (name.empty()) return {};
    name_suggestions near(name);
    std::string_view previous_json;
    for (const bundled_config& known : bundled) {
        if (known.variant.empty() || known.json.data() == previous_json.data()) continue;
        previous_json = known.json;
        config_document description = parse_config(known.json, configuration.name());
        const config_view root = description.root();
        if (!root.find("configuration")) continue;
        near.add_candidate(detail::text_view(root.string("class")));
        if (!detail::reads_class(root, name)) continue;
        const auto sizes = configuration.read_with(
            [&](config_view json) { return detail::class_config_reader(description.root(), json).read(); });
        for (const auto& [key, value] : sizes) description.set(key, value);
        return description;
    }
    throw error(errc::unknown_model_type, configuration.name(),
                "/_class_name: unsupported class \"" + name + "\"" + near.suggestion_or_list());
}

}  // namespace llmcost::cli

namespace llmcost::cli::detail {

/// Applies the other keys of a timm `config.json` to a custom model. Throws: errors for unsupported values.
LLMCOST_INLINE void set_timm(config_view json, config_document& description) {
    if (const auto model_args = json.find("model_args");
        model_args && model_args->is_object() && model_args->size() > 0)
        throw_invalid_value(*model_args, "no arguments (not supported)");
    if (const auto pool = json.find("global_pool");
        pool && pool->is_string() && text_view(pool->as_string()) != "avg" && text_view(pool->as_string()) != "token")
        throw_invalid_value(*pool, "avg or token");
    if (json.find("num_classes"))
        description.set("sizes.num_classes", std::to_string(json.positive("num_classes", 1000)));
    const auto pretrained = json.optional_object("pretrained_cfg");
    const auto size = pretrained ? pretrained->find("input_size") : maybe<config_view>{};
    if (!size) return;
    if (!size->is_array() || size->size() != 3 || (*size)[0].as_positive() != 3)
        throw_invalid_value(*size, "3 channels, a height and a width");
    if (!description.root().find("image_size")->is_integer())
        return;  // the position table has the size of the architecture
    description.set("image_size", '[' + std::to_string((*size)[1].as_positive()) + ',' +
                                      std::to_string((*size)[2].as_positive()) + ']');
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE std::optional<config_document> description_from_architecture(const config_document& configuration,
                                                                            std::span<const bundled_config> bundled) {
    const config_view root = configuration.root();
    const auto named = root.is_object() ? root.find("architecture") : maybe<config_view>{};
    if (!named || !named->is_string() || root.find("model_type") || root.find("layers")) return {};
    const std::string name(detail::text_view(named->as_string()));
    name_suggestions near(name);
    std::string_view previous_json;
    for (const bundled_config& known : bundled) {
        if (known.variant.empty() || known.json.data() == previous_json.data()) continue;
        previous_json = known.json;
        config_document description = parse_config(known.json, configuration.name());
        const auto rules = description.root().find("configuration");
        const auto names = rules ? rules->find("architectures") : maybe<config_view>{};
        if (!names) continue;
        for (const config_view entry : *names) near.add_candidate(detail::text_view(entry.key()));
        const auto variant = names->find(named->as_string());
        if (!variant) continue;
        use_variant(description, std::string(detail::text_view(variant->as_string())));
        configuration.read_with([&](config_view json) { detail::set_timm(json, description); });
        return description;
    }
    throw error(errc::unknown_model_type, configuration.name(),
                "/architecture: unsupported timm architecture \"" + name + "\"" + near.suggestion_text(""));
}

}  // namespace llmcost::cli
