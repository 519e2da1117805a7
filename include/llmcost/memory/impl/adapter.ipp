// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/adapter.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/memory/module_names.hpp>

namespace llmcost {

LLMCOST_INLINE bool adapter::needs_targets() const noexcept {
    const bool is_module_based = is_low_rank() || kind == adapter_kind::ia3 || kind == adapter_kind::norms;
    return is_module_based && !all_linear && targets.empty() && parameters.empty();
}

LLMCOST_INLINE bool adapter::targets_module(std::string_view path) const {
    if (!targets.names(path) || excluded.names(path) || saves_module(path)) return false;
    return layers.empty() || std::ranges::find(layers, layer_of(path)) != layers.end();
}

LLMCOST_INLINE std::int64_t adapter::rank_at(std::string_view path) const {
    const auto match = std::ranges::find_if(ranks, [&](const adapter_rank& r) { return r.path_pattern.matches(path); });
    return match == ranks.end() ? rank : match->rank;
}

LLMCOST_INLINE std::int64_t adapter::layer_of(std::string_view path) const {
    std::string_view before_last, last;
    for (std::string_view rest = path; !rest.empty();) {
        const std::size_t dot = rest.find('.');
        const std::string_view segment = rest.substr(0, dot);
        const bool is_list_index = dot != std::string_view::npos && !segment.empty() && segment.size() < 10 &&
                                   segment.find_first_not_of("0123456789") == std::string_view::npos;
        // without names of lists, PEFT's expression requires a module around the list
        const bool listed = lists.empty() ? !before_last.empty()
                                          : std::ranges::any_of(lists, [&](const std::string& l) { return l == last; });
        if (is_list_index && listed) {
            std::int64_t n = 0;
            for (const char c : segment) n = n * 10 + (c - '0');
            return n;
        }
        before_last = last;
        last = segment;
        rest.remove_prefix(dot == std::string_view::npos ? rest.size() : dot + 1);
    }
    return -1;
}

LLMCOST_INLINE std::vector<std::string> split_list(std::string_view list, char delimiter) {
    std::vector<std::string> out;
    while (!list.empty()) {
        const std::size_t separator = list.find(delimiter);
        out.emplace_back(list.substr(0, separator));
        list.remove_prefix(separator == std::string_view::npos ? list.size() : separator + 1);
    }
    return out;
}

}  // namespace llmcost
