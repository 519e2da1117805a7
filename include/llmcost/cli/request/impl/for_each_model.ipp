// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/request/for_each_model.hpp>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/row_error.hpp>
#include <llmcost/cli/request/config_lookup.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/json/foreign.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

/// The JSON files of a directory without a config.json, sorted by name.
LLMCOST_INLINE std::vector<std::string> configs_in(const std::string& folder) {
    std::vector<std::string> files;
    std::error_code problem;
    if (!std::filesystem::is_directory(folder, problem) || llmcost::detail::config_file_at(folder)) return files;
    for (std::filesystem::directory_iterator i(folder, problem), end; !problem && i != end; i.increment(problem)) {
        const std::string name = i->path().filename().string();
        if (!name.starts_with('.') && name.ends_with(".json")) files.push_back(i->path().string());
    }
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE std::vector<std::string> names_of_sources(const arguments& args) {
    std::vector<std::string> names;
    for (const std::string_view name : args.all(option::model)) names.emplace_back(name);
    for (const std::string_view name : args.all(option::config)) {
        std::vector<std::string> files = detail::configs_in(std::string(name));
        if (files.size() > 1)
            names.insert(names.end(), files.begin(), files.end());
        else
            names.emplace_back(name);
    }
    return names;
}

LLMCOST_INLINE bool read_each_subject(const arguments& args, const program& io, model_sink& sink) {
    const std::vector<std::string> names = names_of_sources(args);
    if (names.size() < 2) return false;
    require_single_source(args, io);
    for (const option_spec& o : {option::gguf, option::safetensors, option::mtp})
        if (args.has(o)) throw_usage(o.name, "supports only one model");
    std::exception_ptr first;
    bool answered = false;
    for (const std::string& name : names) {
        std::string problem = detail::problem_of([&] {
            try {
                sink.add(read_found(find_config(name, args, io), args, io));
            } catch (const error& e) {
                if (e.code() == errc::usage && !first) first = std::current_exception();
                throw;
            }
        });
        answered = answered || problem.empty();
        if (problem.empty()) continue;
        const std::string display_name = printable(name);
        if (problem.starts_with(display_name + ": ")) problem.erase(0, display_name.size() + 2);
        sink.fail(display_name, std::move(problem));
    }
    if (!answered && first) std::rethrow_exception(first);
    return true;
}

}  // namespace llmcost::cli
