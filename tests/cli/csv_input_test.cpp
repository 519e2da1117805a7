// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <ios>
#include <istream>
#include <sstream>
#include <streambuf>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/stat.h>

#include <llmcost/cli/commands/program.hpp>

#include "parts.hpp"

using namespace llmcost::testing;

// Tables on the standard input that are not what their header says.

namespace {

/// A text behind which reading fails, as of a disk with an error or a folder.
class failing_text final : public std::streambuf {
public:
    explicit failing_text(std::string text) : text_(std::move(text)) {
        setg(text_.data(), text_.data(), text_.data() + text_.size());
    }

protected:
    int_type underflow() override { throw std::ios_base::failure("error reading the file"); }

private:
    std::string text_;
};

const std::string product = "op gemm --device h200 --calibration none --dtype bf16";

}  // namespace

TEST_CASE("an error of reading is not the end of a table") {
    const std::vector<std::string_view> args{"op", "gemm", "--device", "h200", "--dtype", "bf16"};
    for (const auto& [text, line] : {std::pair{"", "1"}, {"m,n,k\n", "2"}, {"m,n,k\n1,2,3\n1,2", "3"}}) {
        failing_text source(text);
        std::istream in(&source);
        std::ostringstream out, err;
        CHECK(llmcost::cli::run_commands(args, parts::full_program({out, err, in})) == 6);
        CHECK(out.str() == "");
        CHECK(err.str() == "llmcost: standard input: read error at line " + std::string(line) + "\n");
    }
}

TEST_CASE("a line of a table has an end") {
    const std::string maximum(1048576 - 6, 'x');
    CHECK(has(printed(product, {.in = "m,n,k,note\n1,1,1," + maximum + '\n'}), maximum + ','));
    CHECK(refused(product, {.in = "m,n,k,note" + maximum}) == "llmcost: line 1: expected at most 1048576 bytes\n");
    const outcome long_row = llmcost_line(product, {.in = "m,n,k,note\n1,1,1,x" + maximum + "\n1,1,1,\n"});
    CHECK(long_row.code == 7);
    CHECK(has(long_row.out, "\n,,,,,,,expected at most 1048576 bytes\n1,1,1,,3.3,"));
}

TEST_CASE("a row whose cells cannot be told has its predictions under their own columns, empty") {
    const std::string head = "m,n,k,gemm_dtype,note", added_columns = ",predicted_us,lower_us,upper_us,error\n";
    const std::string line = "op gemm --device h200 --calibration none";
    const auto row = [&](const std::string& text) {
        const outcome got = llmcost_line(line, {.in = head + '\n' + text + "\n1,1,1,bfloat16,ok\n"});
        CHECK(got.code == 7);
        CHECK(got.out.starts_with(head + added_columns));
        CHECK(got.out.ends_with("\n1,1,1,bfloat16,ok,3.3,2.3497,5.0367,\n"));
        const std::size_t first = head.size() + added_columns.size();
        return got.out.substr(first, got.out.find('\n', first) - first);
    };
    CHECK(row("1,1,1,bfloat16") == "1,1,1,bfloat16,,,,,\"expected 5 fields, found 4\"");
    CHECK(row("1,1,1,bfloat16,a,b") == "1,1,1,bfloat16,a,,,,\"expected 5 fields, found 6\"");
    CHECK(row("1,1,1,bfloat16,\"a, \"\"b") == "1,1,1,bfloat16,\"a, \"\"b\",,,,unterminated quote");
    CHECK(refused(line, {.in = "m,n,k,\"gemm_dtype\n"}) == "llmcost: line 1: unterminated quote\n");
}

TEST_CASE("a bad row costs no other, however often it stands there") {
    const std::string bad[] = {"1,1,1,bf17,", "1,1,0,bfloat16,", "1,1,1,bfloat16,h20o", "1,1,1,,"};
    for (const std::string& row : bad) {
        INFO(row);
        const std::string rows = row + '\n' + row + "\n1,1,1,bfloat16,h200\n" + row + '\n';
        const outcome got =
            llmcost_line("op gemm --device h200 --calibration none", {.in = "m,n,k,gemm_dtype,system\n" + rows});
        CHECK(got.code == 7);
        const std::size_t first = got.out.find('\n') + 1, end = got.out.find('\n', first);
        const std::string repeated_row = got.out.substr(first, end + 1 - first);
        CHECK(repeated_row.starts_with(row + ",,,,"));
        CHECK(repeated_row.size() > row.size() + 10);
        CHECK(got.out.substr(first) ==
              repeated_row + repeated_row + "1,1,1,bfloat16,h200,3.3,2.3497,5.0367,\n" + repeated_row);
        CHECK(has(got.err, " (3 of 4 rows failed; see the column error)\n"));
    }
    // a word that is refused, as is its second row
    const outcome invalid_names = llmcost_line("op nccl --device h100 --dtype half",
                                               {.in = "op_name,message_size,num_gpus\nallgather,8,2\nallgather,8,4\n"});
    CHECK(has(invalid_names.err, "(2 of 2 rows "));
}

TEST_CASE("a server that cannot be costs no other row") {
    const std::string head = "model_path,system,backend,isl,osl,batch_size,tp_size,moe_ep_size\n";
    const std::string good = "meta-llama/Llama-3.1-70B,h200_sxm,vllm,100,10,1,4,1";
    const std::string line = "serve --configs " LLMCOST_TEST_DIR "/fit/serving" + measured;
    const std::string single_row = printed(line, {.in = head + good + '\n'});
    const std::string answer = single_row.substr(single_row.find('\n') + 1);
    for (const std::string bad :
         {"none/none,h200,vllm,10,1,1,1,1", "meta-llama/Llama-3.1-70B,h200,vllm,10,1,1,4,0",
          "meta-llama/Llama-3.1-70B,h200,vllm,10,1,1,7,1", "meta-llama/Llama-3.1-70B,h20o,vllm,10,1,1,4,1",
          "meta-llama/Llama-3.1-70B,h200,vllm,10,1"}) {
        INFO(bad);
        const outcome got = llmcost_line(line, {.in = head + bad + '\n' + good + '\n' + bad + '\n'});
        CHECK(got.code == 7);
        CHECK(has(got.out, '\n' + bad + ','));
        CHECK(has(got.out, '\n' + answer + bad));
        CHECK(has(got.err, " (2 of 3 rows failed"));
    }
    CHECK(refused(line, {.in = "model_path,system,isl,osl,batch_size,isl\n"}) ==
          "llmcost: line 1: duplicate column 'isl'\n");
}

TEST_CASE("what is wrong with an option is no row's") {
    const std::string broken = " --calibration " LLMCOST_TEST_DIR "/golden/google-bert__bert-base-uncased.json";
    const std::string row = "model_path,system,isl,osl,batch_size\nmeta-llama/Llama-3.1-70B,h200,9,9,1\n";
    CHECK(refused("op gemm --device h200 --dtype bf16" + broken, {.in = "m,n,k\n1,2,3\n"}, 3) != "");
    CHECK(refused("serve --configs " LLMCOST_TEST_DIR "/fit/serving" + broken, {.in = row}, 3) != "");
}

TEST_CASE("a row opens no file, and an option none that would be waited for") {
    const std::string file = LLMCOST_TEST_DIR "/../configs/devices/l4.json", shape = " --m 1 --n 1 --k 1";
    const std::string list = "' (see llmcost devices)\n";
    CHECK(refused_row("op gemm --dtype bf16", {.in = "m,n,k,system\n1,1,1," + file + '\n'}) ==
          "llmcost: line 2: system: no device '" + file + list);
    CHECK(refused_row("serve --configs " LLMCOST_TEST_DIR "/fit/serving",
                      {.in = "model_path,system,isl,osl,batch_size\nmeta-llama/Llama-3.1-70B," + file + ",9,9,1\n"}) ==
          "llmcost: line 2: system: no device '" + file + list);
    CHECK(has(llmcost_line("serve --configs " LLMCOST_TEST_DIR "/fit/serving",
                           {.in = "model_path,system,isl,osl,batch_size\n" + std::string("a\0c", 3) + ",h200,9,9,1\n"})
                  .err,
              "model_path: expected org/name, found 'a\\x00c'"));
    CHECK(refused_row("op gemm --dtype bf16", {.in = "m,n,k,system\n1,1,1,h20o\n"}) ==
          "llmcost: line 2: system: no device 'h20o'; nearest: h200, h20, h100 (see llmcost devices)\n");
    CHECK(printed("op gemm --dtype bf16 --device " + file, {.in = "m,n,k,system\n1,1,1,\n"}) != "");

    const auto pipe = std::filesystem::temp_directory_path() / "llmcost_csv_input_test.pipe";
    std::filesystem::remove(pipe);
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    const std::string expected_error = "llmcost: " + pipe.string() + ": expected a regular file\n";
    CHECK(refused("op gemm --device " + pipe.string() + shape, {}, 3) == expected_error);
    CHECK(refused("op gemm --device h200" + shape + " --calibration " + pipe.string(), {}, 3) == expected_error);
    CHECK(refused("op gemm --device h200 --dtype bf16 --calibration " + pipe.string(), {.in = "m,n,k\n1,1,1\n"}, 3) ==
          expected_error);
    CHECK(refused("latency --model meta-llama/Llama-3.2-1B --device h200 --calibration " + pipe.string(), {}, 3) ==
          expected_error);
    CHECK(refused("op gemm --device h200 --kernels vllm" + shape + " --calibration " + pipe.string(), {}, 3) ==
          expected_error);
    CHECK(refused("op gemm --device " LLMCOST_TEST_DIR + shape, {}, 3) == "llmcost: " LLMCOST_TEST_DIR
                                                                          ": expected a regular file\n");
    std::filesystem::remove(pipe);
}
