// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <llmcost/text/error.hpp>

// Quotes external texts in messages, and reports arguments that do not exist.
namespace llmcost {

/// An external text, made safe for a terminal: control characters, changes of direction, invisible characters and
/// broken UTF-8 as `\x1b` or `\u202e`.
[[nodiscard]] std::string printable(std::string_view text);

/// Throws the error of an argument that does not exist; `where` names it: an option, a column, an argument.
[[noreturn]] inline void throw_usage(std::string_view option, const std::string& message) {
    throw error(errc::usage, printable(option), message);
}

/// A text in quotes, fit for a message.
[[nodiscard]] std::string quote(std::string_view text);

/// Refuses what has a problem.
inline void throw_usage_if(std::string_view option, const std::string& problem) {
    if (!problem.empty()) throw_usage(option, problem);
}

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/text/impl/messages.ipp>  // IWYU pragma: export
#endif
