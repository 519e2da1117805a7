// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/distributed/pipeline_action.hpp>

#include <array>
#include <charconv>
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

inline void append_number(std::string& text, int number) {
    std::array<char, 12> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    text.append(digits.data(), end);
}

inline void append_action(std::string& text, const pipeline_action& action) {
    if (action.kind == action_kind::overlap) {
        text += '(';
        for_each_part(action, [&](const pipeline_action& part) {
            if (part.kind == action_kind::backward) text += ';';
            append_action(text, part);
        });
        text += ')';
    } else if (action.kind != action_kind::idle) {
        append_number(text, action.stage);
    }
    text += action_names[static_cast<std::size_t>(action.kind)];
    if (action.kind != action_kind::overlap && action.microbatch >= 0) append_number(text, action.microbatch);
}

}  // namespace detail

LLMCOST_INLINE std::string action_text(const pipeline_action& action) {
    std::string text;
    detail::append_action(text, action);
    return text;
}

LLMCOST_INLINE std::string actions_text(const rank_actions& actions) {
    std::string text;
    for (const pipeline_action& action : actions) {
        if (!text.empty()) text += ' ';
        detail::append_action(text, action);
    }
    return text;
}

}  // namespace llmcost::distributed
