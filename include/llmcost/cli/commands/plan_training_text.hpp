// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/commands/training_plan.hpp>
#include <llmcost/serving/training_search.hpp>

// The output of `llmcost plan --training`.
namespace llmcost::cli::detail {

/// The command line of `llmcost train` for a configuration, without its model and device.
[[nodiscard]] std::vector<std::string> train_options_of(const training_strategy& strategy, const training_candidate& c,
                                                        std::int64_t sequence, bool has_cuda);

/// The `llmcost train` command line of a configuration.
[[nodiscard]] std::string train_command(const training_plan_response& response, const training_candidate& c);

[[nodiscard]] std::string training_plan_page(const training_plan_response& response);
[[nodiscard]] std::string training_plan_json(const training_plan_response& response);
/// A table with configurations as rows.
[[nodiscard]] table training_plan_table(const training_plan_response& response);

}  // namespace llmcost::cli::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/plan_training_text.ipp>  // IWYU pragma: export
#endif
