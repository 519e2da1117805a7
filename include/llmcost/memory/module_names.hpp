// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/memory/name_pattern.hpp>

namespace llmcost {

/// A regular expression for complete paths (`re.fullmatch`), with lookaheads at the start.
///
/// Lookaheads are separated from the main expression: `^(?!.*vision).*(q_proj|v_proj)$`.
class path_expression {
public:
    /// Returns nothing for a text that `name_pattern` cannot parse.
    [[nodiscard]] static std::optional<path_expression> parse(std::string_view text);
    [[nodiscard]] bool matches(std::string_view path) const;

private:
    struct looking {
        name_pattern pattern;
        bool refuses;
    };
    /// Position of the closing parenthesis for the one that begins the text; the text's length if there is none.
    [[nodiscard]] static std::size_t closing(std::string_view text);

    std::vector<looking> lookaheads_;
    std::vector<name_pattern> main_pattern_;  ///< exactly one
};

/// Modules as PEFT configurations name them: by path endings, or by one expression for complete paths.
struct module_names {
    std::vector<std::string> endings{};
    std::optional<path_expression> expression{};

    [[nodiscard]] bool empty() const noexcept { return endings.empty() && !expression; }
    [[nodiscard]] bool names(std::string_view path) const;
    /// Whether a path equals a name, or ends with a dot and the name.
    [[nodiscard]] static bool is_end(std::string_view path, std::string_view name);
    /// Whether a path contains a name as a segment, or as several consecutive segments.
    [[nodiscard]] static bool is_part(std::string_view path, std::string_view name);
    /// Whether a complete path matches a pattern in which `*` is any text and `?` any character.
    [[nodiscard]] static bool matches_wildcards(std::string_view pattern, std::string_view path);
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/module_names.ipp>  // IWYU pragma: export
#endif
