// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/cli/args/metric_query.hpp>
#include <llmcost/cli/args/selection.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/cli/request/totals.hpp>
#include <llmcost/report/metrics.hpp>

// The output of queries: the text block of llm-profiler, and tables.
namespace llmcost::cli {

namespace detail {

inline std::string name_of_scope(const request& q) { return q.metrics.scope ? q.metrics.scope->name : "all"; }

/// The names of the columns: phases and total, or only the total for a single phase.
std::vector<std::string> column_names(const workload_totals& r);
/// Whether backward and optimizer of a training step have a value of this metric: primitives and their FLOPs.
[[nodiscard]] bool is_step_metric(const metric& m) noexcept;

/// The metrics of a scope. A training step of a complete model has the phases forward, backward and optimizer (AdamW).
[[nodiscard]] workload_totals compute_query(const request& q, const std::vector<const metric*>& list);

/// Whether a column of `column_names` has a value of a metric: parameters have no optimizer step.
[[nodiscard]] bool has_figure(const request& q, const workload_totals& r, std::size_t i, const metric& m);

/// The metrics of a column of `column_names`.
inline const metric_list& column(const workload_totals& r, std::size_t i) {
    return r.phases.size() > 1 && i < r.phase_metrics.size() ? r.phase_metrics[i] : r.total;
}

}  // namespace detail

/// The exact metrics of a scope: one row, or one row per phase and the total.
[[nodiscard]] table query_table(const request& q);

/// The metrics of a scope in the format of llm-profiler: a title line, then `    MULT:\t45.22\t(10^9)`.
///
/// A request has columns for its phases and the total.
[[nodiscard]] std::string query_block(const request& q);

/// The metrics in lists of modules: those of the command line, or params and flops.
[[nodiscard]] std::vector<const metric*> listed_metrics(const metric_query& q);

/// A table of all modules with their paths.
[[nodiscard]] table scopes_table(const request& q);

/// A table of all parameters: name, shape and number of elements. A tied name has no elements.
[[nodiscard]] table tensors_table(const request& q);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/pages/impl/response.ipp>  // IWYU pragma: export
#endif
