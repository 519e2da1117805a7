// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace llmcost::detail {

/// A string that was left out of a text, and its place among all strings of it, keys included.
struct string_left_out {
    std::size_t ordinal = 0;
    std::size_t begin = 0;  ///< in the complete text
    std::string_view text{};
};

/// A JSON text with `""` for each long string that needs no decoding. A reader takes 60 instructions for every
/// character of a string; corrections of calibrations are such strings.
///
/// Stores views of `text`. Invalid JSON stays invalid: only printable ASCII characters of strings are left out.
class shortened_text {
public:
    explicit shortened_text(std::string_view text);

    [[nodiscard]] std::string_view view() const noexcept { return omitted_strings_.empty() ? text_ : shortened_; }
    /// In the order of the text.
    [[nodiscard]] const std::vector<string_left_out>& left_out() const noexcept { return omitted_strings_; }
    /// The position of a byte of the view in the complete text.
    [[nodiscard]] std::size_t original_offset(std::size_t offset) const noexcept;
    [[nodiscard]] std::string_view original() const noexcept { return text_; }

private:
    static constexpr std::size_t long_enough = 64, worth_it = 4096;

    /// Of a string in printable ASCII, and itself: no quote, no escape.
    struct plain_characters {
        bool is_one[256]{};
        constexpr plain_characters() noexcept {
            for (int c = ' '; c <= '~'; ++c) is_one[c] = c != '"' && c != '\\';
        }
    };
    static bool is_plain(char c) noexcept;

    std::string_view text_;
    std::string shortened_{};
    std::vector<string_left_out> omitted_strings_{};
};

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/json/impl/strings.ipp>  // IWYU pragma: export
#endif
