// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/custom/program.hpp>

#include <string_view>

#include <llmcost/base/inline.hpp>

namespace llmcost::custom {

LLMCOST_INLINE void block_contents::add(const block_contents& c) noexcept {
    modules = modules || c.modules;
    functions = functions || c.functions;
}

LLMCOST_INLINE literal program::keep(std::string_view text) {
    if (text.empty()) return "";
    names.emplace_back(text);
    return names.back().c_str();
}

}  // namespace llmcost::custom
