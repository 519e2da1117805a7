// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/quantization.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <llmcost/base/inline.hpp>
#include <llmcost/memory/name_pattern.hpp>

namespace llmcost {

LLMCOST_INLINE std::optional<module_rule> module_rule::read(kind means, std::string_view text) {
    module_rule out{means, std::string(text), {}, true};
    const bool card = means == kind::part_or_card;
    if (means != kind::expression && means != kind::segments && !card) return out;
    out.pattern = card ? name_pattern::parse_wildcard(text) : name_pattern::parse(text);
    return out.pattern ? std::optional(std::move(out)) : std::nullopt;
}

LLMCOST_INLINE bool module_rule::matches_module(std::string_view name) const {
    switch (means) {
        case kind::name: return name == text;
        case kind::expression: return pattern->begins(name, false);
        case kind::segments: return name.ends_with(text) || pattern->begins(name, true);
        case kind::ending: return name.ends_with(text);
        case kind::part_or_card: break;
    }
    return name.find(text) != std::string_view::npos || pattern->begins(name, false);
}

}  // namespace llmcost
