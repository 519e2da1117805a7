// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <llmcost/cli/request/request.hpp>

// JSON output; docs/cli.md specifies the members.
namespace llmcost::cli {

/// The JSON output of a request; metrics and scope of the command line are in `query`.
[[nodiscard]] std::string json_answer(const request& q);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/pages/impl/json_output.ipp>  // IWYU pragma: export
#endif
