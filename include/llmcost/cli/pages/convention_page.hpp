// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/flop_counters/explain.hpp>
#include <llmcost/flop_counters/flop_counter.hpp>
#include <llmcost/flop_counters/llm_profiler.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/json_writer.hpp>

// `--convention TOOL`: the output of another FLOP counter for a model and a workload.
namespace llmcost::cli {

namespace detail {

std::vector<std::string_view> counter_names(const program&);

}  // namespace detail

namespace option {

inline constexpr option_spec convention{.name = "--convention",
                                        .value = "TOOL",
                                        .type = value_type::text,
                                        .help = "count as another tool does, e.g. calflops, thop or fvcore",
                                        .completions = detail::counter_names};

}  // namespace option

/// The counter with a name. Throws: `usage`, with the nearest names.
[[nodiscard]] const llmcost::flop_counter& require_counter(std::string_view option, std::string_view name);

/// The RoPE scaling that llm-profiler reads from the configuration.
[[nodiscard]] llama3_scaling scaling_of(const parsed_model& read);

/// The report of a counter for one attention implementation and one kind of tensors.
struct counter_variant {
    attention_implementation attention{};
    llmcost::tensor_kind tensor_kind{};
    counter_report reading{};
    std::string_view unverified_reason{};
};

[[nodiscard]] inline std::string_view attention_name(attention_implementation a) noexcept {
    return a == attention_implementation::sdpa ? "sdpa" : "eager";
}

/// `eager`, `sdpa, meta tensors`.
[[nodiscard]] inline std::string variant_label(const counter_variant& way) {
    return std::string(attention_name(way.attention)) + (way.tensor_kind == tensor_kind::meta ? ", meta" : "");
}

/// Runs a counter on one forward pass, with one attention implementation and one kind of tensors.
[[nodiscard]] counter_variant run_counter_variant(const llmcost::flop_counter& c, const model& m, workload load,
                                                  const llama3_scaling& rope, attention_implementation attention,
                                                  tensor_kind tensor_kind);

namespace detail {

void write_variant(json_writer& json, const counter_variant& way);

std::string_view reference_metric_name(reference_metric figure);

/// The forward pass of `--convention` and `why`. Throws: `usage` for other workloads.
workload one_pass(const request& q);

std::string pass_label(const model& m, const workload& load);

}  // namespace detail

/// The report of a counter in the requested format. Throws: `usage` for unsupported options.
[[nodiscard]] std::string convention_page(const request& q, const parsed_model& read, const llmcost::flop_counter& c);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/pages/impl/convention_page.ipp>  // IWYU pragma: export
#endif
