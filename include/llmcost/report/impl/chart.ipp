// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/report/chart.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/report/svg.hpp>
#include <llmcost/report/ticks.hpp>

namespace llmcost {

LLMCOST_INLINE void chart_area::widen(double& low, double& high, const chart_axis& axis, bool from_zero) {
    if (axis.scale == axis_scale::logarithmic) {
        if (!(high > low)) {
            low /= 2;
            high *= 2;
        }
        return;
    }
    if (from_zero) low = std::min(low, 0.0);
    if (!(high > low)) high = low + 1;
    const double step = round_step((high - low) / 5, axis.unit);
    if (from_zero) high = std::ceil(high / step - 1e-9) * step;
}

LLMCOST_INLINE void chart_area::draw_up(svg_writer& out) const {
    for (const axis_tick& t : axis_ticks(y_low, y_high, up, 6)) {
        out.line(left, y(t.value), left + width, y(t.value), "lc-grid");
        out.text(left - 8, y(t.value) + 5, t.label, svg_anchor::end);
    }
    out.text(left - label_width() + 4, top - 12, up.title, svg_anchor::start, "lc-soft");
    out.line(left, top, left, top + height, "lc-axis");
}

LLMCOST_INLINE void chart_area::draw_across(svg_writer& out, const std::vector<axis_tick>& ticks) const {
    out.line(left, top + height, left + width, top + height, "lc-axis");
    for (const axis_tick& t : thinned(ticks, width, svg_width_of)) {
        out.line(x(t.value), top + height, x(t.value), top + height + 5, "lc-axis");
        out.text(x(t.value), top + height + 20, t.label, svg_anchor::middle);
    }
    out.text(left + width / 2, top + height + 42, x_axis.title, svg_anchor::middle, "lc-soft");
}

LLMCOST_INLINE void chart_area::draw_limit(svg_writer& out, const chart_limit& limit) const {
    if (limit.value < y_low || limit.value > y_high) return;
    out.line(left, y(limit.value), left + width, y(limit.value), "lc-limit");
    out.text(left + width - 4, y(limit.value) - 6, limit.name, svg_anchor::end, "lc-halo");
}

LLMCOST_INLINE double chart_area::label_width() const {
    double widest = 0;
    for (const axis_tick& t : axis_ticks(y_low, y_high, up, 6)) widest = std::max(widest, svg_width_of(t.label));
    return widest + 14;
}

LLMCOST_INLINE double chart_area::share(double value, double low, double high, axis_scale scale) {
    if (scale == axis_scale::linear) return (value - low) / (high - low);
    return value > 0 ? (std::log(value) - std::log(low)) / (std::log(high) - std::log(low)) : 0;
}

}  // namespace llmcost

namespace llmcost::detail {

LLMCOST_INLINE std::string svg_cut(std::string_view text, double expanded_width) {
    if (svg_width_of(text) <= expanded_width) return std::string(text);
    while (!text.empty() && svg_width_of(text) + 9 > expanded_width) {
        text.remove_suffix(1);
        while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0U) == 0x80U) text.remove_suffix(1);
    }
    if (!text.empty() && (static_cast<unsigned char>(text.back()) & 0x80U) != 0) text.remove_suffix(1);
    return std::string(text) + "…";
}

LLMCOST_INLINE svg_picture begin_picture(const chart_text& text) {
    svg_picture out{svg_writer(text.prefix), 640, 0, text.title, text.description};
    out.drawn.text(14, 26, svg_cut(text.title, 540), svg_anchor::start, "lc-title");
    return out;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE std::vector<axis_tick> ticks_of(const std::vector<chart_series>& all, const chart_area& area) {
    std::vector<double> values;
    for (const chart_series& s : all) values.insert(values.end(), s.x.begin(), s.x.end());
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    const double slot_width = area.width / static_cast<double>(std::max<std::size_t>(1, values.size()));
    bool even = values.size() <= 16;
    for (std::size_t i = 1; i < values.size(); ++i)
        even = even && area.x(values[i]) - area.x(values[i - 1]) > slot_width / 2;
    if (!even) return axis_ticks(area.x_low, area.x_high, area.x_axis, 8);
    std::vector<axis_tick> out;
    for (const double v : values) out.push_back({v, tick_label(v, area.x_axis.unit)});
    return out;
}

LLMCOST_INLINE chart_bounds bounds_of(const std::vector<chart_series>& all, const chart_axis& x_axis,
                                      const chart_axis& up) {
    chart_bounds out;
    for (const chart_series& s : all)
        for (std::size_t i = 0; i < s.x.size(); ++i) {
            const double x = s.x[i], y = s.y[i];
            if (!is_on_axis(x, x_axis) || !is_on_axis(y, up)) continue;
            if (!out.has_values) out = {x, x, y, y, true};
            out.x_low = std::min(out.x_low, x);
            out.x_high = std::max(out.x_high, x);
            out.y_low = std::min(out.y_low, y);
            out.y_high = std::max(out.y_high, y);
        }
    return out;
}

LLMCOST_INLINE svg_picture line_chart(const chart_text& text, const chart_axis& x_axis, const chart_axis& up,
                                      const std::vector<chart_series>& all, const std::vector<chart_limit>& limits) {
    svg_picture out = detail::begin_picture(text);
    chart_area area;
    area.x_axis = x_axis;
    area.up = up;
    const chart_bounds bounds = bounds_of(all, x_axis, up);
    area.x_low = bounds.x_low;
    area.x_high = bounds.x_high;
    area.y_low = bounds.y_low;
    area.y_high = bounds.y_high;
    for (const chart_limit& l : limits)
        if (l.value > 0) area.y_high = std::max(area.y_high, l.value * 1.05);
    const auto is_visible = [&](double x, double y) { return is_on_axis(x, x_axis) && is_on_axis(y, up); };
    chart_area::widen(area.x_low, area.x_high, x_axis, false);
    chart_area::widen(area.y_low, area.y_high, up, true);
    area.left = 6 + area.label_width();
    area.top = 68;
    area.width = 640 - area.left - 40;
    area.height = 280;
    area.draw_up(out.drawn);
    area.draw_across(out.drawn, ticks_of(all, area));
    for (const chart_limit& l : limits) area.draw_limit(out.drawn, l);
    std::vector<std::string> names;
    for (const chart_series& s : all) {
        names.push_back(s.name);
        std::string d;
        for (std::size_t i = 0; s.has_line && i < s.x.size(); ++i)
            if (is_visible(s.x[i], s.y[i]))
                d += (d.empty() ? "M" : "L") + svg_number(area.x(s.x[i])) + " " + svg_number(area.y(s.y[i]));
        if (!d.empty()) out.drawn.path(d, svg_class("line", s.kind));
        for (std::size_t i = 0; s.marked && i < s.x.size(); ++i)
            if (is_visible(s.x[i], s.y[i]))
                out.drawn.marker(area.x(s.x[i]), area.y(s.y[i]), s.kind,
                                 s.name + ": " + tick_label(s.x[i], x_axis.unit) + ", " + tick_label(s.y[i], up.unit));
    }
    const double below = area.top + area.height + 70;
    const double took = detail::draw_legend(out.drawn, 20, below, 626, names, [&](std::size_t i, double x, double y) {
        if (all[i].has_line) out.drawn.line(x, y, x + 28, y, svg_class("line", all[i].kind));
        if (all[i].marked) out.drawn.marker(x + 14, y, all[i].kind);
    });
    out.height = below + took;
    return out;
}

LLMCOST_INLINE svg_picture stacked_areas(const chart_text& text, const chart_axis& up,
                                         const std::vector<chart_series>& layers,
                                         const std::vector<chart_section>& sections,
                                         const std::vector<chart_limit>& limits) {
    svg_picture out = detail::begin_picture(text);
    std::size_t places = 0;
    for (const chart_series& s : layers) places = std::max(places, s.y.size());
    std::vector<double> below(places, 0);
    for (const chart_series& s : layers)
        for (std::size_t i = 0; i < s.y.size(); ++i) below[i] += s.y[i];
    chart_area area;
    area.up = up;
    area.x_high = static_cast<double>(std::max<std::size_t>(1, places));
    area.y_high = 0;
    for (const double total : below) area.y_high = std::max(area.y_high, total);
    for (const chart_limit& l : limits) area.y_high = std::max(area.y_high, l.value * 1.05);
    chart_area::widen(area.y_low, area.y_high, up, true);
    area.left = 6 + area.label_width();
    area.top = 68;
    area.width = 640 - area.left - 20;
    area.height = 280;
    area.draw_up(out.drawn);
    std::fill(below.begin(), below.end(), 0.0);
    std::vector<std::string> names;
    for (const chart_series& s : layers) {
        names.push_back(s.name);
        std::string upper_path, lower_path;
        for (std::size_t i = 0; i < s.y.size(); ++i) {
            const std::string x_begin = svg_number(area.x(static_cast<double>(i))),
                              to = svg_number(area.x(static_cast<double>(i + 1)));
            const std::string low = svg_number(area.y(below[i])), high = svg_number(area.y(below[i] + s.y[i]));
            upper_path += (upper_path.empty() ? "M" : "L") + x_begin + " " + high + "H" + to;
            lower_path.insert(0, "L" + to + " " + low + "H" + x_begin);
            below[i] += s.y[i];
        }
        if (!upper_path.empty())
            out.drawn.path(upper_path + lower_path + "Z", svg_class("fill", s.kind), out.drawn.filling(s.kind), s.name);
    }
    out.drawn.line(area.left, area.top + area.height, area.left + area.width, area.top + area.height, "lc-axis");
    for (const chart_section& s : sections) {
        const double x_begin = area.x(static_cast<double>(s.begin)), to = area.x(static_cast<double>(s.to));
        if (s.begin > 0) out.drawn.line(x_begin, area.top, x_begin, area.top + area.height + 8, "lc-limit");
        const bool fits = svg_width_of(s.name) <= to - x_begin;
        const double half = svg_width_of(s.name) / 2, middle = std::min((x_begin + to) / 2, 634 - half);
        out.drawn.text(middle, area.top + area.height + (fits ? 20 : 38), s.name, svg_anchor::middle);
    }
    for (const chart_limit& l : limits) area.draw_limit(out.drawn, l);
    const double legend_top = area.top + area.height + 62;
    const double took = detail::draw_legend(
        out.drawn, 20, legend_top, 626, names,
        [&](std::size_t i, double x, double y) { out.drawn.filled(x, y - 9, 26, 18, layers[i].kind); });
    out.height = legend_top + took;
    return out;
}

LLMCOST_INLINE svg_picture bar_chart(const chart_text& text, const std::vector<chart_group>& groups,
                                     const std::vector<chart_limit>& limits) {
    svg_picture out = detail::begin_picture(text);
    double maximum = 0, names = 0, labels = 0;
    for (const chart_group& g : groups)
        for (const chart_bar& b : g.bars) {
            maximum = std::max(maximum, b.value);
            names = std::max(names, svg_width_of(b.name));
            labels = std::max(labels, svg_width_of(b.label));
        }
    for (const chart_limit& l : limits) maximum = std::max(maximum, l.value);
    if (!(maximum > 0)) maximum = 1;
    names = std::min(names, 250.0);
    const double left = 20 + names + 8, slot_width = 640 - left - labels - 24, top = limits.empty() ? 48 : 66;
    double below = top;
    for (const chart_group& g : groups) below += 26 * static_cast<double>(g.bars.size()) + (g.name.empty() ? 0 : 34);
    for (const chart_limit& l : limits) {
        const double x = left + slot_width * l.value / maximum;
        out.drawn.line(x, top - 6, x, below + 2, "lc-limit");
        out.drawn.text(x, top - 12, l.name, x > 480 ? svg_anchor::end : svg_anchor::middle);
    }
    double y = top;
    for (const chart_group& g : groups) {
        if (!g.name.empty()) {
            out.drawn.text(14, y + 14, detail::svg_cut(g.name, 600));
            y += 24;
        }
        for (const chart_bar& b : g.bars) {
            const double long_as = slot_width * b.value / maximum;
            out.drawn.text(left - 8, y + 17, detail::svg_cut(b.name, names), svg_anchor::end,
                           g.name.empty() ? "" : "lc-soft");
            if (b.value > 0) out.drawn.filled(left, y + 3, std::max(1.0, long_as), 19, b.kind, b.name + ": " + b.label);
            out.drawn.text(left + std::max(1.0, long_as) + 7, y + 17, b.label, svg_anchor::start, "lc-halo");
            y += 26;
        }
        y += g.name.empty() ? 0 : 10;
    }
    out.drawn.line(left, top - 2, left, y + 2, "lc-axis");
    out.height = y + 14;
    return out;
}

LLMCOST_INLINE svg_picture stack_pictures(svg_picture first, const svg_picture& second) {
    first.drawn.place(0, first.height, second.drawn);
    first.height += second.height;
    first.description += ". " + second.title + ": " + second.description;
    return first;
}

}  // namespace llmcost
