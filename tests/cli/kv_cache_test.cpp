// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <string>

#include "program.hpp"

using namespace llmcost::testing;
using nlohmann::json;

// windows next to full attention, recurrent states, experts in 4 bits, latent attention in 8 bits on eight devices
TEST_CASE("five commands print one KV cache") {
    const std::string unmeasured_kernels = " --calibration none";
    struct request {
        std::string model;
        int num_devices;
    };
    for (const request& r : {request{"meta-llama/Llama-3.2-1B", 1}, request{"openai/gpt-oss-20b", 1},
                             request{"Qwen/Qwen3.5-0.8B", 1}, request{"deepseek-ai/DeepSeek-V3", 8}}) {
        CAPTURE(r.model);
        const std::string n = std::to_string(r.num_devices), model = " --engine vllm --device h200 --model " + r.model;
        const std::string server = model + " --tp " + n;
        const json memory = json_of("memory --sequence 1536" + server),
                   fit = json_of("fit --sequence 1536 --devices " + n + model),
                   serve = json_of("serve --input 1024 --output 1024" + server + unmeasured_kernels),
                   simulate = json_of("simulate --input 1024 --output 1024 --concurrency 2 --requests 2" + server +
                                      unmeasured_kernels);
        const auto blocks = memory["cache_blocks"].get<std::int64_t>();
        CHECK(blocks > 1000);
        CHECK(serve["cache_blocks"] == blocks);
        CHECK(simulate["cache_blocks"] == blocks);
        CHECK(serve["cache_available"] == memory["cache_available"]);
        CHECK(simulate["cache_available"] == memory["cache_available"]);
        CHECK(serve["activations_peak"] == memory["activations_peak"]);
        CHECK(serve["capacity"] == memory["cache_concurrency"]);
        CHECK(fit["max_concurrency"] == std::floor(memory["cache_concurrency"].get<double>()));
        CHECK(serve["needed"] == memory["total"]);
    }
    const std::string small = " --model meta-llama/Llama-3.2-1B --device h200 --engine vllm";
    const json plan = json_of("plan --slo ttft=10s --devices 1 --input 1024 --output 64 --concurrency 2 --requests 4" +
                              small + unmeasured_kernels);
    const json memory = json_of("memory --sequence 1536" + small);
    CHECK(plan["deployments"][0]["tokens_per_step"] == 8192);
    CHECK(plan["deployments"][0]["cache_blocks"] == memory["cache_blocks"]);
    // one share of the memory, and stages
    for (const std::string options : {" --gpu-memory-utilization 0.5", " --pp 3 --tp 2"}) {
        CAPTURE(options);
        const json limited = json_of("memory --sequence 1536" + small + options),
                   served = json_of("serve --input 1024 --output 1024" + small + options + unmeasured_kernels),
                   simulated = json_of("simulate --concurrency 2 --requests 2" + small + options + unmeasured_kernels);
        CHECK(limited["cache_blocks"] != memory["cache_blocks"]);
        CHECK(served["cache_blocks"] == limited["cache_blocks"]);
        CHECK(simulated["cache_blocks"] == limited["cache_blocks"]);
    }
}

TEST_CASE("a draft model of a server takes time and memory, as in a simulation") {
    const std::string target =
        " --model meta-llama/Llama-3.1-70B --dtype fp8 --device h200 --tp 4 --engine vllm" + measured;
    const std::string drafts = " --draft 3 --acceptance 0.8";
    const auto served = [&](const std::string& options) { return json_of("serve --concurrency 4" + target + options); };
    const json none = served(""), free = served(drafts),
               small = served(drafts + " --draft-model meta-llama/Llama-3.2-1B"),
               large = served(drafts + " --draft-model meta-llama/Llama-3.1-8B");
    const auto number = [](const json& j, const char* name) { return j[name].get<double>(); };
    CHECK(number(free, "tpot_seconds") < number(small, "tpot_seconds"));
    CHECK(number(small, "tpot_seconds") < number(large, "tpot_seconds"));
    CHECK(number(small, "tpot_seconds") < number(none, "tpot_seconds"));
    CHECK(number(small, "ttft_seconds") > number(free, "ttft_seconds"));
    CHECK(number(free, "capacity") == number(none, "capacity"));
    CHECK(number(small, "capacity") < number(free, "capacity"));
    CHECK(number(large, "capacity") < number(small, "capacity"));
    const json simulated =
        json_of("simulate --concurrency 2 --requests 2" + target + drafts + " --draft-model meta-llama/Llama-3.1-8B");
    CHECK(large["cache_blocks"] == simulated["cache_blocks"]);
    CHECK(large["cache_available"] == simulated["cache_available"]);
    CHECK(has(refused("serve" + target + " --draft-model meta-llama/Llama-3.2-1B"), "--draft-model: requires --draft"));
}
