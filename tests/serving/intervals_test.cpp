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
#include "../../examples/llmcost/registry.hpp"

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
        cli::serve_table table(folder, calibrations, parts::registry);
        std::map<std::tuple<std::string, serving_evidence, std::string>, std::vector<bool>> groups;
        std::size_t all = 0;
        for (const run& r : serving_runs::runs_of(table, rows)) {
            const serving_runs::served_times t = serving_runs::in_closed_form(*r.serving_engine, r);
            const prediction_interval i = prediction_interval_of(r.serving_engine->name, r.evidence);
            const auto is_inside = [](double measured, double predicted, relative_interval e) {
                const double log_ratio = std::log2(measured / predicted);
                return log_ratio >= e.low && log_ratio <= e.high;
            };
            groups[{std::string(r.serving_engine->name) + " tpot", r.evidence, r.system}].push_back(
                is_inside(r.tpot, t.tpot, i.tpot));
            groups[{std::string(r.serving_engine->name) + " ttft", r.evidence, r.system}].push_back(
                is_inside(r.ttft, t.ttft, i.ttft));
            ++all;
        }
        CHECK(all == 1302);  // none is left unanswered
        for (const auto& [bound_key, hits] : groups) {
            const auto& key = bound_key;
            INFO(std::get<0>(key), ' ', description_of(std::get<1>(key)), ' ', std::get<2>(key));
            double num_inside = 0;
            for (const bool one : hits) num_inside += one ? 1 : 0;
            CHECK(num_inside >= 0.9 * static_cast<double>(hits.size()));
        }
    }
    CHECK(corrected == 138);
}

TEST_CASE("what stands on less has no narrower an interval, and a device without measurements not that of H100") {
    for (const engine& e : engines)
        for (const serving_evidence evidence : {serving_evidence::measured_runs, serving_evidence::measured_kernels,
                                                serving_evidence::fallback_kernels}) {
            const prediction_interval better = prediction_interval_of(e.name, evidence),
                                      worse = prediction_interval_of(
                                          e.name, static_cast<serving_evidence>(static_cast<int>(evidence) + 1));
            for (const auto error : {&prediction_interval::tpot, &prediction_interval::ttft,
                                     &prediction_interval::simulated_tpot, &prediction_interval::simulated_ttft}) {
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
        "id,backend,model_path,system,isl,osl,batch_size,tp_size,attention_dp_size,moe_tp_size,moe_ep_size,silicon_"
        "ttft_ms,"
        "silicon_tpot_ms\n"
        "a,trtllm,deepseek-ai/DeepSeek-V3,gb200,1024,1024,16,1,36,1,36,1,1\n"
        "b,trtllm,deepseek-ai/DeepSeek-V3,gb200,1024,1024,16,1,72,1,72,1,1\n";
    cli::serve_table table(folder, LLMCOST_TEST_DIR "/../configs/calibrations", parts::registry);
    const std::vector<run> runs = serving_runs::runs_of(table, rows);
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].model_server->execution_config().parallel.world_size() == 36);
    CHECK(runs[0].load.concurrency == 16 * 36);
    CHECK(runs[0].model_server->execution_config().parallel.num_expert_slots(256) == 288);
    CHECK(runs[1].model_server->execution_config().parallel.num_expert_slots(256) == 288);
    // 58 layers of 256 experts of 3 · 7168 · 2048 bytes: eight places on each of 36 devices, four on each of 72
    CHECK(runs[0].model_server->weight_bytes_per_device() - runs[1].model_server->weight_bytes_per_device() ==
          doctest::Approx(58.0 * 4 * 3 * 7168 * 2048));
}

// NVIDIA/nccl @01afd20a, src/graph/tuning.cc: a tree of four nodes is two steps high, up and down, each of 5 µs and its
// part of the message at 0.9 of the bandwidth
TEST_CASE("a sum over nodes goes over the network in a tree") {
    device h100 = *find_device("h100_sxm");
    h100.network_bandwidth = 50;
    const std::vector<model_kernel> k =
        make_collective_kernels("all_reduce", 1 << 24, 32, 1, find_operand_type("bfloat16"), 8);
    REQUIRE(k.size() == 2);
    CHECK(k[0].shape.sizes[1] == 8);
    CHECK(k[1].num_runs == 4);
    const double bytes = 2.0 * (1 << 24) / 8 * 3 / 4 / 2;
    CHECK(k[1].shape.work().bytes == bytes);
    const double seconds = predicted_seconds(h100, k[1].shape, nullptr, {});
    CHECK(seconds == doctest::Approx(bytes / 45e9).epsilon(0.1));
    operator_shape one = k[1].shape;
    one.sizes[0] = 8;
    CHECK(predicted_seconds(h100, one, nullptr, {}) == doctest::Approx(5e-6).epsilon(0.01));
    CHECK(make_collective_kernels("all_reduce", 1 << 24, 8, 1, find_operand_type("bfloat16"), 8).size() == 1);
    // groups of eight that share layers: one of each node
    const std::vector<model_kernel> cross_node =
        make_collective_kernels("all_gather", 1 << 24, 4, 8, find_operand_type("bfloat16"), 8);
    REQUIRE(cross_node.size() == 1);
    CHECK(cross_node[0].shape.type == find_operator_type("network"));
    CHECK(cross_node[0].num_runs == 2);
}

// experts are read once, however many tokens are sent to them; units are as busy as their own type makes them
TEST_CASE("a board draws more as more requests run") {
    const std::string head =
        "id,backend,model_path,system,isl,osl,batch_size,tp_size,moe_tp_size,silicon_ttft_ms,silicon_tpot_ms\n";
    double previous_watts = 0;
    for (const std::int64_t batch_size : {1, 2, 4, 8, 16, 32, 64, 128}) {
        const std::string row =
            "a,sglang,deepseek-ai/DeepSeek-V3,h200_sxm,1024,1024," + std::to_string(batch_size) + ",8,8,1,1\n";
        cli::serve_table table(folder, LLMCOST_TEST_DIR "/../configs/calibrations", parts::registry);
        const std::vector<run> runs = serving_runs::runs_of(table, head + row);
        const double watts = (*runs[0].model_server)(runs[0].load).watts_per_device;
        CHECK(watts > previous_watts);
        CHECK(watts < 700);
        previous_watts = watts;
    }
}
