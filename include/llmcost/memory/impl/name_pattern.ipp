// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/name_pattern.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/inline.hpp>

namespace llmcost {

LLMCOST_INLINE std::optional<name_pattern> name_pattern::parse_wildcard(std::string_view text) {
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

LLMCOST_INLINE bool name_pattern::begins(std::string_view name, bool at_boundary) const {
    if (name.size() < prefix_.size()) return false;
    for (std::size_t i = 0; i < prefix_.size(); ++i)
        if (prefix_[i] != '.' && prefix_[i] != name[i]) return false;
    std::vector<bool> active(states_.size()), next_active(states_.size());
    std::vector<std::uint32_t> open;
    const auto reach = [&](std::vector<bool>& reached, std::uint32_t first, std::size_t position) {
        open.assign(1, first);
        while (!open.empty()) {
            const std::uint32_t s = open.back();
            open.pop_back();
            if (reached[s]) continue;
            reached[s] = true;
            const state& current = states_[s];
            const bool passes =
                current.kind == step::fork || (current.kind == step::begin && position == 0) ||
                (current.kind == step::end && position == name.size()) ||
                (current.kind == step::edge &&
                 is_word_character(name, position) != (position > 0 && is_word_character(name, position - 1)));
            if (passes) open.push_back(current.next);
            if (current.kind == step::fork) open.push_back(current.alternative);
        }
    };
    reach(active, first_, 0);
    for (std::size_t position = 0;; ++position) {
        const bool boundary =
            position == name.size() || name[position] == '.' || (position > 0 && name[position - 1] == '.');
        if (active[accept] && (boundary || !at_boundary)) return true;
        if (position == name.size()) return false;
        bool alive = false;
        next_active.assign(states_.size(), false);
        for (std::uint32_t s = 0; s < states_.size(); ++s)
            if (active[s] && states_[s].kind == step::letter &&
                states_[s].letters[static_cast<unsigned char>(name[position])]) {
                alive = true;
                reach(next_active, states_[s].next, position + 1);
            }
        if (!alive) return false;
        active.swap(next_active);
    }
}

LLMCOST_INLINE bool name_pattern::is_word_character(std::string_view name, std::size_t position) {
    if (position >= name.size()) return false;
    const char c = name[position];
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

LLMCOST_INLINE std::string_view name_pattern::prefix_of(std::string_view text) {
    std::size_t n = 0;
    if (text.find('|') != std::string_view::npos) return {};
    const auto plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
    };
    while (n < text.size() && plain(text[n])) ++n;
    const bool counted = n < text.size() && std::string_view("*+?{").find(text[n]) != std::string_view::npos;
    return text.substr(0, counted && n > 0 ? n - 1 : n);
}

LLMCOST_INLINE std::optional<std::uint32_t> name_pattern::builder::build() {
    const std::uint32_t root = choice(0);
    if (has_error_ || position_ != text_.size()) return {};
    const std::uint32_t first = emit(root, accept);
    return has_error_ ? std::nullopt : std::optional(first);
}

LLMCOST_INLINE std::uint32_t name_pattern::builder::add_part(part p) {
    parts_.push_back(p);
    return static_cast<std::uint32_t>(parts_.size() - 1);
}

LLMCOST_INLINE std::uint32_t name_pattern::builder::fail() {
    has_error_ = true;
    return add_part({});
}

LLMCOST_INLINE std::uint32_t name_pattern::builder::choice(int depth) {
    if (depth > deepest) return fail();
    std::uint32_t left = sequence(depth);
    while (!has_error_ && eat('|')) {
        const std::uint32_t right = sequence(depth);
        left = add_part({.kind = part_kind::alternation, .a = left, .b = right});
    }
    return left;
}

LLMCOST_INLINE std::uint32_t name_pattern::builder::sequence(int depth) {
    std::uint32_t left = add_part({});
    while (!has_error_ && has_remaining() && text_[position_] != '|' && text_[position_] != ')') {
        const std::uint32_t right = repetition(depth);
        left = add_part({.kind = part_kind::concatenation, .a = left, .b = right});
    }
    return left;
}

LLMCOST_INLINE std::uint32_t name_pattern::builder::repetition(int depth) {
    const std::uint32_t one = atom(depth);
    if (has_error_ || !has_remaining()) return one;
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
    if (has_remaining() && (text_[position_] == '*' || text_[position_] == '+' || text_[position_] == '{'))
        return fail();
    return has_error_ ? one : add_part(p);
}

LLMCOST_INLINE bool name_pattern::builder::times(part& p) {
    if (text_[position_] != '{') return false;
    const std::size_t close = text_.find('}', position_);
    if (close == std::string_view::npos) return false;
    int bound[2]{0, -1};
    int commas = 0;
    bool digits = false;
    for (std::size_t i = position_ + 1; i < close; ++i) {
        if (text_[i] == ',' && commas == 0) {
            ++commas;
            continue;
        }
        if (text_[i] < '0' || text_[i] > '9') return false;
        int& n = bound[commas];
        n = (n < 0 ? 0 : n * 10) + (text_[i] - '0');
        digits = true;
        if (n > max_times) {
            has_error_ = true;
            n = max_times;
        }
    }
    if (!digits) return false;
    position_ = close + 1;
    p.minimum = bound[0];
    p.maximum = commas == 0 ? bound[0] : bound[1];
    if (p.maximum >= 0 && p.maximum < p.minimum) has_error_ = true;
    return true;
}

LLMCOST_INLINE std::uint32_t name_pattern::builder::atom(int depth) {
    const char c = text_[position_++];
    if (c == '(') {
        if (eat('?') && !eat(':')) return fail();
        const std::uint32_t group = choice(depth + 1);
        return has_error_ || !eat(')') ? fail() : group;
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

LLMCOST_INLINE void name_pattern::builder::escaped(name_pattern::letters& letter_set) {
    if (!has_remaining()) {
        has_error_ = true;
        return;
    }
    const char c = text_[position_++];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!letter)
        letter_set.set(static_cast<unsigned char>(c));
    else if (c == 'd' || c == 'w')
        add_class(letter_set, c == 'w');
    else
        has_error_ = true;
}

LLMCOST_INLINE void name_pattern::builder::add_class(name_pattern::letters& letter_set, bool includes_word_characters) {
    for (unsigned c = '0'; c <= '9'; ++c) letter_set.set(c);
    for (unsigned c = 'a'; includes_word_characters && c <= 'z'; ++c) letter_set.set(c).set(c - 'a' + 'A');
    if (includes_word_characters) letter_set.set('_');
}

LLMCOST_INLINE void name_pattern::builder::set_of(name_pattern::letters& letter_set) {
    const bool others = eat('^');
    bool first = true;
    while (has_remaining() && (first || text_[position_] != ']')) {
        first = false;
        const auto range_begin = static_cast<unsigned char>(text_[position_++]);
        if (range_begin == '\\') {
            escaped(letter_set);
            continue;
        }
        unsigned to = range_begin;
        if (position_ + 1 < text_.size() && text_[position_] == '-' && text_[position_ + 1] != ']') {
            to = static_cast<unsigned char>(text_[position_ + 1]);
            position_ += 2;
        }
        if (to < range_begin) has_error_ = true;
        for (unsigned c = range_begin; c <= to; ++c) letter_set.set(c);
    }
    if (!eat(']')) has_error_ = true;
    if (others) letter_set.flip();
}

LLMCOST_INLINE std::uint32_t name_pattern::builder::make(state s) {
    if (states_.size() == max_states) {
        has_error_ = true;
        return accept;
    }
    states_.push_back(s);
    return static_cast<std::uint32_t>(states_.size() - 1);
}

LLMCOST_INLINE std::uint32_t name_pattern::builder::emit(std::uint32_t part_index, std::uint32_t next) {
    if (has_error_) return next;
    const part p = parts_[part_index];
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

}  // namespace llmcost
