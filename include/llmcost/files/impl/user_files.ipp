// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/files/user_files.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/files/regular_file.hpp>
#include <llmcost/files/system.hpp>
#include <llmcost/json.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::detail {

/// The directory of a path without its last part.
[[nodiscard]] LLMCOST_INLINE std::string parent_directory(const std::string& path) {
    return path.substr(0, path.rfind('/'));
}

/// The value of an environment variable that is an absolute path; otherwise empty.
[[nodiscard]] LLMCOST_INLINE std::string absolute_path_in(const char* variable) {
    const char* const text = std::getenv(variable);
    return text != nullptr && std::filesystem::path(text).is_absolute() ? text : std::string();
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE bool is_folder_at(const std::string& path) {
    return detail::sys::facts_of(path).kind == detail::sys::file_kind::folder;
}

LLMCOST_INLINE bool exists_at(const std::string& path) {
    return detail::sys::facts_of(path).kind != detail::sys::file_kind::missing;
}

LLMCOST_INLINE std::vector<std::string> list_directory(const std::string& folder) {
    std::vector<std::string> names;
    std::error_code failure;
    for (std::filesystem::directory_iterator entry(folder, failure), end; !failure && entry != end;
         entry.increment(failure))
        names.push_back(entry->path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

LLMCOST_INLINE config_document read_regular_file(const std::string& path) {
    const detail::sys::file_kind kind = detail::sys::facts_of(path).kind;
    if (kind != detail::sys::file_kind::missing && kind != detail::sys::file_kind::regular)
        throw error(errc::io, printable(path), "expected a regular file");
    return read_config_file(path);
}

LLMCOST_INLINE std::string user_directory() {
    if (const std::string data = detail::absolute_path_in(detail::sys::data_variable); !data.empty())
        return data + "/llmcost";
    const std::string home = detail::absolute_path_in(detail::sys::home_variable);
    return home.empty() ? home : home + "/.local/share/llmcost";
}

LLMCOST_INLINE std::string local_device() {
    constexpr std::size_t maximum = 256;  // bytes of a device name
    const std::string folder = user_directory();
    std::string reason;
    bool is_complete = false;
    const detail::open_file file =
        folder.empty() ? detail::open_file() : detail::open_regular(folder + "/here", reason);
    const std::string text = file ? detail::read_prefix(file, maximum, is_complete) : std::string();
    return text.substr(0, text.find('\n'));
}

LLMCOST_INLINE std::string user_device_file(const std::string& name) {
    const bool is_plain = name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
    const std::string folder = user_directory(), file = folder + "/devices/" + name + ".json";
    return is_plain && !name.empty() && !folder.empty() &&
                   detail::sys::facts_of(file).kind == detail::sys::file_kind::regular
               ? file
               : std::string();
}

LLMCOST_INLINE std::vector<std::string> default_calibration_paths() {
    if (const char* named = std::getenv("LLMCOST_CALIBRATIONS"); named != nullptr && *named != '\0') return {named};
    std::vector<std::string> all;
    const auto offer = [&](const std::string& folder) {
        const bool is_usable = std::filesystem::path(folder).is_absolute() && is_folder_at(folder);
        if (is_usable) all.push_back(folder);
        return is_usable;
    };
    if (const std::string folder = user_directory(); !folder.empty()) offer(folder + "/calibrations");
    if (const std::string program = detail::sys::program_path(); !program.empty()) {
        const std::string prefix = detail::parent_directory(detail::parent_directory(program));
        if (offer(prefix + "/share/llmcost/calibrations")) return all;
    }
    if (built_calibrations != nullptr) offer(built_calibrations);
    return all;
}

}  // namespace llmcost
