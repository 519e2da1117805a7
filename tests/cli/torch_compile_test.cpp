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

TEST_CASE("ops, levels and graph have the time of a compiled step of latency") {
    const auto sum_of = [](const json& rows) {
        double seconds = 0;
        for (const json& row : rows) seconds += row["seconds"].get<double>();
        return seconds;
    };
    for (const char* model : {"Qwen/Qwen3-0.6B", "google-t5/t5-small", "torchvision/resnet18"}) {
        CAPTURE(model);
        const std::string name(model), pass = " --model " + name + (name[0] == 't' ? "" : " --sequence 64") +
                                              " --dtype bfloat16 --device h200 --engine torch --format json";
        for (const char* execution : {"compile", "reduce-overhead"}) {
            CAPTURE(execution);
            const auto parsed = [&](const std::string& command) {
                return json::parse(printed(command + pass + " --execution " + execution));
            };
            const json latency = parsed("latency --logits all"), ops = parsed("ops"), levels = parsed("levels");
            const double seconds = latency["device_seconds"];
            const auto is_total = [&](double sum) { return sum == doctest::Approx(seconds).epsilon(1e-9); };
            CHECK(is_total(ops["seconds"]));
            CHECK(ops["kernels"].get<double>() == latency["launches"].get<double>());
            CHECK(is_total(sum_of(ops["rows"])));
            CHECK(is_total(sum_of(parsed("ops --group layer")["groups"])));
            CHECK(is_total(sum_of(levels["layers"])));
            CHECK(is_total(sum_of(levels["operators"])));
            CHECK(is_total(sum_of(parsed("graph")["nodes"])));
        }
        const json training = json::parse(printed("latency --training --execution compile" + pass)),
                   backward = json::parse(printed("graph --backward --execution compile" + pass));
        const double step_seconds = training["device_seconds"];
        CHECK(sum_of(json::parse(printed("ops --training --group module --execution compile" + pass))["groups"]) ==
              doctest::Approx(step_seconds).epsilon(1e-9));
        CHECK(sum_of(backward["nodes"]) + backward["loss_seconds"].get<double>() +
                  backward["optimizer_seconds"].get<double>() ==
              doctest::Approx(step_seconds).epsilon(1e-9));
    }
}

TEST_CASE("ops names the operators of fused kernels") {
    const json rows = json::parse(
        printed("ops --model Qwen/Qwen3-0.6B --sequence 64 --device h200 --engine torch --execution compile "
                "--filter triton_poi --format json"))["rows"];
    REQUIRE(rows.size() == 1);  // x / (1 + exp(-x)) · y of each layer
    CHECK(rows[0]["operator"] == "triton_poi_fused_add_convert_element_type_div_exp_mul_neg");
    CHECK(rows[0]["calls"] == 28);
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
