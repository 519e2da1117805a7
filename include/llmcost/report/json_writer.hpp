// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <llmcost/base/count.hpp>
#include <llmcost/base/utf8.hpp>

namespace llmcost {

/// Writes JSON in valid UTF-8. Integers have all digits, as 128-bit counts need. Other numbers round-trip.
class json_writer {
public:
    explicit json_writer(int indent = 2) : indent_(indent) {}

    json_writer& object() { return open('{'); }
    json_writer& array(bool one_line = false) {
        open('[');
        if (one_line && flat_ == 0) flat_ = depth_;
        return *this;
    }
    json_writer& end_object() { return close('}'); }
    json_writer& end_array() { return close(']'); }
    json_writer& key(std::string_view name) {
        separate();
        quote(name);
        text_ += indent_ > 0 ? ": " : ":";
        after_key_ = true;
        return *this;
    }
    json_writer& value(std::string_view s) {
        separate();
        quote(s);
        return *this;
    }
    json_writer& value(const char* s) { return value(std::string_view(s)); }
    json_writer& value(bool b) { return raw(b ? "true" : "false"); }
    json_writer& value(count n) { return raw(count_text{n}.view()); }
    template <std::signed_integral T>
    json_writer& value(T n) {
        return raw(std::to_string(n));
    }
    /// The shortest number that round-trips; null if it is not finite.
    json_writer& value(double n) {
        if (!std::isfinite(n)) return null();
        std::array<char, 32> digits{};
        return raw({digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), n).ptr});
    }
    json_writer& null() { return raw("null"); }
    template <class T>
    json_writer& member(std::string_view name, const T& v) {
        key(name);
        return value(v);
    }

    [[nodiscard]] const std::string& text() const noexcept { return text_; }

private:
    json_writer& raw(std::string_view s) {
        separate();
        text_ += s;
        return *this;
    }
    json_writer& open(char c) {
        separate();
        text_ += c;
        ++depth_;
        empty_ = true;
        return *this;
    }
    json_writer& close(char c) {
        const bool one_line = flat_ != 0 && depth_ >= flat_;
        if (flat_ == depth_) flat_ = 0;
        --depth_;
        if (!empty_ && !one_line) line();
        text_ += c;
        empty_ = false;
        return *this;
    }
    void separate() {
        if (after_key_) {
            after_key_ = false;
            return;
        }
        if (!empty_) text_ += ',';
        if (depth_ > 0 && (flat_ == 0 || depth_ < flat_)) line();
        empty_ = false;
    }
    void line() {
        if (indent_ == 0) return;
        text_ += '\n';
        text_.append(static_cast<std::size_t>(indent_ * depth_), ' ');
    }
    void quote(std::string_view s) {
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
    void escape(unsigned unit) {
        static constexpr char hex[] = "0123456789abcdef";
        text_ += "\\u";
        for (int shift = 12; shift >= 0; shift -= 4) text_ += hex[(unit >> shift) & 15U];
    }

    std::string text_;
    int indent_;
    int depth_ = 0;
    int flat_ = 0;
    bool empty_ = true;
    bool after_key_ = false;
};

}  // namespace llmcost
