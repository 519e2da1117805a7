// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/request/attention_option.hpp>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/schedule_options.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE bool has_fused_attention(const model& m, workload load) {
    if (m.spec->has_eager_attention_only || m.text_model_spec().has_eager_attention_only) return false;
    load.training = true;
    load.past = 0;  // not supported in training
    load.has_dropout = false;
    try {
        load.implementation = attention_implementation::sdpa;
        const model_metrics fused = count_model(m, load);
        load.implementation = attention_implementation::eager;
        return !(fused == count_model(m, load));
    } catch (const description_error&) {
        return false;
    }
}

LLMCOST_INLINE attention_implementation attention_implementation_of(const arguments& args, const model& m,
                                                                    const workload& load) {
    constexpr int automatic = 2;
    const int implementation = args.choice(option::implementation, automatic);
    return implementation != automatic    ? static_cast<attention_implementation>(implementation)
           : has_fused_attention(m, load) ? attention_implementation::sdpa
                                          : attention_implementation::eager;
}

}  // namespace llmcost::cli::detail
