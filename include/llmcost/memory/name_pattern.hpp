// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmcost {

/// A regular expression of Python's `re` with the features used in lists of module names, matched at the start of a
/// name.
///
/// Matching takes time proportional to the length of the name times the length of the expression.
class name_pattern {
public:
    /// Parses an expression.
    ///
    /// Returns nothing if it is invalid, longer than `longest`, or uses lookaround, references or flags.
    [[nodiscard]] static std::optional<name_pattern> parse(std::string_view text);
    /// Parses an `fnmatch` pattern for the complete name: `*`, `?` and `[...]`.
    [[nodiscard]] static std::optional<name_pattern> parse_wildcard(std::string_view text);

    /// Whether the expression matches a prefix of the name.
    ///
    /// `at_boundary`: the prefix must end at a segment boundary: after a dot, before a dot, or at the end of the name.
    [[nodiscard]] bool begins(std::string_view name, bool at_boundary) const;

    static constexpr std::size_t longest = 512;

private:
    using letters = std::bitset<256>;
    enum class step : std::uint8_t { accept, letter, fork, begin, end, edge };
    struct state {
        step kind = step::accept;
        std::uint32_t next = 0;
        std::uint32_t alternative = 0;
        name_pattern::letters letters{};
    };
    static constexpr std::uint32_t accept = 0;
    static constexpr std::size_t max_states = 4096;

    class builder;

    /// Whether the character at a position is a word character.
    [[nodiscard]] static bool is_word_character(std::string_view name, std::size_t position);
    /// A prefix of all names that match; a dot in it matches any character.
    [[nodiscard]] static std::string_view prefix_of(std::string_view text);

    std::vector<state> states_{state{}};
    std::uint32_t first_ = accept;
    std::string prefix_;
};

/// Parses an expression and creates its states from the end to the start.
class name_pattern::builder {
public:
    builder(std::string_view text, std::vector<state>& states) : text_(text), states_(states) {}

    /// The first state. Returns nothing for an invalid expression.
    [[nodiscard]] std::optional<std::uint32_t> build();

private:
    enum class part_kind : std::uint8_t { empty, letter, begin, end, edge, concatenation, alternation, repeated };
    struct part {
        part_kind kind = part_kind::empty;
        std::uint32_t a = 0, b = 0;
        int minimum = 0, maximum = 0;  ///< bounds of a repetition; maximum below 0: unbounded
        name_pattern::letters letters{};
    };
    static constexpr int deepest = 32, max_times = 64;

    [[nodiscard]] bool has_remaining() const { return position_ < text_.size(); }
    [[nodiscard]] bool eat(char c) { return has_remaining() && text_[position_] == c && ++position_ > 0; }
    std::uint32_t add_part(part p);
    std::uint32_t fail();
    std::uint32_t choice(int depth);
    std::uint32_t sequence(int depth);
    std::uint32_t repetition(int depth);
    /// Parses `{2}`, `{2,}`, `{,3}` or `{2,3}`. Any other brace is a literal character.
    bool times(part& p);
    std::uint32_t atom(int depth);
    void escaped(name_pattern::letters& letter_set);
    static void add_class(name_pattern::letters& letter_set, bool includes_word_characters);
    void set_of(name_pattern::letters& letter_set);

    std::uint32_t make(state s);
    std::uint32_t emit(std::uint32_t part_index, std::uint32_t next);

    std::string_view text_;
    std::vector<state>& states_;
    std::vector<part> parts_;
    std::size_t position_ = 0;
    bool has_error_ = false;
};

inline std::optional<name_pattern> name_pattern::parse(std::string_view text) {
    if (text.size() > longest) return {};
    name_pattern out;
    const auto first = builder{text, out.states_}.build();
    if (!first) return {};
    out.first_ = *first;
    out.prefix_ = prefix_of(text);
    return out;
}

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/name_pattern.ipp>  // IWYU pragma: export
#endif
