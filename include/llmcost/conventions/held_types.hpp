// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

// What `tests/golden/conventions.txt` holds and what it does not: a test compares both with this file.
namespace llmcost {

/// Figures of a counter that are not what it printed; empty fields mean all.
struct open_figure {
    std::string_view model_type;
    std::string_view tool;
    std::string_view attention;
    std::string_view on;
    std::string_view reason;
};

// clang-format off
inline constexpr open_figure open_figures[]{
    {"axk2", "", "sdpa", "", "not traced"},
};

inline constexpr std::string_view held_types[]{
    "gpt2", "llama", "qwen3",
};
// clang-format on

}  // namespace llmcost
