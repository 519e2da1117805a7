// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/base/utf8.hpp>

namespace llmcost::detail {

/// Which characters of a text are escaped in a message.
enum class escaping : unsigned char {
    plain,    ///< only control characters
    quoted,   ///< control characters, `"` and `\`
    pointer,  ///< control characters, and `~` and `/` as in RFC 6901
};

/// A text of bounded length in a buffer that the caller owns.
///
/// The text always ends with NUL. A text that does not fit is truncated and ends with `...`.
class bounded_text {
public:
    bounded_text(char* buffer, std::size_t size) noexcept : buffer_(buffer), capacity_(size) { buffer_[0] = '\0'; }
    template <std::size_t N>
    explicit bounded_text(char (&buffer)[N]) noexcept : bounded_text(buffer, N) {}

    [[nodiscard]] string_ref view() const noexcept { return {buffer_, size_}; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// Appends a text unchanged. Never splits a UTF-8 character.
    bounded_text& write(string_ref text) noexcept {
        constexpr string_ref mark = "...";
        while (!is_truncated_ && !text.empty()) {
            const std::size_t length = utf8_length(text);
            const std::size_t n = length == 0 ? 1 : length;
            is_truncated_ = size_ + n + mark.size() >= capacity_;
            append(is_truncated_ ? mark : text.substr(0, n));
            text.remove_prefix(n);
        }
        return *this;
    }
    /// Appends at most `limit` bytes of an arbitrary text, with escapes.
    bounded_text& write(string_ref text, escaping escape_mode, std::size_t limit) noexcept {
        for (std::size_t written = 0; !text.empty();) {
            const std::size_t length = utf8_length(text);
            const std::size_t n = length == 0 ? 1 : length;
            if (written + n > limit) return write("...");
            write_character(text.substr(0, n), length != 0, escape_mode);
            text.remove_prefix(n);
            written += n;
        }
        return *this;
    }
    bounded_text& write(long long number) noexcept {
        char digits[24];
        const int n = __builtin_snprintf(digits, sizeof digits, "%lld", number);
        return write(string_ref(digits, static_cast<std::size_t>(n)));
    }
    bounded_text& write(double number) noexcept {
        char digits[32];
        const int n = __builtin_snprintf(digits, sizeof digits, "%.17g", number);
        return write(string_ref(digits, static_cast<std::size_t>(n)));
    }

private:
    void append(string_ref text) noexcept {
        for (const char c : text)
            if (size_ + 1 < capacity_) buffer_[size_++] = c;
        buffer_[size_] = '\0';
    }
    void write_character(string_ref character, bool well_formed, escaping escape_mode) noexcept {
        char code[12];
        const unsigned byte = static_cast<unsigned char>(character[0]);
        const unsigned unsafe = well_formed ? unprintable(character) : byte;
        if (!well_formed || unsafe != 0x110000) {
            const char* const form = !well_formed ? "\\x%02x" : unsafe > 0xFFFF ? "\\U%08x" : "\\u%04x";
            const int n = __builtin_snprintf(code, sizeof code, form, unsafe);
            write(string_ref(code, static_cast<std::size_t>(n)));
        } else if (escape_mode == escaping::quoted && (byte == '"' || byte == '\\')) {
            write("\\").write(character);
        } else if (escape_mode == escaping::pointer && (byte == '~' || byte == '/')) {
            write(byte == '~' ? "~0" : "~1");
        } else {
            write(character);
        }
    }

    char* buffer_;
    std::size_t capacity_;
    std::size_t size_ = 0;
    bool is_truncated_ = false;
};

}  // namespace llmcost::detail
