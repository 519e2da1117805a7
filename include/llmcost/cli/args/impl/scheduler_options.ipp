// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/args/scheduler_options.hpp>

#include <string>
#include <string_view>

#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/simulation/scheduling_policy.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli {

LLMCOST_INLINE scheduling_policy with_options(scheduling_policy p, std::string_view engine, const arguments& args) {
    for (const scheduler_option& o : scheduler_options) {
        if (!args.has(o.row)) continue;
        if (o.engine != engine)
            throw_usage(o.row.name, "not supported by --engine " + std::string(engine) + ": it is an option of " +
                                        std::string(o.engine));
        if (o.number != nullptr) p.*o.number = args.number(o.row, p.*o.number);
        if (o.flag != nullptr) p.*o.flag = o.becomes;
        if (o.admits != nullptr) p.admission = o.admits[args.choice(o.row)];
    }
    if (p.max_num_batched_tokens < p.max_num_seqs && p.batching == batching_mode::mixed)
        p.max_num_seqs = p.max_num_batched_tokens;
    return p;
}

}  // namespace llmcost::cli
