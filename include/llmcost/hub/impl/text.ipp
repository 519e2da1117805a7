// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/hub/text.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <llmcost/base/inline.hpp>
#include <llmcost/text/error.hpp>

namespace llmcost::detail::hub {

LLMCOST_INLINE std::string lower_case(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return out;
}

LLMCOST_INLINE std::optional<std::uint64_t> parse_number(std::string_view text) noexcept {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data(), end, value);
    if (text.empty() || failure != std::errc() || stop != end) return std::nullopt;
    return value;
}

LLMCOST_INLINE std::string printable(std::string_view text, std::size_t maximum) {
    std::string out(text.substr(0, maximum));
    for (char& c : out) {
        if (c < 0x20 || c > 0x7e) c = '?';
    }
    return text.size() > maximum ? out + "..." : out;
}

LLMCOST_INLINE std::string percent_encode(std::string_view text, std::string_view keep) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string out;
    for (const char c : text) {
        if (is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.' || c == '~' ||
            keep.find(c) != std::string_view::npos) {
            out += c;
        } else {
            const auto byte = static_cast<unsigned char>(c);
            out += '%';
            out += digits[byte >> 4U];
            out += digits[byte & 0xfU];
        }
    }
    return out;
}

[[noreturn]] LLMCOST_INLINE void refuse_name(std::string_view name, std::string_view expected) {
    throw error(errc::bad_value, name.empty() ? "\"\"" : printable(name), "expected " + std::string(expected));
}

LLMCOST_INLINE void check_repo_name(std::string_view name) {
    constexpr std::string_view rules =
        "a repository id \"name\" or \"org/name\" of letters, digits, '.', '_' and '-', at most 96 in a part, "
        "not beginning or ending with '.' or '-', without \"..\" and \"--\" and not ending with \".git\"";
    const std::size_t slash = name.find('/');
    const bool parts = slash == std::string_view::npos
                           ? is_repo_part(name)
                           : is_repo_part(name.substr(0, slash)) && is_repo_part(name.substr(slash + 1));
    const auto has = [&](std::string_view substring) { return name.find(substring) != std::string_view::npos; };
    if (!parts || has("..") || has("--") || name.ends_with(".git")) refuse_name(name, rules);
}

LLMCOST_INLINE void check_revision(std::string_view revision) {
    const bool characters = revision.find_first_of("\\~^:?*[ ") == std::string_view::npos;
    const bool parts = every_part(revision, [](std::string_view part) {
        for (const char c : part) {
            if (is_control(c)) return false;
        }
        return !part.empty() && part.front() != '.' && part.back() != '.' && !part.ends_with(".lock") &&
               part.find("..") == std::string_view::npos && part.find("@{") == std::string_view::npos;
    });
    if (!characters || !parts || revision.size() > 255 || revision == "@") {
        refuse_name(revision, "a revision: a branch, a tag, \"refs/pr/N\" or a commit of 40 hexadecimal digits");
    }
}

LLMCOST_INLINE void check_filename(std::string_view filename) {
    const bool parts = every_part(filename, [](std::string_view part) {
        for (const char c : part) {
            if (is_control(c) || c == '\\' || c == ':') return false;
        }
        return !part.empty() && part.size() <= 255 && part != "." && part != "..";
    });
    if (!parts || filename.size() > 1024) {
        refuse_name(filename, "a file's path inside a repository, relative, without \"..\", '\\' and ':'");
    }
}

}  // namespace llmcost::detail::hub
