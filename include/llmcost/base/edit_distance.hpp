// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <llmcost/base/string_ref.hpp>

namespace llmcost::detail {

/// Edit distance of two names. Only the first 64 characters of each count.
constexpr int edit_distance(string_ref a, string_ref b) noexcept {
    a = a.substr(0, 64);
    b = b.substr(0, 64);
    int row[65]{};
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        int diagonal = row[0];
        row[0] = static_cast<int>(i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const int replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            const int shifted = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j] = replaced < shifted ? replaced : shifted;
        }
    }
    return row[b.size()];
}

}  // namespace llmcost::detail
