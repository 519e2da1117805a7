// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

// Reads the source files of the repository.
namespace sources {

inline const std::filesystem::path top = std::filesystem::path(LLMCOST_TEST_DIR).parent_path();

inline std::string text_of(const std::filesystem::path& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
}

inline bool is_code(const std::filesystem::path& path) {
    const std::string extension = path.extension().string();
    return extension == ".hpp" || extension == ".ipp" || extension == ".cpp" || extension == ".cu" ||
           extension == ".cuh";
}

inline std::vector<std::filesystem::path> code_files(const std::vector<std::string>& folders) {
    std::vector<std::filesystem::path> files;
    for (const std::string& folder : folders)
        for (const auto& entry : std::filesystem::recursive_directory_iterator(top / folder))
            if (entry.is_regular_file() && is_code(entry.path())) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

inline bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Skips a string or character literal that begins at `i`. Returns the position after it.
inline std::size_t after_literal(const std::string& code, std::size_t i) {
    if (code[i] == '"' && i > 0 && code[i - 1] == 'R') {
        const std::size_t open = code.find('(', i);
        const std::string close = ')' + code.substr(i + 1, open - i - 1) + '"';
        const std::size_t end = code.find(close, open);
        return end == std::string::npos ? code.size() : end + close.size();
    }
    const char quote = code[i];
    for (++i; i < code.size() && code[i] != quote && code[i] != '\n'; ++i)
        if (code[i] == '\\') ++i;
    return i + 1;
}

}  // namespace sources
