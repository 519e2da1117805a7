// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <llmcost/report/chart.hpp>
#include <llmcost/report/svg.hpp>

// Roofline plots: the achieved bandwidth and FLOP/s of operators.
namespace llmcost {

/// A peak of a device in FLOP/s.
struct roofline_roof {
    std::string name;
    double flops_per_second = 0;
};

/// An operator, or several equal ones.
struct plotted_operator {
    std::string name;
    double flops = 0, bytes = 0, seconds = 0;
    std::size_t kind = 0;
    std::string label{};  ///< next to its marker; empty: none
};

/// The data of a roofline plot.
struct roofline_points {
    std::string bandwidth_name;
    double bytes_per_second = 0;
    std::vector<roofline_roof> roofs{};      ///< the highest one extends to the bandwidth's
    std::vector<plotted_operator> points{};  ///< all with a positive time
    std::vector<std::string> kinds{};
};

namespace detail {

/// Places labels next to their markers without overlap, in order of priority.
class label_placer {
public:
    /// Reserves the area of a marker.
    void reserve_marker(double x, double y) { occupied_.push_back({x - 4, y - 7, 8, 14}); }
    /// Reserves the area of a text, which no line of a label may cross.
    void reserve_text(double x, double y, double width) {
        texts_.push_back({x, y - 11, width, 14});
        occupied_.push_back(texts_.back());
    }
    /// Reserves a horizontal line.
    void reserve_line(double x, double y, double width) { occupied_.push_back({x, y - 2, width, 4}); }
    /// Draws a label near a marker, with a line to it if the label is not next to the marker; draws nothing if there is
    /// no free area.
    void place_label(svg_writer& out, double x, double y, const std::string& label);

private:
    struct box {
        double x, y, width, high;
        [[nodiscard]] bool meets(const box& o) const {
            return x < o.x + o.width && o.x < x + width && y < o.y + o.high && o.y < y + high;
        }
    };
    [[nodiscard]] static bool meets_any(const std::vector<box>& boxes, const box& area);

    std::vector<box> occupied_, texts_;
};

}  // namespace detail

/// A roofline plot of operators with a positive time: arithmetic intensity against FLOP/s.
///
/// Operators without FLOPs are in a strip on the left, where the height below the roof shows the achieved bandwidth.
[[nodiscard]] svg_picture roofline_plot(const chart_text& text, const roofline_points& data);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/report/impl/roofline_plot.ipp>  // IWYU pragma: export
#endif
