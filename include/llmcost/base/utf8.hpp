// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <llmcost/base/string_ref.hpp>

namespace llmcost::detail {

/// Length in bytes of the well-formed UTF-8 character at the start of a text; 0 if there is none (RFC 3629).
constexpr std::size_t utf8_length(string_ref text) noexcept {
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
    const unsigned first = byte(0);
    if (text.empty()) return 0;
    if (first < 0x80) return 1;
    if (first < 0xC2 || first > 0xF4 || !continues(1)) return 0;
    if (first < 0xE0) return 2;
    // overlong forms, surrogates and code points above U+10FFFF
    if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F) || !continues(2)) return 0;
    if (first < 0xF0) return 3;
    if ((first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F) || !continues(3)) return 0;
    return 4;
}

/// Whether a code point is reserved and no character, which XML excludes in part.
constexpr bool is_noncharacter(unsigned code) noexcept {
    return (code & 0xFFFEU) == 0xFFFE || (code >= 0xFDD0 && code <= 0xFDEF);
}

/// The code point of a character that must not reach a terminal, or 0x110000 if the character is safe.
///
/// Unsafe are controls, line separators, changes of text direction and invisible characters.
constexpr unsigned unprintable(string_ref character) noexcept {
    struct range {
        unsigned first, last;
    };
    // Unicode categories Cc, Cf, Zl and Zp except visible signs, and plane 14 (tags and selectors).
    constexpr range unsafe[]{{0x00, 0x1F},     {0x7F, 0x9F},     {0xAD, 0xAD},       {0x61C, 0x61C},
                             {0x180E, 0x180E}, {0x200B, 0x200F}, {0x2028, 0x202E},   {0x2060, 0x206F},
                             {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}};
    const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(character[i])); };
    unsigned code = byte(0);
    if (character.size() == 2) code &= 0x1FU;
    if (character.size() == 3) code &= 0x0FU;
    if (character.size() == 4) code &= 0x07U;
    for (std::size_t i = 1; i < character.size(); ++i) code = (code << 6) | (byte(i) & 0x3FU);
    for (const range& r : unsafe)
        if (code >= r.first && code <= r.last) return code;
    return is_noncharacter(code) ? code : 0x110000;
}

}  // namespace llmcost::detail
