// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/sweep.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/cli/request/request.hpp>

// The columns of a table that describe the workload of each row.
namespace llmcost::cli {

/// A column with one number of a workload.
struct workload_column {
    std::string_view title;
    option_spec option;
    std::string (*format_value)(const request&, const arguments&);

    [[nodiscard]] bool is_number() const noexcept { return option.type == value_type::number; }
};

inline constexpr std::array<workload_column, 7> workload_columns{{
    {"batch", option::batch,
     [](const request& q, const arguments&) { return std::to_string(q.workload.base_workload.batch); }},
    {"sequence", option::sequence,
     [](const request& q, const arguments&) { return std::to_string(q.workload.base_workload.sequence); }},
    {"input", option::input,
     [](const request& q, const arguments&) { return std::to_string(q.workload.input_tokens); }},
    {"output", option::output,
     [](const request& q, const arguments&) { return std::to_string(q.workload.output_tokens); }},
    {"past", option::past,
     [](const request& q, const arguments&) { return std::to_string(q.workload.base_workload.past); }},
    {"encoder_sequence", option::encoder_sequence,
     [](const request& q, const arguments&) { return std::to_string(q.workload.base_workload.encoder_sequence); }},
    {"requests", option::ragged_batch,
     [](const request&, const arguments& args) { return std::string(args.text(option::ragged_batch)); }},
}};

/// The workload columns of a table: those that vary, or all that describe a row if `exact`.
[[nodiscard]] std::vector<const workload_column*> columns_of_workload(const arguments& args, const workload_sweep& work,
                                                                      bool exact);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/request/impl/workload_columns.ipp>  // IWYU pragma: export
#endif
