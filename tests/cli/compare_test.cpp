// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <string>

// `llmcost compare`: models side by side.
using namespace llmcost::testing;

namespace {

const std::string two = "compare meta-llama/Llama-3.2-1B Qwen/Qwen3-0.6B";

}  // namespace

TEST_CASE("models stand side by side with differences and ratios") {
    CHECK(printed(two + " mult params attn") ==
          "A  meta-llama/Llama-3.2-1B · llama\n"
          "B  Qwen/Qwen3-0.6B · qwen3\n"
          "\n"
          "attn, batch 1, sequence 1,024, past 0\n"
          "                A          B       B − A    B / A\n"
          "mult      241.1 G    301.6 G     60.42 G    1.251\n"
          "params    167.8 M    176.2 M     8.396 M     1.05\n");
    CHECK(printed(two + " --format csv mult attn") ==
          "figure,name,model_type,scope,batch,sequence,past,value,difference,ratio\n"
          "mult,meta-llama/Llama-3.2-1B,llama,attn,1,1024,0,241138925568,0,1\n"
          "mult,Qwen/Qwen3-0.6B,qwen3,attn,1,1024,0,301557874688,60418949120,1.2505566\n");
    CHECK(printed(two + " --format markdown params cache") ==
          "| figure | meta-llama/Llama-3.2-1B | Qwen/Qwen3-0.6B | difference | ratio |\n"
          "| --- | ---: | ---: | ---: | ---: |\n"
          "| params | 1,235,814,400 | 596,049,920 | -639,764,480 | 0.482313 |\n"
          "| cache | 16,777,216 | 58,720,256 | 41,943,040 | 3.5 |\n");
    CHECK(has(printed(two + " google/gemma-2-2b params"), "          C       C − A    C / A\n"));
}

TEST_CASE("four models or more are rows") {
    const std::string four = two + " google/gemma-2-2b Qwen/Qwen3-8B";
    CHECK(printed(four + " params weight_bytes") ==
          "batch 1, sequence 1,024, past 0\n"
          "model                     params  weight_bytes\n"
          "meta-llama/Llama-3.2-1B  1.236 G      2.30 GiB\n"
          "Qwen/Qwen3-0.6B          596.0 M      1.11 GiB\n"
          "google/gemma-2-2b        2.614 G      4.87 GiB\n"
          "Qwen/Qwen3-8B            8.191 G      15.3 GiB\n");
    CHECK(printed(four + " params --format latex") ==
          "% \\usepackage{booktabs}\n"
          "\\begin{tabular}{lr}\n"
          "\\toprule\n"
          "model & params \\\\\n"
          "\\midrule\n"
          "meta-llama/Llama-3.2-1B & 1.236 G \\\\\n"
          "Qwen/Qwen3-0.6B & 596.0 M \\\\\n"
          "google/gemma-2-2b & 2.614 G \\\\\n"
          "Qwen/Qwen3-8B & 8.191 G \\\\\n"
          "\\bottomrule\n"
          "\\end{tabular}\n");
    CHECK(
        has(printed(four), "model                     params   active    flops  weight_bytes  cache_bytes_per_token"));
    CHECK(has(printed(four + " params --format csv"), "params,Qwen/Qwen3-8B,qwen3,all,1,1024,0,8190735360,"));
    const std::string lists = printed(four + " flops --batch 1,2 --format markdown");
    CHECK(has(lists, "batch 2, sequence 1,024, past 0\n\n| model | flops |\n| --- | ---: |\n"));
}

TEST_CASE("without words parameters, counts, cache, what training keeps and memory are compared") {
    const auto c = nlohmann::json::parse(printed(two + " --format json"));
    CHECK(c["models"][1] == nlohmann::json({{"name", "Qwen/Qwen3-0.6B"}, {"model_type", "qwen3"}}));
    CHECK(c["comparisons"][0]["workloads"][0]["sequence"] == 1024);
    nlohmann::json figures;
    for (const auto& f : c["comparisons"][0]["figures"]) figures[f["name"].get<std::string>()] = f;
    CHECK(figures["params"]["values"] == nlohmann::json({1235814400, 596049920}));
    CHECK(figures["params"]["ratios"][0] == 1);
    CHECK(figures["cache_bytes_per_token"]["values"] == nlohmann::json({32768, 114688}));
    CHECK(figures["erf"]["ratios"] == nlohmann::json({nullptr, nullptr}));
    const std::string model = "--model Qwen/Qwen3-0.6B";
    const auto single_model = nlohmann::json::parse(printed(model + " --training --format json"));
    CHECK(figures["saved_bytes"]["values"][1] == single_model["training"]["saved_bytes"]);
    CHECK(figures["memory_bytes"]["values"][1] ==
          nlohmann::json::parse(printed("memory " + model + " --format json"))["total"]);
}

TEST_CASE("lists compare at each of their workloads") {
    const std::string page = printed(two + " --batch 1,2 flops");
    CHECK(has(page, "\nbatch 1, sequence 1,024, past 0\n"));
    CHECK(has(page, "\nbatch 2, sequence 1,024, past 0\n"));
    CHECK(has(printed(two + " --sequence 1,2 --format csv flops"), "\nflops,Qwen/Qwen3-0.6B,qwen3,all,1,2,0,"));
    CHECK(has(printed(two + " flops --plot"), "\nflops\n  meta-llama/Llama-3.2-1B ████"));
}

TEST_CASE("what is no comparison says what is missing") {
    CHECK(has(refused("compare Qwen/Qwen3-0.6B"), "compare: requires at least two models: llmcost compare A B"));
    CHECK(has(refused("compare Qwen/Qwen3-0.6B mult attn"), "compare: requires at least two models"));
    CHECK(has(refused(two + " paramz"), "no metric or scope 'paramz' in meta-llama/Llama-3.2-1B; nearest: params"));
    CHECK(has(refused(two + " params nothing.at.all"), "no scope 'nothing.at.all' in meta-llama/Llama-3.2-1B"));
    CHECK(has(refused("compare ./no.json ./other.json", {}, 3), "no such file or directory"));
}

TEST_CASE("files are compared as names are") {
    const std::string file = config_of("meta-llama__Llama-3.2-1B");
    CHECK(has(printed("compare " + file + ' ' + file + " --format csv params"), ",1235814400,0,1\n"));
    CHECK(has(printed("compare --config " + file + " --config " + file + " --format csv params attn"),
              ",167772160,0,1\n"));
}
