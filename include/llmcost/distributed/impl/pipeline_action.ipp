// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/distributed/pipeline_action.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include <llmcost/base/inline.hpp>

namespace llmcost::distributed {
namespace detail {

/// Names in the order of `action_kind`.
inline constexpr std::array<std::string_view, 16> action_names{
    "F",      "B",      "I",      "W",           "OVERLAP_F_B", "UNSHARD",     "RESHARD",          "SEND_F",
    "RECV_F", "SEND_B", "RECV_B", "WAIT_SEND_F", "WAIT_SEND_B", "REDUCE_GRAD", "WAIT_REDUCE_GRAD", "-"};

}  // namespace detail

LLMCOST_INLINE std::string action_text(const pipeline_action& action) {
    const std::string name(detail::action_names[static_cast<std::size_t>(action.kind)]);
    if (action.kind == action_kind::idle) return name;
    if (action.kind == action_kind::overlap) {
        std::string parts;
        for_each_part(action,
                      [&](const pipeline_action& part) { parts += (parts.empty() ? "" : ";") + action_text(part); });
        return '(' + parts + ')' + name;
    }
    return std::to_string(action.stage) + name + (action.microbatch < 0 ? "" : std::to_string(action.microbatch));
}

LLMCOST_INLINE std::string actions_text(const rank_actions& actions) {
    std::string text;
    for (const pipeline_action& action : actions) {
        if (!text.empty()) text += ' ';
        text += action_text(action);
    }
    return text;
}

}  // namespace llmcost::distributed
