// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// Times of pipeline schedules: against the longest paths of PyTorch's tables (tests/oracle/pipeline_schedules.py), and
// against the bubbles that the papers derive.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/distributed/pipeline_schedule.hpp>
#include <llmcost/distributed/schedule_communication.hpp>
#include <llmcost/distributed/schedule_simulation.hpp>
#include <llmcost/text/error.hpp>

namespace {

using llmcost::distributed::make_pipeline_schedule;
using llmcost::distributed::schedule_durations;
using llmcost::distributed::schedule_timeline;
using llmcost::distributed::timed_action;
using kinds = llmcost::distributed::schedule_kind;
using parts = llmcost::distributed::action_kind;

constexpr std::array simulated_schedules{
    kinds::gpipe, kinds::one_forward_one_backward, kinds::interleaved, kinds::looped_bfs,
    kinds::zb_h1, kinds::interleaved_zero_bubble,  kinds::zbv,         kinds::dual_pipe_v};

/// The durations of the recorder.
schedule_durations recorded_durations(int num_stages) {
    schedule_durations d;
    for (int stage = 0; stage < num_stages; ++stage) {
        d.forward.push_back(10 + stage % 3);
        d.backward_input.push_back(7 + stage % 2);
        d.backward_weight.push_back(5 + stage % 4);
        d.backward.push_back(d.backward_input.back() + d.backward_weight.back() + 1);
    }
    d.forward_transfer_seconds = 2;
    d.backward_transfer_seconds = 3;
    return d;
}

double total_bubble(kinds kind, int ranks, int stages, int microbatches, const schedule_durations& d) {
    const schedule_timeline timeline = simulate(make_pipeline_schedule(kind, ranks, stages, microbatches), d);
    for (const double bubble : timeline.bubble_seconds) CHECK(bubble == doctest::Approx(timeline.bubble_seconds[0]));
    return timeline.bubble_seconds[0];
}

int stages_of(kinds kind) {
    const int required = required_stages_per_rank(kind);
    return required == 0 ? 2 : required;
}

}  // namespace

TEST_CASE("the step time is the longest path of PyTorch's table") {
    std::ifstream in(LLMCOST_TEST_DIR "/distributed/pipeline_schedules.txt");
    std::size_t compared = 0;
    for (std::string line; std::getline(in, line);) {
        std::istringstream fields(line);
        std::string type, name;
        int ranks = 0, stages = 0, microbatches = 0;
        double step = 0;
        fields >> type >> name >> ranks >> stages >> microbatches >> step;
        if (type != "time") continue;
        INFO(line);
        const auto schedule =
            make_pipeline_schedule(llmcost::distributed::parse_schedule_name(name), ranks, stages, microbatches);
        CHECK(simulate(schedule, recorded_durations(ranks * stages)).step_seconds == step);
        ++compared;
    }
    CHECK(compared >= 70);
}

TEST_CASE("bubbles of the papers") {
    // GPipe and 1F1B: (ranks - 1) (F + B), of a step of (ranks - 1 + microbatches) (F + B)
    schedule_durations d{.forward = {1}, .backward = {2}};
    for (const int ranks : {1, 2, 4, 8})
        for (const int microbatches : {8, 9, 32}) {
            const double expected = (ranks - 1.0) / (microbatches + ranks - 1);
            for (const kinds kind : {kinds::gpipe, kinds::one_forward_one_backward}) {
                const auto timeline = simulate(make_pipeline_schedule(kind, ranks, 1, microbatches), d);
                CHECK(timeline.bubble_fraction() == doctest::Approx(expected));
                CHECK(timeline.bubble_fraction(ranks - 1) == doctest::Approx(expected));
                CHECK(timeline.step_seconds == 3.0 * (microbatches + ranks - 1));
            }
        }
    // interleaved: F and B of a stage are 1 / stages per rank of those of the rank (arXiv:2104.04473, section 2.2.2)
    CHECK(total_bubble(kinds::interleaved, 4, 2, 8, d) == 3 * 3);
    CHECK(total_bubble(kinds::interleaved, 8, 4, 16, d) == 7 * 3);

    // ZB-H1: (ranks - 1) (F + I - W), arXiv:2401.10241, section 2.3
    d = {.forward = {5}, .backward_input = {5}, .backward_weight = {4}};
    CHECK(total_bubble(kinds::zb_h1, 4, 1, 8, d) == 3 * (5 + 5 - 4));
    CHECK(total_bubble(kinds::zb_h1, 8, 1, 32, d) == 7 * (5 + 5 - 4));
    d.backward_input = {5}, d.backward_weight = {5};
    CHECK(total_bubble(kinds::zb_h1, 8, 1, 32, d) == 7 * 5);
    // ZBV: no bubble but the ramp of the last ranks, if F = I = W: the last rank begins after ranks - 1 forwards
    CHECK(simulate(make_pipeline_schedule(kinds::zbv, 4, 2, 16), d).step_seconds == 16 * 2 * 3 * 5 + 3 * 5);
    // DualPipeV: (ranks - 1) (F&B + B - 3 W), README of DualPipe
    d = {.forward = {6}, .backward_input = {6}, .backward_weight = {6}, .overlap = {18}};
    CHECK(total_bubble(kinds::dual_pipe_v, 4, 2, 16, d) == 3 * (18 + 12 - 3 * 6));
    d = {.forward = {6}, .backward_input = {6}, .backward_weight = {4}};
    CHECK(total_bubble(kinds::dual_pipe_v, 8, 2, 20, d) == 7 * (16 + 10 - 3 * 4));
}

TEST_CASE("no schedule deadlocks, and communication without time changes nothing") {
    std::size_t executed = 0;
    for (const kinds kind : simulated_schedules)
        for (const int ranks : {1, 2, 3, 4, 6, 8})
            for (const int microbatches : {1, 2, 3, 4, 8, 12, 16, 24, 32}) {
                const int stages = stages_of(kind);
                INFO(schedule_name(kind), " ", ranks, " ", microbatches);
                llmcost::distributed::pipeline_schedule schedule;
                try {
                    schedule = make_pipeline_schedule(kind, ranks, stages, microbatches);
                } catch (const llmcost::error&) {
                    continue;
                }
                schedule_durations d = recorded_durations(ranks * stages);
                d.forward_transfer_seconds = d.backward_transfer_seconds = 0;
                const auto order = add_communication(schedule);
                const schedule_timeline plain = simulate(schedule, d),
                                        with_communication = simulate(schedule, order, d);
                CHECK(plain.compute_seconds == with_communication.compute_seconds);
                CHECK(plain.step_seconds <= with_communication.step_seconds);
                if (kind != kinds::one_forward_one_backward)
                    CHECK(plain.step_seconds == with_communication.step_seconds);
                CHECK(with_communication.ranks[0].size() == order[0].size());
                const auto deferred =
                    add_communication(schedule, {.defer_reduce_gradient_wait = true, .defer_receives = true});
                CHECK(simulate(schedule, deferred, d).step_seconds >= plain.step_seconds);
                ++executed;
            }
    CHECK(executed > 250);
}

TEST_CASE("actions of a rank do not overlap, and wait for their inputs") {
    for (const kinds kind : simulated_schedules) {
        INFO(schedule_name(kind));
        const auto schedule = make_pipeline_schedule(kind, 4, stages_of(kind), 12);
        const schedule_timeline timeline = simulate(schedule, recorded_durations(schedule.num_stages()));
        std::vector<double> forward_ends(static_cast<std::size_t>(schedule.num_stages()) * 12, -1),
            starts(forward_ends);
        for (const auto& actions : timeline.ranks) {
            double last = 0, compute = 0;
            for (const timed_action& t : actions) {
                CHECK(t.start_seconds >= last);
                last = t.end_seconds;
                compute += t.end_seconds - t.start_seconds;
                if (t.action.kind != parts::forward && t.action.kind != parts::overlap) continue;
                const auto i = static_cast<std::size_t>(t.action.stage * 12 + t.action.microbatch);
                starts[i] = t.start_seconds, forward_ends[i] = t.end_seconds;
            }
            CHECK(last <= timeline.step_seconds);
            const auto rank = static_cast<std::size_t>(&actions - timeline.ranks.data());
            CHECK(compute == doctest::Approx(timeline.compute_seconds[rank]));
            CHECK(timeline.bubble_seconds[rank] == doctest::Approx(timeline.step_seconds - compute));
        }
        for (int stage = 1; stage < schedule.num_stages(); ++stage)
            for (int i = 0; i < 12; ++i) {
                const bool is_local = schedule.rank_of_stage(stage) == schedule.rank_of_stage(stage - 1);
                CHECK(starts[static_cast<std::size_t>(stage * 12 + i)] >=
                      forward_ends[static_cast<std::size_t>((stage - 1) * 12 + i)] + (is_local ? 0 : 2));
            }
    }
}

TEST_CASE("more microbatches never lengthen the share of the bubble") {
    // at equal stages; microbatches are multiples of the ranks, so that interleaved schedules have complete rounds
    const schedule_durations d{.forward = {10}, .backward_input = {9}, .backward_weight = {8}};
    for (const kinds kind : simulated_schedules)
        for (const int ranks : {2, 4, 8}) {
            double last = 1;
            for (int rounds = 2; rounds <= 8; ++rounds) {
                INFO(schedule_name(kind), " ", ranks, " ranks ", ranks * rounds, " microbatches");
                const double share =
                    simulate(make_pipeline_schedule(kind, ranks, stages_of(kind), ranks * rounds), d).bubble_fraction();
                CHECK(share <= last + 1e-12);
                last = share;
            }
        }
}

TEST_CASE("transfers, gathers and reductions of an order with communication") {
    const auto gpipe = make_pipeline_schedule(kinds::gpipe, 2, 1, 2);
    schedule_durations d{.forward = {10},
                         .backward = {20},
                         .forward_transfer_seconds = 3,
                         .backward_transfer_seconds = 4,
                         .reduce_gradient = {7}};
    // 0F0 0-10, 0F1 10-20, 1F0 13-23. GPipe posts a receive when it needs it: 1F1 26-36, 1B0 36-56, 1B1 56-76,
    // 0B0 60-80, receive of its next gradient 80-84, 0B1 84-104, reduction 104-111
    const schedule_timeline timeline = simulate(gpipe, add_communication(gpipe), d);
    CHECK(timeline.step_seconds == 111);
    CHECK(timeline.compute_seconds == std::vector<double>{60, 60});
    CHECK(timeline.bubble_seconds == std::vector<double>{51, 51});
    const auto find = [&](std::size_t rank, parts kind, int microbatch) {
        for (const timed_action& t : timeline.ranks[rank])
            if (t.action.kind == kind && t.action.microbatch == microbatch)
                return std::pair(t.start_seconds, t.end_seconds);
        return std::pair(-1.0, -1.0);
    };
    CHECK(find(0, parts::send_forward, 0) == std::pair(10.0, 13.0));
    CHECK(find(1, parts::recv_forward, 0) == std::pair(0.0, 13.0));
    CHECK(find(1, parts::forward, 0) == std::pair(13.0, 23.0));
    CHECK(find(1, parts::recv_forward, 1) == std::pair(23.0, 26.0));  // posted after the forward of microbatch 0
    CHECK(find(1, parts::forward, 1) == std::pair(26.0, 36.0));

    // FSDP gathers the stages of the first rank one after another, from the start
    const auto looped = make_pipeline_schedule(kinds::looped_bfs, 1, 3, 1);
    d = {.forward = {10}, .backward = {20}, .unshard = {6, 30, 5}};
    const schedule_timeline gathered = simulate(looped, add_communication(looped), d);
    CHECK(gathered.ranks[0][1].end_seconds == 36);
    CHECK(gathered.ranks[0][2].end_seconds == 41);
    CHECK(gathered.step_seconds == 36 + 10 + 10 + 60);
}

TEST_CASE("transfers delay 1F1B by a constant time per microbatch, and schedules with more warmup only once") {
    const double transfer = 0.5 + 0.25;
    const auto delay = [&](kinds kind, int ranks, int microbatches, bool has_communication) {
        const auto schedule = make_pipeline_schedule(kind, ranks, stages_of(kind), microbatches);
        schedule_durations d{.forward = {10}, .backward_input = {10}, .backward_weight = {10}};
        const double without_transfers = simulate(schedule, d).step_seconds;
        d.forward_transfer_seconds = 0.5, d.backward_transfer_seconds = 0.25;
        const auto timeline =
            has_communication ? simulate(schedule, add_communication(schedule), d) : simulate(schedule, d);
        return timeline.step_seconds - without_transfers;
    };
    for (const int ranks : {2, 4, 8}) {
        const auto per_microbatch = [&](kinds kind, bool has_communication) {
            return (delay(kind, ranks, ranks * 8, has_communication) -
                    delay(kind, ranks, ranks * 4, has_communication)) /
                   (ranks * 4);
        };
        CHECK(per_microbatch(kinds::one_forward_one_backward, false) ==
              doctest::Approx(transfer * (ranks - 1) / ranks));
        // an exchange with each neighbor, whose two transfers are simultaneous: the longer one takes 0.5
        CHECK(per_microbatch(kinds::one_forward_one_backward, true) == doctest::Approx(ranks == 2 ? 0.5 : 2 * 0.5));
        CHECK(per_microbatch(kinds::gpipe, true) == doctest::Approx(transfer));
        CHECK(per_microbatch(kinds::gpipe, false) == doctest::Approx(0));
        for (const kinds kind : {kinds::interleaved, kinds::zb_h1, kinds::zbv})
            for (const bool has_communication : {false, true})
                CHECK(per_microbatch(kind, has_communication) == doctest::Approx(0));
    }
}

TEST_CASE("a deadlock names the actions that wait") {
    const schedule_durations d{.forward = {1}, .backward = {2}};
    auto schedule = make_pipeline_schedule(kinds::gpipe, 2, 1, 1);
    std::swap(schedule.order[0][0], schedule.order[0][1]);
    CHECK_THROWS_WITH_AS((void)simulate(schedule, d),
                         "schedule gpipe: deadlock: no input for 0B0 of rank 0, 1F0 of rank 1", llmcost::error);
    schedule = make_pipeline_schedule(kinds::gpipe, 1, 1, 1);
    std::swap(schedule.order[0][0], schedule.order[0][1]);
    CHECK_THROWS_WITH_AS((void)simulate(schedule, d), "schedule gpipe: deadlock: no input for 0B0 of rank 0",
                         llmcost::error);
    // a missing receive
    schedule = make_pipeline_schedule(kinds::gpipe, 2, 1, 1);
    auto order = add_communication(schedule);
    CHECK(actions_text(order[1]) == "1RECV_F0 1F0 1B0 1SEND_B0 1WAIT_SEND_B0 1REDUCE_GRAD 1WAIT_REDUCE_GRAD");
    order[1].erase(order[1].begin());
    CHECK_THROWS_WITH_AS((void)simulate(schedule, order, d),
                         "schedule gpipe: deadlock: no input for 0WAIT_SEND_F0 of rank 0, 1F0 of rank 1",
                         llmcost::error);
    schedule = make_pipeline_schedule(kinds::gpipe, 10, 1, 1);
    for (auto& actions : schedule.order) std::swap(actions[0], actions[1]);
    CHECK_THROWS_WITH_AS((void)simulate(schedule, d), doctest::Contains("7B0 of rank 7 and 2 more"), llmcost::error);
}

TEST_CASE("durations are those of all stages or of each stage") {
    const auto schedule = make_pipeline_schedule(kinds::gpipe, 4, 1, 4);
    CHECK_THROWS_WITH_AS((void)simulate(schedule, {.forward = {1, 2}}),
                         "durations of forward: expected one, or one for each of 4 stages, found 2", llmcost::error);
    CHECK_THROWS_WITH_AS((void)simulate(schedule, schedule_durations{}), "durations of forward: required",
                         llmcost::error);
    CHECK(simulate(schedule, {.forward = {1, 1, 3, 1}}).step_seconds == 15);
}
