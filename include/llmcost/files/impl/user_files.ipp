// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/files/user_files.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <llmcost/base/inline.hpp>
#include <llmcost/files/regular_file.hpp>
#include <llmcost/json.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::detail {

/// The type bits of a path's target; 0 if it does not exist.
[[nodiscard]] LLMCOST_INLINE ::mode_t file_type_of(const std::string& path) {
    struct stat facts {};
    return ::stat(path.c_str(), &facts) == 0 ? facts.st_mode & S_IFMT : 0;
}

/// The directory of a path without its last part.
[[nodiscard]] LLMCOST_INLINE std::string parent_directory(const std::string& path) {
    return path.substr(0, path.rfind('/'));
}

/// The value of an environment variable that is an absolute path; otherwise empty.
[[nodiscard]] LLMCOST_INLINE std::string absolute_path_in(const char* variable) {
    const char* const text = std::getenv(variable);
    return text != nullptr && *text == '/' ? text : std::string();
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE bool is_folder_at(const std::string& path) { return detail::file_type_of(path) == S_IFDIR; }

LLMCOST_INLINE bool exists_at(const std::string& path) { return detail::file_type_of(path) != 0; }

LLMCOST_INLINE std::vector<std::string> list_directory(const std::string& folder) {
    std::vector<std::string> names;
    const auto close = [](DIR* directory) { ::closedir(directory); };
    const std::unique_ptr<DIR, decltype(close)> directory(::opendir(folder.c_str()), close);
    if (directory == nullptr) return names;
    while (const dirent* const entry = ::readdir(directory.get())) {
        std::string name = entry->d_name;
        if (name != "." && name != "..") names.push_back(std::move(name));
    }
    std::sort(names.begin(), names.end());
    return names;
}

LLMCOST_INLINE config_document read_regular_file(const std::string& path) {
    const ::mode_t type = detail::file_type_of(path);
    if (type != 0 && type != S_IFREG) throw error(errc::io, printable(path), "expected a regular file");
    return read_config_file(path);
}

LLMCOST_INLINE std::string user_directory() {
    if (const std::string data = detail::absolute_path_in("XDG_DATA_HOME"); !data.empty()) return data + "/llmcost";
    const std::string home = detail::absolute_path_in("HOME");
    return home.empty() ? home : home + "/.local/share/llmcost";
}

LLMCOST_INLINE std::string local_device() {
    constexpr std::size_t maximum = 256;  // bytes of a device name
    const std::string folder = user_directory();
    std::string reason;
    bool is_complete = false;
    const detail::open_file file =
        folder.empty() ? detail::open_file() : detail::open_regular_at(AT_FDCWD, (folder + "/here").c_str(), reason);
    const std::string text = file ? detail::read_prefix(file, maximum, is_complete) : std::string();
    return text.substr(0, text.find('\n'));
}

LLMCOST_INLINE std::string user_device_file(const std::string& name) {
    const bool is_plain = name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
    const std::string folder = user_directory(), file = folder + "/devices/" + name + ".json";
    return is_plain && !name.empty() && !folder.empty() && detail::file_type_of(file) == S_IFREG ? file : std::string();
}

LLMCOST_INLINE std::vector<std::string> default_calibration_paths() {
    if (const char* named = std::getenv("LLMCOST_CALIBRATIONS"); named != nullptr && *named != '\0') return {named};
    std::vector<std::string> all;
    const auto offer = [&](const std::string& folder) {
        const bool is_usable = folder.starts_with('/') && is_folder_at(folder);
        if (is_usable) all.push_back(folder);
        return is_usable;
    };
    if (const std::string folder = user_directory(); !folder.empty()) offer(folder + "/calibrations");
#ifdef __linux__
    std::array<char, 4096> target{};
    const ssize_t length = ::readlink("/proc/self/exe", target.data(), target.size());
    if (length > 0 && length < static_cast<ssize_t>(target.size())) {
        const std::string program(target.data(), static_cast<std::size_t>(length));
        const std::string prefix = detail::parent_directory(detail::parent_directory(program));
        if (offer(prefix + "/share/llmcost/calibrations")) return all;
    }
#endif
    if (built_calibrations != nullptr) offer(built_calibrations);
    return all;
}

}  // namespace llmcost
