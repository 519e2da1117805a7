// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/text/messages.hpp>

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

#include <llmcost/base/inline.hpp>
#include <llmcost/base/utf8.hpp>

namespace llmcost {

LLMCOST_INLINE std::string printable(std::string_view text) {
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

LLMCOST_INLINE std::string quote(std::string_view text) {
    constexpr std::size_t maximum = 120;
    return '\'' + printable(text.substr(0, maximum)) + (text.size() > maximum ? "…'" : "'");
}

}  // namespace llmcost
