// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace llmcost::testing {

/// Types, apart by spaces, that a law does not hold for, and what the reference does instead.
struct law_exception {
    std::string_view types;
    std::string_view reason;
};
using law_exceptions = std::vector<law_exception>;

/// Whether a word stands in a list of words.
[[nodiscard]] inline bool has_listed(std::string_view list, std::string_view name) {
    return (' ' + std::string(list) + ' ').find(' ' + std::string(name) + ' ') != std::string::npos;
}
[[nodiscard]] inline bool is_exception(const law_exceptions& exceptions, std::string_view type) {
    return std::ranges::any_of(exceptions, [&](const law_exception& e) { return has_listed(e.types, type); });
}

/// Whose states have no dimension for tokens, so that those of a batch meet in it.
inline const law_exceptions crossed_batches{
    {"rwkv", "one token of each of B sequences goes on as B tokens of each (`RwkvSelfAttention.extract_key_value`)"}};

}  // namespace llmcost::testing
