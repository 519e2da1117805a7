// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <llmcost/bundled/bundled_config.hpp>
#include <llmcost/cli/arguments.hpp>
#include <llmcost/cli/command.hpp>
#include <llmcost/cli/session.hpp>
#include <llmcost/cli/subject.hpp>
#include <llmcost/hub.hpp>
#include <llmcost/json.hpp>
#include <llmcost/reading/known_models.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/report/unused_keys.hpp>

// Finds the configuration that a command line names.
namespace llmcost::cli {

namespace detail {

inline found_config from_file(const std::string& path, std::string_view name) {
    config_document document = read_config_file(path);
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
inline std::pair<repo_id, bool> repo_of(const arguments& args) {
    const std::string_view name = args.text(option::model);
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

inline found_config from_name(const arguments& args, const session& io) {
    const std::string_view name = args.text(option::model);
    const std::string path(name);
    std::error_code none;
    const bool is_there = std::filesystem::exists(path, none);
    if (!is_there && looks_like_path(name)) refuse_path(name);
    const bool lacks_config = is_there && !llmcost::detail::config_file_at(path);
    if (is_there && (!lacks_config || looks_like_path(name) || name.find('/') != name.rfind('/'))) {
        found_config found = from_file(path, name);
        found.remarkable = true;
        return found;
    }
    const auto [id, revised] = repo_of(args);
    hub_options options = hub_options::from_environment(io.get);
    if (args.has(option::offline)) options.offline = true, options.offline_source = "--offline";
    const std::string shown = printable(name);
    if (const auto cached = find_in_cache(id, "config.json", options))
        return {read_config_file(cached->path.string()),
                {shown, "cached configuration of commit " + printable(cached->commit)},
                true};
    // a revision of the hub is asked for: what is bundled may be another one
    if (const bundled_config* known = revised ? nullptr : find_bundled(io.bundled, id.name))
        return {
            parse_config(known->json, std::string(known->name)), {std::string(known->name), "bundled configuration"}, false};
    // a person who has such a folder means it: its name is not the hub's business
    if (lacks_config && !revised)
        throw error(errc::io, shown,
                    llmcost::detail::without_config(path) + " (for the hub's repository: --model " + shown + "@main)");
    try {
        const hub_file file = fetch(id, "config.json", options);
        return {read_config_file(file.path.string()),
                {shown, "configuration from the hub, commit " + printable(file.commit)},
                true};
    } catch (const error& e) {
        refuse_name(e, id.name, io.bundled);
    }
}

}  // namespace detail

/// Reads the configuration: the file or standard input of `--config`, or what `--model` names: a file, else the cache of
/// the Hugging Face tools, else a bundled one, else the hub. `--set` is applied.
[[nodiscard]] inline found_config find_config(const arguments& args, const session& io) {
    if (args.has(option::model) == args.has(option::config)) {
        if (args.has(option::model)) refuse("--model", "cannot stand together with --config");
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
    if (args.has(option::revision) && args.has(option::config)) refuse("--revision", "needs --model");
    const std::string_view path = args.text(option::config);
    found_config found = args.has(option::model) ? detail::from_name(args, io)
                         : path == "-"           ? found_config{read_config_file(io.in, "standard input"),
                                                      {"standard input", "configuration from the standard input"},
                                                      false}
                                                 : detail::from_file(std::string(path), path);
    for (const std::string_view change : args.all(option::set)) {
        const std::size_t sign = change.find('=');
        if (sign == std::string_view::npos || sign == 0) refuse("--set", "expected key=value, found " + in_quotes(change));
        found.document.set(change.substr(0, sign), change.substr(sign + 1));
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

/// The model of a configuration, or of the part that `--part` names; errors name the file and the place in it.
///
/// A key that is nearly one that is read is told to `io.err`: it is more likely misspelt than meant for others.
[[nodiscard]] inline read_subject read_subject_of(const arguments& args, const session& io) {
    read_subject out{find_config(args, io)};
    const config_document& document = out.found.document;
    key_usage usage;
    const auto read = [&](config_view object) {
        const config_view place = object.heard_by(usage);
        out.subject = io.models.read(place);
        out.declines_cache = !place.boolean("use_cache", true);
        out.unused = usage.unused(place);
    };
    if (args.has(option::part)) {
        document.read_with([&](config_view root) {
            read(root.object(std::string(args.text(option::part)).c_str()));
            dtype& type = out.subject.dims.type;
            if (type == dtype::unspecified) type = llmcost::detail::read_dtype(root);  // said for all parts
        });
    } else {
        try {
            document.read_with(read);
        } catch (const error& e) {
            const std::string_view part =
                e.code() == errc::unknown_model_type ? known_part(document.root(), io.models) : std::string_view{};
            if (part.empty()) throw;
            throw error(e.code(), {}, std::string(e.what()) + "; known is what it holds: --part " + printable(part));
        }
    }
    for (const unused_key& key : out.unused)
        if (!key.nearest.empty())
            io.err << "llmcost: " << out.found.who.name << ": " << printable(key.pointer)
                   << ": nothing reads this key; nearest: " << key.nearest << '\n';
    return out;
}

}  // namespace llmcost::cli
