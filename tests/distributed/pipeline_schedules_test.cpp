// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// Pipeline schedules against the tables of PyTorch (tests/oracle/pipeline_schedules.py), and laws of all of them.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <llmcost/distributed/activation_lifetimes.hpp>
#include <llmcost/distributed/pipeline_schedule.hpp>
#include <llmcost/distributed/schedule_communication.hpp>
#include <llmcost/distributed/schedule_generators.hpp>
#include <llmcost/text/error.hpp>

namespace {

using llmcost::distributed::action_kind;
using llmcost::distributed::pipeline_action;
using llmcost::distributed::pipeline_schedule;
using llmcost::distributed::rank_actions;
using llmcost::distributed::ranked_actions;
using llmcost::distributed::schedule_kind;

constexpr std::array all_schedules{schedule_kind::gpipe,       schedule_kind::one_forward_one_backward,
                                   schedule_kind::interleaved, schedule_kind::looped_bfs,
                                   schedule_kind::zb_h1,       schedule_kind::interleaved_zero_bubble,
                                   schedule_kind::zbv,         schedule_kind::dual_pipe_v};

std::string size_text(schedule_kind kind, int ranks, int stages, int microbatches) {
    return std::string(schedule_name(kind)) + ' ' + std::to_string(ranks) + " ranks " + std::to_string(stages) +
           " stages " + std::to_string(microbatches) + " microbatches";
}

/// The lines of one rank in the recording.
std::string recorded_text(const pipeline_schedule& schedule, const ranked_actions& order, const ranked_actions& comms,
                          const std::vector<int>& alive, int rank) {
    const auto r = static_cast<std::size_t>(rank);
    std::string text = "order " + actions_text(order[r]) + '\n';
    if (schedule.kind == schedule_kind::gpipe || schedule.kind == schedule_kind::one_forward_one_backward) return text;
    text += "communication " + actions_text(comms[r]) + "\nstages";
    for (const int stage : schedule.stages_of_rank(rank)) text += ' ' + std::to_string(stage);
    return text + "\nalive " + std::to_string(alive[r]) + '\n';
}

std::string recorded_text(const pipeline_schedule& schedule,
                          const llmcost::distributed::communication_options& options = {}) {
    const ranked_actions order = pytorch_pipeline_order(schedule), comms = add_communication(schedule, options);
    const std::vector<int> alive = peak_activations(schedule).ranks;
    std::string text;
    for (int rank = 0; rank < schedule.ranks; ++rank) text += recorded_text(schedule, order, comms, alive, rank);
    return text;
}

std::string fnv_hash(const std::string& text) {
    std::uint32_t value = 2166136261U;
    for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 16777619U;
    std::array<char, 9> digits{};
    std::snprintf(digits.data(), digits.size(), "%08x", static_cast<unsigned>(value));
    return digits.data();
}

struct schedule_recording {
    schedule_kind kind{};
    int ranks = 0, stages = 0, microbatches = 0;  ///< `microbatches`: 0 for hashes
    std::string text{};
};

/// Lines that begin with `type`, with the lines of their ranks.
std::vector<schedule_recording> read_recordings(const std::string& type) {
    std::ifstream in(LLMCOST_TEST_DIR "/distributed/pipeline_schedules.txt");
    std::vector<schedule_recording> found;
    bool is_inside = false;
    for (std::string line; std::getline(in, line);) {
        std::istringstream fields(line);
        std::string first, name;
        fields >> first;
        if (first == type) {
            schedule_recording r;
            fields >> name >> r.ranks >> r.stages;
            if (type == "table") fields >> r.microbatches;
            r.kind = llmcost::distributed::parse_schedule_name(name);
            if (type != "table") std::getline(fields, r.text);
            found.push_back(r);
            is_inside = type == "table";
        } else if (line.empty() || first == "table" || first == "hashes" || first == "deferred" || first == "time") {
            is_inside = false;
        } else if (is_inside) {
            found.back().text += line + '\n';
        }
    }
    return found;
}

/// Calls `visit(schedule)` for a grid of sizes that the schedule supports.
template <class Visit>
std::size_t for_each_size(Visit visit) {
    std::size_t visited = 0;
    for (const schedule_kind kind : all_schedules)
        for (const int ranks : {1, 2, 3, 4, 5, 8})
            for (const int stages : {1, 2, 3, 4})
                for (const int microbatches : {1, 2, 3, 5, 8, 12, 16, 24}) {
                    const int required = required_stages_per_rank(kind);
                    if (required != 0 && stages != required) continue;
                    pipeline_schedule schedule;
                    try {
                        schedule = make_pipeline_schedule(kind, ranks, stages, microbatches);
                    } catch (const llmcost::error&) {
                        continue;
                    }
                    INFO(size_text(kind, ranks, stages, microbatches));
                    visit(schedule);
                    ++visited;
                }
    return visited;
}

}  // namespace

TEST_CASE("complete tables of PyTorch") {
    const std::vector<schedule_recording> tables = read_recordings("table");
    CHECK(tables.size() == 11);
    for (const schedule_recording& t : tables) {
        INFO(size_text(t.kind, t.ranks, t.stages, t.microbatches));
        CHECK(recorded_text(make_pipeline_schedule(t.kind, t.ranks, t.stages, t.microbatches)) == t.text);
    }
}

TEST_CASE("hashes of the tables of PyTorch for many sizes, and the sizes that PyTorch refuses") {
    const auto compare = [](const std::string& type, const llmcost::distributed::communication_options& options) {
        std::size_t compared = 0, refused = 0;
        for (const schedule_recording& line : read_recordings(type)) {
            std::istringstream fields(line.text);
            int microbatches = 0;
            for (std::string expected; fields >> expected;) {
                ++microbatches;
                INFO(type, ": ", size_text(line.kind, line.ranks, line.stages, microbatches));
                std::string found = "refused";
                try {
                    found = fnv_hash(recorded_text(
                        make_pipeline_schedule(line.kind, line.ranks, line.stages, microbatches), options));
                } catch (const llmcost::error&) {
                }
                CHECK(found == expected);
                ++(expected == "refused" ? refused : compared);
            }
        }
        return std::pair(compared, refused);
    };
    CHECK(compare("hashes", {}) == std::pair<std::size_t, std::size_t>(3260, 836));
    const auto deferred =
        compare("deferred", {.max_active_stages = 2, .defer_reduce_gradient_wait = true, .defer_receives = true});
    CHECK(deferred.first > 1000);
}

TEST_CASE("each stage computes each microbatch once, forward before backward") {
    const std::size_t visited = for_each_size([](const pipeline_schedule& schedule) {
        std::map<std::tuple<action_kind, int, int>, int> count;
        for (int rank = 0; rank < schedule.ranks; ++rank)
            for (const pipeline_action& action : schedule.order[static_cast<std::size_t>(rank)])
                for_each_part(action, [&](const pipeline_action& part) {
                    if (part.kind == action_kind::idle) return;
                    CHECK(schedule.rank_of_stage(part.stage) == rank);
                    const auto times = [&](action_kind kind) { return count[{kind, part.stage, part.microbatch}]; };
                    if (part.kind != action_kind::forward) CHECK(times(action_kind::forward) == 1);
                    if (part.kind == action_kind::backward_weight) CHECK(times(action_kind::backward_input) == 1);
                    ++count[{part.kind, part.stage, part.microbatch}];
                });
        for (int stage = 0; stage < schedule.num_stages(); ++stage)
            for (int i = 0; i < schedule.microbatches; ++i) {
                const auto times = [&](action_kind kind) { return count[{kind, stage, i}]; };
                CHECK(times(action_kind::forward) == 1);
                CHECK(times(action_kind::backward) + times(action_kind::backward_input) == 1);
                CHECK(times(action_kind::backward_input) == times(action_kind::backward_weight));
            }
    });
    CHECK(visited > 500);
}

TEST_CASE("each send has one receive on the other rank, and one wait") {
    for_each_size([](const pipeline_schedule& schedule) {
        std::map<std::tuple<action_kind, int, int>, std::vector<int>> issued;  // to the ranks that issue it
        const ranked_actions order = add_communication(schedule);
        for (int rank = 0; rank < schedule.ranks; ++rank)
            for (const pipeline_action& action : order[static_cast<std::size_t>(rank)])
                issued[{action.kind, action.stage, action.microbatch}].push_back(rank);
        const auto rank_of = [&](action_kind kind, int stage, int i) { return issued[{kind, stage, i}]; };
        for (int stage = 0; stage + 1 < schedule.num_stages(); ++stage)
            for (int i = 0; i < schedule.microbatches; ++i) {
                const int first = schedule.rank_of_stage(stage), second = schedule.rank_of_stage(stage + 1);
                const auto expected = [&](int rank) {
                    return first == second ? std::vector<int>{} : std::vector<int>{rank};
                };
                CHECK(rank_of(action_kind::send_forward, stage, i) == expected(first));
                CHECK(rank_of(action_kind::wait_send_forward, stage, i) == expected(first));
                CHECK(rank_of(action_kind::recv_forward, stage + 1, i) == expected(second));
                CHECK(rank_of(action_kind::send_backward, stage + 1, i) == expected(second));
                CHECK(rank_of(action_kind::wait_send_backward, stage + 1, i) == expected(second));
                CHECK(rank_of(action_kind::recv_backward, stage, i) == expected(first));
            }
        std::size_t sends = 0, receives = 0;
        for (const auto& [key, ranks] : issued) {
            const action_kind kind = std::get<0>(key);
            if (kind == action_kind::send_forward || kind == action_kind::send_backward) sends += ranks.size();
            if (kind == action_kind::recv_forward || kind == action_kind::recv_backward) receives += ranks.size();
        }
        CHECK(sends == receives);
        for (int stage = 0; stage < schedule.num_stages(); ++stage)
            CHECK(rank_of(action_kind::reduce_gradient, stage, -1) == std::vector<int>{schedule.rank_of_stage(stage)});
    });
}

TEST_CASE("FSDP gathers a stage before its first use, and no more stages than are permitted") {
    for (const int active : {2, 3, 100}) {
        for_each_size([&](const pipeline_schedule& schedule) {
            if (required_stages_per_rank(schedule.kind) == 1) return;
            for (const rank_actions& actions : add_communication(schedule, {.max_active_stages = active})) {
                std::set<int> gathered;
                for (const pipeline_action& action : actions) {
                    if (action.kind == action_kind::unshard) CHECK(gathered.insert(action.stage).second);
                    if (action.kind == action_kind::reshard) CHECK(gathered.erase(action.stage) == 1);
                    if (is_compute(action.kind))
                        for_each_part(action, [&](const pipeline_action& p) { CHECK(gathered.count(p.stage) == 1); });
                    CHECK(gathered.size() <= static_cast<std::size_t>(active + 1));
                }
                CHECK(gathered.empty());
            }
        });
    }
    // an overlap needs two stages; PyTorch raises with one, too
    const pipeline_schedule dual = make_pipeline_schedule(schedule_kind::dual_pipe_v, 2, 2, 4);
    CHECK_THROWS_WITH_AS((void)add_communication(dual, {.max_active_stages = 1}),
                         "schedule dualpipev: expected at least 2 active stages, found 1", llmcost::error);
}

TEST_CASE("sends and receives of GPipe and 1F1B in the order of their classes") {
    // collectives of the recorded steps pp-step__llama__1F1B__pp4__1x8 (ranks 2 and 3) and GPipe (rank 1 of 2)
    const auto transfers = [](schedule_kind kind, int ranks, int microbatches, std::size_t rank) {
        rank_actions found = add_communication(make_pipeline_schedule(kind, ranks, 1, microbatches))[rank];
        found.erase(std::remove_if(found.begin(), found.end(),
                                   [](const pipeline_action& a) {
                                       return a.kind < action_kind::send_forward || a.kind > action_kind::recv_backward;
                                   }),
                    found.end());
        return actions_text(found);
    };
    CHECK(transfers(schedule_kind::one_forward_one_backward, 4, 8, 2) ==
          "2RECV_F0 2SEND_F0 2RECV_F1 2SEND_F1 2RECV_B0 2SEND_B0 2RECV_F2 2SEND_F2 2RECV_B1 2SEND_B1 2RECV_F3 2SEND_F3 "
          "2RECV_B2 2SEND_B2 2RECV_F4 2SEND_F4 2RECV_B3 2SEND_B3 2RECV_F5 2SEND_F5 2RECV_B4 2SEND_B4 2RECV_F6 2SEND_F6 "
          "2RECV_B5 2SEND_B5 2RECV_F7 2SEND_F7 2RECV_B6 2SEND_B6 2RECV_B7 2SEND_B7");
    CHECK(transfers(schedule_kind::one_forward_one_backward, 4, 8, 3) ==
          "3RECV_F0 3SEND_B0 3RECV_F1 3SEND_B1 3RECV_F2 3SEND_B2 3RECV_F3 3SEND_B3 3RECV_F4 3SEND_B4 3RECV_F5 3SEND_B5 "
          "3RECV_F6 3SEND_B6 3RECV_F7 3SEND_B7");
    CHECK(transfers(schedule_kind::gpipe, 2, 4, 1) ==
          "1RECV_F0 1RECV_F1 1RECV_F2 1RECV_F3 1SEND_B0 1SEND_B1 1SEND_B2 1SEND_B3");
}

TEST_CASE("activations that are alive") {
    using llmcost::distributed::peak_activation_bytes;
    // 1F1B: ranks - rank; GPipe: all microbatches; ZB-H1 has the memory of 1F1B's first rank on every rank
    CHECK(peak_activations(make_pipeline_schedule(schedule_kind::one_forward_one_backward, 4, 1, 8)).ranks ==
          std::vector<int>{4, 3, 2, 1});
    CHECK(peak_activations(make_pipeline_schedule(schedule_kind::gpipe, 4, 1, 8)).ranks ==
          std::vector<int>{8, 8, 8, 8});
    CHECK(peak_activations(make_pipeline_schedule(schedule_kind::zb_h1, 4, 1, 8)).ranks ==
          std::vector<int>{4, 4, 4, 4});
    // interleaved 1F1B of the first rank: (stages per rank - 1) ranks + 2 (ranks - 1) + 1 (Megatron-LM, virtual
    // pipeline)
    CHECK(peak_activations(make_pipeline_schedule(schedule_kind::interleaved, 4, 3, 16)).ranks[0] == 15);
    // the recorded slots of DualPipeV are 2 ranks + 1, those of ZBV 2 ranks
    CHECK(peak_activations(make_pipeline_schedule(schedule_kind::zbv, 4, 2, 16)).ranks == std::vector<int>{8, 8, 8, 8});

    for_each_size([](const pipeline_schedule& schedule) {
        const auto peaks = peak_activations(schedule);
        const std::vector<double> ones(static_cast<std::size_t>(schedule.num_stages()), 1);
        const std::vector<double> zeros(ones.size());
        const std::vector<double> bytes = peak_activation_bytes(schedule, {zeros, ones});
        CHECK(std::vector<double>(peaks.ranks.begin(), peaks.ranks.end()) == bytes);
        const std::vector<double> until_input = peak_activation_bytes(schedule, {ones, zeros});
        for (std::size_t rank = 0; rank < bytes.size(); ++rank) {
            CHECK(until_input[rank] <= bytes[rank]);
            CHECK(bytes[rank] >= 1);
            int sum = 0;
            for (const int stage : schedule.stages_of_rank(static_cast<int>(rank))) {
                CHECK(peaks.stages[static_cast<std::size_t>(stage)] <= schedule.microbatches);
                sum += peaks.stages[static_cast<std::size_t>(stage)];
            }
            CHECK(peaks.ranks[rank] <= sum);
        }
    });
    // 1F1B of two ranks, the second stage twice as large; ZB-H1 frees input gradients earlier
    const pipeline_schedule one = make_pipeline_schedule(schedule_kind::one_forward_one_backward, 2, 1, 4);
    CHECK(peak_activation_bytes(one, {{10, 20}, {1, 2}}) == std::vector<double>{22, 22});
    const pipeline_schedule zb = make_pipeline_schedule(schedule_kind::zb_h1, 2, 1, 4);
    CHECK(peak_activation_bytes(zb, {{10, 20}, {1, 2}}) == std::vector<double>{22, 24});
}

TEST_CASE("ZB-H1 is interleaved zero bubble with one stage per rank") {
    // where PyTorch's rounds divide the microbatches, and these are at least as many as ranks
    for (const int ranks : {1, 2, 4, 7})
        for (const int rounds : {1, 2, 5}) {
            ranked_actions zero_bubble =
                make_pipeline_schedule(schedule_kind::interleaved_zero_bubble, ranks, 1, ranks * rounds).order;
            for (rank_actions& actions : zero_bubble)
                actions.erase(std::remove(actions.begin(), actions.end(), pipeline_action{}), actions.end());
            CHECK(make_pipeline_schedule(schedule_kind::zb_h1, ranks, 1, ranks * rounds).order == zero_bubble);
        }
    // fewer microbatches than ranks, as the steps of ZeroBubbleH1Pipeline
    const ranked_actions order = make_pipeline_schedule(schedule_kind::zb_h1, 4, 1, 2).order;
    CHECK(actions_text(order[0]) == "0F0 0F1 0I0 0W0 0I1 0W1");
    CHECK(actions_text(order[2]) == "2F0 2F1 2I0 2I1 2W0 2W1");
    CHECK(actions_text(order[3]) == "3F0 3I0 3F1 3I1 3W0 3W1");
}

TEST_CASE("interleaved 1F1B has the warmup and the rounds of Megatron-LM") {
    // get_pp_rank_microbatches and get_schedule_table with microbatch_group_size_per_vp_stage = ranks
    for (const int ranks : {2, 4, 8})
        for (const int stages : {2, 3})
            for (const int rounds : {1, 2, 3}) {
                const int microbatches = ranks * rounds, total = microbatches * stages;
                const pipeline_schedule schedule =
                    make_pipeline_schedule(schedule_kind::interleaved, ranks, stages, microbatches);
                for (int rank = 0; rank < ranks; ++rank) {
                    const int warmup = std::min(total, (ranks - rank - 1) * 2 + (stages - 1) * ranks);
                    std::vector<std::pair<int, int>> table;  // microbatch and chunk by position
                    for (int begin = 0; begin < microbatches; begin += ranks)
                        for (int chunk = 0; chunk < stages; ++chunk)
                            for (int i = begin; i < begin + ranks; ++i) table.emplace_back(i, chunk);
                    rank_actions expected;
                    const auto add = [&](int position, bool is_forward) {
                        const auto [microbatch, chunk] = table[static_cast<std::size_t>(position)];
                        const int local = is_forward ? chunk : stages - 1 - chunk;
                        expected.push_back({local * ranks + rank,
                                            is_forward ? action_kind::forward : action_kind::backward, microbatch});
                    };
                    for (int i = 0; i < warmup; ++i) add(i, true);
                    for (int i = warmup; i < total; ++i) add(i, true), add(i - warmup, false);
                    for (int i = total - warmup; i < total; ++i) add(i, false);
                    rank_actions found = schedule.order[static_cast<std::size_t>(rank)];
                    found.erase(std::remove(found.begin(), found.end(), pipeline_action{}), found.end());
                    CHECK(actions_text(found) == actions_text(expected));
                }
            }
}

TEST_CASE("names of schedules") {
    using llmcost::distributed::parse_schedule_name;
    for (const schedule_kind kind : all_schedules) {
        CHECK(parse_schedule_name(schedule_name(kind)) == kind);
        CHECK(parse_schedule_name(pytorch_schedule_name(kind)) == kind);
        CHECK(parse_schedule_name("Schedule" + std::string(pytorch_schedule_name(kind))) == kind);
    }
    CHECK(parse_schedule_name("1F1B") == schedule_kind::one_forward_one_backward);
    CHECK(parse_schedule_name("scheduleinterleaved1f1b") == schedule_kind::interleaved);
    CHECK(parse_schedule_name("interleaved") == schedule_kind::interleaved);
    CHECK(parse_schedule_name("Looped_BFS") == schedule_kind::looped_bfs);
    CHECK(parse_schedule_name("ZBV") == schedule_kind::zbv);
    CHECK(parse_schedule_name("zb-v") == schedule_kind::zbv);
    CHECK(parse_schedule_name("zbvzerobubble") == schedule_kind::zbv);
    CHECK(parse_schedule_name("ZB1P") == schedule_kind::interleaved_zero_bubble);
    CHECK(parse_schedule_name("ZB-H1") == schedule_kind::zb_h1);
    CHECK_THROWS_WITH_AS((void)parse_schedule_name("gpip"), "unsupported pipeline schedule 'gpip'; nearest: gpipe",
                         llmcost::error);
    CHECK_THROWS_WITH_AS((void)parse_schedule_name("chimera"),
                         "unsupported pipeline schedule 'chimera'; expected one of gpipe, 1f1b, interleaved-1f1b, "
                         "looped-bfs, zb-h1, interleaved-zero-bubble, zb-v, dualpipev",
                         llmcost::error);
    CHECK_THROWS_AS((void)parse_schedule_name(""), llmcost::error);
    CHECK_THROWS_AS((void)parse_schedule_name("schedule"), llmcost::error);
}

TEST_CASE("sizes that a schedule does not support") {
    const auto message = [](schedule_kind kind, int ranks, int stages, int microbatches) -> std::string {
        try {
            (void)make_pipeline_schedule(kind, ranks, stages, microbatches);
        } catch (const llmcost::error& e) {
            return e.what();
        }
        return "";
    };
    CHECK(message(schedule_kind::one_forward_one_backward, 4, 1, 3) ==
          "schedule 1f1b: expected at least as many microbatches as stages (4), found 3");
    CHECK(message(schedule_kind::one_forward_one_backward, 4, 2, 8) ==
          "schedule 1f1b: expected 1 stage per rank, found 2");
    CHECK(message(schedule_kind::zbv, 4, 1, 8) == "schedule zb-v: expected 2 stages per rank, found 1");
    CHECK(message(schedule_kind::dual_pipe_v, 4, 2, 7) ==
          "schedule dualpipev: expected at least as many microbatches as stages (8), found 7");
    CHECK(message(schedule_kind::interleaved, 4, 2, 9) ==
          "schedule interleaved-1f1b: expected a multiple of the number of rounds (2 = microbatches / ranks, rounded "
          "down) as microbatches, found 9");
    CHECK(message(schedule_kind::interleaved, 4, 2, 10).empty());
    CHECK(message(schedule_kind::gpipe, 0, 1, 4) ==
          "schedule gpipe: expected at least 1 rank, 1 stage per rank and 1 microbatch, found 0, 1 and 4");
    CHECK(
        message(schedule_kind::looped_bfs, 2000000000, 2000000000, 2000000000) ==
        "schedule looped-bfs: expected at most 16777216 forward passes (stages x microbatches), found 2000000000 ranks "
        "x 2000000000 stages x 2000000000 microbatches");
}

TEST_CASE("an order that cannot be executed is an error") {
    pipeline_schedule schedule = make_pipeline_schedule(schedule_kind::interleaved, 2, 2, 4);
    std::swap(schedule.order[0][0], schedule.order[0][2]);  // 2F0 before 0F0
    CHECK_THROWS_WITH_AS((void)add_communication(schedule),
                         "schedule interleaved-1f1b: the order cannot be executed: no input for 2F0 of rank 0, 1F0 of "
                         "rank 1",
                         llmcost::error);
}
