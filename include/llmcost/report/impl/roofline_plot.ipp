// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/report/roofline_plot.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/report/chart.hpp>
#include <llmcost/report/svg.hpp>
#include <llmcost/report/ticks.hpp>

namespace llmcost::detail {

/// The plot area: powers of ten around all points and the ridge point of the highest roof.
[[nodiscard]] LLMCOST_INLINE chart_area roofline_area(const roofline_points& data) {
    double peak = 0;
    for (const roofline_roof& r : data.roofs) peak = std::max(peak, r.flops_per_second);
    const double corner = peak / data.bytes_per_second;
    double x_low = corner / 10, x_high = corner * 10, y_low = peak, y_high = peak;
    for (const plotted_operator& p : data.points) {
        if (!(p.bytes > 0) || !(p.flops > 0)) continue;
        x_low = std::min(x_low, p.flops / p.bytes);
        x_high = std::max(x_high, p.flops / p.bytes);
        y_low = std::min(y_low, p.flops / p.seconds);
        y_high = std::max(y_high, p.flops / p.seconds);
    }
    const auto down = [](double v) { return std::pow(10, std::floor(std::log10(v) + 1e-9)); };
    const auto up = [](double v) { return std::pow(10, std::ceil(std::log10(v) - 1e-9)); };
    chart_area area;
    area.x_axis = {"FLOPs for each byte that is moved", axis_scale::logarithmic, axis_unit::number};
    area.up = {"FLOP/s", axis_scale::logarithmic, axis_unit::number};
    area.x_low = down(x_low);
    area.x_high = up(x_high);
    y_low = std::min(y_low, area.x_low * data.bytes_per_second / 10);
    area.y_high = up(y_high * 1.5);
    for (const plotted_operator& p : data.points)
        if (!(p.flops > 0) && p.bytes > 0) y_low = std::min(y_low, area.x_low * p.bytes / p.seconds);
    area.y_low = down(std::max(y_low, area.y_high / 1e9));
    return area;
}

LLMCOST_INLINE bool label_placer::meets_any(const std::vector<box>& boxes, const box& area) {
    return std::any_of(boxes.begin(), boxes.end(), [&](const box& b) { return b.meets(area); });
}

LLMCOST_INLINE void label_placer::place_label(svg_writer& out, double x, double y, const std::string& label) {
    constexpr std::pair<double, double> tries[]{
        {9, -6},   {9, 16},  {-9, -6},  {-9, 16}, {12, 5},   {-12, 5},   {16, -18},  {16, 28}, {-16, -18},
        {-16, 28}, {26, 5},  {-26, 5},  {9, -32}, {9, 42},   {30, -18},  {-30, -18}, {30, 28}, {-30, 28},
        {42, 5},   {-42, 5}, {-9, -32}, {-9, 42}, {28, -34}, {-28, -34}, {28, 46},   {-28, 46}};
    constexpr int num_samples = 12;
    const double width = svg_width_of(label);
    for (const auto& [dx, dy] : tries) {
        const box label_box{x + dx - (dx < 0 ? width : 0), y + dy - 11, width, 14};
        if (meets_any(occupied_, label_box)) continue;
        const double x_begin = x + (dx < 0 ? -3 : 3), x_end = x + dx * 0.9, y_end = y + dy - 4;
        std::vector<box> samples;  // of the line
        if (std::fabs(dx) > 12 || std::fabs(dy) > 20)
            for (int i = 0; i <= num_samples; ++i) {
                const double part = static_cast<double>(i) / num_samples;
                samples.push_back({x_begin + part * (x_end - x_begin) - 1, y + part * (y_end - y) - 1, 2, 2});
            }
        if (std::any_of(samples.begin(), samples.end(), [&](const box& b) { return meets_any(texts_, b); })) continue;
        if (!samples.empty()) out.line(x_begin, y, x_end, y_end, "lc-axis");
        out.text(x + dx, y + dy, label, dx < 0 ? svg_anchor::end : svg_anchor::start, "lc-halo lc-small");
        occupied_.push_back(label_box);
        occupied_.insert(occupied_.end(), samples.begin(), samples.end());
        texts_.push_back(label_box);
        return;
    }
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE svg_picture roofline_plot(const chart_text& text, const roofline_points& data) {
    constexpr double strip = 60;
    svg_picture out = detail::begin_picture(text);
    chart_area area = detail::roofline_area(data);
    area.left = 6 + area.label_width() + strip;
    area.top = 68;
    area.width = 640 - area.left - 20;
    area.height = 360;
    const double left = area.left;
    area.left -= strip;
    area.width += strip;  // grid lines extend through the strip
    area.draw_up(out.drawn);
    area.left = left;
    area.width -= strip;
    area.draw_across(out.drawn, axis_ticks(area.x_low, area.x_high, area.x_axis, 8));
    out.drawn.line(left - strip, area.top + area.height, left, area.top + area.height, "lc-axis");
    out.drawn.line(left, area.top, left, area.top + area.height, "lc-grid");
    out.drawn.text(left - strip * 0.6, area.top + area.height + 20, "0", svg_anchor::middle);
    double peak = 0;
    for (const roofline_roof& r : data.roofs) peak = std::max(peak, r.flops_per_second);
    const double low = std::max(area.x_low, area.y_low / data.bytes_per_second);
    const double corner = std::min(area.x_high, peak / data.bytes_per_second);
    const double at_left = area.y(low * data.bytes_per_second);
    out.drawn.path("M" + svg_number(left - strip) + " " + svg_number(at_left) + "H" + svg_number(area.x(low)) + "L" +
                       svg_number(area.x(corner)) + " " + svg_number(area.y(corner * data.bytes_per_second)),
                   "lc-roof");
    detail::label_placer labels;
    for (const roofline_roof& r : data.roofs) {
        const double x_begin = std::max(area.x_low, r.flops_per_second / data.bytes_per_second);
        out.drawn.path("M" + svg_number(area.x(x_begin)) + " " + svg_number(area.y(r.flops_per_second)) + "H" +
                           svg_number(left + area.width),
                       "lc-roof");
        const double right = left + area.width - 4, width = svg_width_of(r.name);
        const double y = area.y(r.flops_per_second) +
                         (r.flops_per_second < peak ? 17 : -8);  // below a roof that is under another one
        out.drawn.text(right, y, r.name, svg_anchor::end, "lc-halo");
        labels.reserve_text(right - width, y, width);
        labels.reserve_line(area.x(x_begin), area.y(r.flops_per_second), left + area.width - area.x(x_begin));
    }
    const double middle = std::sqrt(low * corner);
    const double slope = std::atan2(area.y(low * data.bytes_per_second) - area.y(corner * data.bytes_per_second),
                                    area.x(corner) - area.x(low));
    const double x = area.x(middle), y = area.y(middle * data.bytes_per_second);
    out.drawn.open("g", {{"transform", "translate(" + svg_number(x) + " " + svg_number(y - 8) + ") rotate(" +
                                           svg_number(-slope * 180 / 3.14159265358979) + ")"}});
    out.drawn.text(0, 0, data.bandwidth_name, svg_anchor::middle, "lc-halo").close();
    std::vector<std::pair<double, double>> points;
    for (const plotted_operator& p : data.points) {
        const bool counts = p.flops > 0 && p.bytes > 0;
        const double up = counts ? p.flops / p.seconds : area.x_low * p.bytes / p.seconds;
        points.emplace_back(counts ? area.x(p.flops / p.bytes) : left - strip * 0.6,
                            area.y(std::clamp(up, area.y_low, area.y_high)));
        out.drawn.marker(points.back().first, points.back().second, p.kind, p.name);
        labels.reserve_marker(points.back().first, points.back().second);
    }
    for (std::size_t i = 0; i < points.size(); ++i)
        if (!data.points[i].label.empty())
            labels.place_label(out.drawn, points[i].first, points[i].second, data.points[i].label);
    const double below = area.top + area.height + 70;
    const double took =
        detail::draw_legend(out.drawn, 20, below, 626, data.kinds,
                            [&](std::size_t i, double lx, double ly) { out.drawn.marker(lx + 14, ly, i); });
    out.height = below + took;
    return out;
}

}  // namespace llmcost
