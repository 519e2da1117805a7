// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/read_list.hpp>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/memory/quantization.hpp>

namespace llmcost::detail {

LLMCOST_INLINE void add_rule(std::vector<module_rule>& rules, config_view node, std::string_view text,
                             module_rule::kind means) {
    std::optional<module_rule> rule = module_rule::read(means, text);
    if (!rule) throw_unsupported(node, "unsupported regular expression");
    rules.push_back(std::move(*rule));
}

LLMCOST_INLINE std::vector<module_rule> parse_rules(config_view object, literal key, module_rule::kind means) {
    std::vector<module_rule> out;
    if (const auto list = object.optional_array(key))
        for (const config_view entry : *list) add_rule(out, entry, means);
    return out;
}

LLMCOST_INLINE std::vector<module_rule> parse_names(config_view object, literal key) {
    std::vector<module_rule> out;
    const auto list = object.optional_array(key);
    if (!list) return out;
    for (const config_view entry : *list) {
        const std::string_view text = entry.as_string();
        const bool expression = text.starts_with("re:");
        add_rule(out, entry, expression ? text.substr(3) : text,
                 expression ? module_rule::kind::expression : module_rule::kind::name);
    }
    return out;
}

}  // namespace llmcost::detail
