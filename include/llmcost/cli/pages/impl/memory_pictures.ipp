// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/pages/memory_pictures.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/memory/category.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/report/chart.hpp>
#include <llmcost/report/svg.hpp>
#include <llmcost/report/ticks.hpp>

namespace llmcost::cli {

LLMCOST_INLINE svg_picture breakdown_picture(const chart_text& labels, const std::vector<memory_bar>& parts,
                                             const memory_limit& limit) {
    count total;
    for (const memory_bar& p : parts) total += p.bytes;
    chart_group group;
    for (std::size_t i = 0; i < parts.size(); ++i)
        if (parts[i].bytes != count{})
            group.bars.push_back({parts[i].name, static_cast<double>(parts[i].bytes),
                                  in_bytes(parts[i].bytes) + ", " + percent(parts[i].bytes, total), i});
    group.bars.push_back({"total", static_cast<double>(total), in_bytes(total), svg_kinds - 1});
    std::vector<chart_limit> limits;
    if (limit.is_set())
        limits.push_back({limit.label + ": " + in_bytes(count(limit.bytes)), static_cast<double>(limit.bytes)});
    return bar_chart(labels, {group}, limits);
}

LLMCOST_INLINE svg_picture timeline_picture(const chart_text& labels, const memory_timeline& m,
                                            const memory_limit& limit) {
    constexpr std::size_t max_places = 400;  // more points are not distinguishable in the chart
    std::vector<const memory_snapshot*> snapshots;
    const std::size_t group_size = std::max<std::size_t>(1, (m.snapshots.size() + max_places - 1) / max_places);
    for (std::size_t i = 0; i < m.snapshots.size();) {
        const memory_snapshot* best = &m.snapshots[i];
        std::size_t end = i;
        for (; end < m.snapshots.size() && end < i + group_size && m.snapshots[end].phase == m.snapshots[i].phase;
             ++end)
            if (m.snapshots[end].peak_bytes > best->peak_bytes) best = &m.snapshots[end];
        snapshots.push_back(best);
        i = end;
    }
    std::vector<chart_series> layers;
    for (std::size_t category = 0; category < num_memory_categories; ++category) {
        chart_series layer{std::string(memory_category_names[category]), {}, {}, true, true, category};
        bool has_bytes = false;
        for (const memory_snapshot* moment : snapshots) {
            layer.y.push_back(static_cast<double>(moment->bytes.category_bytes[category]));
            has_bytes = has_bytes || moment->bytes.category_bytes[category] != 0;
        }
        if (has_bytes) layers.push_back(std::move(layer));
    }
    chart_series peak_series{"peak in between", {}, {}, true, true, svg_kinds - 1};
    for (const memory_snapshot* moment : snapshots)
        peak_series.y.push_back(moment->peak_bytes > moment->bytes.total
                                    ? static_cast<double>(moment->peak_bytes - moment->bytes.total)
                                    : 0);
    layers.push_back(std::move(peak_series));
    std::vector<chart_section> sections;
    for (std::size_t i = 0; i < snapshots.size(); ++i) {
        if (sections.empty() || sections.back().name != snapshots[i]->phase)
            sections.push_back({std::string(snapshots[i]->phase), i, i});
        sections.back().to = i + 1;
    }
    std::vector<chart_limit> limits;
    if (limit.is_set()) limits.push_back({limit.label, static_cast<double>(limit.bytes)});
    return stacked_areas(labels, {"memory, bytes", axis_scale::linear, axis_unit::bytes}, layers, sections, limits);
}

}  // namespace llmcost::cli
