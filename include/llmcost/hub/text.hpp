// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/text/error.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Rules for the hub's names, and how a foreign text is made safe to print or send.
namespace llmcost::detail::hub {

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_control(char c) noexcept { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

/// Exactly `digits` hexadecimal digits in lower case, as git writes its object names.
constexpr bool is_hex(std::string_view text, std::size_t digits) noexcept {
    if (text.size() != digits) return false;
    for (const char c : text) {
        if (!is_digit(c) && !(c >= 'a' && c <= 'f')) return false;
    }
    return true;
}

/// A full git commit name; anything else is a branch, a tag or a pull request.
constexpr bool is_commit(std::string_view text) noexcept { return is_hex(text, 40); }

/// A name of a cached blob: git's SHA-1 or, for a large file, the content's SHA-256.
constexpr bool is_blob(std::string_view text) noexcept { return is_hex(text, 40) || is_hex(text, 64); }

constexpr std::string_view trim(std::string_view text) noexcept {
    constexpr std::string_view blanks = " \t\r\n";
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string lower_case(std::string_view text);

/// A number of decimal digits alone; nothing on a sign, a blank or an overflow.
std::optional<std::uint64_t> parse_number(std::string_view text) noexcept;

/// `text` with every byte outside printable ASCII as `?`, cut after `maximum` bytes, so that it cannot steer a
/// terminal.
std::string printable(std::string_view text, std::size_t maximum = 300);

/// `text` as one part of a URL's path: all but RFC 3986's unreserved characters and those of `keep` as `%XX`.
std::string percent_encode(std::string_view text, std::string_view keep = {});

/// One side of `org/name`; huggingface_hub utils/_validators.py, REPO_ID_REGEX.
constexpr bool is_repo_part(std::string_view part) noexcept {
    if (part.empty() || part.size() > 96) return false;
    for (const char c : part) {
        if (!is_letter(c) && !is_digit(c) && c != '.' && c != '_' && c != '-') return false;
    }
    const auto edge = [](char c) { return c == '-' || c == '.'; };
    return !edge(part.front()) && !edge(part.back());
}

/// Throws `bad_value` unless `name` is `name` or `org/name` in the hub's spelling.
void check_repo_name(std::string_view name);

/// Calls `check` with each part of `path` between slashes; false as soon as one call is.
template <class Check>
constexpr bool every_part(std::string_view path, const Check& check) {
    for (;;) {
        const std::size_t slash = path.find('/');
        if (!check(path.substr(0, slash))) return false;
        if (slash == std::string_view::npos) return true;
        path.remove_prefix(slash + 1);
    }
}

/// Throws `bad_value` unless git could name a branch, a tag or a commit so (git check-ref-format).
void check_revision(std::string_view revision);

/// Throws `bad_value` unless `filename` stays below the folder it is joined to, on POSIX and on Windows.
void check_filename(std::string_view filename);

}  // namespace llmcost::detail::hub

#ifndef LLMCOST_COMPILED
#include <llmcost/hub/impl/text.ipp>  // IWYU pragma: export
#endif
