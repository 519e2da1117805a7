// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <llmcost/serving/training_candidates.hpp>

// The result of a search, while candidates are added.
namespace llmcost::detail {

/// The best candidates and the Pareto frontier of time and memory of a search.
class training_ranking {
public:
    training_ranking(training_search_result& result, std::size_t num_results)
        : result_(result), num_results_(std::max<std::size_t>(num_results, 1)) {}

    /// Whether a candidate can neither be among the best nor on the frontier.
    ///
    /// Candidates with shorter bounds have been visited. So the points of the frontier that take at most as long as the
    /// bound are final, and the candidate has to save memory compared with the last of them.
    [[nodiscard]] bool excludes(const training_candidate& c) const {
        if (result_.best.size() < num_results_ || c.minimum_seconds < result_.best.back().cost.total.seconds)
            return false;
        if (c.minimum_seconds > longest_step * result_.best.front().cost.total.seconds) return true;
        const evaluated_training* last = nullptr;
        for (const evaluated_training& e : result_.pareto) {
            if (e.cost.total.seconds > c.minimum_seconds) break;
            if (last == nullptr || saves_memory(e.peak_bytes, *last)) last = &e;
        }
        return last != nullptr && !saves_memory(c.minimum_bytes, *last);
    }
    void add(const evaluated_training& e) {
        std::vector<evaluated_training>& best = result_.best;
        best.insert(std::ranges::upper_bound(best, e, is_faster), e);
        if (best.size() > num_results_) best.pop_back();
        std::vector<evaluated_training>& pareto = result_.pareto;
        const auto dominates = [](const evaluated_training& a, const evaluated_training& b) {
            return a.cost.total.seconds <= b.cost.total.seconds && a.peak_bytes <= b.peak_bytes;
        };
        if (std::ranges::any_of(pareto, [&](const evaluated_training& other) { return dominates(other, e); })) return;
        std::erase_if(pareto, [&](const evaluated_training& other) { return dominates(e, other); });
        pareto.insert(std::ranges::upper_bound(pareto, e, is_faster), e);
    }
    /// Removes points of the frontier that save little memory, or take long.
    void thin_frontier() {
        std::vector<evaluated_training> out;
        for (const evaluated_training& e : result_.pareto)
            if (out.empty() || (saves_memory(e.peak_bytes, out.back()) &&
                                e.cost.total.seconds <= longest_step * out.front().cost.total.seconds))
                out.push_back(e);
        result_.pareto = std::move(out);
    }

private:
    static constexpr double least_saving = 0.05;  ///< of memory, between two points of the frontier
    static constexpr double longest_step = 2;     ///< of the frontier, as a multiple of the shortest

    [[nodiscard]] static bool saves_memory(std::uint64_t bytes, const evaluated_training& e) noexcept {
        return static_cast<double>(bytes) <= (1 - least_saving) * static_cast<double>(e.peak_bytes);
    }
    [[nodiscard]] static bool is_faster(const evaluated_training& a, const evaluated_training& b) noexcept {
        return a.cost.total.seconds != b.cost.total.seconds ? a.cost.total.seconds < b.cost.total.seconds
                                                            : a.peak_bytes < b.peak_bytes;
    }

    training_search_result& result_;
    std::size_t num_results_;
};

}  // namespace llmcost::detail
