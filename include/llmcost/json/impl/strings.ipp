// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/json/strings.hpp>

#include <cstddef>
#include <string_view>

#include <llmcost/base/inline.hpp>

namespace llmcost::detail {

LLMCOST_INLINE shortened_text::shortened_text(std::string_view text) : text_(text) {
    if (text.size() < worth_it) return;
    std::size_t copied = 0, ordinal = 0;
    for (std::size_t open = text.find('"'); open != std::string_view::npos; ++ordinal) {
        const std::size_t begin = open + 1;
        std::size_t end = begin;
        while (end < text.size() && is_plain(text[end])) ++end;
        if (end < text.size() && text[end] == '"') {
            if (end - begin >= long_enough) {
                omitted_strings_.push_back({ordinal, begin, text.substr(begin, end - begin)});
                shortened_.append(text, copied, begin - copied);
                copied = end;
            }
        } else {
            for (; end < text.size() && text[end] != '"'; ++end)
                if (text[end] == '\\') ++end;
        }
        open = end < text.size() ? text.find('"', end + 1) : std::string_view::npos;
    }
    if (!omitted_strings_.empty()) shortened_.append(text, copied);
}

LLMCOST_INLINE std::size_t shortened_text::original_offset(std::size_t offset) const noexcept {
    for (const string_left_out& s : omitted_strings_)
        if (s.begin <= offset) offset += s.text.size();
    return offset;
}

LLMCOST_INLINE bool shortened_text::is_plain(char c) noexcept {
    static constexpr plain_characters plain;
    return plain.is_one[static_cast<unsigned char>(c)];
}

}  // namespace llmcost::detail
