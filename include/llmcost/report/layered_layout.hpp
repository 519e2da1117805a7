// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
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
    layered_builder(std::int32_t boxes, std::vector<layered_edge> edges, double box_width, double high, double gap)
        : boxes_(boxes), edges_(std::move(edges)), box_width_(box_width), high_(high), gap_(gap) {
        rank();
        chain();
        order();
        place();
    }
    [[nodiscard]] layered_places take() const {
        layered_places out;
        const double minimum = *std::min_element(x_.begin(), x_.end(), std::less<>());
        const auto at = [&](std::int32_t n) {
            const auto i = static_cast<std::size_t>(n);
            return layered_point{x_[i] - minimum + box_width_ / 2, row_[i] * (high_ + gap_) + high_ / 2};
        };
        for (std::int32_t i = 0; i < boxes_; ++i) out.boxes.push_back(at(i));
        for (const std::vector<std::int32_t>& way : ways_) {
            std::vector<layered_point> points;
            for (std::size_t k = 0; k < way.size(); ++k) {
                layered_point p = at(way[k]);
                if (k == 0) p.y += high_ / 2;
                if (k + 1 == way.size()) p.y -= high_ / 2;
                points.push_back(p);
            }
            out.edges.push_back(std::move(points));
        }
        for (std::size_t i = 0; i < x_.size(); ++i) {
            out.width = std::max(out.width, x_[i] - minimum + box_width_);
            out.height = std::max(out.height, row_[i] * (high_ + gap_) + high_);
        }
        return out;
    }

private:
    [[nodiscard]] bool is_box(std::int32_t n) const { return n < boxes_; }
    [[nodiscard]] int& row_of(std::int32_t n) { return row_[static_cast<std::size_t>(n)]; }

    /// Layers by longest path. A box without inputs is directly above its first consumer.
    void rank() {
        row_.assign(static_cast<std::size_t>(boxes_), 0);
        std::vector<bool> made(static_cast<std::size_t>(boxes_), false);
        for (const layered_edge& e : edges_) made[static_cast<std::size_t>(e.to)] = true;
        for (std::int32_t round = 0; round < boxes_;
             ++round) {  // edges lead from earlier to later boxes: one round suffices
            bool moved = false;
            for (const layered_edge& e : edges_)
                if (row_of(e.to) < row_of(e.source) + 1) {
                    row_of(e.to) = row_of(e.source) + 1;
                    moved = true;
                }
            if (!moved) break;
        }
        for (std::int32_t i = 0; i < boxes_; ++i) {
            if (made[static_cast<std::size_t>(i)]) continue;
            int first = INT32_MAX;
            for (const layered_edge& e : edges_)
                if (e.source == i) first = std::min(first, row_of(e.to));
            if (first != INT32_MAX) row_of(i) = first - 1;
        }
    }
    /// Adds points at which edges pass layers. All edges of a box share one path.
    void chain() {
        std::vector<std::vector<std::int32_t>> passes(static_cast<std::size_t>(boxes_));
        for (const layered_edge& e : edges_) {
            std::vector<std::int32_t> way{e.source};
            std::vector<std::int32_t>& passed_points = passes[static_cast<std::size_t>(e.source)];
            for (int r = row_of(e.source) + 1; r < row_of(e.to); ++r) {
                const auto k = static_cast<std::size_t>(r - row_of(e.source) - 1);
                if (k == passed_points.size()) {
                    passed_points.push_back(static_cast<std::int32_t>(row_.size()));
                    row_.push_back(r);
                }
                way.push_back(passed_points[k]);
            }
            way.push_back(e.to);
            ways_.push_back(std::move(way));
        }
        above_.resize(row_.size());
        below_.resize(row_.size());
        for (const std::vector<std::int32_t>& way : ways_)
            for (std::size_t k = 0; k + 1 < way.size(); ++k) link(way[k], way[k + 1]);
    }
    void link(std::int32_t source, std::int32_t to) {
        std::vector<std::int32_t>& down = below_[static_cast<std::size_t>(source)];
        if (std::find(down.begin(), down.end(), to) != down.end()) return;
        down.push_back(to);
        above_[static_cast<std::size_t>(to)].push_back(source);
    }
    /// Sorts each layer by the mean position of neighbors, down and up.
    void order() {
        const int last = *std::max_element(row_.begin(), row_.end());
        rows_.resize(static_cast<std::size_t>(last) + 1);
        for (std::size_t i = 0; i < row_.size(); ++i)
            rows_[static_cast<std::size_t>(row_[i])].push_back(static_cast<std::int32_t>(i));
        std::vector<double> place(row_.size(), 0);
        const auto number = [&](const std::vector<std::int32_t>& row) {
            for (std::size_t k = 0; k < row.size(); ++k)
                place[static_cast<std::size_t>(row[k])] = static_cast<double>(k);
        };
        const auto sort_by = [&](std::vector<std::int32_t>& row,
                                 const std::vector<std::vector<std::int32_t>>& neighbors) {
            std::vector<std::pair<double, std::int32_t>> keys;
            for (const std::int32_t n : row) {
                const std::vector<std::int32_t>& near = neighbors[static_cast<std::size_t>(n)];
                double sum = 0;
                for (const std::int32_t o : near) sum += place[static_cast<std::size_t>(o)];
                keys.emplace_back(
                    near.empty() ? place[static_cast<std::size_t>(n)] : sum / static_cast<double>(near.size()), n);
            }
            std::stable_sort(keys.begin(), keys.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
            for (std::size_t k = 0; k < row.size(); ++k) row[k] = keys[k].second;
            number(row);
        };
        for (const auto& row : rows_) number(row);
        for (int sweep = 0; sweep < 6; ++sweep) {
            for (std::size_t r = 1; r < rows_.size(); ++r) sort_by(rows_[r], above_);
            for (std::size_t r = rows_.size() - 1; r-- > 0;) sort_by(rows_[r], below_);
        }
    }
    /// Moves boxes toward the mean of their neighbors, without overlap.
    void place() {
        const auto width_of = [&](std::int32_t n) { return is_box(n) ? box_width_ : 14.0; };
        const auto min_distance = [&](std::int32_t a, std::int32_t b) { return (width_of(a) + width_of(b)) / 2 + 16; };
        x_.assign(row_.size(), 0);
        for (const auto& row : rows_)
            for (std::size_t k = 1; k < row.size(); ++k)
                x_[static_cast<std::size_t>(row[k])] =
                    x_[static_cast<std::size_t>(row[k - 1])] + min_distance(row[k - 1], row[k]);
        const auto relax = [&](const std::vector<std::int32_t>& row,
                               const std::vector<std::vector<std::int32_t>>& neighbors) {
            std::vector<double> wish, left, right(row.size());
            for (const std::int32_t n : row) {
                const std::vector<std::int32_t>& near = neighbors[static_cast<std::size_t>(n)];
                double sum = 0, weight = 0;
                for (const std::int32_t o : near) {
                    const double w = is_box(n) == is_box(o) ? 6 : 1;  // straight edges, including long ones
                    sum += w * x_[static_cast<std::size_t>(o)];
                    weight += w;
                }
                wish.push_back(near.empty() ? x_[static_cast<std::size_t>(n)] : sum / weight);
            }
            for (std::size_t k = 0; k < row.size(); ++k)
                left.push_back(k == 0 ? wish[0] : std::max(wish[k], left[k - 1] + min_distance(row[k - 1], row[k])));
            for (std::size_t k = row.size(); k-- > 0;)
                right[k] =
                    k + 1 == row.size() ? wish[k] : std::min(wish[k], right[k + 1] - min_distance(row[k], row[k + 1]));
            for (std::size_t k = 0; k < row.size(); ++k)
                x_[static_cast<std::size_t>(row[k])] = (left[k] + right[k]) / 2;
        };
        for (int sweep = 0; sweep < 10; ++sweep) {
            for (std::size_t r = 1; r < rows_.size(); ++r) relax(rows_[r], above_);
            for (std::size_t r = rows_.size() - 1; r-- > 0;) relax(rows_[r], below_);
        }
        for (std::size_t r = 1; r < rows_.size(); ++r) relax(rows_[r], above_);
    }

    std::int32_t boxes_;
    std::vector<layered_edge> edges_;
    double box_width_, high_, gap_;
    std::vector<int> row_;  ///< layers of boxes, then of points of edges
    std::vector<std::vector<std::int32_t>> ways_, rows_, above_, below_;
    std::vector<double> x_;
};

}  // namespace detail

/// The layout of boxes of one size. The edges form no cycle.
[[nodiscard]] inline layered_places layered_layout(std::int32_t boxes, std::vector<layered_edge> edges,
                                                   double box_width, double high, double gap) {
    if (boxes == 0) return {};
    return detail::layered_builder(boxes, std::move(edges), box_width, high, gap).take();
}

}  // namespace llmcost
