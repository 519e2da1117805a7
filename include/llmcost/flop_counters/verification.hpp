// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include <llmcost/flop_counters/flop_counter.hpp>
#include <llmcost/flop_counters/verified_counter_types.hpp>

// Models for which the results of a FLOP counter are verified.
namespace llmcost {

/// A counter, a model type and an implementation.
struct counter_case {
    std::string_view tool;
    std::string_view model_type;
    bool sdpa = false;
    tensor_kind kind = tensor_kind::real;
};

/// True if a space-separated list contains a name.
[[nodiscard]] constexpr bool contains_name(std::string_view list, std::string_view name) noexcept {
    while (!list.empty()) {
        const std::size_t blank = list.find(' ');
        if (list.substr(0, blank) == name) return true;
        list.remove_prefix(blank == std::string_view::npos ? list.size() : blank + 1);
    }
    return false;
}

/// Why the results of a counter are not verified for a model type. Empty: they are verified.
[[nodiscard]] constexpr std::string_view unverified_reason(const counter_case& query) noexcept {
    for (const unverified_figure& open : unverified_figures) {
        const bool attention = open.attention.empty() || (open.attention == "sdpa") == query.sdpa;
        const bool is_same_kind =
            open.kind_name.empty() || open.kind_name == tensors_names[static_cast<std::size_t>(query.kind)];
        const bool tool = open.tool.empty() || open.tool == query.tool;
        if (contains_name(open.model_types, query.model_type) && tool && attention && is_same_kind) return open.reason;
    }
    for (const std::string_view type : verified_counter_types)
        if (type == query.model_type) return {};
    return "the counter was not run on this model type";
}

}  // namespace llmcost
