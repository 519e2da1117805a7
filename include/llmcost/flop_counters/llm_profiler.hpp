// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <numbers>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/layers/model_config.hpp>

// llm-profiler's formulas for a LlamaConfig (Mingxue-Xu/llm-profiler at 9fedab7, src/flops.py and src/llama_hook.py).
//
// They reproduce its omissions: the formula of a linear layer has no sequence length.
namespace llmcost {

/// llm-profiler's parameters in `rope_scaling`, without which it fails.
struct llama3_scaling {
    bool is_set = false;
    std::int64_t factor = 0;            ///< truncated to an integer
    std::int64_t long_wavelengths = 0;  ///< number of frequencies with wavelengths above old_context / low_freq_factor

    /// Reads `rope_scaling`, or `rope_parameters` if it is absent.
    [[nodiscard]] static llama3_scaling read(config_view root, std::int64_t head_dim);
};

/// Results of llm-profiler, in its order.
struct llm_profiler_counts {
    count add{}, mult{}, div{}, sqrt{}, params{}, cache{}, act{};

    llm_profiler_counts& operator+=(const llm_profiler_counts& o);
    [[nodiscard]] llm_profiler_counts times(count n) const {
        return {add * n, mult * n, div * n, sqrt * n, params * n, cache * n, act * n};
    }
    [[nodiscard]] count flops() const { return add + mult; }
};

/// Results by component: sums over all layers, rotary table and embedding.
struct llm_profiler_parts {
    llm_profiler_counts attention{}, mlp{}, norms{}, residuals{}, rotary{}, embedding{};

    [[nodiscard]] llm_profiler_counts all() const;
};

/// llm-profiler's results for the sizes of a Llama model.
[[nodiscard]] llm_profiler_parts llm_profiler_of(const model_config& d, const llama3_scaling& rope, std::int64_t batch,
                                                 std::int64_t sequence);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/flop_counters/impl/llm_profiler.ipp>  // IWYU pragma: export
#endif
