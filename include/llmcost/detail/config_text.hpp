// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <llmcost/string_ref.hpp>

namespace llmcost::detail {

/// Length in bytes of the well-formed UTF-8 character that a text begins with; 0 where there is none (RFC 3629).
constexpr std::size_t utf8_length(string_ref text) noexcept {
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
    const unsigned first = byte(0);
    if (text.empty()) return 0;
    if (first < 0x80) return 1;
    if (first < 0xC2 || first > 0xF4 || !continues(1)) return 0;
    if (first < 0xE0) return 2;
    // overlong forms, surrogates and what lies beyond U+10FFFF
    if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F) || !continues(2)) return 0;
    if (first < 0xF0) return 3;
    if ((first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F) || !continues(3)) return 0;
    return 4;
}

/// The code point if a character must not reach a terminal: controls, line separators, changes of direction; else 0x110000.
constexpr unsigned unprintable(string_ref character) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(character[i])); };
    unsigned code = byte(0);
    if (character.size() == 2) code = ((code & 0x1FU) << 6) | (byte(1) & 0x3FU);
    if (character.size() == 3) code = ((code & 0x0FU) << 12) | ((byte(1) & 0x3FU) << 6) | (byte(2) & 0x3FU);
    const bool unsafe =
        character.size() < 4 && (code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x200E || code == 0x200F ||
                                 (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069));
    return unsafe ? code : 0x110000;
}

/// How a text is written into a message.
enum class escaping : unsigned char {
    plain,    ///< controls only
    quoted,   ///< controls, `"` and `\`
    pointer,  ///< controls, and `~` and `/` as RFC 6901 writes them
};

/// A text of bounded length in somebody else's buffer, always ended by a NUL; what does not fit is cut and ends in `...`.
class bounded_text {
public:
    bounded_text(char* buffer, std::size_t size) noexcept : buffer_(buffer), capacity_(size) { buffer_[0] = '\0'; }
    template <std::size_t N>
    explicit bounded_text(char (&buffer)[N]) noexcept : bounded_text(buffer, N) {}

    [[nodiscard]] string_ref view() const noexcept { return {buffer_, size_}; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// Appends a text as it is; a character is kept whole or left out.
    bounded_text& put(string_ref text) noexcept {
        constexpr string_ref mark = "...";
        while (!cut_ && !text.empty()) {
            const std::size_t whole = utf8_length(text);
            const std::size_t n = whole == 0 ? 1 : whole;
            cut_ = size_ + n + mark.size() >= capacity_;
            append(cut_ ? mark : text.substr(0, n));
            text.remove_prefix(n);
        }
        return *this;
    }
    /// Appends at most `limit` bytes of a text that may hold anything.
    bounded_text& put(string_ref text, escaping how, std::size_t limit) noexcept {
        for (std::size_t seen = 0; !text.empty();) {
            const std::size_t whole = utf8_length(text);
            const std::size_t n = whole == 0 ? 1 : whole;
            if (seen + n > limit) return put("...");
            put_character(text.substr(0, n), whole != 0, how);
            text.remove_prefix(n);
            seen += n;
        }
        return *this;
    }
    bounded_text& put(long long number) noexcept {
        char digits[24];
        const int n = __builtin_snprintf(digits, sizeof digits, "%lld", number);
        return put(string_ref(digits, static_cast<std::size_t>(n)));
    }
    bounded_text& put(double number) noexcept {
        char digits[32];
        const int n = __builtin_snprintf(digits, sizeof digits, "%.17g", number);
        return put(string_ref(digits, static_cast<std::size_t>(n)));
    }

private:
    void append(string_ref text) noexcept {
        for (const char c : text)
            if (size_ + 1 < capacity_) buffer_[size_++] = c;
        buffer_[size_] = '\0';
    }
    void put_character(string_ref character, bool well_formed, escaping how) noexcept {
        char code[12];
        const unsigned byte = static_cast<unsigned char>(character[0]);
        const unsigned unsafe = well_formed ? unprintable(character) : byte;
        if (!well_formed || unsafe != 0x110000) {
            const int n = __builtin_snprintf(code, sizeof code, well_formed ? "\\u%04x" : "\\x%02x", unsafe);
            put(string_ref(code, static_cast<std::size_t>(n)));
        } else if (how == escaping::quoted && (byte == '"' || byte == '\\')) {
            put("\\").put(character);
        } else if (how == escaping::pointer && (byte == '~' || byte == '/')) {
            put(byte == '~' ? "~0" : "~1");
        } else {
            put(character);
        }
    }

    char* buffer_;
    std::size_t capacity_;
    std::size_t size_ = 0;
    bool cut_ = false;
};

}  // namespace llmcost::detail
