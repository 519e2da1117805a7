// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

#include <llmcost/base/utf8.hpp>
#include <llmcost/text/error.hpp>

// Quotes external texts in messages, and reports arguments that do not exist.
namespace llmcost {

/// An external text, made safe for a terminal: control characters, changes of direction, invisible characters and
/// broken UTF-8 as `\x1b` or `\u202e`.
[[nodiscard]] inline std::string printable(std::string_view text) {
    std::string out;
    char code[12];
    while (!text.empty()) {
        const std::size_t length = detail::utf8_length(text);
        const std::string_view character = text.substr(0, length == 0 ? 1 : length);
        const unsigned unsafe = length == 0 ? static_cast<unsigned char>(text.front()) : detail::unprintable(character);
        if (length != 0 && unsafe == 0x110000) {
            out += character;
        } else {
            const bool byte = unsafe < 0x80 || length == 0;
            std::snprintf(code, sizeof code, byte ? "\\x%02x" : unsafe > 0xFFFF ? "\\U%08x" : "\\u%04x", unsafe);
            out += code;
        }
        text.remove_prefix(character.size());
    }
    return out;
}

/// Throws the error of an argument that does not exist; `where` names it: an option, a column, an argument.
[[noreturn]] inline void throw_usage(std::string_view option, const std::string& message) {
    throw error(errc::usage, printable(option), message);
}

/// A text in quotes, fit for a message.
[[nodiscard]] inline std::string quote(std::string_view text) {
    constexpr std::size_t maximum = 120;
    return '\'' + printable(text.substr(0, maximum)) + (text.size() > maximum ? "…'" : "'");
}

/// Refuses what has a problem.
inline void throw_usage_if(std::string_view option, const std::string& problem) {
    if (!problem.empty()) throw_usage(option, problem);
}

}  // namespace llmcost
