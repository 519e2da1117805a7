// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "../hub/hub_fixture.hpp"
#include "program.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <llmcost/cli/args/sweep.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/pages/terminal_plot.hpp>

#include <sstream>
#include <string>
#include <vector>

// Lists in place of numbers: tables of workloads, and their pictures.
using namespace llmcost::testing;
namespace cli = llmcost::cli;

namespace {

std::string list(const char* text, std::int64_t minimum = 1) {
    std::string out;
    for (const std::int64_t n : cli::read_list_of_numbers("--x", text, minimum)) out += std::to_string(n) + ' ';
    return out;
}

}  // namespace

TEST_CASE("a list is numbers, ranges that are multiplied, ranges that are added to, or several of these") {
    CHECK(list("1,8,64") == "1 8 64 ");
    CHECK(list("1024..16384:x2") == "1024 2048 4096 8192 16384 ");
    CHECK(list("1..100:x10,3") == "1 10 100 3 ");
    CHECK(list("0..10:+4", 0) == "0 4 8 ");
    CHECK(list("5..5:+1") == "5 ");
    for (const char* wrong : {"1,", ",1", "1..8", "1..8:2", "8..1:+1", "1..8:x1", "1..8:+0", "1..2..3:x2", "a..b:x2",
                              "-1..8:+1", "1..2147483648:x2", "1..100000:+1"})
        CHECK_THROWS_AS((void)list(wrong), llmcost::error);
    CHECK_THROWS_AS((void)list("0..8:x2", 0), llmcost::error);
}

TEST_CASE("lists make a table, a row for each combination, that says model and workload") {
    CHECK(printed("--model Qwen/Qwen3-0.6B --batch 1,16 --sequence 200,1024 --format csv mult attn") ==
          "name,model_type,scope,batch,sequence,past,mult,error\n"
          "Qwen/Qwen3-0.6B,qwen3,attn,1,200,0,39923609600,\n"
          "Qwen/Qwen3-0.6B,qwen3,attn,1,1024,0,301557874688,\n"
          "Qwen/Qwen3-0.6B,qwen3,attn,16,200,0,638777753600,\n"
          "Qwen/Qwen3-0.6B,qwen3,attn,16,1024,0,4824925995008,\n");
    CHECK(printed("--model meta-llama/Llama-3.2-1B --sequence 1..4:x2") ==
          "name                     model_type  sequence    flops  torch_flops      act  cache_bytes\n"
          "meta-llama/Llama-3.2-1B  llama              1  2.472 G      2.472 G  705.9 k     32.0 KiB\n"
          "meta-llama/Llama-3.2-1B  llama              2  4.944 G      4.944 G  1.412 M     64.0 KiB\n"
          "meta-llama/Llama-3.2-1B  llama              4  9.889 G      9.888 G  2.824 M      128 KiB\n");
    // each row is the one of the workload by itself
    for (const char* past : {"0", "100"}) {
        const std::string single_run =
            printed("--model google/gemma-2-2b --format csv --sequence 7 flops --past " + std::string(past));
        CHECK(has(printed("--model google/gemma-2-2b --format csv --sequence 7 flops --past 0,100"),
                  ",7," + std::string(past) + ',' +
                      single_run.substr(single_run.rfind(',') + 1, single_run.size() - single_run.rfind(',') - 2)));
    }
    std::istringstream lines(
        printed("--model Qwen/Qwen3-0.6B --model google/gemma-2-2b --sequence 1,2 --format json flops"));
    std::string line;
    std::vector<std::string> row_names;
    while (std::getline(lines, line)) {
        const auto row = nlohmann::json::parse(line);
        row_names.push_back(row["name"].get<std::string>() + ' ' + row["sequence"].dump());
    }
    CHECK(row_names == std::vector<std::string>{"Qwen/Qwen3-0.6B 1", "Qwen/Qwen3-0.6B 2", "google/gemma-2-2b 1",
                                                "google/gemma-2-2b 2"});
    CHECK(has(printed("--model Qwen/Qwen3-0.6B --input 100 --output 1,20 --format csv flops"),
              "Qwen/Qwen3-0.6B,qwen3,all,1,100,20,0,"));
}

TEST_CASE("a table for LaTeX has booktabs' rules and escapes") {
    CHECK(printed("--model meta-llama/Llama-3.2-1B --sequence 1,2 --format latex cache_bytes") ==
          "% \\usepackage{booktabs}\n"
          "\\begin{tabular}{llrr}\n"
          "\\toprule\n"
          "name & model\\_type & sequence & cache\\_bytes \\\\\n"
          "\\midrule\n"
          "meta-llama/Llama-3.2-1B & llama & 1 & 32,768 \\\\\n"
          "meta-llama/Llama-3.2-1B & llama & 2 & 65,536 \\\\\n"
          "\\bottomrule\n"
          "\\end{tabular}\n");
}

TEST_CASE("a workload that has no answer is a row's error, words that mean nothing are the command line's") {
    const outcome got =
        llmcost_line("--model google-bert/bert-base-uncased --sequence 256..1024:x2 --format csv flops");
    CHECK(got.code == 7);
    CHECK(has(got.out, "google-bert/bert-base-uncased,,,,1024,,,"));
    CHECK(has(got.out, "the workload requires 1024 positions and the model has 512\n"));
    CHECK(has(refused("--model Qwen/Qwen3-0.6B --sequence 1,2 paramz"), "no metric or scope 'paramz'"));
    CHECK(has(refused("--model Qwen/Qwen3-0.6B --sequence 1,2 --tree"), "--tree: supports only one workload\n"));
    CHECK(has(refused("--model Qwen/Qwen3-0.6B --sequence 1..9"),
              "--sequence: expected a range such as 1024..131072:x2"));
    CHECK(
        has(refused("--model Qwen/Qwen3-0.6B --batch 1..200:+1 --sequence 1..200:+1"), "at most 10,000 combinations"));
    CHECK(
        has(refused("latency --device h200 --model Qwen/Qwen3-0.6B --batch 1,2"), "--batch: expected a whole number"));
}

TEST_CASE("a picture in the terminal is below the table") {
    const std::string page = printed("--model meta-llama/Llama-3.2-1B --sequence 1024..131072:x2 flops --plot");
    for (const char* part :
         {"\nmeta-llama/Llama-3.2-1B · flops\n", "ADD + MULT\n", " T ┤", "└┬", "131,072\n", "\nA  ", "⠤"})
        CHECK_MESSAGE(has(page, part), part);
    std::istringstream lines(page);
    for (std::string line; std::getline(lines, line);) CHECK(cli::width_of(line) <= 81);
    CHECK(has(refused("--model Qwen/Qwen3-0.6B --plot"), "--plot: requires a list of workloads"));
    CHECK(has(refused("--model Qwen/Qwen3-0.6B --sequence 1,2 --format csv --plot"),
              "requires a file name unless --format is text"));
    CHECK(has(refused("--model Qwen/Qwen3-0.6B --sequence 1,2 --plot x.png"),
              "--plot: expected a file name that ends with .svg"));
}

TEST_CASE("a canvas has dots where lines are, and letters where values are") {
    cli::detail::braille_canvas canvas(2, 1);
    canvas.dot(0, 0);
    canvas.dot(3, 3);
    CHECK(canvas.row(0) == "⡀⠈");
    canvas.line(0, 0, 3, 3);
    canvas.letter(3, 3, 'A');
    CHECK(canvas.row(0) == "⡠A");
    canvas.letter(3, 3, 'B');
    CHECK(canvas.row(0) == "⡠*");
    CHECK(cli::terminal_plot({}, {}, {}).empty());
}

TEST_CASE("pictures go to their files, and the answer is the same") {
    const temporary_folder folder;
    const std::string file = (folder.path() / "out.svg").string(), plot = " --plot " + file;
    for (const std::string line :
         {"--model Qwen/Qwen3-0.6B --sequence 1,2,4 flops --format csv", "memory --model Qwen/Qwen3-0.6B",
          "memory --model Qwen/Qwen3-0.6B --sequence 1,2,4 --format json", "train --model Qwen/Qwen3-0.6B --sequence 8",
          "train --model Qwen/Qwen3-0.6B --sequence 8,16", "compare Qwen/Qwen3-0.6B meta-llama/Llama-3.2-1B",
          "compare Qwen/Qwen3-0.6B meta-llama/Llama-3.2-1B --batch 1,2 mult"}) {
        CAPTURE(line);
        CHECK(printed(line + plot) == printed(line));
        const std::string svg = read_file(file);
        CHECK(svg.starts_with("<?xml"));
        CHECK(svg.ends_with("</svg>\n"));
        CHECK(has(svg, "Qwen3-0.6B"));
        std::filesystem::remove(file);
    }
    CHECK(refused("memory --model Qwen/Qwen3-0.6B --plot " + (folder.path() / "no" / "out.svg").string(), {}, 1) ==
          "llmcost: " + (folder.path() / "no" / "out.svg").string() +
              ": cannot be written: No such file or directory\n");
}

TEST_CASE("memory and training over workloads are tables that say whether each fits") {
    const outcome memory =
        llmcost_line("memory --model Qwen/Qwen3-0.6B --sequence 1024,32768 --format csv --memory 4GB");
    CHECK(memory.code == 8);
    CHECK(memory.out.starts_with(
        "name,batch,sequence,past,weights,cache,cache_allocated,activations_peak,runtime,total,fits,error\n"));
    CHECK(has(memory.out, ",true,\n"));
    CHECK(has(memory.out, ",false,\n"));
    const auto single_run = nlohmann::json::parse(
        llmcost_line("memory --model Qwen/Qwen3-0.6B --sequence 32768 --memory 4GB --format json").out);
    CHECK(has(memory.out, "," + single_run["total"].dump() + ",false,\n"));
    const std::string steps = printed("train --model Qwen/Qwen3-0.6B --batch 1,2 --sequence 16 --format csv");
    CHECK(
        steps.starts_with("name,batch,sequence,PARAM,BUFFER,GRAD,ACT,TEMP,OPT,OTH,total,error\nQwen/Qwen3-0.6B,1,16,"));
    const auto step =
        nlohmann::json::parse(printed("train --model Qwen/Qwen3-0.6B --batch 2 --sequence 16 --format json"));
    CHECK(has(steps, "," + step["peak"]["total"].dump() + ",\n"));
}
