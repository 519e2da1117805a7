// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/report/chart.hpp>
#include <llmcost/report/ticks.hpp>

// Line charts in a terminal: braille dots, with a letter at each value.
namespace llmcost::cli {

namespace detail {

/// A grid of characters with 2 x 4 dots each, and letters on top.
class braille_canvas {
public:
    braille_canvas(std::size_t columns, std::size_t rows)
        : columns_(columns), rows_(rows), dots_(columns * rows, 0), letters_(columns * rows, ' ') {}

    /// The number of dots per row and column; the origin is at the lower left.
    [[nodiscard]] double dots_across() const noexcept { return static_cast<double>(columns_ * 2 - 1); }
    [[nodiscard]] double dots_up() const noexcept { return static_cast<double>(rows_ * 4 - 1); }

    void dot(double x, double y);
    void line(double x1, double y1, double x2, double y2);
    void letter(double x, double y, char symbol);
    [[nodiscard]] std::string row(std::size_t y) const;

private:
    struct place {
        std::size_t cell, column, row;
    };
    [[nodiscard]] place place_of(double x, double y) const;

    std::size_t columns_, rows_;
    std::vector<unsigned> dots_;
    std::string letters_;
};

}  // namespace detail

/// A chart: letters are values, dots are lines, a star marks several values in one place.
///
/// `columns` is the width of the terminal; 0 if it is unknown: 80.
[[nodiscard]] std::string terminal_plot(const chart_axis& x_axis, const chart_axis& up,
                                        const std::vector<chart_series>& all, std::size_t columns = 0);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/pages/impl/terminal_plot.ipp>  // IWYU pragma: export
#endif
