// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sources.hpp"

// The language of the code and of the pages: docs/contributing.md, section "Vocabulary".
namespace {

using namespace sources;

struct located {
    std::size_t line = 0;
    std::string text{};
    bool is_called = false;  ///< of an identifier: whether `(` follows it
};

/// A source file, taken apart into the identifiers of its code and the text of its comments.
struct source_parts {
    std::vector<located> identifiers{};
    std::vector<located> comments{};  ///< consecutive comment lines are one entry
};

source_parts parts_of(const std::string& code) {
    source_parts parts;
    std::size_t line = 1, last_comment_line = 0;
    const auto add_comment = [&](const std::string& text, bool continues) {
        if (continues && !parts.comments.empty() && line == last_comment_line + 1)
            parts.comments.back().text += ' ' + text;
        else
            parts.comments.push_back({.line = line, .text = text});
        last_comment_line = line;
    };
    bool is_line_start = true;
    for (std::size_t i = 0; i < code.size();) {
        const char c = code[i];
        if (c == '\n') {
            ++line, ++i;
            is_line_start = true;
        } else if (code.compare(i, 2, "//") == 0) {
            const std::size_t end = std::min(code.find('\n', i), code.size());
            std::size_t begin = i + 2;
            while (begin < end && (code[begin] == '/' || code[begin] == '<')) ++begin;
            const bool is_formula = code.compare(begin, 4, "    ") == 0;  // an indented block is no sentence
            while (begin < end && code[begin] == ' ') ++begin;
            std::string text = is_formula ? ". X." : code.substr(begin, end - begin);
            if (text.starts_with("- ")) text = ". X: " + text.substr(2);  // an item of a list
            add_comment(text, is_line_start);
            i = end;
        } else if (c == '#' && is_line_start) {
            i = std::min(code.find('\n', i), code.size());
        } else if (c == '"' || (c == '\'' && (i == 0 || !is_word(code[i - 1])))) {
            const std::size_t end = after_literal(code, i);
            line += static_cast<std::size_t>(std::count(code.begin() + static_cast<std::ptrdiff_t>(i),
                                                        code.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
            i = end;
            is_line_start = false;
        } else if (is_word(c)) {
            std::size_t end = i;
            while (end < code.size() && is_word(code[end])) ++end;
            if (std::isdigit(static_cast<unsigned char>(c)) == 0)
                parts.identifiers.push_back({line, code.substr(i, end - i), code[end] == '('});
            i = end;
            is_line_start = false;
        } else {
            is_line_start = is_line_start && c == ' ';
            ++i;
        }
    }
    return parts;
}

/// Text without `code`, link targets and formulas.
std::string prose_of(std::string text) {
    text = std::regex_replace(text, std::regex("`[^`]*`"), "X");
    text = std::regex_replace(text, std::regex("\\[([^\\]]*)\\]\\([^)]*\\)"), "$1");
    text = std::regex_replace(text, std::regex("\\$[^$]*\\$"), "X");
    return std::regex_replace(text, std::regex("X( X)+"), "X");  // a list of names
}

std::vector<std::string> sentences_of(const std::string& prose) {
    std::vector<std::string> sentences(1);
    for (std::size_t i = 0; i < prose.size(); ++i) {
        sentences.back() += prose[i];
        const bool ends = prose[i] == '.' || prose[i] == '!' || prose[i] == '?' || prose[i] == ':' || prose[i] == ';';
        if (!ends || i + 2 >= prose.size() || prose[i + 1] != ' ') continue;
        const std::size_t next = prose.find_first_not_of(' ', i + 1);
        if (next == std::string::npos) break;
        const char c = prose[next];
        if (std::isupper(static_cast<unsigned char>(c)) != 0 || c == '(' || c == '"') sentences.emplace_back();
    }
    return sentences;
}

std::size_t words_of(const std::string& sentence) {
    std::size_t num_words = 0;
    bool inside = false;
    for (const char c : sentence) {
        const bool is_part = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                             (inside && std::string_view("'.,%-_").find(c) != std::string_view::npos);
        num_words += is_part && !inside;
        inside = is_part;
    }
    return num_words;
}

/// The paragraphs, list items and table cells of a page, without code blocks and comments.
std::vector<std::string> paragraphs_of(const std::string& page) {
    std::vector<std::string> paragraphs(1);
    bool is_code_block = false;
    std::size_t begin = 0;
    while (begin < page.size()) {
        const std::size_t end = std::min(page.find('\n', begin), page.size());
        std::string line = page.substr(begin, end - begin);
        begin = end + 1;
        const std::size_t first = line.find_first_not_of(' ');
        if (first != std::string::npos && line.compare(first, 3, "```") == 0) {
            is_code_block = !is_code_block;
            paragraphs.emplace_back();
            continue;
        }
        if (is_code_block || line.starts_with("<!--")) continue;
        if (first == std::string::npos) {
            paragraphs.emplace_back();
            continue;
        }
        line = line.substr(first);
        if (line[0] == '|') {
            for (std::size_t cell = 1, close = 0; (close = line.find('|', cell)) != std::string::npos; cell = close + 1)
                paragraphs.push_back(line.substr(cell, close - cell));
            paragraphs.emplace_back();
            continue;
        }
        const bool is_item = line[0] == '#' ||
                             ((line[0] == '-' || line[0] == '*') && line.size() > 1 && line[1] == ' ') ||
                             std::regex_search(line, std::regex("^[0-9]+\\. "));
        if (is_item) paragraphs.emplace_back();
        paragraphs.back() += ' ' + line;
        if (line[0] == '#') paragraphs.emplace_back();
    }
    return paragraphs;
}

std::vector<std::filesystem::path> pages() {
    std::vector<std::filesystem::path> found{top / "README.md", top / "CHANGELOG.md"};
    for (const auto& entry : std::filesystem::directory_iterator(top / "docs"))
        if (entry.path().extension() == ".md") found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    return found;
}

// prepositions, pronouns and the private words of earlier versions
constexpr std::array banned_identifiers{"at",    "otherwise", "by",       "how",       "of",         "who",    "whom",
                                        "whose", "whole",     "here",     "there",     "beside",     "behind", "most",
                                        "least", "told",      "shown",    "kept",      "held",       "heard",  "hear",
                                        "ear",   "tell",      "asked",    "ask",       "each",       "both",   "either",
                                        "these", "those",     "them",     "they",      "remembered", "words",  "rooms",
                                        "walk",  "walked",    "describe", "described", "remember",   "turned"};

constexpr std::string_view banned_words =
    "\\b(told|heard|beside|whoever|whom|nobody|somebody|but for|held against|shelf|sentences|rooms)\\b|"
    "\\b(is|are|images|videos) shown\\b|\\bkept for backward\\b";

// folders whose comments follow the rules for vocabulary and length
const std::vector<std::string> verified_folders{"include", "bench", "examples", "tests"};

}  // namespace

TEST_CASE("identifiers are nouns, verbs and adjectives") {
    const std::set<std::string, std::less<>> banned(banned_identifiers.begin(), banned_identifiers.end());
    std::size_t identifiers = 0;
    for (const std::filesystem::path& path : code_files({"include", "examples", "bench", "tests"}))
        for (const located& identifier : parts_of(text_of(path)).identifiers) {
            ++identifiers;
            std::string_view name = identifier.text;
            if (name.ends_with('_')) name.remove_suffix(1);
            const bool is_element_access = name == "at" && identifier.is_called;  // as of std::vector
            const std::string location =
                std::filesystem::relative(path, top).string() + ':' + std::to_string(identifier.line) + ": ";
            CHECK_MESSAGE((is_element_access || !banned.contains(name)), location << name);
        }
    CHECK(identifiers > 100000);
}

TEST_CASE("docstrings stand alone, comments use the field's terms in short sentences") {
    const std::regex banned{std::string(banned_words)};
    std::size_t comments = 0;
    for (const std::filesystem::path& path : code_files(verified_folders))
        for (const located& comment : parts_of(text_of(path)).comments) {
            if (comment.text.find("SPDX") != std::string::npos) continue;
            ++comments;
            const std::string location =
                std::filesystem::relative(path, top).string() + ':' + std::to_string(comment.line) + ": ";
            const std::string prose = prose_of(comment.text);
            CHECK_MESSAGE(!prose.starts_with("The same"), location << prose);
            std::smatch found;
            const bool is_banned = std::regex_search(prose, found, banned);
            CHECK_MESSAGE(!is_banned, location << found.str());
            for (const std::string& sentence : sentences_of(prose))
                CHECK_MESSAGE(words_of(sentence) <= 34, location << words_of(sentence) << " words: " << sentence);
        }
    CHECK(comments > 1000);
}

TEST_CASE("pages use the field's terms in short sentences") {
    const std::regex banned{std::string(banned_words)};
    for (const std::filesystem::path& path : pages()) {
        const std::string name = path.filename().string();
        std::size_t sentences = 0, long_sentences = 0;
        for (const std::string& paragraph : paragraphs_of(text_of(path))) {
            const std::string prose = prose_of(paragraph);
            std::smatch found;
            const bool is_banned = std::regex_search(prose, found, banned);
            CHECK_MESSAGE(!is_banned, name << ": " << found.str() << " in: " << prose);
            for (const std::string& sentence : sentences_of(prose)) {
                const std::size_t num_words = words_of(sentence);
                sentences += num_words > 0;
                long_sentences += num_words > 25;
                CHECK_MESSAGE(num_words <= 32, name << ": " << num_words << " words: " << sentence);
            }
        }
        CHECK_MESSAGE(long_sentences * 10 <= sentences,
                      name << ": " << long_sentences << " of " << sentences << " sentences have more than 25 words");
    }
}

TEST_CASE("pages can be found by the terms that an engineer searches for") {
    const std::pair<const char*, std::vector<std::string>> required[]{
        {"docs/latency.md",
         {"tensor parallelism", "expert parallelism", "pipeline parallelism", "all-reduce", "roofline",
          "arithmetic intensity"}},
        {"docs/serving.md",
         {"continuous batching", "chunked prefill", "speculative decoding", "disaggregated", "preempt",
          "pipeline parallelism"}},
        {"docs/memory.md", {"KV cache", "activation checkpointing", "recompute", "saved for backward", "ZeRO", "FSDP"}},
        {"docs/cli.md", {"tensor", "KV cache", "TTFT"}},
        {"docs/glossary.md", {"KV cache", "tensor parallelism", "activation checkpointing", "draft token", "preempt"}},
        {"include/llmcost/forward/attention.hpp", {"update_kv_cache", "apply_rotary", "output_projection"}},
    };
    for (const auto& row : required) {
        const char* const page = row.first;  // clang 14: a lambda captures no structured binding
        std::string text = text_of(top / page);
        for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        for (std::string term : row.second) {
            for (char& c : term) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
            CHECK_MESSAGE(text.find(term) != std::string::npos, page << " does not mention " << term);
        }
    }
}
