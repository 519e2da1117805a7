// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

// `llmcost train --on cuda`: memory that PyTorch allocated on GPUs.
using namespace llmcost::testing;
using nlohmann::json;

TEST_CASE("train --on cuda has the peak memory of recorded steps") {
    std::ifstream in(LLMCOST_TEST_DIR "/memory/cuda_runs.txt");
    int num_runs = 0;
    for (std::string options, numbers, config; std::getline(in, options);) {
        if (options.starts_with('#')) continue;
        REQUIRE(std::getline(in, numbers));
        REQUIRE(std::getline(in, config));
        std::istringstream parts(numbers);
        double peak = 0, reserved = 0, before = 0;
        parts >> peak >> reserved >> before;
        CAPTURE(options);
        CAPTURE(config);
        const std::string source = config == "-" ? "" : " --config -";
        const outcome run = llmcost_line("train" + source + ' ' + options + " --on cuda --format json", {.in = config});
        REQUIRE(run.code == 0);
        const json out = json::parse(run.out), &allocator = out["allocator"];
        const double workspaces = before > 0 ? allocator["library_workspaces"].get<double>() : 0;
        const double of_peak = allocator["peak_allocated"].get<double>() - workspaces;
        const double of_reserved = allocator["reserved"].get<double>() - workspaces;
        CHECK(std::abs(of_peak / (peak - before) - 1) < 0.002);
        // processes that ran other steps before had workspaces in other segments
        if (before == 0) CHECK(std::abs(of_reserved / reserved - 1) < 0.05);
        ++num_runs;
    }
    CHECK(num_runs == 20);
}

TEST_CASE("train --on cuda uses the kernels and the workspaces of --device") {
    const std::string step = "train --model Qwen/Qwen3-0.6B --precision bf16 --sequence 512";
    const json on_cpu = json_of(step), of_h100 = json_of(step + " --on cuda");
    CHECK(on_cpu == json_of(step + " --on cpu"));
    CHECK(!on_cpu.contains("allocator"));
    CHECK(of_h100["allocator"]["library_workspaces"] == 2 * 32 * 1024 * 1024);
    const json of_rtx_4090 = json_of(step + " --on cuda --device rtx_4090");
    CHECK(of_rtx_4090["allocator"]["library_workspaces"] == 2 * (8 * 1024 * 1024 + 128 * 1024));
    CHECK(has(printed(step + " --on cuda"), "sdpa · CUDA 9.0\n"));
    CHECK(has(printed(step + " --on cuda"), "\nCUDA allocator: reserved "));
    CHECK(has(refused(step + " --on cuda --device mi300x"),
              "--on: cuda is not supported: the compute capability of 'mi300x' is unknown; use cpu"));
}
