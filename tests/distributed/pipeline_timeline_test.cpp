// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// Pictures and traces of pipeline schedules.
#include <doctest/doctest.h>

#include <cstddef>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include <llmcost/distributed/pipeline_schedule.hpp>
#include <llmcost/distributed/schedule_communication.hpp>
#include <llmcost/distributed/schedule_simulation.hpp>
#include <llmcost/report/pipeline_timeline.hpp>

namespace {

std::size_t occurrences(const std::string& text, const std::string& part) {
    std::size_t times = 0;
    for (std::size_t i = text.find(part); i != std::string::npos; i = text.find(part, i + 1)) ++times;
    return times;
}

}  // namespace

TEST_CASE("the picture has each forward and backward with its time") {
    using llmcost::distributed::schedule_kind;
    const auto schedule = make_pipeline_schedule(schedule_kind::dual_pipe_v, 2, 2, 4);
    const llmcost::distributed::schedule_durations d{
        .forward = {0.010}, .backward_input = {0.008}, .backward_weight = {0.006}};
    const auto timeline = simulate(schedule, d);
    const llmcost::svg_picture picture =
        llmcost::pipeline_timeline_picture({"DualPipeV", "two ranks"}, schedule, timeline);
    const std::string svg = picture.document();
    // the table pp__DualPipeV__pp2: 16 forwards, 12 complete backwards, 4 that are split, of which 5 pairs overlap
    CHECK(occurrences(svg, "<title>0F0: 0 s to 10 ms</title>") == 1);
    CHECK(occurrences(svg, "<title>(2F2;1B0)OVERLAP_F_B: ") == 2);
    std::size_t actions = 0;
    for (const auto& rank : schedule.order)
        for (const auto& action : rank) for_each_part(action, [&](const auto&) { ++actions; });
    CHECK(occurrences(svg, " to ") == actions);
    CHECK(occurrences(svg, ">rank 0<") == 1);
    CHECK(occurrences(svg, ">rank 1<") == 1);
    for (const char* const meaning : {">forward<", ">backward<", ">input gradient<", ">weight gradient<"})
        CHECK(occurrences(svg, meaning) == 1);
    CHECK(occurrences(svg, ">time (ms)<") == 1);

    // a long schedule remains within 1600 pixels, without labels of microbatches
    const auto longer = make_pipeline_schedule(schedule_kind::gpipe, 2, 1, 1000);
    const auto wide =
        llmcost::pipeline_timeline_picture({"GPipe", ""}, longer, simulate(longer, {.forward = {1}, .backward = {2}}));
    CHECK(wide.width <= 1600);
    CHECK(occurrences(wide.document(), "lc-halo\"") == 0);
    CHECK(occurrences(wide.document(), ">input gradient<") == 0);
}

TEST_CASE("the trace has computation, waits, gathers and reductions on their streams") {
    using llmcost::distributed::schedule_kind;
    const auto schedule = make_pipeline_schedule(schedule_kind::zbv, 2, 2, 4);
    const llmcost::distributed::schedule_durations d{.forward = {0.010},
                                                     .backward_input = {0.008},
                                                     .backward_weight = {0.006},
                                                     .forward_transfer_seconds = 0.001,
                                                     .unshard = {0.002},
                                                     .reduce_gradient = {0.003}};
    const auto timeline = simulate(schedule, add_communication(schedule), d);
    const auto trace = nlohmann::json::parse(llmcost::pipeline_trace("pipeline", timeline));
    std::map<int, std::string> streams;
    std::map<std::string, std::size_t> spans;
    std::map<std::string, double> ends, computation;
    for (const auto& event : trace["traceEvents"]) {
        if (event["name"] == "thread_name") streams[event["tid"]] = event["args"]["name"];
        if (event["ph"] != "X") continue;
        const std::string stream = streams[event["tid"]];
        ++spans[stream];
        CHECK(event["ts"].get<double>() >= ends[stream] - 1e-6);  // spans of a stream follow each other
        ends[stream] = event["ts"].get<double>() + event["dur"].get<double>();
        if (event["cat"] == "computation") computation[stream] += event["dur"].get<double>();
    }
    CHECK(streams.size() == 6);
    CHECK(spans["rank 0 all-gather"] == 2);
    CHECK(spans["rank 1 gradient reduction"] == 2);
    CHECK(computation["rank 0"] == doctest::Approx(2 * 4 * 24e3));
    CHECK(computation["rank 1"] == doctest::Approx(2 * 4 * 24e3));
    CHECK(ends["rank 0"] <= timeline.step_seconds * 1e6 + 1e-6);
}
