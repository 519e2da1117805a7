// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

// Multimodal inputs of requests: groups of a step, prompts of a server.
namespace llmcost::testing {

namespace {

const std::string seeing = " --model Qwen/Qwen2.5-VL-7B-Instruct";

}  // namespace

TEST_CASE("requests that show an image are a batch that does") {
    const auto batch = json_of(seeing + " --image 1024x768 --sequence 64 --batch 2");
    const auto ragged = json_of(seeing + " --ragged 64+1024x768x2");
    CHECK(ragged["totals"] == batch["totals"]);
    CHECK(ragged["workload"]["requests"][0]["image_tokens"] == batch["workload"]["image_tokens"]);
    CHECK(json_of(seeing + " --ragged 64+1024x768@0x2")["totals"] == batch["totals"]);
    // in the past no tower runs
    CHECK(json_of(seeing + " --ragged 1+1024x768@900")["totals"] == json_of(seeing + " --ragged 1@900")["totals"]);
    // groups with other images are added, except the parameters
    const auto small_images = json_of(seeing + " --image 640x480 --sequence 8"),
               combined = json_of(seeing + " --ragged 64+1024x768x2,8+640x480");
    CHECK(combined["totals"]["mult"] ==
          batch["totals"]["mult"].get<std::int64_t>() + small_images["totals"]["mult"].get<std::int64_t>());
    CHECK(combined["totals"]["params"] == batch["totals"]["params"]);
    CHECK(has(refused(seeing + " --ragged 64+10 mult"), "expected an image size such as 1024x768 after +, found '10'"));
    CHECK(has(refused(seeing + " --ragged 64+ax10 mult"), "--ragged: expected a whole number"));
    CHECK(has(refused("--model meta-llama/Llama-3.2-1B --ragged 64+10x20 mult"),
              "--image: not supported: this model has no image input"));
}

// 74 x 54 patches are 999 tokens, each an embedding of 3,584 features; in bfloat16 two bytes
TEST_CASE("an encoder's cache is a figure of what is shown") {
    const auto encoder_cache_bytes = [](const std::string& arguments) {
        return json_of(seeing + " " + arguments)["totals"]["encoder_cache_bytes"];
    };
    CHECK(encoder_cache_bytes("--image 1024x768") == 999 * 3584 * 2);
    CHECK(encoder_cache_bytes("--image 1024x768 --images 2 --batch 3") == 6 * 999 * 3584 * 2);
    CHECK(encoder_cache_bytes("--image 1024x768 --activation-dtype float32") == 999 * 3584 * 4);
    CHECK(encoder_cache_bytes("--image 1024x768 --past 2000 --sequence 1") == 0);
    CHECK(encoder_cache_bytes("--sequence 64") == 0);
    CHECK(has(printed(seeing + " --image 1024x768"), "Encoder cache"));
    CHECK_FALSE(has(printed(seeing), "Encoder cache"));
    CHECK(has(printed(seeing + " --image 1024x768 --format csv encoder_cache_bytes"), "7160832"));
    CHECK_FALSE(has(printed(seeing + " --format csv"), "encoder_cache_bytes"));
    CHECK(json_of(seeing + " --ragged 64+1024x768x2,8@90")["totals"]["encoder_cache_bytes"] == 2 * 999 * 3584 * 2);
}

// 1,024 x 768 is read as 1,036 x 756: 74 x 54 patches, four of which are a token
TEST_CASE("a server's prompts show images") {
    const std::string server =
        "serve" + seeing + " --device h100 --calibration none --engine vllm --input 100 --output 100";
    const auto text = json_of(server), with_image = json_of(server + " --image 1024x768"),
               long_text = json_of("serve" + seeing +
                                   " --device h100 --calibration none --engine vllm --input 1099 --output 100");
    CHECK(with_image["shown_tokens"] == 74 * 54 / 4);
    CHECK(with_image["input"] == 100 + 74 * 54 / 4);
    const double towers = with_image["tower_seconds"], ttft = with_image["ttft_unloaded_seconds"];
    CHECK(towers > 0);
    CHECK(ttft > long_text["ttft_unloaded_seconds"].get<double>());
    CHECK(with_image["tpot_seconds"] == long_text["tpot_seconds"]);  // alone, no request waits for the encoder
    // a text of as many tokens takes as long
    const std::int64_t tokens = with_image["shown_in_text_tokens"];
    CHECK(tokens > 999);
    const auto as_long =
        json_of("serve" + seeing + " --device h100 --calibration none --engine vllm --output 100 --input " +
                std::to_string(100 + tokens));
    CHECK(as_long["ttft_unloaded_seconds"].get<double>() == doctest::Approx(ttft).epsilon(0.01));
    CHECK_FALSE(text.contains("shown_tokens"));
    CHECK(has(printed(server + " --image 1024x768"), "999 input tokens are multimodal inputs: the encoders take "));
    CHECK(has(refused(server + " --audio 30"), "--audio: not supported: this model has no audio input"));
}

// one client of an engine whose host is never waited for (its kernels' sum is taken 0.99 times): towers are all that an
// image adds to a text that is as long
TEST_CASE("simulated prompts show images, in their first step alone") {
    const auto simulated = [](const std::string& arguments) {
        return json_of("simulate" + seeing +
                       " --device h100 --calibration none --engine sglang --output 50 --concurrency 1"
                       " --requests 2 " +
                       arguments);
    };
    const auto with_image = simulated("--input 100 --image 1024x768"), as_long = simulated("--input 1099");
    const auto served =
        json_of("serve" + seeing + " --device h100 --calibration none --engine sglang --input 100 --image 1024x768");
    CHECK(with_image["shown_tokens"] == 999);
    CHECK(with_image["input_tokens"] == 2 * 1099);
    CHECK(with_image["tower_seconds"] == served["tower_seconds"]);
    const double towers = with_image["tower_seconds"];
    CHECK(with_image["ttft"]["mean_seconds"].get<double>() ==
          doctest::Approx(as_long["ttft"]["mean_seconds"].get<double>() + 0.99 * towers).epsilon(1e-9));
    CHECK(with_image["tpot"]["mean_seconds"].get<double>() ==
          doctest::Approx(as_long["tpot"]["mean_seconds"].get<double>()).epsilon(1e-9));
    CHECK(simulated("--input 100 --image 1024x768 --images 2")["shown_tokens"] == 2 * 999);
    const std::string line =
        "simulate" + seeing + " --device h100 --calibration none --engine sglang --input 100 --image 1024x768";
    CHECK(has(
        printed(line),
        "100 input tokens, 1,024 output tokens, 16 clients, 999 more input tokens per request for multimodal inputs"));
    CHECK(has(printed(line), "999 tokens per request; the encoders take "));
    CHECK(has(refused(line + " --audio 30"), "--audio: not supported: this model has no audio input"));
    // each of three turns adds one image to the previous ones: 1,099 tokens, then the text and 1,099 more
    const auto turns = simulated("--input 100 --image 1024x768 --turns 3");
    CHECK(turns["input_tokens"] == 1099 + (1099 + 50 + 1099));
    const auto plan = json_of("plan" + seeing +
                              " --device h100 --calibration none --engine vllm --requests 20 --rate 1"
                              " --slo ttft=1s,tpot=90ms --image 1024x768 --top 1");
    CHECK(plan["keeps"] == true);
    const auto text = json_of("plan" + seeing +
                              " --device h100 --calibration none --engine vllm --requests 20 --rate 1"
                              " --slo ttft=1s,tpot=90ms --top 1");
    CHECK(plan["deployments"][0]["ttft_mean_seconds"] > text["deployments"][0]["ttft_mean_seconds"]);
}

}  // namespace llmcost::testing
