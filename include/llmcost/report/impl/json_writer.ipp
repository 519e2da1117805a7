// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/report/json_writer.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <string_view>

#include <llmcost/base/inline.hpp>
#include <llmcost/base/utf8.hpp>

namespace llmcost {

LLMCOST_INLINE json_writer& json_writer::array(bool one_line) {
    open('[');
    if (one_line && one_line_depth_ == 0) one_line_depth_ = depth_;
    return *this;
}

LLMCOST_INLINE json_writer& json_writer::key(std::string_view name) {
    separate();
    quote(name);
    text_ += indent_ > 0 ? ": " : ":";
    has_pending_key_ = true;
    return *this;
}

LLMCOST_INLINE json_writer& json_writer::value(std::string_view s) {
    separate();
    quote(s);
    return *this;
}

LLMCOST_INLINE json_writer& json_writer::value(double n) {
    if (!std::isfinite(n)) return null();
    std::array<char, 32> digits{};
    const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), n).ptr;
    return raw({digits.data(), static_cast<std::size_t>(end - digits.data())});
}

LLMCOST_INLINE json_writer& json_writer::raw(std::string_view s) {
    separate();
    text_ += s;
    return *this;
}

LLMCOST_INLINE json_writer& json_writer::open(char c) {
    separate();
    text_ += c;
    ++depth_;
    is_empty_ = true;
    return *this;
}

LLMCOST_INLINE json_writer& json_writer::close(char c) {
    const bool one_line = one_line_depth_ != 0 && depth_ >= one_line_depth_;
    if (one_line_depth_ == depth_) one_line_depth_ = 0;
    --depth_;
    if (!is_empty_ && !one_line) line();
    text_ += c;
    is_empty_ = false;
    return *this;
}

LLMCOST_INLINE void json_writer::separate() {
    if (has_pending_key_) {
        has_pending_key_ = false;
        return;
    }
    if (!is_empty_) text_ += ',';
    if (depth_ > 0 && (one_line_depth_ == 0 || depth_ < one_line_depth_)) line();
    is_empty_ = false;
}

LLMCOST_INLINE void json_writer::line() {
    if (indent_ == 0) return;
    text_ += '\n';
    text_.append(static_cast<std::size_t>(indent_ * depth_), ' ');
}

LLMCOST_INLINE void json_writer::quote(std::string_view s) {
    text_ += '"';
    while (!s.empty()) {
        const std::size_t character_length = detail::utf8_length(s);
        const std::string_view character = s.substr(0, character_length == 0 ? 1 : character_length);
        const unsigned unsafe = detail::unprintable(character);
        if (character_length == 0) {
            text_ += "\xEF\xBF\xBD";  // U+FFFD
        } else if (unsafe > 0xFFFF && unsafe < 0x110000) {
            escape(0xD800 + ((unsafe - 0x10000) >> 10));
            escape(0xDC00 + ((unsafe - 0x10000) & 0x3FFU));
        } else if (unsafe < 0x110000) {
            escape(unsafe);
        } else {
            if (character == "\"" || character == "\\") text_ += '\\';
            text_ += character;
        }
        s.remove_prefix(character.size());
    }
    text_ += '"';
}

LLMCOST_INLINE void json_writer::escape(unsigned unit) {
    static constexpr char hex[] = "0123456789abcdef";
    text_ += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) text_ += hex[(unit >> shift) & 15U];
}

}  // namespace llmcost
