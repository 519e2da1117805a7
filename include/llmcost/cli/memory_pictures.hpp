// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/cli/room.hpp>
#include <llmcost/cli/text.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/report/chart.hpp>

// Memory as pictures: its parts as bars, a training step as areas over time.
namespace llmcost::cli {

/// A part of memory that has a name.
struct memory_bar {
    std::string name;
    count bytes;
};

/// The parts as bars, with their shares, held against the memory that is asked about.
[[nodiscard]] inline svg_picture breakdown_picture(const chart_words& words, const std::vector<memory_bar>& parts,
                                                   const room_asked& room) {
    count total;
    for (const memory_bar& p : parts) total += p.bytes;
    chart_group group;
    for (std::size_t i = 0; i < parts.size(); ++i)
        if (parts[i].bytes != count{})
            group.bars.push_back({parts[i].name, static_cast<double>(parts[i].bytes),
                                  in_bytes(parts[i].bytes) + ", " + percent(parts[i].bytes, total), i});
    group.bars.push_back({"in all", static_cast<double>(total), in_bytes(total), svg_kinds - 1});
    std::vector<chart_limit> limits;
    if (room.asked()) limits.push_back({room.of + ": " + in_bytes(count(room.bytes)), static_cast<double>(room.bytes)});
    return bar_chart(words, {group}, limits);
}

/// What a step holds over its moments, by category, and upon these the most of each moment.
[[nodiscard]] inline svg_picture timeline_picture(const chart_words& words, const memory_timeline& m,
                                                  const room_asked& room) {
    constexpr std::size_t most_places = 400;  // as many as can be told apart
    std::vector<const memory_moment*> shown;
    const std::size_t each = std::max<std::size_t>(1, (m.moments.size() + most_places - 1) / most_places);
    for (std::size_t i = 0; i < m.moments.size();) {
        const memory_moment* best = &m.moments[i];
        std::size_t end = i;
        for (; end < m.moments.size() && end < i + each && m.moments[end].phase == m.moments[i].phase; ++end)
            if (m.moments[end].most > best->most) best = &m.moments[end];
        shown.push_back(best), i = end;
    }
    std::vector<chart_series> layers;
    for (std::size_t category = 0; category < memory_categories; ++category) {
        chart_series layer{std::string(memory_category_names[category]), {}, {}, true, true, category};
        bool any = false;
        for (const memory_moment* moment : shown) {
            layer.y.push_back(static_cast<double>(moment->bytes.of[category]));
            any = any || moment->bytes.of[category] != 0;
        }
        if (any) layers.push_back(std::move(layer));
    }
    chart_series within{"more in between", {}, {}, true, true, svg_kinds - 1};
    for (const memory_moment* moment : shown)
        within.y.push_back(moment->most > moment->bytes.total ? static_cast<double>(moment->most - moment->bytes.total) : 0);
    layers.push_back(std::move(within));
    std::vector<chart_section> sections;
    for (std::size_t i = 0; i < shown.size(); ++i) {
        if (sections.empty() || sections.back().name != shown[i]->phase)
            sections.push_back({std::string(shown[i]->phase), i, i});
        sections.back().to = i + 1;
    }
    std::vector<chart_limit> limits;
    if (room.asked()) limits.push_back({room.of, static_cast<double>(room.bytes)});
    return stacked_areas(words, {"bytes held", axis_scale::linear, axis_unit::bytes}, layers, sections, limits);
}

}  // namespace llmcost::cli
