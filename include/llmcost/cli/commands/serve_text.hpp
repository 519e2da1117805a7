// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/cli/commands/serve_request.hpp>
#include <llmcost/cli/request/deployment.hpp>

// The text and JSON output of `llmcost serve`.
namespace llmcost::cli::detail {

// ---- print

/// The price of a million output tokens.
double price_per_million_tokens(const deployment& deployment, const serving_metrics& metrics);

std::string print(const serve_request& request, const serve_response& response, const deployment& deployment);

}  // namespace llmcost::cli::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/serve_text.ipp>  // IWYU pragma: export
#endif
