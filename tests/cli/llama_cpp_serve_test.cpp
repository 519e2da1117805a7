// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>

#include <llmcost/serving/llama_cpp_server.hpp>

// `llmcost serve --engine llama.cpp`: users, slots and memory of llama-server.
namespace llmcost::testing {
namespace {

const std::string served_llama = "--offline --model meta-llama/Llama-3.1-8B --quantization q4_0 ";

nlohmann::json served(const std::string& options) { return json_of("serve --engine llama.cpp " + options); }

}  // namespace

TEST_CASE("batches of llama.cpp are within 20 % of measured speeds") {
    // ggml-org/llama.cpp, pull request 15131: pp512 of llama 8B Q4_0 on RTX 4090 in physical batches of N tokens
    const struct {
        int tokens;
        double tokens_per_second;
    } rows[]{{10, 1216.63}, {12, 1460.17}, {14, 1684.51}, {16, 1930.50}};
    for (const auto& row : rows) {
        CAPTURE(row.tokens);
        const nlohmann::json answer = json_of("latency --engine llama.cpp --device rtx_4090 --sequence 512 -ub " +
                                              std::to_string(row.tokens) + ' ' + served_llama);
        CHECK(512 / answer["seconds"].get<double>() == doctest::Approx(row.tokens_per_second).epsilon(0.2));
        // a decode step of as many sequences has the same products, and the same tokens in the cache
        const nlohmann::json users = served("--device rtx_4090 --input 256 --output 1024 --concurrency " +
                                            std::to_string(row.tokens) + ' ' + served_llama);
        CHECK(users["rows"].back()["metrics"]["tpot_seconds"].get<double>() ==
              doctest::Approx(row.tokens / row.tokens_per_second).epsilon(0.3));
    }
}

TEST_CASE("metrics of llama-server of a steady load") {
    // 4 slots: a request needs 4 prompts of 1 s, and 100 - 1 - 3 steps of 0.1 s: 13.6 s
    const llama_cpp_load load{.input_tokens = 1000, .output_tokens = 100, .num_users = 4, .num_slots = 4};
    const llama_cpp_serving_metrics f = llama_cpp_serving_of(load, 1, 0.1);
    CHECK(f.ttft_seconds == 1);
    CHECK(f.tokens_per_second == doctest::Approx(4 * 100 / 13.6));
    CHECK(f.tpot_seconds == doctest::Approx(12.6 / 99));
    CHECK(f.tokens_per_second_per_user == doctest::Approx(99 / 12.6));
    // 8 users: half of them wait for the 13.6 s of a request
    llama_cpp_load waiting = load;
    waiting.num_users = 8;
    const llama_cpp_serving_metrics w = llama_cpp_serving_of(waiting, 1, 0.1);
    CHECK(w.ttft_seconds == doctest::Approx(14.6));
    CHECK(w.tokens_per_second == f.tokens_per_second);
    // Little's law: users = requests per second · (TTFT + the other tokens)
    CHECK(w.tokens_per_second / 100 * (w.ttft_seconds + 99 * w.tpot_seconds) == doctest::Approx(8));
    // a prompt of three logical batches has tokens of other slots in each of them
    llama_cpp_load longer = load;
    longer.input_tokens = 6000;
    CHECK(llama_cpp_serving_of(longer, 1, 0.1).tpot_seconds == doctest::Approx((3 + 90 * 0.1) / 99));
    const llama_cpp_load one_token{.input_tokens = 1000, .output_tokens = 1};
    CHECK(llama_cpp_serving_of(one_token, 1, 0.1).tpot_seconds == 0);
    CHECK(llama_cpp_serving_of(one_token, 1, 0.1).tokens_per_second == 1);
}

TEST_CASE("users of llama-server share weights, and have a slot each") {
    const nlohmann::json answer =
        served("--device rtx_4090 --input 1000 --output 1048 --concurrency 8 " + served_llama);
    REQUIRE(answer["rows"].size() == 4);
    double per_user = 1e9, total = 0;
    std::int64_t users = 1;
    for (const nlohmann::json& row : answer["rows"]) {
        CAPTURE(users);
        CHECK(row["concurrency"] == users);
        CHECK(row["slots"] == users);
        CHECK(row["context"] == users * 2048);
        const auto f = row["metrics"];
        CHECK(f["tokens_per_second_per_user"].get<double>() < per_user);
        CHECK(f["tokens_per_second"].get<double>() > total);
        CHECK(row["fastest"]["tpot_seconds"].get<double>() < f["tpot_seconds"].get<double>());
        CHECK(row["slowest"]["tpot_seconds"].get<double>() > f["tpot_seconds"].get<double>());
        per_user = f["tokens_per_second_per_user"];
        total = f["tokens_per_second"];
        // the buffers of llama.cpp with as many sequences
        const nlohmann::json memory =
            json_of("memory --engine llama.cpp --sequence 2048 --batch " + std::to_string(users) + ' ' + served_llama);
        CHECK(row["needed"] == memory["devices"][0]["total"]);
        users *= 2;
    }
    // one user: the speed of latency in the middle of the answer
    const nlohmann::json latency = json_of("latency --engine llama.cpp --device rtx_4090 --past 1524 " + served_llama);
    CHECK(answer["rows"][0]["metrics"]["tokens_per_second_per_user"].get<double>() ==
          doctest::Approx(latency["generation_tokens_per_second"]["value"].get<double>()).epsilon(0.001));
    // fewer slots than users
    const nlohmann::json slots =
        served("--device rtx_4090 --input 1000 --output 1048 --concurrency 8 -np 2 " + served_llama);
    CHECK(slots["rows"][3]["metrics"]["tokens_per_second"] == slots["rows"][1]["metrics"]["tokens_per_second"]);
    CHECK(slots["rows"][3]["metrics"]["ttft_seconds"].get<double>() >
          10 * slots["rows"][1]["metrics"]["ttft_seconds"].get<double>());
}

TEST_CASE("text and errors of serve with llama.cpp") {
    const std::string page =
        printed("serve --engine llama.cpp --device rtx_4090 --concurrency 4 --input 1000 --output 24 " + served_llama);
    CHECK(has(page, "llama-server -np 4 -c 4096\n"));
    CHECK(has(page, "tokens/s per user"));
    CHECK(
        has(printed("serve --engine llama.cpp --device rtx_3060 --input 30000 --concurrency 8 " + served_llama, {}, 8),
            " no\n"));
    const std::string engine = "serve --engine llama.cpp " + served_llama;
    CHECK(has(refused(engine), "--device: required"));
    CHECK(has(refused(engine + "--device rtx_4090 --rate 2"), "--rate: not supported with --engine llama.cpp"));
    CHECK(has(refused(engine + "--device rtx_4090 --tp 2"), "use --tensor-split"));
    CHECK(has(refused(engine + "--device rtx_4090 --concurrency 513"), "expected at most 512 users"));
    CHECK(has(refused("serve --device rtx_4090 -np 2 " + served_llama), "--parallel: requires --engine llama.cpp"));
    CHECK(has(refused("simulate --engine llama.cpp --device rtx_4090 " + served_llama),
              "use llmcost memory, fit, latency, serve or local"));
}

}  // namespace llmcost::testing
