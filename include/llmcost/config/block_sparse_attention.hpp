// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/keys.hpp>

namespace llmcost {

/// Parses `attention_type`: true for block-sparse attention with `random` random blocks of `size` tokens (BigBird).
constexpr bool parse_sparse_blocks(config_view json, std::int64_t size, std::int64_t random) {
    const string_ref type = json.string("attention_type", "block_sparse");
    if (type != "block_sparse" && type != "original_full")
        throw_invalid_value(json, "attention_type", "block_sparse or original_full");
    (void)checked_size(json, "block_size", size, 5 + 2 * random);
    return type == "block_sparse";
}

}  // namespace llmcost
