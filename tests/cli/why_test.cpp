// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>

// `--convention` and `llmcost why`: what they print, what they refuse, and that lines add up.
using namespace llmcost::testing;

namespace {

const std::string on_llama = " --batch 16 --sequence 200 " + llama;

nlohmann::json counters_json(const std::string& line) {
    return nlohmann::json::parse(printed(line + " --format json"));
}

}  // namespace

TEST_CASE("a convention prints what the tool printed, for every way to run it") {
    // the first records of tests/golden/conventions.txt
    const auto deepspeed = counters_json("--convention deepspeed" + on_llama);
    CHECK(deepspeed["ways"].size() == 2);  // on the meta device the same: no layer of this model has a bias
    CHECK(deepspeed["ways"][0]["attention"] == "eager");
    CHECK(deepspeed["ways"][0]["figures"]["flops"] == 7993412812800);
    CHECK(deepspeed["ways"][0]["figures"]["macs"] == 3996332851200);
    CHECK(deepspeed["ways"][0]["held"] == true);
    CHECK(deepspeed["ways"][1]["figures"]["flops"] == 7993085132800);
    CHECK(counters_json("--convention torchinfo" + on_llama)["ways"][0]["figures"]["mult_adds"] == 23975723008);
    CHECK(printed("--convention calflops --format csv" + on_llama) ==
          "figure,eager,sdpa\n"
          "flops,7993412812800,7909199052800\n"
          "macs,3996332851200,3954389811200\n"
          "params,1235814400,1235814400\n");
    const std::string page = printed("--convention CalFLOPS" + on_llama);
    CHECK(has(page, "FLOPs counted as calflops"));
    CHECK(has(page, "7,909,199,052,800"));
    CHECK(has(page, "llmcost why --against calflops"));
    // GPT-2's layers have biases: on the meta device two of its products are reported for each
    const auto gpt2 =
        counters_json("--convention deepspeed --batch 3 --sequence 67 --config " + config_of("openai-community__gpt2"));
    CHECK(gpt2["ways"].size() == 4);
    CHECK(gpt2["ways"][2]["tensors"] == "meta");
    CHECK(gpt2["ways"][2]["figures"]["macs"] == 42150028032);
    CHECK(gpt2["ways"][0]["figures"]["macs"] == 25078162176);
}

TEST_CASE("llm-profiler's arithmetic is its current README's") {
    const auto ways = counters_json("--convention llm-profiler" + on_llama)["ways"];
    REQUIRE(ways.size() == 1);
    const auto figures = ways[0]["figures"];
    CHECK(figures["add"] == 58284507140);
    CHECK(figures["mult"] == 59170869284);
    CHECK(figures["div"] == 3488133);
    CHECK(figures["sqrt"] == 16);
    CHECK(figures["params"] == 1235814497);
    CHECK(figures["cache"] == 59101064);
    CHECK(figures["act"] == 327181312);
    CHECK(ways[0]["held"].is_null());
    CHECK(has(printed("--convention llm-profiler --config " + config_of("openai-community__gpt2")), "no result: it "));
}

TEST_CASE("why names every counter, and one line by line until nothing is left") {
    const std::string all = printed("why" + on_llama);
    for (const char* name : {"flop_counter", "deepspeed", "calflops", "ptflops", "ptflops-aten", "fvcore", "thop",
                             "torchinfo", "llm-profiler", "6nd", "palm"})
        CHECK_MESSAGE(has(all, std::string("\n") + name + " "), name);
    const std::string one = printed("why --against calflops --attention-implementation sdpa" + on_llama);
    CHECK(has(one, "F.scaled_dot_product_attention"));
    CHECK(has(one, "not patched: attention is not counted"));
    CHECK(has(one, "7,909,199,052,800"));
    CHECK(has(one, "pytorch_ops.py, _linear_flops_compute"));
    for (const char* counter :
         {"deepspeed", "ptflops", "ptflops-aten", "fvcore", "thop", "torchinfo", "llm-profiler", "6nd", "palm"}) {
        INFO(counter);
        const auto read = counters_json(std::string("why --against ") + counter + on_llama)["counters"];
        REQUIRE(read.size() == 1);
        std::int64_t ours = 0, theirs = 0;
        for (const auto& line : read[0]["lines"]) {
            ours += line["ours"].get<std::int64_t>();
            theirs += line["theirs"].get<std::int64_t>();
        }
        CHECK(ours == read[0]["ours"].get<std::int64_t>());
        CHECK(theirs == read[0]["theirs"].get<std::int64_t>());
    }
    // 6 N D is N times tokens times six, PaLM's the same with attention
    const auto formula = counters_json("why --against 6nd" + on_llama)["counters"][0];
    CHECK(formula["figures"]["flops"].get<std::int64_t>() == 6LL * 1235814400 * 3200);
    CHECK(counters_json("why --against palm" + on_llama)["counters"][0]["figures"]["flops"].get<std::int64_t>() ==
          (6LL * 1235814400 + 12LL * 16 * 2048 * 200) * 3200);
}

TEST_CASE("where a number is not held, or there is none, the page says so") {
    CHECK(has(printed("--convention fvcore --config " + config_of("variant__minimax_blocks")),
              "not verified against the tool: torch.jit removes operations without readers"));
    CHECK(has(printed("why --against 6nd --config " + config_of("Qwen__Qwen3-30B-A3B")),
              "no result: the model has experts, so a token does not use all parameters"));
    CHECK(has(printed("--convention thop --past 10 " + llama),
              "not verified against the tool: no recorded output has tokens"));
    CHECK(has(printed("--convention deepspeed --config " + config_of("variant__axk2_groups")),
              "sdpa: no result: llmcost does not support"));
    CHECK(has(printed("why --against palm --past 10" + on_llama), "no result: a training step has no past"));
}

TEST_CASE("what is no question to a counter is refused") {
    CHECK(has(refused("--convention calflop" + on_llama), "no counter 'calflop'; nearest: calflops"));
    CHECK(has(refused("why --against thopp" + on_llama), "no counter 'thopp'; nearest: thop"));
    CHECK(has(refused("--convention thop mult" + on_llama), "cannot be combined with metrics or scopes"));
    CHECK(has(refused("--convention thop --training" + on_llama), "cannot be combined with --training"));
    CHECK(has(refused("--convention thop --batch 1,2 " + llama), "supports only one workload"));
    CHECK(has(refused("--convention thop --input 5 " + llama), "supports a single forward pass"));
}
