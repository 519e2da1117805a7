// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/report/layered_layout.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>

namespace llmcost::detail {

LLMCOST_INLINE layered_builder::layered_builder(std::int32_t boxes, std::vector<layered_edge> edges, double box_width,
                                                double high, double gap)
    : boxes_(boxes), edges_(std::move(edges)), box_width_(box_width), box_height_(high), gap_(gap) {
    rank();
    chain();
    order();
    place();
}

LLMCOST_INLINE layered_places layered_builder::take() const {
    layered_places out;
    const double minimum = *std::min_element(x_positions_.begin(), x_positions_.end(), std::less<>());
    const auto point = [&](std::int32_t n) {
        const auto i = static_cast<std::size_t>(n);
        return layered_point{x_positions_[i] - minimum + box_width_ / 2,
                             row_[i] * (box_height_ + gap_) + box_height_ / 2};
    };
    for (std::int32_t i = 0; i < boxes_; ++i) out.boxes.push_back(point(i));
    for (const std::vector<std::int32_t>& way : edge_paths_) {
        std::vector<layered_point> points;
        for (std::size_t k = 0; k < way.size(); ++k) {
            const layered_point p = point(way[k]);
            // an edge that passes a row is straight next to the boxes of this row
            if (k > 0) points.push_back({p.x, p.y - box_height_ / 2});
            if (k + 1 < way.size()) points.push_back({p.x, p.y + box_height_ / 2});
        }
        out.edges.push_back(std::move(points));
    }
    for (std::size_t i = 0; i < x_positions_.size(); ++i) {
        out.width = std::max(out.width, x_positions_[i] - minimum + box_width_);
        out.height = std::max(out.height, row_[i] * (box_height_ + gap_) + box_height_);
    }
    return out;
}

LLMCOST_INLINE void layered_builder::rank() {
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

LLMCOST_INLINE void layered_builder::chain() {
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
        edge_paths_.push_back(std::move(way));
    }
    upper_neighbors_.resize(row_.size());
    lower_neighbors_.resize(row_.size());
    for (const std::vector<std::int32_t>& way : edge_paths_)
        for (std::size_t k = 0; k + 1 < way.size(); ++k) link(way[k], way[k + 1]);
}

LLMCOST_INLINE void layered_builder::link(std::int32_t source, std::int32_t to) {
    std::vector<std::int32_t>& down = lower_neighbors_[static_cast<std::size_t>(source)];
    if (std::find(down.begin(), down.end(), to) != down.end()) return;
    down.push_back(to);
    upper_neighbors_[static_cast<std::size_t>(to)].push_back(source);
}

LLMCOST_INLINE void layered_builder::order() {
    const int last = *std::max_element(row_.begin(), row_.end());
    rows_.resize(static_cast<std::size_t>(last) + 1);
    for (std::size_t i = 0; i < row_.size(); ++i)
        rows_[static_cast<std::size_t>(row_[i])].push_back(static_cast<std::int32_t>(i));
    std::vector<double> place(row_.size(), 0);
    const auto number = [&](const std::vector<std::int32_t>& row) {
        for (std::size_t k = 0; k < row.size(); ++k) place[static_cast<std::size_t>(row[k])] = static_cast<double>(k);
    };
    const auto sort_by = [&](std::vector<std::int32_t>& row, const std::vector<std::vector<std::int32_t>>& neighbors) {
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
        for (std::size_t r = 1; r < rows_.size(); ++r) sort_by(rows_[r], upper_neighbors_);
        for (std::size_t r = rows_.size() - 1; r-- > 0;) sort_by(rows_[r], lower_neighbors_);
    }
}

LLMCOST_INLINE void layered_builder::place() {
    const auto width_of = [&](std::int32_t n) { return is_box(n) ? box_width_ : 14.0; };
    const auto min_distance = [&](std::int32_t a, std::int32_t b) { return (width_of(a) + width_of(b)) / 2 + 16; };
    x_positions_.assign(row_.size(), 0);
    for (const auto& row : rows_)
        for (std::size_t k = 1; k < row.size(); ++k)
            x_positions_[static_cast<std::size_t>(row[k])] =
                x_positions_[static_cast<std::size_t>(row[k - 1])] + min_distance(row[k - 1], row[k]);
    const auto relax = [&](const std::vector<std::int32_t>& row,
                           const std::vector<std::vector<std::int32_t>>& neighbors) {
        std::vector<double> wish, left, right(row.size());
        for (const std::int32_t n : row) {
            const std::vector<std::int32_t>& near = neighbors[static_cast<std::size_t>(n)];
            double sum = 0, weight = 0;
            for (const std::int32_t o : near) {
                const double w = is_box(n) == is_box(o) ? 6 : 1;  // straight edges, including long ones
                sum += w * x_positions_[static_cast<std::size_t>(o)];
                weight += w;
            }
            wish.push_back(near.empty() ? x_positions_[static_cast<std::size_t>(n)] : sum / weight);
        }
        for (std::size_t k = 0; k < row.size(); ++k)
            left.push_back(k == 0 ? wish[0] : std::max(wish[k], left[k - 1] + min_distance(row[k - 1], row[k])));
        for (std::size_t k = row.size(); k-- > 0;)
            right[k] =
                k + 1 == row.size() ? wish[k] : std::min(wish[k], right[k + 1] - min_distance(row[k], row[k + 1]));
        for (std::size_t k = 0; k < row.size(); ++k)
            x_positions_[static_cast<std::size_t>(row[k])] = (left[k] + right[k]) / 2;
    };
    for (int sweep = 0; sweep < 10; ++sweep) {
        for (std::size_t r = 1; r < rows_.size(); ++r) relax(rows_[r], upper_neighbors_);
        for (std::size_t r = rows_.size() - 1; r-- > 0;) relax(rows_[r], lower_neighbors_);
    }
    for (std::size_t r = 1; r < rows_.size(); ++r) relax(rows_[r], upper_neighbors_);
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE layered_places layered_layout(std::int32_t boxes, std::vector<layered_edge> edges, double box_width,
                                             double high, double gap) {
    if (boxes == 0) return {};
    return detail::layered_builder(boxes, std::move(edges), box_width, high, gap).take();
}

}  // namespace llmcost
