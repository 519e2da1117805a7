// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// Tables of servers: a row for each that was measured.
#include "program.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

using namespace llmcost::testing;
using nlohmann::json;

namespace {

std::string runs() {
    std::ifstream in(LLMCOST_TEST_DIR "/fit/serving/runs.csv", std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

}  // namespace

TEST_CASE("measured runs come back with predictions that are near them") {
    const std::string line = "serve --configs " LLMCOST_TEST_DIR "/fit/serving" + measured;
    std::istringstream rows(llmcost_line(line, {.in = runs()}).out);
    std::string header, row;
    std::getline(rows, header);
    CHECK(header.ends_with("silicon_ttft_ms,silicon_tpot_ms,predicted_ttft_ms,predicted_tpot_ms,error"));
    int near = 0, all = 0;
    while (std::getline(rows, row)) {
        std::vector<std::string> fields;
        std::istringstream text(row);
        for (std::string field; std::getline(text, field, ',');) fields.push_back(field);
        REQUIRE(fields.size() == 18);
        if (fields[3] != "h200_sxm") continue;
        ++all;
        near += std::fabs(std::stod(fields[17]) / std::stod(fields[15]) - 1) < 0.15 ? 1 : 0;
    }
    CHECK(all > 20);
    CHECK(near > all * 3 / 4);
}

// gpt-oss on four devices that attend to 16 requests each: 64 in the system
TEST_CASE("a row counts the requests of one group") {
    const std::string columns =
        "model_path,system,backend,isl,osl,batch_size,tp_size,attention_dp_size,moe_tp_size,moe_ep_size\n";
    const std::string answer = printed("serve --configs " LLMCOST_TEST_DIR "/fit/serving" + measured,
                                       {.in = columns + "openai/gpt-oss-120b,h200_sxm,trtllm,1024,1024,16,1,4,1,4\n"});
    const json equivalent_run = json_of("serve --config " LLMCOST_TEST_DIR
                                        "/fit/serving/openai__gpt-oss-120b.json --device h200 "
                                        "--engine trtllm --dp 4 --ep 4 --concurrency 64 --input 1024 --output 1024" +
                                        measured);
    const double row = std::stod(answer.substr(answer.rfind(',', answer.rfind(',') - 1) + 1));
    CHECK(row == doctest::Approx(1e3 * equivalent_run["tpot_seconds"].get<double>()).epsilon(1e-3));
}

TEST_CASE("runs are read as spreadsheets and data frames write them") {
    const std::string line = "serve --configs " LLMCOST_TEST_DIR "/fit/serving" + measured;
    const std::string head = "model_path,system,backend,isl,osl,batch_size,tp_size\n";
    const auto answer = [&](const std::string& text) {
        const std::string out = printed(line, {.in = text});
        return out.substr(out.rfind(',', out.rfind(',') - 1));
    };
    const std::string plain = answer(head + "meta-llama/Llama-3.1-70B,h200,vllm,1000,100,8,8\n");
    CHECK(answer("\xEF\xBB\xBF" + head + "meta-llama/Llama-3.1-70B,h200,vllm,1000,100,8,8\n") == plain);
    CHECK(answer(head + "meta-llama/Llama-3.1-70B,h200,vllm,1000.0,100.0,8.0,8.0\n") == plain);
    CHECK(refused_row(line, {.in = head + "meta-llama/Llama-3.1-70B,h200,vllm,1000,100,1.5,8\n"}).find("found '1.5'") !=
          std::string::npos);
}

// the single form shares each expert over the devices of --tp where --ep leaves them
TEST_CASE("a row that does not say how experts are split is read as the single form") {
    const std::string folder = LLMCOST_TEST_DIR "/fit/serving";
    const json single_run = json_of("serve --config " + folder +
                                    "/openai__gpt-oss-120b.json --device h100 --engine vllm --tp 4 "
                                    "--concurrency 16" +
                                    measured);
    const std::string head = "model_path,system,backend,isl,osl,batch_size,tp_size";
    const std::string row = "openai/gpt-oss-120b,h100_sxm,vllm,1024,1024,16,4";
    const std::string open = printed("serve --configs " + folder + measured, {.in = head + '\n' + row + '\n'});
    const std::string explicit_output =
        printed("serve --configs " + folder + measured, {.in = head + ",moe_tp_size\n" + row + ",4\n"});
    CHECK(open.substr(open.find(row) + row.size()) ==
          explicit_output.substr(explicit_output.find(row) + row.size() + 2));
    std::ostringstream first;
    first.precision(5);
    first << 1e3 * single_run["ttft_seconds"].get<double>();
    CHECK(open.find(row + ',' + first.str()) != std::string::npos);
}

TEST_CASE("rows that mean nothing are named") {
    const std::string line = "serve --configs " LLMCOST_TEST_DIR "/fit/serving" + measured;
    const std::string head = "model_path,system,backend,isl,osl,batch_size,tp_size\n";
    CHECK(refused(line, {.in = "system,isl\n"}).find("line 1: expected a column 'model_path'") != std::string::npos);
    CHECK(refused_row(line, {.in = head + "meta-llama/Llama-3.1-70B,h200,vllm,0,1,1,1\n"}).find("line 2: ") !=
          std::string::npos);
    CHECK(refused_row(line, {.in = head + "meta-llama/Llama-3.1-70B,h200,vllm,10,1,1,7\n"}).find("does not divide") !=
          std::string::npos);
    CHECK(refused_row(line, {.in = head + "none/none,h200,vllm,10,1,1,1\n"}).find("line 2: ") != std::string::npos);
    CHECK(refused_row(line, {.in = head + "meta-llama/Llama-3.1-70B,h200,vllm,10,1,1,8,9\n"}) ==
          "llmcost: line 2: expected 7 fields, found 8\n");
    CHECK(refused_row(line, {.in = head + "\nmeta-llama/Llama-3.1-70B,v100,vllm,10,1,1,8\n"})
              .starts_with("llmcost: line 3: v100_sxm2: no peak for bfloat16"));
    CHECK(refused_row(
              line, {.in = "model_path,system,isl,osl,batch_size,pp_size\nmeta-llama/Llama-3.1-70B,h200,9,9,1,81\n"}) ==
          "llmcost: line 2: pp_size: expected at most 80 stages, one per layer; found 81\n");
    CHECK(refused(line + " --tp 2", {.in = head}).find("--tp: cannot be combined with --configs") != std::string::npos);
    CHECK(refused(line + " --set a=1", {.in = head}).find("--set: cannot be combined with --configs") !=
          std::string::npos);
}
