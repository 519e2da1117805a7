// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/json/foreign.hpp>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/text/error.hpp>

namespace llmcost::detail {

LLMCOST_INLINE std::optional<foreign_kind> foreign_object(config_view root) {
    for (const std::string_view model_key :
         {"model_type", "architectures", "hidden_size", "num_hidden_layers", "d_model", "n_embd"})
        if (root.find(model_key)) return std::nullopt;
    for (const json_signature& s : json_signatures) {
        bool all = true;
        for (const std::string_view key : s.keys) all = all && (key.empty() || root.find(key));
        if (all) return s.kind;
    }
    return std::nullopt;
}

LLMCOST_INLINE std::optional<foreign_kind> foreign_adapter(config_view root) {
    if (root.find("peft_type")) return std::nullopt;
    if (root.find("model_type")) return foreign_kind{"the configuration of a model", {}};
    return foreign_object(root);
}

LLMCOST_INLINE void refuse_foreign(const std::optional<foreign_kind>& kind, std::string_view name,
                                   std::string_view expected) {
    if (kind)
        throw error(errc::bad_value, std::string(name),
                    "this is " + std::string(kind->description) + "; " +
                        std::string(expected.empty() ? kind->replacement : expected));
}

LLMCOST_INLINE std::string without_config(const std::filesystem::path& folder) {
    constexpr std::size_t maximum = 6;
    std::set<std::string> names;
    std::error_code problem;
    for (std::filesystem::directory_iterator i(folder, problem), end; !problem && i != end; i.increment(problem)) {
        std::error_code none;
        const std::string name = i->path().filename().string();
        if (!name.starts_with('.')) names.insert(name + (i->is_directory(none) ? "/" : ""));
    }
    if (problem) return "a folder that cannot be read: " + problem.message();
    std::string out = "a folder without a config.json; it ";
    if (names.empty()) return out + "holds nothing";
    std::size_t n = 0;
    for (const std::string& name : names)
        if (n++ < maximum) out += (n == 1 ? "holds " : ", ") + name;
    return names.size() > maximum ? out + " and " + std::to_string(names.size() - maximum) + " more" : out;
}

LLMCOST_INLINE std::optional<std::string> config_file_at(const std::string& path) {
    std::error_code none;
    if (!std::filesystem::is_directory(path, none)) return path;
    for (const char* const name : config_files) {
        const std::filesystem::path candidate = std::filesystem::path(path) / name;
        // a dangling link exists, and gives a better error when it is opened
        if (std::filesystem::exists(std::filesystem::symlink_status(candidate, none))) return candidate.string();
    }
    return std::nullopt;
}

}  // namespace llmcost::detail
