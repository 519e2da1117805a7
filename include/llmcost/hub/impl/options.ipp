// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/hub/options.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include <llmcost/base/inline.hpp>
#include <llmcost/files/regular_file.hpp>
#include <llmcost/files/system.hpp>
#include <llmcost/hub/text.hpp>
#include <llmcost/text/error.hpp>

namespace llmcost {

LLMCOST_INLINE std::string read_token_file(const std::filesystem::path& path) {
    constexpr std::size_t maximum = 4097;  // one more than check_token lets through
    const std::string text = detail::read_regular_file(path.string(), maximum, detail::hub::printable(path.string()));
    return std::string(detail::hub::trim(text));
}

}  // namespace llmcost

namespace llmcost::detail::hub {

LLMCOST_INLINE bool environment_reader::is_true(const char* name) const {
    const std::string text = lower_case(value(name));
    return text == "1" || text == "on" || text == "yes" || text == "true";
}

LLMCOST_INLINE std::chrono::milliseconds environment_reader::seconds(const char* name,
                                                                     std::chrono::milliseconds fallback) const {
    const std::string text = value(name);
    if (text.empty() || text == "0") return fallback;
    const auto number = parse_number(trim(text));
    if (!number || *number == 0 || *number > 86'400) {
        throw error(errc::bad_value, name,
                    "expected an integral number of seconds from 1 to 86400, found \"" + printable(text, 40) + "\"");
    }
    return std::chrono::seconds(static_cast<std::int64_t>(*number));
}

LLMCOST_INLINE std::string environment_reader::expand(std::string text) const {
    if (text == "~" || text.starts_with("~/")) {
        if (const std::string folder = home(); !folder.empty()) text.replace(0, 1, folder);
    }
    std::string out;
    for (std::size_t position = 0; position < text.size();) {
        const auto [name, length] = variable_at(std::string_view(text).substr(position));
        const char* const found = length == 0 ? nullptr : get_(name.c_str());
        out += found != nullptr ? std::string(found) : text.substr(position, length == 0 ? 1 : length);
        position += length == 0 ? 1 : length;
    }
    return out;
}

LLMCOST_INLINE std::string environment_reader::hugging_face_home() const {
    if (const std::string folder = value("HF_HOME"); !folder.empty()) return expand(folder);
    const std::string cache = value("XDG_CACHE_HOME");
    return expand((cache.empty() ? "~/.cache" : cache) + "/huggingface");
}

LLMCOST_INLINE std::string environment_reader::value(const char* name) const {
    const char* const text = get_(name);
    return text == nullptr ? std::string() : std::string(text);
}

LLMCOST_INLINE std::string environment_reader::home() const {
    std::string folder = value(sys::home_variable);
    return folder.empty() ? sys::home_folder() : folder;
}

LLMCOST_INLINE std::pair<std::string, std::size_t> environment_reader::variable_at(std::string_view text) {
    if (text.size() < 2 || text[0] != '$') return {{}, 0};
    if (text[1] == '{') {
        const std::size_t close = text.find('}');
        if (close == std::string_view::npos || close == 2) return {{}, 0};
        return {std::string(text.substr(2, close - 2)), close + 1};
    }
    std::size_t end = 1;
    while (end < text.size() && (is_letter(text[end]) || is_digit(text[end]) || text[end] == '_')) ++end;
    return {std::string(text.substr(1, end - 1)), end == 1 ? 0 : end};
}

}  // namespace llmcost::detail::hub
