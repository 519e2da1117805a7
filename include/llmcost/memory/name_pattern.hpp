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
    [[nodiscard]] static std::optional<name_pattern> parse_wildcard(std::string_view text) {
        std::string expression;
        for (const char c : text) {
            if (c == '*')
                expression += ".*";
            else if (c == '?')
                expression += '.';
            else if (std::string_view("\\.+^$(){}|").find(c) != std::string_view::npos) {
                expression += '\\';
                expression += c;
            } else
                expression += c;
        }
        return parse(expression + '$');
    }

    /// Whether the expression matches a prefix of the name.
    ///
    /// `at_boundary`: the prefix must end at a segment boundary: after a dot, before a dot, or at the end of the name.
    [[nodiscard]] bool begins(std::string_view name, bool at_boundary) const {
        if (name.size() < prefix_.size()) return false;
        for (std::size_t i = 0; i < prefix_.size(); ++i)
            if (prefix_[i] != '.' && prefix_[i] != name[i]) return false;
        std::vector<bool> active(states_.size()), next_active(states_.size());
        std::vector<std::uint32_t> open;
        const auto reach = [&](std::vector<bool>& reached, std::uint32_t first, std::size_t at) {
            open.assign(1, first);
            while (!open.empty()) {
                const std::uint32_t s = open.back();
                open.pop_back();
                if (reached[s]) continue;
                reached[s] = true;
                const state& current = states_[s];
                const bool passes = current.kind == step::fork || (current.kind == step::begin && at == 0) ||
                                    (current.kind == step::end && at == name.size()) ||
                                    (current.kind == step::edge &&
                                     is_word_character(name, at) != (at > 0 && is_word_character(name, at - 1)));
                if (passes) open.push_back(current.next);
                if (current.kind == step::fork) open.push_back(current.alternative);
            }
        };
        reach(active, first_, 0);
        for (std::size_t at = 0;; ++at) {
            const bool boundary = at == name.size() || name[at] == '.' || (at > 0 && name[at - 1] == '.');
            if (active[accept] && (boundary || !at_boundary)) return true;
            if (at == name.size()) return false;
            bool alive = false;
            next_active.assign(states_.size(), false);
            for (std::uint32_t s = 0; s < states_.size(); ++s)
                if (active[s] && states_[s].kind == step::letter &&
                    states_[s].letters[static_cast<unsigned char>(name[at])]) {
                    alive = true;
                    reach(next_active, states_[s].next, at + 1);
                }
            if (!alive) return false;
            active.swap(next_active);
        }
    }

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
    [[nodiscard]] static bool is_word_character(std::string_view name, std::size_t at) {
        if (at >= name.size()) return false;
        const char c = name[at];
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    }
    /// A prefix of all names that match; a dot in it matches any character.
    [[nodiscard]] static std::string_view prefix_of(std::string_view text) {
        std::size_t n = 0;
        if (text.find('|') != std::string_view::npos) return {};
        const auto plain = [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
        };
        while (n < text.size() && plain(text[n])) ++n;
        const bool counted = n < text.size() && std::string_view("*+?{").find(text[n]) != std::string_view::npos;
        return text.substr(0, counted && n > 0 ? n - 1 : n);
    }

    std::vector<state> states_{state{}};
    std::uint32_t first_ = accept;
    std::string prefix_;
};

/// Parses an expression and creates its states from the end to the start.
class name_pattern::builder {
public:
    builder(std::string_view text, std::vector<state>& states) : text_(text), states_(states) {}

    /// The first state. Returns nothing for an invalid expression.
    [[nodiscard]] std::optional<std::uint32_t> build() {
        const std::uint32_t root = choice(0);
        if (bad_ || at_ != text_.size()) return {};
        const std::uint32_t first = emit(root, accept);
        return bad_ ? std::nullopt : std::optional(first);
    }

private:
    enum class part_kind : std::uint8_t { empty, letter, begin, end, edge, concatenation, alternation, repeated };
    struct part {
        part_kind kind = part_kind::empty;
        std::uint32_t a = 0, b = 0;
        int minimum = 0, maximum = 0;  ///< bounds of a repetition; maximum below 0: unbounded
        name_pattern::letters letters{};
    };
    static constexpr int deepest = 32, max_times = 64;

    [[nodiscard]] bool has_remaining() const { return at_ < text_.size(); }
    [[nodiscard]] bool eat(char c) { return has_remaining() && text_[at_] == c && ++at_ > 0; }
    std::uint32_t add_part(part p) {
        parts_.push_back(p);
        return static_cast<std::uint32_t>(parts_.size() - 1);
    }
    std::uint32_t fail() {
        bad_ = true;
        return add_part({});
    }
    std::uint32_t choice(int depth) {
        if (depth > deepest) return fail();
        std::uint32_t left = sequence(depth);
        while (!bad_ && eat('|')) {
            const std::uint32_t right = sequence(depth);
            left = add_part({.kind = part_kind::alternation, .a = left, .b = right});
        }
        return left;
    }
    std::uint32_t sequence(int depth) {
        std::uint32_t left = add_part({});
        while (!bad_ && has_remaining() && text_[at_] != '|' && text_[at_] != ')') {
            const std::uint32_t right = repetition(depth);
            left = add_part({.kind = part_kind::concatenation, .a = left, .b = right});
        }
        return left;
    }
    std::uint32_t repetition(int depth) {
        const std::uint32_t one = atom(depth);
        if (bad_ || !has_remaining()) return one;
        part p{.kind = part_kind::repeated, .a = one};
        if (eat('*')) {
            p.minimum = 0;
            p.maximum = -1;
        } else if (eat('+')) {
            p.minimum = 1;
            p.maximum = -1;
        } else if (eat('?')) {
            p.minimum = 0;
            p.maximum = 1;
        } else if (!times(p))
            return one;
        (void)eat('?');  // a lazy quantifier does not change what matches
        if (has_remaining() && (text_[at_] == '*' || text_[at_] == '+' || text_[at_] == '{')) return fail();
        return bad_ ? one : add_part(p);
    }
    /// Parses `{2}`, `{2,}`, `{,3}` or `{2,3}`. Any other brace is a literal character.
    bool times(part& p) {
        if (text_[at_] != '{') return false;
        const std::size_t close = text_.find('}', at_);
        if (close == std::string_view::npos) return false;
        int bound[2]{0, -1};
        int commas = 0;
        bool digits = false;
        for (std::size_t i = at_ + 1; i < close; ++i) {
            if (text_[i] == ',' && commas == 0) {
                ++commas;
                continue;
            }
            if (text_[i] < '0' || text_[i] > '9') return false;
            int& n = bound[commas];
            n = (n < 0 ? 0 : n * 10) + (text_[i] - '0');
            digits = true;
            if (n > max_times) {
                bad_ = true;
                n = max_times;
            }
        }
        if (!digits) return false;
        at_ = close + 1;
        p.minimum = bound[0];
        p.maximum = commas == 0 ? bound[0] : bound[1];
        if (p.maximum >= 0 && p.maximum < p.minimum) bad_ = true;
        return true;
    }
    std::uint32_t atom(int depth) {
        const char c = text_[at_++];
        if (c == '(') {
            if (eat('?') && !eat(':')) return fail();
            const std::uint32_t group = choice(depth + 1);
            return bad_ || !eat(')') ? fail() : group;
        }
        if (c == '*' || c == '+' || c == '?') return fail();
        if (c == '^') return add_part({.kind = part_kind::begin});
        if (c == '$') return add_part({.kind = part_kind::end});
        if (c == '\\' && eat('b')) return add_part({.kind = part_kind::edge});
        part p{.kind = part_kind::letter};
        if (c == '.')
            p.letters.set().reset('\n');
        else if (c == '[')
            set_of(p.letters);
        else if (c == '\\')
            escaped(p.letters);
        else
            p.letters.set(static_cast<unsigned char>(c));
        return add_part(p);
    }
    void escaped(name_pattern::letters& letter_set) {
        if (!has_remaining()) {
            bad_ = true;
            return;
        }
        const char c = text_[at_++];
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter)
            letter_set.set(static_cast<unsigned char>(c));
        else if (c == 'd' || c == 'w')
            add_class(letter_set, c == 'w');
        else
            bad_ = true;
    }
    static void add_class(name_pattern::letters& letter_set, bool includes_word_characters) {
        for (unsigned c = '0'; c <= '9'; ++c) letter_set.set(c);
        for (unsigned c = 'a'; includes_word_characters && c <= 'z'; ++c) letter_set.set(c).set(c - 'a' + 'A');
        if (includes_word_characters) letter_set.set('_');
    }
    void set_of(name_pattern::letters& letter_set) {
        const bool others = eat('^');
        bool first = true;
        while (has_remaining() && (first || text_[at_] != ']')) {
            first = false;
            const auto range_begin = static_cast<unsigned char>(text_[at_++]);
            if (range_begin == '\\') {
                escaped(letter_set);
                continue;
            }
            unsigned to = range_begin;
            if (at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']') {
                to = static_cast<unsigned char>(text_[at_ + 1]);
                at_ += 2;
            }
            if (to < range_begin) bad_ = true;
            for (unsigned c = range_begin; c <= to; ++c) letter_set.set(c);
        }
        if (!eat(']')) bad_ = true;
        if (others) letter_set.flip();
    }

    std::uint32_t make(state s) {
        if (states_.size() == max_states) {
            bad_ = true;
            return accept;
        }
        states_.push_back(s);
        return static_cast<std::uint32_t>(states_.size() - 1);
    }
    std::uint32_t emit(std::uint32_t at, std::uint32_t next) {
        if (bad_) return next;
        const part p = parts_[at];
        switch (p.kind) {
            case part_kind::empty: return next;
            case part_kind::letter: return make({step::letter, next, 0, p.letters});
            case part_kind::begin: return make({step::begin, next, 0, {}});
            case part_kind::end: return make({step::end, next, 0, {}});
            case part_kind::edge: return make({step::edge, next, 0, {}});
            case part_kind::concatenation: return emit(p.a, emit(p.b, next));
            case part_kind::alternation: {
                const std::uint32_t left = emit(p.a, next), right = emit(p.b, next);
                return make({step::fork, left, right, {}});
            }
            case part_kind::repeated: break;
        }
        std::uint32_t first = next;
        if (p.maximum < 0) {
            first = make({step::fork, next, next, {}});
            const std::uint32_t body = emit(p.a, first);
            states_[first].next = body;
        }
        for (int i = p.minimum; i < p.maximum; ++i) {
            const std::uint32_t body = emit(p.a, first);
            first = make({step::fork, body, next, {}});
        }
        for (int i = 0; i < p.minimum; ++i) first = emit(p.a, first);
        return first;
    }

    std::string_view text_;
    std::vector<state>& states_;
    std::vector<part> parts_;
    std::size_t at_ = 0;
    bool bad_ = false;
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
