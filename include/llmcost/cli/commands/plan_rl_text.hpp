// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/commands/rl_plan.hpp>

// The output of `llmcost plan --rl`.
namespace llmcost::cli::detail {

[[nodiscard]] std::string rl_plan_page(const rl_plan_response& response);
[[nodiscard]] std::string rl_plan_json(const rl_plan_response& response);
/// A table with configurations as rows.
[[nodiscard]] table rl_plan_table(const rl_plan_response& response);

}  // namespace llmcost::cli::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/plan_rl_text.ipp>  // IWYU pragma: export
#endif
