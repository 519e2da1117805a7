// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <string>

// `llmcost train` of jobs whose ranks hold different parts of a model.
using namespace llmcost::testing;
using nlohmann::json;

namespace {

const std::string job = "train --model meta-llama/Llama-3.1-8B --batch 1 --sequence 2048 --precision bf16 ";

}  // namespace

TEST_CASE("train prints the memory of each pipeline rank") {
    const json out =
        json_of(job + "--split megatron --tp 2 --pp 4 --dp 4 --zero 1 --sequence-parallel --microbatches 8");
    CHECK(out["world_size"] == 32);
    CHECK(out["parallelism"]["schedule"] == "1f1b");
    const json& ranks = out["ranks_memory"];
    REQUIRE(ranks.size() == 4);
    std::int64_t parameters = 0;
    std::uint64_t largest = 0;
    for (const json& rank : ranks) {
        CHECK(rank["ranks"] == 8);
        parameters += rank["parameters"].get<std::int64_t>();
        largest = std::max(largest, rank["peak"]["total"].get<std::uint64_t>());
        CHECK(rank["gradients_bytes"] == 2 * rank["parameters_bytes"].get<std::int64_t>());
        // float32 parameters and two moments, divided by four
        CHECK(2 * rank["optimizer_bytes"].get<std::int64_t>() == 3 * rank["parameters_bytes"].get<std::int64_t>());
    }
    CHECK(out["peak"]["total"] == largest);
    // both ranks of a stage have all norms: 32 layers with two, and the last one
    CHECK(2 * parameters == 8'030'261'248 + 65 * 4096);
    CHECK(ranks[0]["stages"] == json::array({0}));
    CHECK(json_of(job + "--pp 2 --stages-per-rank 2 --microbatches 4")["ranks_memory"][1]["stages"] ==
          json::array({1, 3}));
}

TEST_CASE("train compares the largest rank with the limit") {
    const std::string megatron = job + "--split megatron --pp 2 --microbatches 4 ";
    CHECK(llmcost_line(megatron + "--memory 100GB").code == 0);
    const outcome small = llmcost_line(megatron + "--memory 60GB");
    CHECK(small.code == 8);
    CHECK(has(small.out, "Does not fit"));
    CHECK(has(printed(megatron), "\n2 ranks: pp 2; split as megatron, 1f1b, 4 microbatches\n"));
    CHECK(has(printed(megatron), "\nLargest: pipeline rank 0, "));
}

TEST_CASE("train prints a pipeline schedule only for a pipeline") {
    const std::string megatron = job + "--split megatron --dp 2 --zero 1 ";
    CHECK(has(printed(megatron), "\n2 ranks: dp 2; split as megatron\n"));
    CHECK(has(printed(megatron + "--microbatches 4"), "\n2 ranks: dp 2; split as megatron, 4 microbatches\n"));
    CHECK(has(printed(megatron + "--pp 2 --microbatches 2"),
              "\n4 ranks: pp 2, dp 2; split as megatron, 1f1b, 2 microbatches\n"));
}

TEST_CASE("train rejects sizes of a job that contradict the model") {
    CHECK(has(refused(job + "--pp 64"), "--pp: 64 pipeline stages, but the model has 32 layers"));
    CHECK(has(refused(job + "--ep 4"), "--ep: the model has no routed experts to distribute"));
    CHECK(has(refused(job + "--tp 3"), "--tp: 3 does not divide the 32 attention heads"));
    CHECK(has(refused(job + "--tp 3 --split megatron"), "--tp: 3 does not divide the number of attention heads"));
    CHECK(has(refused(job + "--pp 2 --schedule zigzag"), "--schedule: "));
    CHECK(has(refused(job + "--pp 2 --cross-entropy te"), "--cross-entropy: requires --split megatron"));
    CHECK(has(refused(job + "--split megatron --recompute-modules mla_up_proj"),
              "--recompute-modules: expected core_attn, layernorm, mlp, moe or moe_act, found 'mla_up_proj'"));
}

TEST_CASE("train divides a job over ten thousand devices as over a few") {
    const std::string many = job + "--split megatron --tp 8 --pp 16 --dp 80 --zero 1 --microbatches 64";
    const json out = json_of(many);
    CHECK(out["world_size"] == 10240);
    CHECK(out["ranks_memory"].size() == 16);
    CHECK(out["ranks_memory"][3]["ranks"] == 640);
    // ranks with fewer microbatches in flight need less
    for (std::size_t rank = 2; rank < 15; ++rank)
        CHECK(out["ranks_memory"][rank]["saved_bytes"] < out["ranks_memory"][rank - 1]["saved_bytes"]);
}
