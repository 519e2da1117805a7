// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace llmcost {

/// Numbers of a path as `*`: `model.layers.12.mlp` -> `model.layers.*.mlp`.
[[nodiscard]] inline std::string fold_indices(std::string_view path) {
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

}  // namespace llmcost
