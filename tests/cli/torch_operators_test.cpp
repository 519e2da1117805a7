// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

// `llmcost ops --engine torch`, row by row: operators, sizes and calls of PyTorch's profiler on an H200
// (tests/oracle/torch_time.py --sample).
using namespace llmcost::testing;
using nlohmann::json;

namespace {

using operator_sizes = std::pair<std::string, std::string>;

struct operator_sum {
    double calls = 0, microseconds = 0;
};

/// A recorded step, and the same rows of llmcost.
struct compared_step {
    std::map<operator_sizes, operator_sum> recorded{}, listed{};
    double device_microseconds = 0;
};

compared_step compare_step(const std::string& line) {
    const json step = json::parse(line);
    compared_step out;
    out.device_microseconds = 1e3 * step["device_ms"].get<double>();
    for (const json& row : step["rows"]) {
        operator_sum& sum = out.recorded[{row[0].get<std::string>(), row[1].dump()}];
        sum.calls += row[2].get<double>();
        sum.microseconds += row[3].get<double>();
    }
    std::string command = "ops";
    for (const json& argument : step["args"]) command += ' ' + argument.get<std::string>();
    if (command.find("--training") == std::string::npos) command += " --logits last";
    surroundings settings;
    if (!step["config"].is_null()) {
        command += " --config -";
        settings.in = step["config"].dump();
    }
    const json listed = json::parse(llmcost_line(command, settings).out);
    for (const json& row : listed["rows"]) {
        operator_sum& sum = out.listed[{row["operator"].get<std::string>(), row["operands"].dump()}];
        sum.calls += row["calls"].get<double>();
        sum.microseconds += 1e6 * row["seconds"].get<double>();
    }
    return out;
}

std::vector<std::string> recorded_lines() {
    std::ifstream file(LLMCOST_TEST_DIR "/cli/torch_operators.jsonl");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
}

}  // namespace

TEST_CASE("ops --engine torch has the operators, sizes and calls of PyTorch's profiler") {
    // Backward names sizes of views that the trace does not have: other orders of heads and lengths, and tokens as one
    // or two dimensions.
    const std::set<std::string> operators_of_views{"aten::add_", "aten::copy_", "aten::fill_"};
    // adaptive pooling to the size of its input, which the trace describes as a mean
    const std::set<std::string> other_operators{"aten::_adaptive_avg_pool2d", "aten::_adaptive_avg_pool2d_backward"};
    const std::string sum_of_expanded_heads = "aten::sum [[1,8,2,512,128]]";
    const std::vector<std::string> lines = recorded_lines();
    REQUIRE(lines.size() == 9);
    int num_equal = 0, num_rows = 0;
    for (const std::string& line : lines) {
        const std::string name = line.substr(0, line.find(',', 10));
        CAPTURE(name);
        const compared_step step = compare_step(line);
        double microseconds = 0, difference = 0;
        for (const auto& [key, recorded] : step.recorded) {
            const std::string label = key.first + ' ' + key.second;
            CAPTURE(label);
            ++num_rows;
            const auto match = step.listed.find(key);
            const double calls = match == step.listed.end() ? 0 : match->second.calls;
            if (calls == recorded.calls) {
                ++num_equal;
                microseconds += recorded.microseconds;
                difference += std::abs(match->second.microseconds - recorded.microseconds);
                continue;
            }
            const bool is_excepted = operators_of_views.contains(key.first) || other_operators.contains(key.first) ||
                                     label == sum_of_expanded_heads;
            if (is_excepted) continue;
            CHECK(calls == recorded.calls);
        }
        CHECK(microseconds > 0.84 * step.device_microseconds);
        CHECK(difference < 0.17 * microseconds);
    }
    CHECK(num_equal > 0.95 * num_rows);
}
