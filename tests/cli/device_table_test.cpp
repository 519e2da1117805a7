// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

// `--device A,B` and `--device all`, the time of a training step, and combinations of changes that fit.
using namespace llmcost::testing;
using nlohmann::json;

namespace {

const std::string small = " --model Qwen/Qwen3-0.6B", large = " --model Qwen/Qwen3-8B";
const std::string step = " --precision bf16 --attention-implementation sdpa";

const json& row_of(const json& table, const std::string& device) {
    for (const json& row : table["devices"])
        if (row["device"] == device) return row;
    FAIL("no row of " << device);
    return table;
}

}  // namespace

TEST_CASE("memory and fit of several devices are a table with the step of latency") {
    const json table = json_of("memory" + large + " --sequence 2048 --device h100,t4");
    for (const std::string device : {"h100", "t4"}) {
        const json& row = row_of(table, device);
        const json one = json::parse(printed("memory" + large + " --sequence 2048 --format json --device " + device, {},
                                             device == "t4" ? 8 : 0));
        CHECK(row["needed"] == one["total"]);
        CHECK(row["available"] == one["available"]);
        CHECK(row["fits"] == one["fits"]);
    }
    const json step_of_h100 = json_of("latency" + large + " --sequence 2048 --device h100 --engine vllm");
    const json& row = row_of(table, "h100");
    CHECK(row["step_seconds"] == step_of_h100["seconds"]);
    CHECK(row["tokens_per_second"].get<double>() == doctest::Approx(2048 / step_of_h100["seconds"].get<double>()));
    CHECK(row["price_per_million_tokens"].is_null());
    const std::string text = printed("memory" + large + " --device h100,t4");
    CHECK(has(text, "step time  tokens/s  J/token  price/million\nh100    yes "));
    CHECK(has(text, "\nt4      no "));
    CHECK(has(text, "Price: set --price, or price_per_hour in a datasheet file\n"));
    CHECK(has(printed("memory" + large + " --device h100,t4 --format csv"),
              "device,fits,needed_bytes,available_bytes,headroom_bytes,step_seconds,tokens_per_second,joules_per_token,"
              "price_per_million_tokens,problem\nh100,true,"));
    const json fit = json_of("fit" + large + " --sequence 2048 --device h100,rtx_4090");
    CHECK(row_of(fit, "rtx_4090")["max_batch"] ==
          json_of("fit" + large + " --sequence 2048 --device rtx_4090")["max_batch"]);
}

TEST_CASE("the devices of all are sorted: those that fit first, then the fastest") {
    const json table = json_of("memory" + large + " --device all");
    CHECK(table["devices"].size() > 30);
    for (std::size_t i = 1; i < table["devices"].size(); ++i) {
        const json &a = table["devices"][i - 1], &b = table["devices"][i];
        CHECK(a["fits"] >= b["fits"]);
        if (a["fits"] == b["fits"] && !a["step_seconds"].is_null() && !b["step_seconds"].is_null())
            CHECK(a["step_seconds"] <= b["step_seconds"]);
    }
}

TEST_CASE("latency and serve of several devices have the figures of each device") {
    const std::string decode = "latency" + small + " --batch 8 --past 500 --engine vllm --price 2,0.5";
    const json steps = json_of(decode + " --device h100,rtx_4090");
    const json one = json_of("latency" + small + " --batch 8 --past 500 --engine vllm --device rtx_4090");
    const json& row = row_of(steps, "rtx_4090");
    CHECK(row["step_seconds"] == one["seconds"]);
    CHECK(row["joules_per_token"].get<double>() == doctest::Approx(one["joules_of_all_devices"].get<double>() / 8));
    CHECK(row["price_per_million_tokens"].get<double>() ==
          doctest::Approx(1e6 / 8 * one["seconds"].get<double>() / 3600 * 0.5));
    const json servers = json_of("serve" + large + " --engine trtllm --concurrency 4 --device h100,t4,mi300x");
    const json server = json_of("serve" + large + " --engine trtllm --concurrency 4 --device h100");
    CHECK(row_of(servers, "h100")["tokens_per_second"] == server["tokens_per_second"]);
    CHECK(row_of(servers, "t4")["fits"] == false);
    CHECK(has(row_of(servers, "mi300x")["problem"].get<std::string>(), "trtllm supports devices of NVIDIA"));
    CHECK(has(printed("serve" + small + " --device h100 --sweep --format csv"),
              "concurrency,ttft_seconds,tpot_seconds,tokens_per_second,"));
}

TEST_CASE("a list of devices that cannot be read says what is wrong") {
    CHECK(has(refused("memory" + small + " --device h100,rtx_4091"), "--device: no device 'rtx_4091'; nearest: rtx_"));
    CHECK(has(refused("memory" + small + " --device h100,"), "--device: expected a list such as h100,rtx_4090 or all"));
    CHECK(has(refused("memory" + small + " --device h100,t4 --batch 1,2"), "--batch: a list cannot be combined"));
    CHECK(has(refused("memory" + small + " --device h100,t4 --price 1,2,3"), "one for each of the 2 devices"));
    CHECK(has(refused("memory" + small + " --device h100,t4 --plot a.svg"), "--plot: cannot be combined with several"));
    CHECK(printed("memory --model meta-llama/Llama-3.1-70B --device t4,rtx_4090", {}, 8) != "");
}

TEST_CASE("a training step has the time of latency, and the cost of an epoch") {
    const std::string train = "train" + small + step + " --device h100 --batch 4 --price 3 --tokens 1000000000";
    const json estimate = json_of(train)["step_time"];
    const json latency = json_of("latency" + small + " --engine torch --training --batch 4 --device h100");
    const double rate = latency["tokens_per_second"];
    CHECK(estimate["seconds"] == latency["seconds"]);
    CHECK(estimate["inputs_per_second"].get<double>() == doctest::Approx(rate));
    CHECK(estimate["model_flops_utilization"] == latency["model_flops_utilisation"]);
    CHECK(estimate["epoch_hours"].get<double>() == doctest::Approx(1e9 / rate / 3600));
    CHECK(estimate["epoch_price"].get<double>() == doctest::Approx(1e9 / rate / 3600 * 3));
    CHECK(estimate["epoch_kwh"].get<double>() ==
          doctest::Approx(1e9 / rate / 3600 * latency["watts_per_device"].get<double>() / 1000));
    const std::string text = printed(train);
    CHECK(has(text, "\nStep time on H100 SXM: "));
    CHECK(has(text, "\n1,000,000,000 tokens: "));
    CHECK(has(text, "Time: as in llmcost latency --training, --engine torch: device "));
    // only the passes are repeated, not the optimizer step
    const double accumulated = json_of(train + " --gradient-accumulation 4")["step_time"]["device_seconds"];
    CHECK(accumulated < 4 * estimate["device_seconds"].get<double>());
    CHECK(accumulated > 3 * estimate["device_seconds"].get<double>());
    CHECK(has(refused("train" + small + " --tokens 5"), "--tokens: requires --device"));
    CHECK(has(printed("train" + small + step + " --adapter ia3 --device h100"), "Step time on H100 SXM: "));
    const json table = json_of("train" + small + step + " --batch 4 --device h100,rtx_4090 --tokens 1000000000");
    CHECK(row_of(table, "h100")["epoch_hours"].get<double>() == doctest::Approx(1e9 / rate / 3600));
}

TEST_CASE("--lora and --qlora are adapters") {
    const std::string train = "train" + small + " --precision bf16 --format json ";
    CHECK(printed(train + "--lora r=16") == printed(train + "--adapter lora:r=16"));
    CHECK(printed(train + "--lora 16") == printed(train + "--adapter lora:r=16"));
    CHECK(printed(train + "--qlora") == printed(train + "--adapter qlora"));
    CHECK(printed(train + "--qlora --lora r=4,targets=all-linear") ==
          printed(train + "--adapter qlora:r=4,targets=all-linear"));
    CHECK(has(refused("train" + small + " --lora r=4 --adapter ln"), "--lora: cannot be combined with --adapter"));
    CHECK(has(printed("train --help"), "--qlora"));
}

TEST_CASE("fit --training proposes combinations that fit") {
    const json fit = json::parse(printed("fit" + large + step + " --training --device rtx_4090 --format json", {}, 8));
    REQUIRE(fit["combinations"].size() > 1);
    double cost = 0;
    for (const json& c : fit["combinations"]) {
        CHECK(c["needed"] <= fit["available"]);
        if (c["step_seconds"].is_null()) continue;
        const double device_seconds = c["step_seconds"].get<double>();  // the same tokens on each device
        CHECK(device_seconds >= cost);
        cost = device_seconds;
        // the printed change is a command line that fits, with the printed memory
        const json changed = json::parse(
            printed("train" + large + step + " --device rtx_4090 --format json " + c["change"].get<std::string>()));
        CHECK(changed["fits"] == true);
        CHECK(changed["peak"]["total"] == c["needed"]);
        CHECK(changed["step_time"]["seconds"] == c["step_seconds"]);
    }
    const std::string text = printed("fit" + large + step + " --training --device rtx_4090", {}, 8);
    CHECK(has(text, "\nCombinations that fit, cheapest first (memory per device, step time):\n"));
    CHECK(has(text, "  --qlora --lora r=16,targets=all-linear\n"));
    CHECK(has(printed("fit" + large + " --device h100 --format csv"), "model,memory,fits,needed_bytes,"));
}

TEST_CASE("a plan is saved as a launch script and as deployments of Kubernetes and Dynamo") {
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / "llmcost_plan_saved";
    std::filesystem::remove_all(folder);
    const std::string plan =
        "plan --model Qwen/Qwen3-8B --device h200_sxm --calibration none --requests 100 --rate 2 --slo "
        "ttft=1s,tpot=50ms --no-separate --save " +
        folder.string();
    const auto saved = [&](const char* name) {
        std::ifstream file(folder / name);
        std::ostringstream text;
        text << file.rdbuf();
        return text.str();
    };
    CHECK(has(printed(plan + " --engine vllm"), "\nWritten: " + (folder / "launch.sh").string() + ", "));
    CHECK(has(saved("launch.sh"), "\nCUDA_VISIBLE_DEVICES=0 vllm serve Qwen/Qwen3-8B --tensor-parallel-size 1 "));
    CHECK(has(saved("kubernetes.yaml"), "kind: Deployment\nmetadata:\n  name: qwen3-8b-both\n"));
    CHECK(has(saved("kubernetes.yaml"), "              nvidia.com/gpu: \"1\"\n"));
    CHECK(has(saved("kubernetes.yaml"), "llm-d.ai/inference-serving: \"true\"\n"));
    CHECK(has(saved("dynamo.yaml"), "kind: DynamoGraphDeployment\n"));
    CHECK(has(saved("dynamo.yaml"), "            - \"--model\"\n            - \"Qwen/Qwen3-8B\"\n"));
    CHECK(has(printed(plan + " --engine trtllm --format csv"), "engine,dtype,cache_dtype,devices,tensor_parallel,"));
    CHECK(has(saved("dynamo.yaml"), "            - \"--tensor-parallel-size\"\n            - \"1\"\n"));
    std::filesystem::remove_all(folder);
}
