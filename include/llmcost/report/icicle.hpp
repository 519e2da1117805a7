// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/report/chart.hpp>
#include <llmcost/report/html.hpp>

// Icicle diagrams: a hierarchy from top to bottom, each box as wide as its share.
namespace llmcost {

/// A measure of box widths.
struct icicle_measure {
    std::string name;
    std::string unit;  ///< `B`, `s`; empty: a count
};

/// A module, or several equal ones. Parents precede their children.
struct icicle_box {
    std::string name;  ///< relative to its parent
    std::string path;  ///< full path; `0-15` in it for several modules
    std::string type;
    std::int32_t parent = -1;
    int depth = 0;
    std::uint64_t times = 1;      ///< number of modules
    std::size_t kind = 0;         ///< index of the style
    std::vector<double> sizes{};  ///< by measure, sum over all modules
};

struct icicle {
    std::vector<icicle_measure> measures;
    std::vector<icicle_box> boxes;
    std::vector<std::string> kinds{};  ///< meanings of the styles; empty: none
    std::string title{}, description{};
};

/// Left edge and width of a box, as fractions of the diagram.
struct icicle_place {
    double left = 0, width = 0;
};

/// The positions of all boxes by a measure. Children follow each other from the left edge of their parent.
[[nodiscard]] std::vector<icicle_place> icicle_places(const icicle& diagram, std::size_t measure);

/// The diagram by its first measure as a static picture.
[[nodiscard]] svg_picture icicle_picture(const icicle& diagram, const std::string& prefix = "lc");

/// Writes the diagram as interactive HTML for `icicle_script`: each box is a button.
void write_icicle(html_writer& page, const icicle& diagram);

/// The style of `write_icicle`: a fill per kind, and names in print.
[[nodiscard]] std::string icicle_style();

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/report/impl/icicle.ipp>  // IWYU pragma: export
#endif
