// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/report/chart.hpp>

// Charts of memory: bars of components, and areas of a training step over time.
namespace llmcost::cli {

/// A named component of memory.
struct memory_bar {
    std::string name;
    count bytes;
};

/// A bar chart of the components with their shares, and a line at the memory limit.
[[nodiscard]] svg_picture breakdown_picture(const chart_text& labels, const std::vector<memory_bar>& parts,
                                            const memory_limit& limit);

/// The memory of a training step over time, stacked by category, with the peak of each interval on top.
[[nodiscard]] svg_picture timeline_picture(const chart_text& labels, const memory_timeline& m,
                                           const memory_limit& limit);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/pages/impl/memory_pictures.ipp>  // IWYU pragma: export
#endif
