// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/args/synonyms.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/text/nearest_name.hpp>

namespace llmcost::cli {

/// Whether a name is in a list of names that is separated by `|`.
[[nodiscard]] LLMCOST_INLINE bool is_listed(std::string_view names, std::string_view name) {
    bool found = false;
    for_each_choice(names, [&](std::string_view known) { found = found || known == name; });
    return found;
}

/// A name in lower case, with `-` for `_`.
[[nodiscard]] LLMCOST_INLINE std::string with_hyphens(std::string_view name) {
    std::string out = lower(name);
    std::replace(out.begin(), out.end(), '_', '-');
    return out;
}

LLMCOST_INLINE const option_synonym* find_option_synonym(std::string_view name) {
    const std::string word = with_hyphens(name.substr(std::min(name.find_first_not_of('-'), name.size())));
    if (word.empty() || !name.starts_with('-')) return nullptr;
    for (const option_synonym& synonym : option_synonyms)
        if (is_listed(synonym.names, word)) return &synonym;
    return nullptr;
}

LLMCOST_INLINE std::string replacement_of(const option_synonym& synonym, std::span<const option_spec> rows,
                                          std::optional<std::string_view> value) {
    std::string out;
    for_each_choice(synonym.replacements, [&](std::string_view replacement) {
        const std::string_view option_name = replacement.substr(0, replacement.find(' '));
        const auto row =
            std::find_if(rows.begin(), rows.end(), [&](const option_spec& o) { return o.is_named(option_name); });
        if (row == rows.end()) return;
        std::string text(replacement);
        if (const std::size_t place = text.find("{}"); place != std::string::npos)
            text.replace(place, 2, value.value_or(row->value));
        out.append(out.empty() ? "" : " or ").append(text);
    });
    return out;
}

LLMCOST_INLINE std::string_view replace_value_synonym(std::string_view option, std::string_view value) {
    const std::string name = with_hyphens(value);
    for (const value_synonym& synonym : value_synonyms)
        if (synonym.option == option && is_listed(synonym.names, name)) return synonym.value;
    return value;
}

LLMCOST_INLINE std::string_view find_operator_synonym(std::string_view name) {
    const std::string word = with_hyphens(name);
    for (const operator_synonym& synonym : operator_synonyms)
        if (is_listed(synonym.names, word)) return synonym.types;
    return {};
}

LLMCOST_INLINE std::string_view command_advice(std::string_view word) {
    const std::string name = lower(word);
    for (const command_synonym& synonym : command_synonyms)
        if (is_listed(synonym.names, name)) return synonym.advice;
    return {};
}

}  // namespace llmcost::cli
