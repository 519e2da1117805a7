// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/args/find_metric.hpp>

#include <string>
#include <string_view>

#include <llmcost/base/inline.hpp>
#include <llmcost/report/metrics.hpp>
#include <llmcost/text/nearest_name.hpp>

namespace llmcost::cli {

LLMCOST_INLINE const metric* find_metric(std::string_view name) {
    const std::string lowered = lower(name);
    for (const metric& m : metrics)
        if (m.name == lowered) return &m;
    return nullptr;
}

}  // namespace llmcost::cli
