// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/memory/quantization.hpp>

// Module lists in a configuration.
namespace llmcost::detail {

/// Adds a rule with this text. Errors point to `node`.
void add_rule(std::vector<module_rule>& rules, config_view node, std::string_view text, module_rule::kind means);
inline void add_rule(std::vector<module_rule>& rules, config_view entry, module_rule::kind means) {
    add_rule(rules, entry, entry.as_string(), means);
}

/// The rules of a list. Empty if the key is null or missing.
[[nodiscard]] std::vector<module_rule> parse_rules(config_view object, literal key, module_rule::kind means);

/// The rules of a compressed-tensors list: names or classes, or regular expressions after `re:`.
[[nodiscard]] std::vector<module_rule> parse_names(config_view object, literal key);

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/read_list.ipp>  // IWYU pragma: export
#endif
