// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/cli/args/sweep.hpp>
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
[[nodiscard]] inline std::vector<const workload_column*> columns_of_workload(const arguments& args,
                                                                             const workload_sweep& work, bool exact) {
    const bool requests = args.has(option::ragged_batch), generation = args.has(option::input);
    std::vector<const workload_column*> out;
    for (const workload_column& c : workload_columns) {
        const auto is = [&](const option_spec& row) { return c.option.is(row); };
        if (requests != is(option::ragged_batch)) continue;
        if (is(option::sequence) && generation) continue;
        if ((is(option::input) || is(option::output)) && !generation) continue;
        if (is(option::encoder_sequence) && !args.has(option::encoder_sequence)) continue;
        if (exact || is(option::sequence) || work.has(c.option)) out.push_back(&c);
    }
    return out;
}

}  // namespace llmcost::cli
