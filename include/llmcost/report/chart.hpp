// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/report/svg.hpp>
#include <llmcost/report/ticks.hpp>

// Charts: lines and points over two axes, stacked areas, bars.
namespace llmcost {

/// An SVG picture, for a file or as a part of a page.
struct svg_picture {
    svg_writer drawn;
    double width = 640, height = 0;
    std::string title, description;

    [[nodiscard]] std::string document() const { return drawn.document(width, height, title, description); }
    [[nodiscard]] std::string figure() const { return drawn.figure(width, height, title, description); }
};

/// A series of values, in the order of its line.
struct chart_series {
    std::string name;
    std::vector<double> x, y;
    bool has_line = true;  ///< draws a line
    bool marked = true;    ///< draws a marker at each value
    std::size_t kind = 0;  ///< index of the style
};

/// A labeled limit of a chart, such as the memory of a device.
struct chart_limit {
    std::string name;
    double value = 0;
};

/// The texts of a chart.
struct chart_text {
    std::string title;
    std::string description;    ///< accessible description: the values of the chart as text
    std::string prefix = "lc";  ///< prefix of pattern ids; unique if a page has several pictures
};

/// The plot area of a chart: a rectangle with two axes.
class chart_area {
public:
    double left = 0, top = 0, width = 0, height = 0;
    chart_axis x_axis{}, up{};
    double x_low = 0, x_high = 1, y_low = 0, y_high = 1;

    [[nodiscard]] double x(double value) const { return left + width * share(value, x_low, x_high, x_axis.scale); }
    [[nodiscard]] double y(double value) const { return top + height - height * share(value, y_low, y_high, up.scale); }

    /// Extends bounds to round values. A linear axis starts at zero with `from_zero`.
    static void widen(double& low, double& high, const chart_axis& axis, bool from_zero);

    /// Draws grid lines and labels of the vertical axis, and its title above.
    void draw_up(svg_writer& out) const;
    /// Draws ticks of the horizontal axis, as many as fit.
    void draw_across(svg_writer& out, const std::vector<axis_tick>& ticks) const;
    /// Draws a line at a limit, with its name at the end.
    void draw_limit(svg_writer& out, const chart_limit& limit) const;
    /// Width of the labels of the vertical axis.
    [[nodiscard]] double label_width() const;

private:
    static double share(double value, double low, double high, axis_scale scale);
};

namespace detail {

/// Draws a legend of lines as wide as the picture. Returns its height.
template <class Symbol>
double draw_legend(svg_writer& out, double left, double top, double right, const std::vector<std::string>& names,
                   Symbol symbol) {
    double x = left, y = top;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const double slot_width = 34 + svg_width_of(names[i]) + 20;
        if (x > left && x + slot_width > right) {
            x = left;
            y += 22;
        }
        symbol(i, x, y);
        out.text(x + 34, y + 5, names[i]);
        x += slot_width;
    }
    return names.empty() ? 0 : y - top + 22;
}

/// The longest prefix of a text with about this width.
[[nodiscard]] std::string svg_cut(std::string_view text, double expanded_width);

[[nodiscard]] svg_picture begin_picture(const chart_text& text);

}  // namespace detail

/// Ticks at the values if there are few, otherwise at round values.
[[nodiscard]] std::vector<axis_tick> ticks_of(const std::vector<chart_series>& all, const chart_area& area);

/// Whether an axis can represent a value.
[[nodiscard]] inline bool is_on_axis(double value, const chart_axis& axis) noexcept {
    return axis.scale == axis_scale::linear || value > 0;
}

/// Minimum and maximum of all series; a power of ten if there are no values.
struct chart_bounds {
    double x_low = 1, x_high = 10, y_low = 1, y_high = 10;
    bool has_values = false;
};
[[nodiscard]] chart_bounds bounds_of(const std::vector<chart_series>& all, const chart_axis& x_axis,
                                     const chart_axis& up);

/// A line or scatter chart. A logarithmic axis omits values that are not positive.
[[nodiscard]] svg_picture line_chart(const chart_text& text, const chart_axis& x_axis, const chart_axis& up,
                                     const std::vector<chart_series>& all, const std::vector<chart_limit>& limits = {});

/// A named interval of an axis.
struct chart_section {
    std::string name;
    std::size_t begin = 0, to = 0;
};

/// A chart of stacked areas with steps. `layers` have one `y` per step. Section names are below the axis.
[[nodiscard]] svg_picture stacked_areas(const chart_text& text, const chart_axis& up,
                                        const std::vector<chart_series>& layers,
                                        const std::vector<chart_section>& sections,
                                        const std::vector<chart_limit>& limits = {});

/// A bar: its value, and the text after it.
struct chart_bar {
    std::string name;
    double value = 0;
    std::string label{};
    std::size_t kind = 0;
};

/// A group of adjacent bars under an optional name.
struct chart_group {
    std::string name{};
    std::vector<chart_bar> bars;
};

/// A horizontal bar chart with names on the left and texts after the bars.
[[nodiscard]] svg_picture bar_chart(const chart_text& text, const std::vector<chart_group>& groups,
                                    const std::vector<chart_limit>& limits = {});

/// Stacks two pictures into one, with the title of the first.
[[nodiscard]] svg_picture stack_pictures(svg_picture first, const svg_picture& second);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/report/impl/chart.ipp>  // IWYU pragma: export
#endif
