// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/graph/folded_path.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/inline.hpp>

namespace llmcost {

LLMCOST_INLINE std::string fold_indices(std::string_view path) {
    std::string out;
    for (std::size_t i = 0; i < path.size();) {
        const std::size_t dot = std::min(path.find('.', i), path.size());
        const std::string_view segment = path.substr(i, dot - i);
        const bool number = !segment.empty() && segment.find_first_not_of("0123456789") == std::string_view::npos;
        out += number ? "*" : std::string(segment);
        if (dot < path.size()) out += '.';
        i = dot + 1;
    }
    return out;
}

LLMCOST_INLINE std::string number_ranges(const std::vector<std::string>& numbers) {
    std::string out;
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t j = i;
        while (j + 1 < numbers.size() && std::stoll(numbers[j + 1]) == std::stoll(numbers[j]) + 1) ++j;
        if (out.size() > 12) return out + ",…";
        out += (out.empty() ? "" : ",") + numbers[i] + (j > i ? "-" + numbers[j] : "");
        i = j + 1;
    }
    return out;
}

}  // namespace llmcost
