// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

// Layered layout of directed acyclic graphs: layers by longest path, order within a layer by neighbors.
// Source: Sugiyama, Tagawa and Toda, 1981.
namespace llmcost {

struct layered_edge {
    std::int32_t source = 0, to = 0;
};

/// A point of an edge, or the center of a box.
struct layered_point {
    double x = 0, y = 0;
};

struct layered_places {
    std::vector<layered_point> boxes;               ///< centers
    std::vector<std::vector<layered_point>> edges;  ///< from the bottom of a box to the top of another
    double width = 0, height = 0;
};

namespace detail {

/// Builds a layout: boxes of one size, and points at which long edges pass layers.
class layered_builder {
public:
    layered_builder(std::int32_t boxes, std::vector<layered_edge> edges, double box_width, double high, double gap);
    [[nodiscard]] layered_places take() const;

private:
    [[nodiscard]] bool is_box(std::int32_t n) const { return n < boxes_; }
    [[nodiscard]] int& row_of(std::int32_t n) { return row_[static_cast<std::size_t>(n)]; }

    /// Layers by longest path. A box without inputs is directly above its first consumer.
    void rank();
    /// Adds points at which edges pass layers. All edges of a box share one path.
    void chain();
    void link(std::int32_t source, std::int32_t to);
    /// Sorts each layer by the mean position of neighbors, down and up.
    void order();
    /// Moves boxes toward the mean of their neighbors, without overlap.
    void place();

    std::int32_t boxes_;
    std::vector<layered_edge> edges_;
    double box_width_, box_height_, gap_;
    std::vector<int> row_;  ///< layers of boxes, then of points of edges
    std::vector<std::vector<std::int32_t>> edge_paths_, rows_, upper_neighbors_, lower_neighbors_;
    std::vector<double> x_positions_;
};

}  // namespace detail

/// The layout of boxes of one size. The edges form no cycle.
[[nodiscard]] layered_places layered_layout(std::int32_t boxes, std::vector<layered_edge> edges, double box_width,
                                            double high, double gap);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/report/impl/layered_layout.ipp>  // IWYU pragma: export
#endif
