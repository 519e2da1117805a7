// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>

using namespace llmcost::testing;

// the measurements that tests/fit keeps of the tables that were fitted
TEST_CASE("rows of a table come back with predictions") {
    struct held_out_table {
        const char* family;
        const char* software;
        const char* table;
        int rows;
    };
    const held_out_table tables[] = {
        {"gemm", "trtllm", "h200_sxm__gemm__trtllm__1.3.0rc20__gemm_perf", 72},
        {"context_attention", "trtllm", "h200_sxm__attention__trtllm__1.3.0rc20__context_attention_perf", 60},
        {"generation_attention", "vllm --engine-version 0.24.0",
         "h200_sxm__attention__vllm__0.24.0__generation_attention_perf", 60},
        {"moe", "trtllm", "h200_sxm__moe__trtllm__1.3.0rc20__moe_perf", 60},
        {"nccl", "nccl", "h100_sxm__comm__nccl__2.29.2__nccl_perf", 40},
    };
    for (const held_out_table& t : tables) {
        INFO(t.family);
        const std::string name = t.table;
        std::ifstream file(LLMCOST_TEST_DIR "/fit/" + name + ".csv");
        std::ostringstream text;
        text << file.rdbuf();
        const std::string out = printed("op " + std::string(t.family) + " --device " + name.substr(0, name.find("__")) +
                                            " --kernels " + t.software + measured,
                                        {.in = text.str()});
        std::istringstream input_rows(text.str()), output_rows(out);
        std::string row, priced;
        int near = 0, num_inside = 0, rows = 0;
        std::getline(input_rows, row);
        std::getline(output_rows, priced);
        CHECK(priced == row + ",predicted_us,lower_us,upper_us,error");
        while (std::getline(input_rows, row)) {
            REQUIRE(std::getline(output_rows, priced));
            CHECK(priced.starts_with(row + ','));
            std::istringstream numbers(priced.substr(row.size() + 1));
            double predicted = 0, lower = 0, upper = 0;
            char comma = 0;
            numbers >> predicted >> comma >> lower >> comma >> upper;
            const double is = std::stod(row.substr(row.rfind(',') + 1));
            near += predicted / is < 1.08 && predicted / is > 0.92;
            num_inside += lower <= is && is <= upper;
            ++rows;
        }
        CHECK(rows == t.rows);
        CHECK(near > rows * 5 / 6);
        CHECK(num_inside > rows * 5 / 6);
    }
}

TEST_CASE("columns of a table choose device and kernel, in any order") {
    const std::string table =
        "note,k,system,n,gemm_dtype,m,backend,version\r\n\"a, b\",4096,h200_sxm,4096,bfloat16,64,trtllm,1.3.0rc20\r\n\n"
        "c,4096,h100_sxm,4096,fp8,64,vllm,0.24.0\n";
    const std::string out = printed("op gemm" + measured, {.in = table});
    std::istringstream lines(out);
    std::string line;
    std::getline(lines, line);
    CHECK(line == "note,k,system,n,gemm_dtype,m,backend,version,predicted_us,lower_us,upper_us,error");
    std::getline(lines, line);
    CHECK(line.starts_with("\"a, b\",4096,h200_sxm,4096,bfloat16,64,trtllm,1.3.0rc20,"));
    std::getline(lines, line);
    CHECK(line.starts_with("c,4096,h100_sxm,4096,fp8,64,vllm,0.24.0,"));
    CHECK_FALSE(std::getline(lines, line));
}

TEST_CASE("tables are read as spreadsheets and data frames write them") {
    const auto last = [](const std::string& family, const std::string& table) {
        const std::string out = printed("op " + family + " --device h200 --dtype bfloat16" + measured, {.in = table});
        const std::size_t row = out.rfind('\n', out.size() - 2) + 1;
        return out.substr(out.find(',', out.find(",4096", row) + 1));
    };
    const std::string plain = last("gemm", "m,n,k\n64,4096,4096\n");
    CHECK(last("gemm", "\xEF\xBB\xBFm,n,k\n64,4096,4096\n") == plain);
    CHECK(last("gemm", "m,n,k\n64.0,4096.00,4096\n") == plain);
    // a gap in a column that may be left out is the same as no column
    CHECK(printed("op elementwise --device h200 --dtype bfloat16", {.in = "m,k,moved\n1,2,\n"})
              .starts_with("m,k,moved,"));
}
