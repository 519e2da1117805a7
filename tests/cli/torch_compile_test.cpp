// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>

// `latency --engine torch --execution compile` and `train --compile`.
using namespace llmcost::testing;
using nlohmann::json;

TEST_CASE("a compiled step is faster, launches fused kernels and saves less for backward") {
    const std::string model = " --model Qwen/Qwen3-0.6B --device h200 --batch 4 --sequence 512 --format json";
    const std::string base = "latency --engine torch --training" + model + " --execution ";
    const json eager = json::parse(printed(base + "eager")), compiled = json::parse(printed(base + "compile"));
    CHECK(compiled["device_seconds"].get<double>() < eager["device_seconds"].get<double>());
    CHECK(compiled["launches"].get<double>() < eager["launches"].get<double>() / 2);
    double fused = 0;
    for (const json& k : compiled["kernels"])
        if (k["operator"].get<std::string>().starts_with("triton_")) fused += k["calls"].get<double>();
    CHECK(fused > 100);
    const json graphs = json::parse(printed(base + "reduce-overhead"));
    CHECK(graphs["host_seconds"] == 0);
    CHECK(graphs["seconds"] == compiled["device_seconds"]);

    const json step = json::parse(printed("train" + model + " --compile")),
               eager_step = json::parse(printed("train" + model + " --on cuda"));
    CHECK(step["compiled"] == true);
    CHECK(eager_step["compiled"] == false);
    CHECK(step["step_time"]["seconds"] == compiled["seconds"]);
    CHECK(step["saved_bytes"].get<double>() < eager_step["saved_bytes"].get<double>());
    CHECK(step["peak"]["total"].get<double>() < eager_step["peak"]["total"].get<double>());
    const json captured = json::parse(printed("train" + model + " --compile-mode reduce-overhead"));
    CHECK(captured["step_time"]["seconds"] == graphs["seconds"]);
    CHECK(captured["peak"] == step["peak"]);
}

TEST_CASE("a compiled forward pass launches fewer kernels than an eager one") {
    const std::string base =
        "latency --engine torch --model Qwen/Qwen3-0.6B --device h200 --past 1000 --format json --execution ";
    const json eager = json::parse(printed(base + "eager")), compiled = json::parse(printed(base + "compile"));
    CHECK(compiled["launches"].get<double>() < eager["launches"].get<double>() / 2);
    CHECK(compiled["device_seconds"].get<double>() < eager["device_seconds"].get<double>());
}

TEST_CASE("torch.compile is refused where it is not modeled") {
    const std::string latency = "latency --model Qwen/Qwen3-0.6B --device h200 ";
    CHECK(has(refused(latency + "--execution compile"),
              "--execution: 'compile' is not supported by this engine; use --engine torch"));
    CHECK(has(refused(latency + "--engine torch --training --execution compile --recompute full"),
              "--execution: compile cannot be combined with activation checkpointing"));
    const std::string train = "train --model Qwen/Qwen3-0.6B --compile ";
    CHECK(has(refused(train + "--recompute full"), "--compile: cannot be combined with activation checkpointing"));
    CHECK(has(refused(train + "--on cpu"), "--compile: requires --on cuda, found cpu"));
    CHECK(has(refused(train + "--loss fused --precision bf16"), "--compile: cannot be combined with a fused loss"));
    CHECK(has(refused(train + "--shards 2 --fsdp"), "--compile: cannot be combined with sharding"));
    CHECK(has(refused(train + "--precision fp8-mixed"), "--compile: cannot be combined with --precision fp8-mixed"));
}
