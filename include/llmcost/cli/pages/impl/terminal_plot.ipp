// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/pages/terminal_plot.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/report/chart.hpp>
#include <llmcost/report/ticks.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE void braille_canvas::dot(double x, double y) {
    const auto [cell, column, row] = place_of(x, y);
    constexpr unsigned bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    dots_[cell] |= bits[row][column];
}

LLMCOST_INLINE void braille_canvas::line(double x1, double y1, double x2, double y2) {
    const double steps = std::max({std::fabs(x2 - x1), std::fabs(y2 - y1), 1.0});
    for (double i = 0; i <= steps; ++i) dot(x1 + (x2 - x1) * i / steps, y1 + (y2 - y1) * i / steps);
}

LLMCOST_INLINE void braille_canvas::letter(double x, double y, char symbol) {
    char& cell = letters_[place_of(x, y).cell];
    cell = cell == ' ' || cell == symbol ? symbol : '*';
}

LLMCOST_INLINE std::string braille_canvas::row(std::size_t y) const {
    std::string out;
    for (std::size_t x = 0; x < columns_; ++x) {
        const std::size_t cell = y * columns_ + x;
        if (letters_[cell] != ' ' || dots_[cell] == 0) {
            out += letters_[cell];
            continue;
        }
        out += '\xE2';  // U+2800 and the dots
        out += static_cast<char>(0xA0U | (dots_[cell] >> 6));
        out += static_cast<char>(0x80U | (dots_[cell] & 0x3FU));
    }
    return out;
}

LLMCOST_INLINE braille_canvas::place braille_canvas::place_of(double x, double y) const {
    const auto rounded = [](double v, double maximum) {
        return static_cast<std::size_t>(std::lround(std::clamp(v, 0.0, maximum)));
    };
    const std::size_t x_dot = rounded(x, dots_across()), down = rows_ * 4 - 1 - rounded(y, dots_up());
    return {down / 4 * columns_ + x_dot / 2, x_dot % 2, down % 4};
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE std::string terminal_plot(const chart_axis& x_axis, const chart_axis& up,
                                         const std::vector<chart_series>& all, std::size_t terminal_columns) {
    constexpr std::size_t rows = 16, usual_columns = 80, min_columns = 40, max_columns = 240;
    const std::size_t page_columns =
        terminal_columns == 0 ? usual_columns : std::clamp(terminal_columns, min_columns, max_columns);
    chart_area area;
    area.x_axis = x_axis;
    area.up = up;
    const auto [x_low, x_high, y_low, y_high, has_points] = bounds_of(all, x_axis, up);
    if (!has_points) return {};
    area.x_low = x_low;
    area.x_high = x_high;
    area.y_low = y_low;
    area.y_high = y_high;
    chart_area::widen(area.x_low, area.x_high, x_axis, false);
    chart_area::widen(area.y_low, area.y_high, up, true);
    const std::vector<axis_tick> ticks = axis_ticks(area.y_low, area.y_high, up, 5);
    std::size_t margin = 1;
    for (const axis_tick& t : ticks) margin = std::max(margin, width_of(t.label));
    const std::size_t columns = page_columns - margin - 2;
    detail::braille_canvas canvas(columns, rows);
    area.width = canvas.dots_across();
    area.height = canvas.dots_up();
    const auto x_of = [&](double v) { return area.x(v); };
    const auto y_of = [&](double v) { return area.height - area.y(v); };
    for (std::size_t s = 0; s < all.size(); ++s) {
        const auto& [name, xs, ys, has_line, marked, kind] = all[s];
        std::size_t previous = xs.size();
        for (std::size_t i = 0; i < xs.size(); ++i) {
            if (!is_on_axis(xs[i], x_axis) || !is_on_axis(ys[i], up)) continue;
            if (previous < xs.size()) canvas.line(x_of(xs[previous]), y_of(ys[previous]), x_of(xs[i]), y_of(ys[i]));
            canvas.letter(x_of(xs[i]), y_of(ys[i]), static_cast<char>('A' + s % 26));
            previous = i;
        }
    }
    std::vector<std::string> labels(rows);
    for (const axis_tick& t : ticks)
        labels[rows - 1 - std::min(rows - 1, static_cast<std::size_t>(std::lround(y_of(t.value)) / 4))] = t.label;
    std::string out = std::string(margin + 1, ' ') + up.title + '\n';
    for (std::size_t y = 0; y < rows; ++y) {
        const std::string line = right(labels[y], margin) + (labels[y].empty() ? " │" : " ┤") + canvas.row(y);
        out += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    }
    out += std::string(margin + 1, ' ') + "└";
    std::string line(columns, ' '), rule;
    std::size_t free = 0;
    std::vector<std::size_t> marks;
    for (const axis_tick& t : ticks_of(all, area)) {
        const auto column = static_cast<std::size_t>(std::lround(x_of(t.value))) / 2;
        const std::size_t label_width = t.label.size(),
                          label_begin = std::min(column - std::min(column, label_width / 2),
                                                 columns - std::min(columns, label_width));
        if (label_begin < free || label_width > columns) continue;
        line.replace(label_begin, label_width, t.label);
        free = label_begin + label_width + 1;
        marks.push_back(column);
    }
    for (std::size_t i = 0; i < columns; ++i)
        rule += std::find(marks.begin(), marks.end(), i) != marks.end() ? "┬" : "─";
    out += rule + '\n' + std::string(margin + 2, ' ') + line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    out +=
        std::string(margin + 2 + (columns - std::min(columns, width_of(x_axis.title))) / 2, ' ') + x_axis.title + '\n';
    for (std::size_t s = 0; s < all.size(); ++s)
        out += std::string(1, static_cast<char>('A' + s % 26)) + "  " + all[s].name + '\n';
    return out;
}

}  // namespace llmcost::cli
