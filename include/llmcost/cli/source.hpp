// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <llmcost/bundled/bundled_config.hpp>
#include <llmcost/cli/arguments.hpp>
#include <llmcost/cli/class_config.hpp>
#include <llmcost/cli/command.hpp>
#include <llmcost/cli/processor_file.hpp>
#include <llmcost/cli/relatives.hpp>
#include <llmcost/cli/stored.hpp>
#include <llmcost/cli/streams.hpp>
#include <llmcost/cli/subject.hpp>
#include <llmcost/cli/variant.hpp>
#include <llmcost/cli/weight_source.hpp>
#include <llmcost/described/described_model.hpp>
#include <llmcost/hub.hpp>
#include <llmcost/json.hpp>
#include <llmcost/reading/known_models.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/report/unused_keys.hpp>

// Finds the configuration that a command line names.
namespace llmcost::cli {

namespace detail {

inline found_config from_file(const std::string& path, std::string_view name, const known_models& models) {
    config_document document = read_config_file(path);
    const std::filesystem::path place(path);
    std::error_code none;
    add_processors_beside(document, std::filesystem::is_directory(place, none) ? place : place.parent_path(), models);
    std::string source = "configuration file " + printable(document.name());
    return {std::move(document), {printable(name), std::move(source)}, false};
}

/// Whether a name is a path by its look: the hub has no repository whose name begins so.
inline bool looks_like_path(std::string_view name) {
    return name.starts_with('.') || name.starts_with('/') || name.starts_with('~') || name.ends_with('/');
}

/// Refuses a name that is a path by its look and leads nowhere.
[[noreturn]] inline void refuse_path(std::string_view name) {
    const bool home = name.starts_with('~');
    throw error(errc::not_found, printable(name),
                home ? "no such file or folder; a shell puts the home folder for ~ only where a word begins with it"
                     : "no such file or folder");
}

/// The repository that `--model` names, at the revision that it or `--revision` names; the revision is empty where neither
/// does.
inline std::pair<repo_id, bool> repo_of(const arguments& args, std::string_view name) {
    const bool at = name.find('@') != std::string_view::npos;
    if (at && args.has(option::revision)) refuse("--revision", "cannot stand together with " + in_quotes(name));
    std::string text(name);
    if (args.has(option::revision)) text += '@' + std::string(args.text(option::revision));
    return {parse_repo_id(text), at || args.has(option::revision)};
}

/// Adds the bundled names that are near to the error of a name that was found nowhere.
[[noreturn]] inline void refuse_name(const error& e, std::string_view name, std::span<const bundled_config> bundled) {
    const auto part = [](std::string_view text) { return text.substr(text.find('/') + 1); };
    nearest_names near(part(name));
    for (const bundled_config& b : bundled) {
        const int d = near.distance(part(b.name));
        if (d <= 2) near.offer(b.name, d);
    }
    throw error(e.code(), {}, std::string(e.what()) + near.hint("", "; bundled under a near name: "));
}

/// The configuration of a repository; throws what is wrong with the first of its names where none is there.
inline hub_file fetch_config(const repo_id& id, const hub_options& options) {
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

inline found_config from_name(std::string_view name, const arguments& args, const program& io) {
    const std::string path(name);
    if (looks_like_gguf(name)) return from_gguf(path);
    std::error_code none;
    const bool is_there = std::filesystem::exists(path, none);
    if (!is_there && looks_like_path(name)) refuse_path(name);
    const bool lacks_config = is_there && !llmcost::detail::config_file_at(path);
    if (is_there && (!lacks_config || looks_like_path(name) || name.find('/') != name.rfind('/'))) {
        found_config found = from_file(path, name, io.models);
        found.remarkable = true;
        return found;
    }
    const auto [id, revised] = repo_of(args, name);
    hub_options options = hub_options::from_environment(io.get);
    if (args.has(option::offline)) options.offline = true, options.offline_source = "--offline";
    const std::string shown = printable(name);
    const auto with_processor = [&, repository = id.name](const hub_file& file) {
        config_document document = read_config_file(file.path.string());
        add_processors_of(document, {repository, file.commit}, options, io.models);
        return document;
    };
    for (const char* const file : llmcost::detail::config_files)
        if (const auto cached = find_in_cache(id, file, options))
            return {with_processor(*cached), {shown, "cached configuration of commit " + printable(cached->commit)}, true};
    // a revision of the hub is asked for: what is bundled may be another one
    if (const bundled_config* known = revised ? nullptr : find_bundled(io.bundled, id.name)) {
        config_document document = parse_config(known->json, std::string(known->name));
        if (!known->variant.empty()) use_variant(document, known->variant);
        return {std::move(document), {std::string(known->name), "bundled configuration"}, false};
    }
    // a person who has such a folder means it: its name is not the hub's business
    if (lacks_config && !revised)
        throw error(errc::io, shown,
                    llmcost::detail::without_config(path) + " (for the hub's repository: --model " + shown + "@main)");
    try {
        const hub_file file = fetch_config(id, options);
        return {with_processor(file), {shown, "configuration from the hub, commit " + printable(file.commit)}, true};
    } catch (const error& e) {
        refuse_name(e, id.name, io.bundled);
    }
}

}  // namespace detail

/// Whether a command line names a model, or a file that tells of one.
[[nodiscard]] inline bool names_source(const arguments& args) {
    return args.has(option::model) || args.has(option::config) || args.has(option::gguf) || args.has(option::safetensors);
}

/// Refuses a command line that names no configuration, or one in two ways.
inline void check_source(const arguments& args, const program& io) {
    if (args.has(option::model) && args.has(option::config)) refuse("--model", "cannot stand together with --config");
    if (args.has(option::gguf) && args.has(option::safetensors))
        refuse("--gguf", "cannot stand together with --safetensors");
    if (!names_source(args)) {
        std::string hint = "say which model: --model org/name or --config FILE (see llmcost --help)";
        const std::string_view first = args.words().empty() ? std::string_view{} : args.words().front();
        if (!first.empty() && first.find('.') == std::string_view::npos && find_metric(first) == nullptr &&
            role_from(first) == role::none)
            hint = "no command " + in_quotes(first) + ", which are " + names_of(io.commands) + "; or " + hint;
        for (const std::string_view word : args.words())
            if (word.find('/') != std::string_view::npos || find_bundled(io.bundled, word) != nullptr)
                hint = "say --model " + printable(word);
        refuse({}, hint);
    }
    if (args.has(option::revision) && !args.has(option::model)) refuse("--revision", "needs --model");
}

/// What a command line calls its model: the first name of the first option of these.
[[nodiscard]] inline std::string_view name_of_source(const arguments& args) {
    for (const option_row& o : {option::model, option::config, option::gguf})
        if (args.has(o)) return args.text(o);
    return args.text(option::safetensors);
}

/// Reads the configuration of a name: for `--config` a file or the standard input; for `--model` a file, else the cache of
/// the Hugging Face tools, else a bundled one, else the hub; else a file of weights. `--quantization` and `--set` are
/// applied.
[[nodiscard]] inline found_config find_config(std::string_view name, const arguments& args, const program& io) {
    const auto named = [&]() -> found_config {
        const std::string path(name);
        if (args.has(option::model)) return detail::from_name(name, args, io);
        if (!args.has(option::config))
            return args.has(option::gguf) ? detail::from_gguf(path)
                                          : detail::from_file(detail::config_beside(path), name, io.models);
        if (name != "-") return detail::from_file(path, name, io.models);
        return {
            read_config_file(io.in, "standard input"), {"standard input", "configuration from the standard input"}, false};
    };
    found_config found = named();
    detail::add_weights(found, args);
    set_quantization(args, found.document);
    for (const std::string_view change : args.all(option::set)) {
        const std::size_t sign = change.find('=');
        if (sign == std::string_view::npos || sign == 0) refuse("--set", "expected key=value, found " + in_quotes(change));
        const std::string_view key = change.substr(0, sign), value = change.substr(sign + 1);
        if (key == "variant" && has_variants(found.document))
            use_variant(found.document, value);
        else
            found.document.set(key, value);
    }
    if (args.has(option::part)) found.who.source += ", " + printable(args.text(option::part)) + " of it alone";
    return found;
}

/// The key under which a configuration of an unknown type holds one of a known type; empty where there is none.
[[nodiscard]] inline std::string_view known_part(config_view root, const known_models& models) {
    for (const config_view child : root) {
        if (!child.is_object()) continue;
        const auto type = child.find("model_type");
        if (type && type->is_string() && models.find(type->as_string()) != nullptr) return child.key();
    }
    return {};
}

namespace detail {

/// The row that `--as` names; null without it.
inline const architecture* row_asked_for(const arguments& args, const known_models& models) {
    if (!args.has(option::as)) return nullptr;
    const std::string_view type = args.text(option::as);
    if (const architecture* row = models.find(type)) return row;
    nearest_names near(type);
    for (const architecture* a : models) near.offer(a->model_type);
    refuse(option::as.name, in_quotes(type) + " is not known" + near.hint("") + "; llmcost models lists those that are");
}

/// Calls the class that a configuration names by the row's own name of it, and says what the file is read as.
inline void read_as(const architecture& row, config_view place, bool whole, found_config& found,
                    const known_models& models) {
    const auto type = place.find("model_type");
    const std::string own = type && type->is_string() ? printable(type->as_string()) : std::string();
    if (own == std::string_view(row.model_type)) return;
    found.who.type = own;
    found.who.source += ", read as " + std::string(row.model_type);
    if (own.empty())
        found.who.source += ": it names no type";
    else
        found.who.source += (models.find(own) == nullptr ? ": " + own + " is not known" : ", though it is " + own);
    if (const llmcost::detail::head_name* head = head_of_class(place); head != nullptr && whole)
        found.document.set("architectures", "[\"" + std::string(row.prefix) + std::string(head->suffix) + "\"]");
}

/// The sentence of an error about an unknown type, with what may be said instead.
inline std::string with_relatives(const error& e, config_view place, const program& io, bool search) {
    const std::string what = e.what();
    if (const std::string_view part = known_part(place, io.models); !part.empty())
        return what + "; known is what it holds: --part " + printable(part);
    if (!search) return what;
    std::string names;
    const std::vector<const architecture*> relatives = relatives_of(place, io.models, io.bundled);
    for (const architecture* a : relatives) names.append(names.empty() ? "" : ", ").append(a->model_type);
    if (names.empty()) return what;
    names = "; its keys read like " + names + " (--as " + std::string(relatives.front()->model_type) + ")";
    const std::size_t list = what.rfind("; llmcost models lists");
    return list == std::string::npos ? what + names : what.substr(0, list) + names + what.substr(list);
}

/// Whether a configuration's type is missing or not known.
inline bool is_unknown(config_view place, const known_models& models) {
    const auto type = place.find("model_type");
    return !type || type->is_null() || (type->is_string() && models.find(type->as_string()) == nullptr);
}

}  // namespace detail

/// The model of a configuration that was found, or of the part that `--part` names; errors name the file and the place in
/// it.
///
/// `ear` is told which keys are read; without one, as for a row of many, nobody searches for relatives of an unknown type.
inline read_subject read_found(found_config found, const arguments& args, const program& io,
                               config_listener* ear = nullptr) {
    read_subject out{std::move(found)};
    const architecture* const row = detail::row_asked_for(args, io.models);
    const bool whole = !args.has(option::part);
    config_document& document = out.found.document;
    const auto place_in = [&](config_view root) {
        return whole ? root : root.object(std::string(args.text(option::part)).c_str());
    };
    if (row != nullptr) detail::read_as(*row, document.read_with(place_in), whole, out.found, io.models);
    if (row == nullptr && whole) {
        auto described = described_by_class(document, io.bundled);
        if (!described) described = described_by_architecture(document, io.bundled);
        if (described) document = std::move(*described);
    }
    const config_view place = document.read_with(place_in);
    if (row == nullptr && described_model::is_described(place)) {
        document.read_with([&](config_view) {
            out.described = std::make_shared<described_model>(place, printable(document.name()), &io.models);
        });
        out.subject = out.described->subject();
        out.found.who.source += ", a description";
        out.stored = stored_weights_of(out, args);
        return out;
    }
    try {
        document.read_with([&](config_view root) {
            const config_view heard = ear == nullptr ? place : place.heard_by(*ear);
            out.subject = row == nullptr ? io.models.read(heard) : io.models.read_by(*row, heard);
            out.declines_cache = !heard.boolean("use_cache", true);
            dtype& type = out.subject.dims.type;
            if (!whole && type == dtype::unspecified) type = llmcost::detail::read_dtype(root);  // said for all parts
        });
    } catch (const error& e) {
        const bool typeless = e.code() == errc::unknown_model_type || e.code() == errc::missing_key;
        if (!typeless || row != nullptr || !detail::is_unknown(place, io.models)) throw;
        throw error(e.code(), {}, detail::with_relatives(e, place, io, ear != nullptr));
    }
    out.stored = stored_weights_of(out, args);
    dtype& type = out.subject.dims.type;
    if (out.stored.applied && type == dtype::unspecified) type = out.stored.otherwise;
    return out;
}

namespace detail {

/// Whether a key counts multi-token prediction layers, which the reference's classes have none of.
inline bool counts_mtp_layers(const unused_key& key) {
    for (const std::string_view name :
         {"/num_nextn_predict_layers", "/mtp_num_hidden_layers", "/mtp_num_layers", "/num_mtp_layers", "/num_mtp_modules"})
        if (key.pointer.ends_with(name)) return true;
    return false;
}

/// Multi-token prediction layers that a configuration names and no row reads.
inline std::int64_t unread_mtp_layers(const std::vector<unused_key>& unused) {
    std::int64_t most = 0;
    for (const unused_key& key : unused) {
        const bool number =
            !key.value.empty() && key.value.size() < 10 && key.value.find_first_not_of("0123456789") == std::string::npos;
        if (number && counts_mtp_layers(key)) most = std::max<std::int64_t>(most, std::stoi(key.value));
    }
    return most;
}

/// Counts multi-token prediction layers, where they are asked for.
inline void count_mtp_layers(read_subject& read, const arguments& args) {
    if (!args.has(option::mtp)) return;
    model& m = read.subject;
    if (read.mtp_layers == 0) refuse(option::mtp.name, "the configuration names no multi-token prediction layers");
    if (m.text_row().predict == nullptr)
        refuse(option::mtp.name,
               "no row describes the multi-token prediction layers of " + std::string(m.text_row().model_type));
    if (m.dims.head != head_kind::causal_lm && m.dims.head != head_kind::conditional_generation)
        refuse(option::mtp.name, "is of a model with a language model's head");
    if (args.has(option::training)) refuse(option::mtp.name, "cannot stand together with --training");
    m.dims.mtp_layers = read.mtp_layers;
}

}  // namespace detail

/// The model that a command line names.
///
/// A key that is nearly one that is read is told to `io.err`: it is more likely misspelt than meant for others.
[[nodiscard]] inline read_subject read_subject_of(const arguments& args, const program& io) {
    check_source(args, io);
    for (const option_row& o : {option::model, option::config})
        if (args.all(o).size() > 1) refuse(o.name, "is given twice");
    key_usage usage;
    read_subject out = read_found(find_config(name_of_source(args), args, io), args, io, &usage);
    if (out.described) return out;
    out.unused = usage.unused(out.found.document.root());
    out.mtp_layers = detail::unread_mtp_layers(out.unused);
    detail::count_mtp_layers(out, args);
    for (const unused_key& key : out.unused)
        if (!key.nearest.empty() && !detail::counts_mtp_layers(key))
            io.err << "llmcost: " << out.found.who.name << ": " << printable(key.pointer)
                   << ": nothing reads this key; nearest: " << key.nearest << '\n';
    return out;
}

}  // namespace llmcost::cli
