// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <climits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/find_metric.hpp>
#include <llmcost/cli/args/selection.hpp>
#include <llmcost/graph/folded_path.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/listing.hpp>
#include <llmcost/report/metrics.hpp>

namespace llmcost::cli {

/// The positional arguments of a query: metrics and at most one scope.
struct metric_query {
    std::vector<const metric*> metrics{};  ///< in the order of the arguments; empty: default metrics
    std::optional<scope_selector> scope{};

    [[nodiscard]] bool empty() const noexcept { return metrics.empty() && !scope; }
};

/// Whether a metric is defined for a single parameter.
[[nodiscard]] constexpr bool is_parameter_metric(const metric& m) noexcept {
    return m.name == "params" || m.name == "active" || m.name == "weight_bytes";
}

/// Parses the positional arguments of a query. Throws: `usage` for an unknown name, with the nearest names, and for
/// the name of a command.
[[nodiscard]] metric_query read_query(const std::vector<std::string_view>& terms, const model& m, std::string_view name,
                                      const workload& load, std::span<const command* const> commands = {});

/// The metrics of a query, by default all except `out` (an alias of `act`).
///
/// The default includes saved bytes only in training, and the encoder cache only with multimodal inputs.
[[nodiscard]] std::vector<const metric*> metrics_of(const metric_query& q, bool training, bool shows);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/args/impl/metric_query.ipp>  // IWYU pragma: export
#endif
