// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/request/config_lookup.hpp>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/bundled/bundled_config.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/find_metric.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/synonyms.hpp>
#include <llmcost/cli/args/variant.hpp>
#include <llmcost/cli/request/class_config.hpp>
#include <llmcost/cli/request/model_name.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/processor_file.hpp>
#include <llmcost/cli/request/published_head.hpp>
#include <llmcost/cli/request/quantization_file.hpp>
#include <llmcost/cli/request/similar_models.hpp>
#include <llmcost/cli/request/stored_weights.hpp>
#include <llmcost/cli/request/weight_source.hpp>
#include <llmcost/config/model_registry.hpp>
#include <llmcost/config/read_model.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/custom/custom_model.hpp>
#include <llmcost/hub.hpp>
#include <llmcost/hub/options.hpp>
#include <llmcost/json.hpp>
#include <llmcost/json/foreign.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/unused_keys.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/text/nearest_name.hpp>
#include <llmcost/trace/scope.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE located_config load_config_file(const std::string& path, std::string_view name,
                                               const model_registry& models) {
    config_document document = read_config_file(path);
    const std::filesystem::path place(path);
    std::error_code none;
    const std::filesystem::path folder = std::filesystem::is_directory(place, none) ? place : place.parent_path();
    add_processor_configs(document, folder, models);
    add_quantization_file(document, folder);
    std::string source = "configuration file " + printable(document.name());
    return {std::move(document), {printable(name), std::move(source)}, false};
}

/// Replaces the classes of a configuration, or of its `--part`, by that of `--as-class`. Throws: `usage` for a value
/// that is not a class name.
LLMCOST_INLINE void replace_class(const arguments& args, located_config& found) {
    const std::string_view name = args.text(option::read_as_class);
    for (const char c : name)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_')
            throw_usage(option::read_as_class.name, "expected a class name, found " + quote(name));
    const std::string part =
        args.has(option::nested_config) ? std::string(args.text(option::nested_config)) + '.' : std::string();
    found.document.set(part + "architectures", "[\"" + std::string(name) + "\"]");
    found.document.set(part + "auto_map", "null");
    found.name_of_model.source += ", read as " + std::string(name);
}

/// Whether a name can only be a path: it begins with `.`, `/` or `~`, or ends with `/`.
LLMCOST_INLINE bool is_path_like(std::string_view name) {
    return name.starts_with('.') || name.starts_with('/') || name.starts_with('~') || name.ends_with('/');
}

/// Throws: `not_found` for a path that does not exist.
[[noreturn]] LLMCOST_INLINE void reject_missing_path(std::string_view name) {
    const bool home = name.starts_with('~');
    throw error(errc::not_found, printable(name),
                home ? "no such file or directory; the shell expands ~ only at the beginning of an argument"
                     : "no such file or directory");
}

/// The repository of `--model`, and whether `--model` or `--revision` set a revision.
LLMCOST_INLINE std::pair<repo_id, bool> repo_of(const arguments& args, std::string_view name) {
    const bool has_revision = name.find('@') != std::string_view::npos;
    if (has_revision && args.has(option::revision)) throw_usage("--revision", "cannot be combined with " + quote(name));
    std::string text(name);
    if (args.has(option::revision)) text += '@' + std::string(args.text(option::revision));
    return {parse_repo_id(text), has_revision || args.has(option::revision)};
}

/// Rethrows the error of a name that was not found, with similar bundled names.
[[noreturn]] LLMCOST_INLINE void refuse_name(const error& e, std::string_view name,
                                             std::span<const bundled_config> bundled) {
    throw error(e.code(), {}, std::string(e.what()) + similar_bundled_names(bundled, name));
}

/// The configuration file of a repository. Throws: the error of the first file name if there is none.
LLMCOST_INLINE hub_file fetch_config(const repo_id& id, const hub_options& options) {
    std::optional<error> first;
    for (const char* const file : llmcost::detail::config_files) {
        try {
            return fetch(id, file, options);
        } catch (const error& e) {
            if (e.code() != errc::not_found) throw;
            if (!first) first = e;
        }
    }
    throw *first;
}

LLMCOST_INLINE located_config locate_config(std::string_view name, const arguments& args, const program& io) {
    const std::string path(name);
    std::error_code none;
    const bool is_on_disk = std::filesystem::exists(path, none);
    if (const std::string repository = repository_of_address(name); !is_on_disk && repository != name)
        return locate_config(repository, args, io);
    if (looks_like_gguf(name)) return from_gguf(path);
    if (!is_on_disk && !is_path_like(name)) {
        const std::size_t sign = name.find('@');
        const std::string complete(complete_model_name(io.bundled, name.substr(0, sign)));
        if (!complete.empty())
            return locate_config(complete + (sign == std::string_view::npos ? "" : path.substr(sign)), args, io);
    }
    if (!is_on_disk && is_path_like(name)) reject_missing_path(name);
    const bool lacks_config = is_on_disk && !llmcost::detail::config_file_at(path);
    if (is_on_disk && (!lacks_config || is_path_like(name) || name.find('/') != name.rfind('/'))) {
        located_config found = load_config_file(path, name, io.models);
        found.has_unexpected_source = true;
        return found;
    }
    const auto [id, revised] = [&] {
        try {
            return repo_of(args, name);
        } catch (const error& e) {
            if (e.code() != errc::bad_value) throw;
            refuse_name(e, name, io.bundled);
        }
    }();
    hub_options options = hub_options::from_environment(io.get);
    if (args.has(option::offline)) {
        options.offline = true;
        options.offline_source = "--offline";
    }
    const std::string display_name = printable(name);
    const auto with_processor = [&, repository = id.name](const hub_file& file, bool is_downloaded) {
        config_document document =
            file.content ? parse_config(*file.content, file.path.string()) : read_config_file(file.path.string());
        add_processors_of(document, {repository, file.commit}, options, io.models);
        add_quantization_file_of(document, {repository, file.commit}, options,
                                 is_downloaded ? std::optional(file.path) : std::nullopt);
        return document;
    };
    for (const char* const file : llmcost::detail::config_files)
        if (const auto cached = find_in_cache(id, file, options))
            return {with_processor(*cached, false),
                    {display_name, "cached configuration of commit " + printable(cached->commit)},
                    true};
    // with a revision, the bundled configuration may differ
    if (const bundled_config* known = revised ? nullptr : find_bundled(io.bundled, id.name)) {
        config_document document = parse_config(known->json, std::string(known->name));
        if (!known->variant.empty()) use_variant(document, known->variant);
        return {std::move(document), {std::string(known->name), "bundled configuration"}, false};
    }
    // a local directory of this name may be private: do not send its name to the Hub
    if (lacks_config && !revised)
        throw error(
            errc::io, display_name,
            llmcost::detail::without_config(path) + " (for the Hub repository, use --model " + display_name + "@main)");
    try {
        const hub_file file = fetch_config(id, options);
        return {with_processor(file, true),
                {display_name, "configuration from the Hub, commit " + printable(file.commit)},
                true};
    } catch (const error& e) {
        refuse_name(e, id.name, io.bundled);
    }
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

/// Whether a command line has a model, a configuration or a weight file.
[[nodiscard]] LLMCOST_INLINE bool names_source(const arguments& args) {
    return args.has(option::model) || args.has(option::config) || args.has(option::gguf) ||
           args.has(option::safetensors);
}

LLMCOST_INLINE void require_single_source(const arguments& args, const program& io) {
    if (args.has(option::model) && args.has(option::config)) throw_usage("--model", "cannot be combined with --config");
    if (args.has(option::gguf) && args.has(option::safetensors))
        throw_usage("--gguf", "cannot be combined with --safetensors");
    if (!names_source(args)) {
        std::string hint = "a model is required: --model org/name or --config FILE (see llmcost --help)";
        const std::string_view first = args.positional().empty() ? std::string_view{} : args.positional().front();
        if (!first.empty() && first.find('.') == std::string_view::npos && find_metric(first) == nullptr &&
            role_from(first) == role::none)
            hint = "no command " + quote(first) +
                   (command_advice(first).empty() ? "; expected one of " + names_of(io.commands) + "; otherwise " + hint
                                                  : std::string());  // run_commands adds the advice
        for (const std::string_view name : args.positional())
            if (name.find('/') != std::string_view::npos || is_model_argument(name, io))
                hint = "use --model " + printable(name);
        throw_usage({}, hint);
    }
    if (args.has(option::revision) && !args.has(option::model)) throw_usage("--revision", "requires --model");
}

/// The model name of a command line: the value of `--model`, `--config`, `--gguf` or `--safetensors`.
[[nodiscard]] LLMCOST_INLINE std::string_view name_of_source(const arguments& args) {
    for (const option_spec& o : {option::model, option::config, option::gguf})
        if (args.has(o)) return args.text(o);
    return args.text(option::safetensors);
}

LLMCOST_INLINE located_config find_config(std::string_view name, const arguments& args, const program& io) {
    const auto named = [&]() -> located_config {
        const std::string path(name);
        if (args.has(option::model)) return detail::locate_config(name, args, io);
        if (!args.has(option::config))
            return args.has(option::gguf)
                       ? detail::from_gguf(path)
                       : detail::load_config_file(detail::find_sibling_config(path), name, io.models);
        if (name != "-") return detail::load_config_file(path, name, io.models);
        return {
            read_config_file(io.in, "standard input"), {"standard input", "configuration from standard input"}, false};
    };
    located_config found = named();
    detail::add_weights(found, args);
    set_quantization(args, found.document);
    for (const std::string_view change : args.all(option::set)) {
        const std::size_t sign = change.find('=');
        if (sign == std::string_view::npos || sign == 0)
            throw_usage("--set", "expected KEY=VALUE, found " + quote(change));
        const std::string_view key = change.substr(0, sign), value = change.substr(sign + 1);
        if (key == "variant" && has_variants(found.document))
            use_variant(found.document, value);
        else
            found.document.set(key, value);
    }
    if (args.has(option::read_as_class)) detail::replace_class(args, found);
    if (args.has(option::nested_config))
        found.name_of_model.source += ", " + printable(args.text(option::nested_config)) + " only";
    return found;
}

/// The key of a nested configuration with a supported type; empty if there is none.
[[nodiscard]] LLMCOST_INLINE std::string_view known_part(config_view root, const model_registry& models) {
    for (const config_view child : root) {
        if (!child.is_object()) continue;
        const auto type = child.find("model_type");
        if (type && type->is_string() && models.find(type->as_string()) != nullptr) return child.key();
    }
    return {};
}

}  // namespace llmcost::cli

namespace llmcost::cli::detail {

/// The model spec of `--as`; null without it. Throws: `usage` for an unknown type.
LLMCOST_INLINE const model_spec* requested_spec(const arguments& args, const model_registry& models) {
    if (!args.has(option::read_as_type)) return nullptr;
    const std::string_view type = args.text(option::read_as_type);
    if (const model_spec* row = models.find(type)) return row;
    name_suggestions near(type);
    for (const model_spec* spec : models) near.add_candidate(spec->model_type);
    throw_usage(option::read_as_type.name,
                "no model type " + quote(type) + near.suggestion_text("") + "; see llmcost models");
}

/// Replaces the class name of a configuration by that of the model spec, and adds the type to the source label.
LLMCOST_INLINE void parse_as_type(const model_spec& row, config_view place, bool is_full_config, located_config& found,
                                  const model_registry& models) {
    const auto type = place.find("model_type");
    const std::string configured_type = type && type->is_string() ? printable(type->as_string()) : std::string();
    if (configured_type == std::string_view(row.model_type)) return;
    found.name_of_model.type = configured_type;
    found.name_of_model.source += ", read as " + std::string(row.model_type);
    if (configured_type.empty())
        found.name_of_model.source += " (no model_type)";
    else
        found.name_of_model.source += " (" + std::string(models.find(configured_type) == nullptr ? "unknown " : "") +
                                      "model_type " + configured_type + ')';
    if (const llmcost::detail::head_name* head = head_from_class_name(place); head != nullptr && is_full_config)
        found.document.set("architectures", "[\"" + std::string(row.class_prefix) + std::string(head->suffix) + "\"]");
}

/// The message about an unknown model type, with `--part` or `--as` options that may help.
LLMCOST_INLINE std::string add_similar_models(const error& e, config_view place, const program& io, bool search) {
    const std::string message = e.what();
    if (const std::string_view part = known_part(place, io.models); !part.empty())
        return message + "; its nested configuration is supported: --part " + printable(part);
    if (!search) return message;
    std::string names;
    const std::vector<const model_spec*> relatives = similar_models_of(place, io.models, io.bundled);
    for (const model_spec* spec : relatives) names.append(names.empty() ? "" : ", ").append(spec->model_type);
    if (names.empty()) return message;
    names = "; its keys are similar to " + names + " (--as " + std::string(relatives.front()->model_type) + ")";
    const std::size_t list = message.rfind("; llmcost models lists");
    return list == std::string::npos ? message + names : message.substr(0, list) + names + message.substr(list);
}

/// Whether the type of a configuration is missing or unknown.
LLMCOST_INLINE bool is_unknown(config_view place, const model_registry& models) {
    const auto type = place.find("model_type");
    return !type || type->is_null() || (type->is_string() && models.find(type->as_string()) == nullptr);
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE parsed_model read_found(located_config found, const arguments& args, const program& io,
                                       config_observer* listener) {
    parsed_model out{std::move(found)};
    const model_spec* const row = detail::requested_spec(args, io.models);
    const bool is_full_config = !args.has(option::nested_config);
    config_document& document = out.found.document;
    const auto place_in = [&](config_view root) {
        return is_full_config ? root : root.object(std::string(args.text(option::nested_config)).c_str());
    };
    if (row != nullptr) detail::parse_as_type(*row, document.read_with(place_in), is_full_config, out.found, io.models);
    if (row == nullptr && is_full_config) {
        auto description = description_from_class(document, io.bundled);
        if (!description) description = description_from_architecture(document, io.bundled);
        if (description) document = std::move(*description);
    }
    const config_view place = document.read_with(place_in);
    if (row == nullptr && custom_model::is_custom_model(place)) {
        document.read_with([&](config_view) {
            out.custom = std::make_shared<custom_model>(place, printable(document.name()), &io.models);
        });
        out.subject = out.custom->as_model();
        out.found.name_of_model.source += ", a custom model";
        out.stored = stored_weights_of(out, args);
        return out;
    }
    try {
        document.read_with([&](config_view root) {
            const config_view observed = listener == nullptr ? place : place.with_observer(*listener);
            if (row != nullptr) llmcost::detail::refuse_flat_sizes(*row, observed);
            if (row != nullptr && observed.optional_string("model_type").value_or("") == row->model_type)
                llmcost::detail::check_classes(*row, observed);
            out.subject = row == nullptr ? io.models.read(observed) : io.models.parse_with(*row, observed);
            out.declines_cache = !observed.boolean("use_cache", true);
            dtype& type = out.subject.config.dtype_of_weights;
            if (!is_full_config && type == dtype::unspecified)
                type = llmcost::detail::parse_dtype(root);  // applies to all parts
            use_published_head(out, observed);
        });
    } catch (const error& e) {
        const bool typeless = e.code() == errc::unknown_model_type || e.code() == errc::missing_key;
        if (!typeless || row != nullptr || !detail::is_unknown(place, io.models)) throw;
        throw error(e.code(), {}, detail::add_similar_models(e, place, io, listener != nullptr));
    }
    out.stored = stored_weights_of(out, args);
    dtype& type = out.subject.config.dtype_of_weights;
    if (out.stored.is_applied && type == dtype::unspecified) type = out.stored.unquantized_type;
    return out;
}

}  // namespace llmcost::cli

namespace llmcost::cli::detail {

/// Whether a key is the number of multi-token prediction layers, which the reference classes do not have.
LLMCOST_INLINE bool counts_mtp_layers(const unused_key& key) {
    for (const std::string_view name : {"/num_nextn_predict_layers", "/mtp_num_hidden_layers", "/mtp_num_layers",
                                        "/num_mtp_layers", "/num_mtp_modules"})
        if (key.pointer.ends_with(name)) return true;
    return false;
}

/// The number of multi-token prediction layers in unused keys.
LLMCOST_INLINE std::int64_t unread_mtp_layers(const std::vector<unused_key>& unused) {
    std::int64_t maximum = 0;
    for (const unused_key& key : unused) {
        const bool number = !key.value.empty() && key.value.size() < 10 &&
                            key.value.find_first_not_of("0123456789") == std::string::npos;
        if (number && counts_mtp_layers(key)) maximum = std::max<std::int64_t>(maximum, std::stoi(key.value));
    }
    return maximum;
}

/// Adds multi-token prediction layers with `--mtp`. Throws: `usage` if they are not supported.
LLMCOST_INLINE void count_mtp_layers(parsed_model& read, const arguments& args) {
    if (!args.has(option::mtp)) return;
    model& m = read.subject;
    if (read.mtp_layers == 0) throw_usage(option::mtp.name, "the configuration has no multi-token prediction layers");
    if (m.text_model_spec().multi_token_prediction == nullptr)
        throw_usage(option::mtp.name, "not supported for model type " + std::string(m.text_model_spec().model_type));
    if (m.config.head != head_kind::causal_lm && m.config.head != head_kind::conditional_generation)
        throw_usage(option::mtp.name, "requires a language model head");
    if (args.has(option::training)) throw_usage(option::mtp.name, "cannot be combined with --training");
    m.config.mtp_layers = read.mtp_layers;
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE parsed_model parse_model(const arguments& args, const program& io) {
    require_single_source(args, io);
    for (const option_spec& o : {option::model, option::config})
        if (args.all(o).size() > 1) throw_usage(o.name, "given more than once");
    key_usage usage;
    parsed_model out = read_found(find_config(name_of_source(args), args, io), args, io, &usage);
    if (out.custom) return out;
    out.unused = usage.find_unused(out.found.document.root());
    out.mtp_layers = detail::unread_mtp_layers(out.unused);
    detail::count_mtp_layers(out, args);
    for (const unused_key& key : out.unused) {
        // files of SafeAILab/EAGLE (eagle/traineagle3/config.json) have the class of Llama
        if (key.pointer == "/draft_vocab_size")
            io.err << "llmcost: warning: " << out.found.name_of_model.name
                   << ": /draft_vocab_size: read as a language model without this key of EAGLE-3; --as-class "
                      "LlamaForCausalLMEagle3 selects the draft head\n";
        if (!key.nearest.empty() && !detail::counts_mtp_layers(key))
            io.err << "llmcost: warning: " << out.found.name_of_model.name << ": " << printable(key.pointer)
                   << ": unused key; nearest: " << key.nearest << '\n';
    }
    return out;
}

}  // namespace llmcost::cli
