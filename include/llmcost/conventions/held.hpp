// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include <llmcost/conventions/convention.hpp>
#include <llmcost/conventions/held_types.hpp>

// For which models a counter's figures are held against what it printed.
namespace llmcost {

/// A model that a counter is asked about.
struct asked_counter {
    std::string_view tool;
    std::string_view model_type;
    bool sdpa = false;
    tensors on = tensors::real;
};

/// Whether a word is one of a list that is parted by blanks.
[[nodiscard]] constexpr bool is_listed(std::string_view list, std::string_view word) noexcept {
    while (!list.empty()) {
        const std::size_t blank = list.find(' ');
        if (list.substr(0, blank) == word) return true;
        list.remove_prefix(blank == std::string_view::npos ? list.size() : blank + 1);
    }
    return false;
}

/// Why a counter's figures of a model type are not held against what it printed; empty: they are.
[[nodiscard]] constexpr std::string_view not_held_because(const asked_counter& asked) noexcept {
    for (const open_figure& open : open_figures) {
        const bool attention = open.attention.empty() || (open.attention == "sdpa") == asked.sdpa;
        const bool on = open.on.empty() || open.on == tensors_names[static_cast<std::size_t>(asked.on)];
        const bool tool = open.tool.empty() || open.tool == asked.tool;
        if (is_listed(open.model_types, asked.model_type) && tool && attention && on) return open.reason;
    }
    for (const std::string_view type : held_types)
        if (type == asked.model_type) return {};
    return "nobody has run the counter on this model type";
}

}  // namespace llmcost
