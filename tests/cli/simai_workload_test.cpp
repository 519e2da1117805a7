// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

// `train --trace --trace-format simai`: its lines against the collectives of `train --ranks`.
namespace llmcost::testing::simai {

using nlohmann::json;

namespace {

struct workload_file {
    std::map<std::string, std::string> header;
    std::vector<std::vector<std::string>> lines;  ///< 12 columns
};

std::string text_of_file(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// Reads a file as SimAI does: a header of names and values, the number of lines, and lines of 12 columns.
workload_file read_workload(const std::string& path) {
    std::ifstream in(path);
    REQUIRE(in.good());
    workload_file out;
    std::string line, word;
    std::getline(in, line);
    std::istringstream header(line);
    header >> word;
    CHECK(word == "HYBRID_TRANSFORMER_FWD_IN_BCKWD");
    for (std::string name, value; header >> name >> value;) out.header[name] = value;
    std::size_t num_lines = 0;
    in >> num_lines;
    std::getline(in, line);
    while (std::getline(in, line)) {
        std::istringstream columns(line);
        out.lines.emplace_back();
        while (columns >> word) out.lines.back().push_back(word);
        REQUIRE(out.lines.back().size() == 12);
        CHECK(out.lines.back()[1] == "-1");
    }
    CHECK(out.lines.size() == num_lines);
    return out;
}

/// Bytes and number of collectives by module and operation, with the column of a workload file that they belong to.
using sums = std::map<std::string, std::pair<int, std::uint64_t>>;

sums sums_of(const workload_file& file) {
    sums out;
    for (const std::vector<std::string>& line : file.lines)
        for (const int column : {0, 1, 2}) {
            const auto first = static_cast<std::size_t>(2 + 3 * column);
            if (line[first + 1] == "NONE") continue;
            auto& [times, bytes] = out[line[0] + ' ' + line[first + 1] + ' ' + std::to_string(column)];
            ++times;
            bytes += std::stoull(line[first + 2]);
        }
    return out;
}

sums sums_of(const json& collectives) {
    const std::map<std::string, std::string> names{{"all_reduce", "ALLREDUCE"},
                                                   {"all_gather", "ALLGATHER"},
                                                   {"reduce_scatter", "REDUCESCATTER"},
                                                   {"broadcast", "BROADCAST"}};
    sums out;
    for (const json& c : collectives) {
        if (c["group"] == "pp") continue;
        const bool is_data = c["group"] == "dp" || c["group"] == "dp_replicate";
        const int column = is_data ? 2 : c["phase"] == "forward" ? 0 : 1;
        const std::string module = c["module"].get<std::string>().empty() ? "model" : c["module"].get<std::string>();
        auto& [times, bytes] = out[module + ' ' + names.at(c["op"]) + ' ' + std::to_string(column)];
        ++times;
        bytes += std::max(c["in_bytes"].get<std::uint64_t>(), c["out_bytes"].get<std::uint64_t>());
    }
    return out;
}

}  // namespace

TEST_CASE("train --trace-format simai: the collectives of each rank, by module") {
    const std::string small = " --batch 2 --sequence 32 --set num_hidden_layers=4 " + llama;
    const std::string path = "simai_workload_test";
    for (const char* job :
         {"--split megatron --tp 2 --sequence-parallel --dp 2 --zero 1 --microbatches 3", "--tp 2 --dp 2 --fsdp",
          "--split megatron --tp 4 --pp 2 --dp 2 --microbatches 4", "--dp 4 --ddp"}) {
        CAPTURE(job);
        const std::string line = "train --ranks 0,1 --trace " + path + " --trace-format simai " + job + small;
        const json answer = json_of(line);
        for (const int rank : {0, 1}) {
            const std::string file = path + '.' + std::to_string(rank) + ".txt";
            const workload_file workload = read_workload(file);
            CHECK(sums_of(workload) == sums_of(answer["ranks"][static_cast<std::size_t>(rank)]["collectives"]));
            std::remove(file.c_str());
        }
    }
}

TEST_CASE("train --trace-format simai: header, computation and errors") {
    const std::string small = " --batch 2 --sequence 32 --set num_hidden_layers=4 " + llama;
    const std::string job =
        "train --split megatron --tp 2 --pp 2 --dp 2 --microbatches 4 --precision bf16 --ranks 0 "
        "--trace simai_header_test --trace-format simai";
    const json answer = json_of(job + " --device h100" + small);
    workload_file file = read_workload("simai_header_test.0.txt");
    std::remove("simai_header_test.0.txt");
    CHECK(file.header["model_parallel_NPU_group:"] == "2");
    CHECK(file.header["ep:"] == "1");
    CHECK(file.header["pp:"] == "2");
    CHECK(file.header["ga:"] == "4");
    CHECK(file.header["all_gpus:"] == "8");
    CHECK(file.header["pp_comm:"] == std::to_string(2 * 2 * 32 * 2048));
    double forward = 0, backward = 0;
    for (const std::vector<std::string>& line : file.lines) {
        forward += line[3] == "NONE" ? 0 : std::stod(line[2]);
        backward += line[6] == "NONE" ? 0 : std::stod(line[5]);
    }
    CHECK(backward > forward);
    const double step = 1e9 * answer["step_time"]["seconds"].get<double>();
    CHECK(forward + backward < step);
    CHECK(forward + backward > 0.1 * step);
    CHECK(has(refused("train --tp 2 --ranks 0 --trace-format simai" + small), "--trace-format: requires --trace"));
    CHECK(has(refused("train --cp 2 --ranks 0 --trace x --trace-format simai" + small),
              "--trace-format: SimAI has no group for --cp"));
}

TEST_CASE("train --plot of a job: the timeline of its pipeline, and the memory of its ranks") {
    const std::string small = " --batch 2 --sequence 32 --set num_hidden_layers=4 " + llama;
    const std::string path = "job_picture_test.svg";
    const auto picture = [&](const std::string& options) {
        (void)printed("train --precision bf16 " + options + " --plot " + path + small);
        const std::string out = text_of_file(path);
        std::remove(path.c_str());
        return out;
    };
    const std::string pipeline = picture("--pp 4 --microbatches 8 --device h100");
    const json answer = json_of("train --precision bf16 --pp 4 --microbatches 8" + small);
    for (const char* part : {"<svg", "rank 3", "forward", "backward", "0F7", "3B7", "Bubbles: 27.3 %", "peak"})
        CHECK(has(pipeline, part));  // (p - 1) / (m + p - 1) = 3 / 11
    const std::string zero_bubble = picture("--pp 2 --schedule zb-h1 --microbatches 4 --device h100");
    CHECK(has(zero_bubble, "weight gradient"));
    const std::string tensor = picture("--tp 2");
    CHECK(has(tensor, "Peak memory of each pipeline rank"));
    CHECK_FALSE(has(tensor, "Bubbles"));
    CHECK(has(refused("train --pp 2 --plot x.svg" + small), "--plot: a pipeline requires --device"));
}

}  // namespace llmcost::testing::simai
