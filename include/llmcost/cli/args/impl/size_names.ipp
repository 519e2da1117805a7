// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/args/size_names.hpp>

#include <string>
#include <string_view>

#include <llmcost/base/inline.hpp>

namespace llmcost::cli {

LLMCOST_INLINE std::string short_size_name(std::string_view name) {
    for (const detail::short_size& row : detail::short_sizes)
        if (row.name == name) return std::string(row.shorter);
    return std::string(name);
}

}  // namespace llmcost::cli
