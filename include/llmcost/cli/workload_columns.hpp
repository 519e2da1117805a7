// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/cli/question.hpp>
#include <llmcost/cli/sweep.hpp>

// What a row says of the workload that its figures are of.
namespace llmcost::cli {

/// A part of a workload, as a column.
struct workload_column {
    std::string_view title;
    option_row option;
    std::string (*of)(const question&, const arguments&);

    [[nodiscard]] bool is_number() const noexcept { return option.kind == value_kind::number; }
};

inline constexpr std::array<workload_column, 7> workload_columns{{
    {"batch", option::batch, [](const question& q, const arguments&) { return std::to_string(q.work.base.batch); }},
    {"sequence", option::sequence, [](const question& q, const arguments&) { return std::to_string(q.work.base.sequence); }},
    {"input", option::input, [](const question& q, const arguments&) { return std::to_string(q.work.input); }},
    {"output", option::output, [](const question& q, const arguments&) { return std::to_string(q.work.output); }},
    {"past", option::past, [](const question& q, const arguments&) { return std::to_string(q.work.base.past); }},
    {"encoder_sequence", option::encoder_sequence,
     [](const question& q, const arguments&) { return std::to_string(q.work.base.encoder_sequence); }},
    {"requests", option::requests,
     [](const question&, const arguments& asked) { return std::string(asked.text(option::requests)); }},
}};

/// The columns that tell a command line's workloads apart, with `exact` all that a row by itself needs to be understood.
[[nodiscard]] inline std::vector<const workload_column*> columns_of_workload(const arguments& given, const sweep& work,
                                                                             bool exact) {
    const bool requests = given.has(option::requests), generation = given.has(option::input);
    std::vector<const workload_column*> out;
    for (const workload_column& c : workload_columns) {
        const auto is = [&](const option_row& row) { return c.option.is(row); };
        if (requests != is(option::requests)) continue;
        if (is(option::sequence) && generation) continue;
        if ((is(option::input) || is(option::output)) && !generation) continue;
        if (is(option::encoder_sequence) && !given.has(option::encoder_sequence)) continue;
        if (exact || is(option::sequence) || work.has(c.option)) out.push_back(&c);
    }
    return out;
}

}  // namespace llmcost::cli
