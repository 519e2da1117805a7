// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <llmcost/report/metrics.hpp>
#include <llmcost/text/nearest_name.hpp>

namespace llmcost::cli {

/// The metric with a name, in upper or lower case; null if there is none.
[[nodiscard]] inline const metric* find_metric(std::string_view name) {
    const std::string lowered = lower(name);
    for (const metric& m : metrics)
        if (m.name == lowered) return &m;
    return nullptr;
}

}  // namespace llmcost::cli
