// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/files/user_files.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/json.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost {

LLMCOST_INLINE bool is_folder_at(const std::string& path) {
    std::error_code none;
    return std::filesystem::is_directory(path, none);
}

LLMCOST_INLINE bool exists_at(const std::string& path) {
    std::error_code none;
    return std::filesystem::exists(path, none);
}

LLMCOST_INLINE std::vector<std::string> list_directory(const std::string& folder) {
    std::vector<std::string> names;
    std::error_code problem;
    for (std::filesystem::directory_iterator i(folder, problem), end; !problem && i != end; i.increment(problem))
        names.push_back(i->path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

LLMCOST_INLINE config_document read_regular_file(const std::string& path) {
    std::error_code none;
    const std::filesystem::file_status found = std::filesystem::status(path, none);
    if (std::filesystem::exists(found) && !std::filesystem::is_regular_file(found))
        throw error(errc::io, printable(path), "expected a regular file");
    return read_config_file(path);
}

LLMCOST_INLINE std::filesystem::path user_directory() {
    const auto variable = [](const char* name) {
        const char* const text = std::getenv(name);
        return std::filesystem::path(text == nullptr ? "" : text);
    };
    if (const auto data = variable("XDG_DATA_HOME"); data.is_absolute()) return data / "llmcost";
    const auto home = variable("HOME");
    return home.is_absolute() ? home / ".local" / "share" / "llmcost" : std::filesystem::path();
}

LLMCOST_INLINE std::string local_device() {
    std::string name;
    std::getline(std::ifstream(user_directory() / "here"), name);
    return name;
}

LLMCOST_INLINE std::string user_device_file(const std::string& name) {
    const bool plain = name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
    const auto file = user_directory() / "devices" / (name + ".json");
    std::error_code none;
    return plain && !name.empty() && std::filesystem::is_regular_file(file, none) ? file.string() : std::string();
}

LLMCOST_INLINE std::vector<std::string> default_calibration_paths() {
    if (const char* named = std::getenv("LLMCOST_CALIBRATIONS"); named != nullptr && *named != '\0') return {named};
    std::vector<std::string> all;
    std::error_code none;
    const auto offer = [&](const std::filesystem::path& folder) {
        const bool is_usable = folder.is_absolute() && std::filesystem::is_directory(folder, none);
        if (is_usable) all.push_back(folder.string());
        return is_usable;
    };
    offer(user_directory() / "calibrations");
#ifdef __linux__
    const auto program = std::filesystem::read_symlink("/proc/self/exe", none);
    if (!none && offer(program.parent_path().parent_path() / "share" / "llmcost" / "calibrations")) return all;
#endif
    if (built_calibrations != nullptr) offer(built_calibrations);
    return all;
}

}  // namespace llmcost
