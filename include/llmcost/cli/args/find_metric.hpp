// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <llmcost/report/metrics.hpp>

namespace llmcost::cli {

/// The metric with a name, in upper or lower case; null if there is none.
[[nodiscard]] const metric* find_metric(std::string_view name);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/args/impl/find_metric.ipp>  // IWYU pragma: export
#endif
