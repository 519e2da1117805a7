// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

// `llmcost plan --rl`: its parts against `llmcost train`, `plan --training` and `simulate`, which compute each alone.
namespace llmcost::testing::plan_rl {

using nlohmann::json;

namespace {

const std::string model = "--model meta-llama/Llama-3.2-1B --device h100 ";
const std::string small =
    "plan --rl " + model +
    "--devices 4 --train-batch-size 32 --rollout-n 4 --ppo-mini-batch-size 16 --prompt-length 256 "
    "--response-length 256 ";

json plan_of(const std::string& line) { return json::parse(printed(line + " --format json")); }

/// The output of a command that a plan prints.
json output_of(const std::string& command) {
    return json::parse(printed(command.substr(std::string("llmcost ").size()) + " --format json"));
}

double seconds_of(const json& configuration, const char* phase) {
    for (const json& p : configuration["phases"])
        if (p["phase"] == phase) return p["seconds"];
    return 0;
}

double sum_of_phases(const json& configuration) {
    double seconds = 0;
    for (const json& p : configuration["phases"]) seconds += p["seconds"].get<double>();
    return seconds;
}

void check_parts(const json& c) {
    const json step = output_of(c["train"])["step_time"];
    CHECK(step["seconds"] == c["training_step_seconds"]);
    CHECK(output_of(c["train"])["peak"]["total"] == c["training_peak_bytes"]);
    CHECK(seconds_of(c, "update_actor") == doctest::Approx(2 * step["seconds"].get<double>()));
    CHECK(output_of(c["simulate"])["seconds"] == seconds_of(c, "generate_sequences"));
    CHECK(c["samples_per_second"].get<double>() == doctest::Approx(128 / c["iteration_seconds"].get<double>()));
    CHECK(c["tokens_per_second"].get<double>() == doctest::Approx(512 * c["samples_per_second"].get<double>()));
}

}  // namespace

TEST_CASE("plan --rl has the values of llmcost train and llmcost simulate") {
    const json plan = plan_of(small);
    REQUIRE(plan["configurations"].size() >= 3);
    double fastest = 0;
    for (const json& c : plan["configurations"]) {
        CAPTURE(c["train"].dump());
        CHECK(c["iteration_seconds"] >= fastest);
        fastest = c["iteration_seconds"];
        CHECK(c["iteration_seconds"].get<double>() == doctest::Approx(sum_of_phases(c)));
        const bool is_colocated = c["placement"] == "colocated";
        CHECK(c["trainer_devices"].get<int>() + (is_colocated ? 0 : c["rollout_devices"].get<int>()) == 4);
        check_parts(c);
    }
}

TEST_CASE("plan --rl: the training step is that of plan --training") {
    const json c = plan_of(small + "--placement colocated --rollout-tp 1")["configurations"][0];
    const json training =
        plan_of("plan --training " + model + "--devices 4 --sequence 512 --global-batch 64")["plans"][0]["best"][0];
    CHECK(c["training_step_seconds"] == training["step_seconds"]);
    CHECK(c["train"] == training["command"]);
    CHECK(c["rollout_tp"] == 1);
}

TEST_CASE("plan --rl: the rollout runs at the same time with --async") {
    const std::string separate = small + "--rollout-devices 2 --rollout-tp 1 ";
    const json together = plan_of(separate)["configurations"][0];
    const json overlapped = plan_of(separate + "--async")["configurations"][0];
    const double rollout = seconds_of(together, "generate_sequences"), send = seconds_of(together, "update_weights");
    const double trainer = sum_of_phases(together) - rollout - send;
    CHECK(overlapped["iteration_seconds"].get<double>() == doctest::Approx(std::max(rollout, trainer) + send));
    CHECK(overlapped["iteration_seconds"] < together["iteration_seconds"]);
}

TEST_CASE("plan --rl: models of an algorithm") {
    const std::string one = small + "--placement colocated --rollout-tp 1 ";
    const json grpo = plan_of(one)["configurations"][0], ppo = plan_of(one + "--algorithm ppo")["configurations"][0];
    CHECK(seconds_of(grpo, "compute_values") == 0);
    CHECK(seconds_of(ppo, "compute_values") == seconds_of(ppo, "compute_log_prob"));
    CHECK(seconds_of(ppo, "update_critic") == seconds_of(ppo, "update_actor"));
    CHECK(ppo["resident_bytes"] > grpo["resident_bytes"]);
    const json plain = plan_of(one + "--no-reference")["configurations"][0];
    CHECK(seconds_of(plain, "compute_ref_log_prob") == 0);
    // 16-bit parameters of the reference over 4 devices
    const double reference = plan_of(one)["weight_bytes"].get<double>() / 4;
    CHECK(grpo["resident_bytes"].get<double>() - plain["resident_bytes"].get<double>() == doctest::Approx(reference));
    const json offloaded = plan_of(one + "--offload")["configurations"][0];
    CHECK(offloaded["resident_bytes"].get<double>() == doctest::Approx(reference));
    CHECK(seconds_of(offloaded, "offload") > 0);
    CHECK(offloaded["memory_share"] > grpo["memory_share"]);
}

TEST_CASE("plan --rl in text and CSV, and errors") {
    const std::string text = printed(small + "--placement colocated --rollout-tp 1 --iterations 100 --price 2");
    for (const char* part : {"GRPO on 4 x H100 SXM", "32 prompts x 4 responses", "generate_sequences", "update_actor",
                             "update_weights", "days", "price", "llmcost train", "llmcost simulate"})
        CHECK(has(text, part));
    CHECK(has(printed(small + "--placement colocated --rollout-tp 1 --format csv"), "placement,trainer"));
    CHECK(has(refused("plan --train-batch-size 8 " + model), "--train-batch-size: requires --rl"));
    CHECK(has(refused(small + "--slo ttft=1s"), "--slo: cannot be combined with --rl"));
    CHECK(has(refused("plan --rl --train-batch-size 32 --ppo-mini-batch-size 5 " + model),
              "--ppo-mini-batch-size: expected a divisor of --train-batch-size 32, found 5"));
    CHECK(has(refused(small + "--rollout-devices 4"), "--rollout-devices: expected fewer than --devices 4"));
    CHECK(has(refused(small + "--async --placement colocated"), "--async: requires separate devices"));
}

}  // namespace llmcost::testing::plan_rl
