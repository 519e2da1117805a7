// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/memory/name_pattern.hpp>

namespace llmcost {

/// A regular expression for complete paths (`re.fullmatch`), with lookaheads at the start.
///
/// Lookaheads are separated from the main expression: `^(?!.*vision).*(q_proj|v_proj)$`.
class path_expression {
public:
    /// Returns nothing for a text that `name_pattern` cannot parse.
    [[nodiscard]] static std::optional<path_expression> parse(std::string_view text) {
        path_expression out;
        std::string_view rest = text;
        if (rest.starts_with('^')) rest.remove_prefix(1);
        while (rest.starts_with("(?!") || rest.starts_with("(?=")) {
            const std::size_t end = closing(rest);
            const auto ahead = name_pattern::parse(rest.substr(3, end - std::min(end, std::size_t{3})));
            if (end == rest.size() || !ahead) return {};
            out.ahead_.push_back({*ahead, rest[2] == '!'});
            rest.remove_prefix(end + 1);
        }
        auto main_pattern = name_pattern::parse("(?:" + std::string(rest) + ")$");
        if (!main_pattern) return {};
        out.main_pattern_.push_back(std::move(*main_pattern));
        return out;
    }
    [[nodiscard]] bool matches(std::string_view path) const {
        return main_pattern_.front().begins(path, false) && std::ranges::all_of(ahead_, [&](const looking& l) {
                   return l.pattern.begins(path, false) != l.refuses;
               });
    }

private:
    struct looking {
        name_pattern pattern;
        bool refuses;
    };
    /// Position of the closing parenthesis for the one that begins the text; the text's length if there is none.
    [[nodiscard]] static std::size_t closing(std::string_view text) {
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

    std::vector<looking> ahead_;
    std::vector<name_pattern> main_pattern_;  ///< exactly one
};

/// Modules as PEFT configurations name them: by path endings, or by one expression for complete paths.
struct module_names {
    std::vector<std::string> endings{};
    std::optional<path_expression> expression{};

    [[nodiscard]] bool empty() const noexcept { return endings.empty() && !expression; }
    [[nodiscard]] bool names(std::string_view path) const {
        return (expression && expression->matches(path)) ||
               std::ranges::any_of(endings, [&](const std::string& end) { return is_end(path, end); });
    }
    /// Whether a path equals a name, or ends with a dot and the name.
    [[nodiscard]] static bool is_end(std::string_view path, std::string_view name) {
        return path == name ||
               (path.size() > name.size() && path.ends_with(name) && path[path.size() - name.size() - 1] == '.');
    }
    /// Whether a path contains a name as a segment, or as several consecutive segments.
    [[nodiscard]] static bool is_part(std::string_view path, std::string_view name) {
        for (std::size_t at = path.find(name); at != std::string_view::npos; at = path.find(name, at + 1)) {
            const std::size_t end = at + name.size();
            if ((at == 0 || path[at - 1] == '.') && (end == path.size() || path[end] == '.')) return true;
        }
        return false;
    }
};

}  // namespace llmcost
