// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/flop_counters/counter_report.hpp>
#include <llmcost/flop_counters/flop_counter.hpp>
#include <llmcost/flop_counters/llm_profiler.hpp>
#include <llmcost/flop_counters/observed_pass.hpp>
#include <llmcost/model/model_spec.hpp>

// Results of FLOP counters, and explanations of every difference from llmcost.
namespace llmcost {

/// A part of a difference: counts of llmcost and of the counter, and the reason.
struct difference_line {
    std::string label;
    count ours{}, theirs{};
    std::string_view reason{};
    std::string_view source{};  ///< file and function of the counter
};

/// Results of a counter for a pass, and their differences from llmcost.
struct counter_report {
    const flop_counter* counter = nullptr;
    std::string_view undefined_reason{};  ///< why there are no results; empty: there are
    std::vector<convention_figure> figures{};
    count ours{};                          ///< llmcost's result that corresponds to the first figure
    std::vector<difference_line> lines{};  ///< largest difference first; they add up to `ours` and to the first figure

    [[nodiscard]] bool defined() const noexcept { return undefined_reason.empty(); }
    [[nodiscard]] count theirs() const { return figures.empty() ? count{} : figures.front().value; }
};

/// A model, a workload and its observed forward pass.
struct observed_model {
    const llmcost::model& model;
    workload load;
    llama3_scaling rope{};  ///< of the configuration, for llm-profiler
    observed_pass pass{};   ///< the forward pass
};

/// Traces a model and records what counters observe.
[[nodiscard]] inline observed_model observe_model(const model& m, const workload& load,
                                                  const llama3_scaling& rope = {}) {
    return {m, load, rope, observe(m, load)};
}

namespace detail {

class difference_collector {
public:
    void add(std::string_view label, count ours, count theirs, std::string_view reason, std::string_view source);
    [[nodiscard]] std::vector<difference_line> sorted() &&;

private:
    std::vector<difference_line> lines_{};
};

}  // namespace detail

/// Results of a counter for a model and workload, and the differences of the first result from llmcost.
[[nodiscard]] counter_report run_counter(const flop_counter& c, const observed_model& s, tensor_kind kind);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/flop_counters/impl/explain.ipp>  // IWYU pragma: export
#endif
