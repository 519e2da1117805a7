// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// Closed forms of bubbles and activations against the orders of actions.
#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <vector>

#include <llmcost/distributed/activation_lifetimes.hpp>
#include <llmcost/distributed/pipeline_schedule.hpp>
#include <llmcost/distributed/schedule_formulas.hpp>
#include <llmcost/distributed/schedule_simulation.hpp>

namespace {

using llmcost::distributed::schedule_kind;

/// Calls `visit(kind, ranks, stages, microbatches)` for sizes to which the formulas apply.
template <class Visit>
void for_each_formula_size(Visit visit) {
    for (const schedule_kind kind :
         {schedule_kind::gpipe, schedule_kind::one_forward_one_backward, schedule_kind::interleaved,
          schedule_kind::looped_bfs, schedule_kind::zb_h1, schedule_kind::interleaved_zero_bubble, schedule_kind::zbv,
          schedule_kind::dual_pipe_v})
        for (const int ranks : {1, 2, 3, 4, 8})
            for (const int stages : {1, 2, 3})
                for (const int rounds : {1, 2, 3, 5}) {
                    const int required = required_stages_per_rank(kind);
                    if (required != 0 && stages != required) continue;
                    if (required == 2 && rounds < 2) continue;
                    INFO(schedule_name(kind), ": ", ranks, " ranks ", stages, " stages ", ranks * rounds);
                    visit(kind, ranks, stages, ranks * rounds);
                }
}

}  // namespace

TEST_CASE("bubbles in closed form are those of the simulation") {
    constexpr std::array<llmcost::distributed::uniform_durations, 7> durations{
        {{10, 10, 10}, {10, 9, 8}, {10, 12, 7}, {10, 12, 13}, {5, 10, 10}, {20, 10, 6}, {10, 14, 0}}};
    std::size_t compared = 0;
    for_each_formula_size([&](schedule_kind kind, int ranks, int stages, int microbatches) {
        for (const auto& d : durations) {
            const auto formula = bubble_seconds(kind, ranks, d);
            const bool is_v = required_stages_per_rank(kind) == 2;
            CHECK(formula.has_value() != is_v);
            if (!formula) continue;
            const auto timeline = simulate(
                make_pipeline_schedule(kind, ranks, stages, microbatches),
                {.forward = {d.forward}, .backward_input = {d.backward_input}, .backward_weight = {d.backward_weight}});
            for (const double bubble : timeline.bubble_seconds) CHECK(bubble == doctest::Approx(*formula));
            ++compared;
        }
    });
    CHECK(compared > 1000);
}

TEST_CASE("bubbles of schedules that are placed as a V") {
    constexpr std::array<llmcost::distributed::uniform_durations, 5> durations{
        {{10, 10, 10}, {10, 10, 4}, {10, 12, 7}, {5, 10, 10}, {20, 10, 6}}};
    for (const schedule_kind kind : {schedule_kind::zbv, schedule_kind::dual_pipe_v})
        for (const int ranks : {1, 2, 3, 4, 8})
            for (const auto& d : durations) {
                INFO(schedule_name(kind), ": ", ranks, " ranks");
                const auto bubble = [&](int microbatches) {
                    return simulate(make_pipeline_schedule(kind, ranks, 2, microbatches),
                                    {.forward = {d.forward},
                                     .backward_input = {d.backward_input},
                                     .backward_weight = {d.backward_weight}})
                        .bubble_seconds[0];
                };
                // it does not depend on the number of microbatches
                for (const int microbatches : {2 * ranks + 1, 3 * ranks, 5 * ranks + 2})
                    CHECK(bubble(microbatches) == doctest::Approx(bubble(2 * ranks)));
                const double forward = d.forward, weight = d.backward_weight, backward = d.backward_input + weight;
                if (kind == schedule_kind::zbv && forward == weight && forward == d.backward_input)
                    CHECK(bubble(2 * ranks) == doctest::Approx((ranks - 1) * forward));
                if (kind == schedule_kind::dual_pipe_v && forward == d.backward_input && weight <= forward)
                    CHECK(bubble(2 * ranks) == doctest::Approx((ranks - 1) * (forward + 2 * backward - 3 * weight)));
            }
}

TEST_CASE("activations in closed form are those of the orders") {
    for_each_formula_size([](schedule_kind kind, int ranks, int stages, int microbatches) {
        std::vector<int> formula;
        for (int rank = 0; rank < ranks; ++rank)
            formula.push_back(alive_activations(kind, ranks, stages, microbatches, rank));
        CHECK(peak_activations(make_pipeline_schedule(kind, ranks, stages, microbatches)).ranks == formula);
    });
}
