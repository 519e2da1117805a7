// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>

#include <llmcost/base/count.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/trace/trace.hpp>

// Errors of single rows of a table.
namespace llmcost::cli {

namespace detail {

/// The error message of `make()` in one line; empty if it does not throw.
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
        return "the configuration is not supported: " + printable(e.what());
    }
    return {};
}

/// Reports the first failed row and the number of failed rows.
void note_on_rows(std::ostream& notes, std::string_view first, std::size_t num_failed, std::size_t all);

}  // namespace detail

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/args/impl/row_error.ipp>  // IWYU pragma: export
#endif
