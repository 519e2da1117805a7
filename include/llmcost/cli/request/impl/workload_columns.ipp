// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/request/workload_columns.hpp>

#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/sweep.hpp>

namespace llmcost::cli {

LLMCOST_INLINE std::vector<const workload_column*> columns_of_workload(const arguments& args,
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
