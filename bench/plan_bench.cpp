// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// What a plan over more than a thousand candidates takes, from the command line to its answer: ten seconds at most.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/cli/commands/program.hpp>

#include "parts.hpp"

namespace {

/// 1,008 candidates of a dense model on sixteen devices (three engines, fourteen splits, twelve limits of a step,
/// together and apart), under some load.
void plan(benchmark::State& state, const char* load) {
    std::istringstream line(
        "plan --model meta-llama/Llama-3.1-70B --device h200_sxm --devices 16 --calibration " LLMCOST_TEST_DIR
        "/../configs/calibrations --format json " +
        std::string(load));
    std::vector<std::string> tokens;
    for (std::string text; line >> text;) tokens.push_back(text);
    const std::vector<std::string_view> args(tokens.begin(), tokens.end());
    const auto offline = [](const char* name) { return std::string_view(name) == "HF_HUB_OFFLINE" ? "1" : nullptr; };
    for (auto _ : state) {
        std::ostringstream out;
        std::istringstream in;
        const int code =
            llmcost::cli::run_commands(args, parts::full_program({out, std::cerr, in, offline, false, false}));
        if ((code != 0 && code != 8) || out.str().find("\"candidates\": 1008,") == std::string::npos)
            state.SkipWithError("expected an answer over 1,008 candidates");
    }
}
/// A training job on many devices: configurations per second, by bounds and by what they have in common.
void plan_training(benchmark::State& state, const char* job) {
    std::istringstream line("plan --training --device h100 --network ib_ndr --format json " + std::string(job));
    std::vector<std::string> tokens;
    for (std::string text; line >> text;) tokens.push_back(text);
    const std::vector<std::string_view> args(tokens.begin(), tokens.end());
    const auto offline = [](const char* name) { return std::string_view(name) == "HF_HUB_OFFLINE" ? "1" : nullptr; };
    double candidates = 0;
    for (auto _ : state) {
        std::ostringstream out;
        std::istringstream in;
        const int code =
            llmcost::cli::run_commands(args, parts::full_program({out, std::cerr, in, offline, false, false}));
        const std::string text = out.str();
        constexpr std::string_view member = "\"candidates\": ";
        const std::size_t found = text.find(member);
        if (code != 0 || found == std::string::npos) {
            state.SkipWithError("expected configurations");
            break;
        }
        candidates += std::strtod(text.c_str() + found + member.size(), nullptr);
    }
    state.counters["configurations"] = benchmark::Counter(candidates, benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(plan_training, llama_70b_on_512, "--model meta-llama/Llama-3.1-70B --devices 512")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan_training, qwen3_235b_on_512, "--model Qwen/Qwen3-235B-A22B --devices 512 --sequence 4096")
    ->Unit(benchmark::kMillisecond);

BENCHMARK_CAPTURE(plan, rate, "--rate 5 --slo ttft=1s,tpot=30ms")->Unit(benchmark::kMillisecond);
// none keeps to it: a burst of 256 prompts takes longer
BENCHMARK_CAPTURE(plan, clients, "--concurrency 256 --slo ttft=3s,tpot=60ms")->Unit(benchmark::kMillisecond);

}  // namespace
