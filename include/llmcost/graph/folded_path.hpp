// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace llmcost {

/// Replaces the indices of a path by `*`: `model.layers.12.mlp` -> `model.layers.*.mlp`.
[[nodiscard]] std::string fold_indices(std::string_view path);

/// Ascending numbers with consecutive ones combined, truncated if long: `0-4,6-10`.
[[nodiscard]] std::string number_ranges(const std::vector<std::string>& numbers);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/graph/impl/folded_path.ipp>  // IWYU pragma: export
#endif
