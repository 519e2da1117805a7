// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <fstream>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "../../bench/serving_runs.hpp"
#include "../../examples/llmcost/rows.hpp"

using namespace llmcost;
using serving_runs::run;

namespace {

/// measured.csv are all runs of ai-dynamo/aiconfigurator @095f58a5, systems/silicon_sample.csv (Apache-2.0).
std::string measured_rows(std::size_t& corrected) {
    std::ifstream in(LLMCOST_TEST_DIR "/fit/serving/measured.csv", std::ios::binary);
    return serving_runs::as_ids_mean(in, corrected);
}
constexpr const char* folder = LLMCOST_TEST_DIR "/fit/serving";

}  // namespace

TEST_CASE("nine in ten measured runs lie inside the interval of what they stand on, on each device") {
    std::size_t corrected = 0;
    const std::string rows = measured_rows(corrected);
    for (const char* calibrations : {LLMCOST_TEST_DIR "/../configs/calibrations", "none"}) {
        cli::serve_table table(folder, calibrations, parts::rows);
        std::map<std::tuple<std::string, serving_evidence, std::string>, std::vector<bool>> groups;
        std::size_t all = 0;
        for (const run& r : serving_runs::runs_of(table, rows)) {
            const serving_runs::served_times t = serving_runs::in_closed_form(*r.by, r);
            const serving_interval i = interval_of(r.by->name, r.stands_on);
            const auto inside = [](double measured, double predicted, serving_error e) {
                const double off = std::log2(measured / predicted);
                return off >= e.low && off <= e.high;
            };
            groups[{std::string(r.by->name) + " tpot", r.stands_on, r.system}].push_back(inside(r.tpot, t.tpot, i.tpot));
            groups[{std::string(r.by->name) + " ttft", r.stands_on, r.system}].push_back(inside(r.ttft, t.ttft, i.ttft));
            ++all;
        }
        CHECK(all == 1302);  // none is left unanswered
        for (const auto& [of, each] : groups) {
            INFO(std::get<0>(of), ' ', words_of(std::get<1>(of)), ' ', std::get<2>(of));
            double held = 0;
            for (const bool one : each) held += one ? 1 : 0;
            CHECK(held >= 0.9 * static_cast<double>(each.size()));
        }
    }
    CHECK(corrected == 138);
}

TEST_CASE("what stands on less has no narrower an interval, and a device without measurements not that of H100") {
    for (const engine& e : engines)
        for (const serving_evidence by : {serving_evidence::runs, serving_evidence::kernels, serving_evidence::stand_ins}) {
            const serving_interval better = interval_of(e.name, by),
                                   worse = interval_of(e.name, static_cast<serving_evidence>(static_cast<int>(by) + 1));
            for (const auto error : {&serving_interval::tpot, &serving_interval::ttft, &serving_interval::simulated_tpot,
                                     &serving_interval::simulated_ttft}) {
                CHECK((better.*error).low < 0);
                CHECK((better.*error).high > 0);
                CHECK((worse.*error).low <= (better.*error).low);
                CHECK((worse.*error).high >= (better.*error).high);
            }
        }
}

// 36 and 72 devices of a rack, each attending to requests of its own, 256 experts over all of them
TEST_CASE("experts that do not divide by the devices take places with copies") {
    const std::string rows =
        "id,backend,model_path,system,isl,osl,batch_size,tp_size,attention_dp_size,moe_tp_size,moe_ep_size,silicon_ttft_ms,"
        "silicon_tpot_ms\n"
        "a,trtllm,deepseek-ai/DeepSeek-V3,gb200,1024,1024,16,1,36,1,36,1,1\n"
        "b,trtllm,deepseek-ai/DeepSeek-V3,gb200,1024,1024,16,1,72,1,72,1,1\n";
    cli::serve_table table(folder, LLMCOST_TEST_DIR "/../configs/calibrations", parts::rows);
    const std::vector<run> runs = serving_runs::runs_of(table, rows);
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].on->how().shards.devices() == 36);
    CHECK(runs[0].load.concurrency == 16 * 36);
    CHECK(runs[0].on->how().shards.places(256) == 288);
    CHECK(runs[1].on->how().shards.places(256) == 288);
    // 58 layers of 256 experts of 3 · 7168 · 2048 bytes: eight places on each of 36 devices, four on each of 72
    CHECK(runs[0].on->weights() - runs[1].on->weights() == doctest::Approx(58.0 * 4 * 3 * 7168 * 2048));
}

// NVIDIA/nccl @01afd20a, src/graph/tuning.cc: a tree of four nodes is two steps high, up and down, each of 5 µs and its part
// of the message at 0.9 of the bandwidth
TEST_CASE("a sum over nodes goes over the network in a tree") {
    device h100 = *find_device("h100_sxm");
    h100.network_bandwidth = 50;
    const std::vector<model_kernel> k = collective_of("all_reduce", 1 << 24, 32, 1, find_operand("bfloat16"), 8);
    REQUIRE(k.size() == 2);
    CHECK(k[0].shape.sizes[1] == 8);
    CHECK(k[1].times == 4);
    const double bytes = 2.0 * (1 << 24) / 8 * 3 / 4 / 2;
    CHECK(k[1].shape.work().bytes == bytes);
    const double seconds = predicted_seconds(h100, k[1].shape, nullptr, {});
    CHECK(seconds == doctest::Approx(bytes / 45e9).epsilon(0.1));
    operator_shape one = k[1].shape;
    one.sizes[0] = 8;
    CHECK(predicted_seconds(h100, one, nullptr, {}) == doctest::Approx(5e-6).epsilon(0.01));
    CHECK(collective_of("all_reduce", 1 << 24, 8, 1, find_operand("bfloat16"), 8).size() == 1);
    // groups of eight that share layers: one of each node
    const std::vector<model_kernel> apart = collective_of("all_gather", 1 << 24, 4, 8, find_operand("bfloat16"), 8);
    REQUIRE(apart.size() == 1);
    CHECK(apart[0].shape.family == find_family("network"));
    CHECK(apart[0].times == 2);
}

// experts are read once, however many tokens are sent to them; units are as busy as their own type makes them
TEST_CASE("a board draws more as more requests run") {
    const std::string head =
        "id,backend,model_path,system,isl,osl,batch_size,tp_size,moe_tp_size,silicon_ttft_ms,silicon_tpot_ms\n";
    double before = 0;
    for (const std::int64_t many : {1, 2, 4, 8, 16, 32, 64, 128}) {
        const std::string row = "a,sglang,deepseek-ai/DeepSeek-V3,h200_sxm,1024,1024," + std::to_string(many) + ",8,8,1,1\n";
        cli::serve_table table(folder, LLMCOST_TEST_DIR "/../configs/calibrations", parts::rows);
        const std::vector<run> runs = serving_runs::runs_of(table, head + row);
        const double watts = (*runs[0].on)(runs[0].load).watts;
        CHECK(watts > before);
        CHECK(watts < 700);
        before = watts;
    }
}
