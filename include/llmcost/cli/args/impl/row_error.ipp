// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/args/row_error.hpp>

#include <cstddef>
#include <ostream>
#include <string_view>

#include <llmcost/base/inline.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE void note_on_rows(std::ostream& notes, std::string_view first, std::size_t num_failed, std::size_t all) {
    notes << "llmcost: " << first << " (" << num_failed << " of " << all << (all == 1 ? " row" : " rows")
          << " failed; see the column error)\n";
}

}  // namespace llmcost::cli::detail
