// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/text/error.hpp>

#include <charconv>
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

inline std::string lower_case(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return out;
}

/// A number of decimal digits alone; nothing on a sign, a blank or an overflow.
inline std::optional<std::uint64_t> parse_number(std::string_view text) noexcept {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data(), end, value);
    if (text.empty() || failure != std::errc() || stop != end) return std::nullopt;
    return value;
}

/// `text` with every byte outside printable ASCII as `?`, cut after `maximum` bytes, so that it cannot steer a
/// terminal.
inline std::string printable(std::string_view text, std::size_t maximum = 300) {
    std::string out(text.substr(0, maximum));
    for (char& c : out) {
        if (c < 0x20 || c > 0x7e) c = '?';
    }
    return text.size() > maximum ? out + "..." : out;
}

/// `text` as one part of a URL's path: all but RFC 3986's unreserved characters and those of `keep` as `%XX`.
inline std::string percent_encode(std::string_view text, std::string_view keep = {}) {
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

[[noreturn]] inline void refuse_name(std::string_view name, std::string_view expected) {
    throw error(errc::bad_value, name.empty() ? "\"\"" : printable(name), "expected " + std::string(expected));
}

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
inline void check_repo_name(std::string_view name) {
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
inline void check_revision(std::string_view revision) {
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

/// Throws `bad_value` unless `filename` stays below the folder it is joined to, on POSIX and on Windows.
inline void check_filename(std::string_view filename) {
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
