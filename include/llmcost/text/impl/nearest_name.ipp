// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/text/nearest_name.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <llmcost/base/inline.hpp>

namespace llmcost {

LLMCOST_INLINE std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
}

LLMCOST_INLINE void name_suggestions::add_candidate(std::string_view name, int distance) {
    for (const found& f : candidates_)
        if (f.name == name) return;
    candidates_.push_back({std::string(name), distance});
}

LLMCOST_INLINE std::string name_suggestions::suggestion_text(std::string_view fallback, std::string_view begin) {
    if (!is_near()) return std::string(fallback);
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [](const found& a, const found& b) { return a.distance < b.distance; });
    std::string out(begin);
    for (std::size_t i = 0; i < candidates_.size() && i < 3 && candidates_[i].distance <= max_distance(); ++i)
        out += (i == 0 ? "" : ", ") + candidates_[i].name;
    return out;
}

LLMCOST_INLINE std::string name_suggestions::suggestion_or_list() {
    std::string all;
    for (const found& f : candidates_) all += (all.empty() ? "; expected one of " : ", ") + f.name;
    return suggestion_text(all);
}

LLMCOST_INLINE int name_suggestions::max_distance() const {
    const std::size_t letters = query_.size() - std::min(query_.find_first_not_of('-'), query_.size());
    return 1 + static_cast<int>(std::min<std::size_t>(letters, 64) / 4);
}

}  // namespace llmcost
