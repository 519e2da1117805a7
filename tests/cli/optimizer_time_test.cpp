// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <string>

// `llmcost latency --training --optimizer NAME`: the step behind backward.
using namespace llmcost::testing;
using nlohmann::json;

TEST_CASE("a training step ends with what its optimizer reads, writes and multiplies") {
    const std::string training = "latency --model meta-llama/Llama-3.2-1B --device h200_sxm";
    const double all = 1235814400;
    const auto optimizer = [&](const std::string& name) {
        const json j = json::parse(printed(training + " --training --sequence 64 --format json --optimizer " + name));
        CHECK(name.starts_with(j["optimizer_name"].get<std::string>()));
        return j["optimizer"];
    };
    // a gradient read, a weight and each moment read and written, 4 bytes each
    CHECK(optimizer("sgd")["bytes_per_device"] == 12 * all);
    CHECK(optimizer("sgd_momentum")["bytes_per_device"] == 20 * all);
    CHECK(optimizer("lion")["bytes_per_device"] == 20 * all);
    CHECK(optimizer("adam:amsgrad")["bytes_per_device"] == 36 * all);
    CHECK(optimizer("adamw:fused:in-backward")["bytes_per_device"] == 28 * all);
    CHECK(optimizer("lomo")["bytes_per_device"] == 12 * all);
    const json none = optimizer("none");
    CHECK(none["bytes_per_device"] == 0);
    CHECK(none["seconds"] == 0);
    CHECK(optimizer("sgd")["seconds"].get<double>() > 12 * all / 4.8e12);  // H200's memory
    CHECK(optimizer("adamw")["seconds"].get<double>() > optimizer("sgd")["seconds"].get<double>());
    // Muon's five turns of three products of each matrix of 16 layers
    double turns = 0;
    for (const auto& [shorter, longer, times] : {std::array<double, 3>{2048, 2048, 2}, {512, 2048, 2}, {2048, 8192, 3}})
        turns += 16 * 5 * times * 2 * (2 * shorter * shorter * longer + shorter * shorter * shorter);
    CHECK(optimizer("muon")["flops_per_device"] == turns);
    CHECK(has(printed(training + " --training --optimizer sgd_momentum"), "\n  sgd_momentum "));
    CHECK(has(refused(training + " --optimizer sgd"), "--optimizer: requires --training"));
    CHECK(has(refused(training + " --training --optimizer adomw"), "adamw"));
}
