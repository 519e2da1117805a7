// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>

#include <llmcost/base/count.hpp>
#include <llmcost/base/error.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/trace/trace.hpp>

// Rows of a table that have no answer.
namespace llmcost::cli {

namespace detail {

/// What keeps a row from being answered, in one line; empty where nothing does.
template <class Make>
[[nodiscard]] std::string problem_of(const Make& make) {
    try {
        make();
    } catch (const error& e) {
        return printable(e.what());
    } catch (const overflow_error& e) {
        return e.what();
    } catch (const workload_error& e) {
        return positions_text(e);
    } catch (const description_error& e) {
        return "the configuration cannot be described: " + printable(e.what());
    }
    return {};
}

/// Says the first row without an answer, and how many there are.
inline void note_on_rows(std::ostream& notes, std::string_view first, std::size_t num_failed, std::size_t all) {
    notes << "llmcost: " << first << " (" << num_failed << " of " << all << (all == 1 ? " row" : " rows")
          << " without an answer: see the column error)\n";
}

}  // namespace detail

}  // namespace llmcost::cli
