// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/detail/utf8.hpp>

namespace llmcost::detail {

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
            const char* const form = !well_formed ? "\\x%02x" : unsafe > 0xFFFF ? "\\U%08x" : "\\u%04x";
            const int n = __builtin_snprintf(code, sizeof code, form, unsafe);
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
