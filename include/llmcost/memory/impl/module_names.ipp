// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/module_names.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <llmcost/base/inline.hpp>
#include <llmcost/memory/name_pattern.hpp>

namespace llmcost {

LLMCOST_INLINE std::optional<path_expression> path_expression::parse(std::string_view text) {
    path_expression out;
    std::string_view rest = text;
    if (rest.starts_with('^')) rest.remove_prefix(1);
    while (rest.starts_with("(?!") || rest.starts_with("(?=")) {
        const std::size_t end = closing(rest);
        const auto ahead = name_pattern::parse(rest.substr(3, end - std::min(end, std::size_t{3})));
        if (end == rest.size() || !ahead) return {};
        out.lookaheads_.push_back({*ahead, rest[2] == '!'});
        rest.remove_prefix(end + 1);
    }
    auto main_pattern = name_pattern::parse("(?:" + std::string(rest) + ")$");
    if (!main_pattern) return {};
    out.main_pattern_.push_back(std::move(*main_pattern));
    return out;
}

LLMCOST_INLINE bool path_expression::matches(std::string_view path) const {
    return main_pattern_.front().begins(path, false) && std::ranges::all_of(lookaheads_, [&](const looking& l) {
               return l.pattern.begins(path, false) != l.refuses;
           });
}

LLMCOST_INLINE std::size_t path_expression::closing(std::string_view text) {
    int open = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\')
            ++i;
        else if (text[i] == '(')
            ++open;
        else if (text[i] == ')' && --open == 0)
            return i;
    }
    return text.size();
}

LLMCOST_INLINE bool module_names::names(std::string_view path) const {
    return (expression && expression->matches(path)) ||
           std::ranges::any_of(endings, [&](const std::string& end) { return is_end(path, end); });
}

LLMCOST_INLINE bool module_names::is_end(std::string_view path, std::string_view name) {
    return path == name ||
           (path.size() > name.size() && path.ends_with(name) && path[path.size() - name.size() - 1] == '.');
}

LLMCOST_INLINE bool module_names::matches_wildcards(std::string_view pattern, std::string_view path) {
    std::size_t token = 0, place = 0, star = std::string_view::npos, resumes = 0;
    while (place < path.size()) {
        if (token < pattern.size() && pattern[token] == '*') {
            star = token++;
            resumes = place;
        } else if (token < pattern.size() && (pattern[token] == '?' || pattern[token] == path[place])) {
            ++token;
            ++place;
        } else if (star != std::string_view::npos) {
            token = star + 1;
            place = ++resumes;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', token) == std::string_view::npos;
}

LLMCOST_INLINE bool module_names::is_part(std::string_view path, std::string_view name) {
    for (std::size_t position = path.find(name); position != std::string_view::npos;
         position = path.find(name, position + 1)) {
        const std::size_t end = position + name.size();
        if ((position == 0 || path[position - 1] == '.') && (end == path.size() || path[end] == '.')) return true;
    }
    return false;
}

}  // namespace llmcost
