// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/cli/commands/default_command.hpp>

using namespace llmcost::cli;
using llmcost::dtype;

namespace {

arguments read(std::vector<std::string_view> args) { return arguments("", page_options, args); }

/// The message of the usage error that a call throws; empty if it throws none.
template <class Call>
std::string complaint(Call call) {
    try {
        (void)call();
    } catch (const llmcost::error& e) {
        CHECK(e.code() == llmcost::errc::usage);
        return e.what();
    }
    return {};
}
std::string complaint_of(std::vector<std::string_view> args) {
    return complaint([&] { return parse_workload(read(args)); });
}

}  // namespace

TEST_CASE("options take their value after a blank or an equals sign; other arguments are positional") {
    const arguments a = read({"mult", "--batch", "16", "--sequence=200", "--tree", "attn", "--", "--batch"});
    CHECK(a.number(option::batch, 1) == 16);
    CHECK(a.number(option::sequence, 1) == 200);
    CHECK(a.number(option::past, 7, 0) == 7);
    CHECK(a.has(option::tree));
    CHECK(!a.has(option::scopes));
    CHECK(a.positional() == std::vector<std::string_view>{"mult", "attn", "--batch"});
    CHECK(read({"--config", "-"}).text(option::config) == "-");
    CHECK(read({"--set", "a=1", "--set=b=2"}).all(option::set) == std::vector<std::string_view>{"a=1", "b=2"});
    CHECK(read({"-h"}).has(option::help));
    CHECK(complaint_of({"--model="}) == "--model: requires a value: --model NAME");
}

TEST_CASE("errors of a command line name the nearest option") {
    CHECK(complaint_of({"--bach", "3"}) == "no option '--bach'; nearest: --batch");
    CHECK(complaint_of({"--scope"}) == "no option '--scope'; nearest: --scopes");
    CHECK(complaint_of({"-x\x1b"}) == "no option '-x\\x1b' (see --help)");
    CHECK(complaint_of({"--gpu", "h100"}) == "no option '--gpu'");  // run_commands names the commands with --device
    CHECK(complaint_of({"--ctx", "2048"}) == "no option '--ctx'; use --sequence 2048 or --input 2048");
    CHECK(complaint_of({"--Max_New_Tokens=9"}) == "no option '--Max_New_Tokens'; use --output 9");
    CHECK(complaint_of({"--batch-size", "--tree"}) == "no option '--batch-size'; use --batch N|LIST");
    CHECK(complaint_of({"--json"}) == "no option '--json'; use --format json");
    CHECK(complaint_of({"--batch"}) == "--batch: requires a value: --batch N|LIST");
    CHECK(complaint_of({"--batch", "--tree"}) == "--batch: requires a value: --batch N|LIST");
    CHECK(complaint_of({"--tree=3"}) == "--tree: takes no value, found '3'");
    CHECK(complaint_of({"--batch", "1", "--batch", "2"}) == "--batch: given more than once");
    CHECK(complaint_of({"--logits", "some"}) == "--logits: expected one of all, last, none; found 'some'");
    CHECK(complaint_of({"--dtype", "bf17"}).starts_with("--dtype: expected one of float32, float16, bfloat16, "));
    CHECK(complaint_of({"--dtype", "bf17"}).ends_with("; found 'bf17'"));
}

TEST_CASE("numbers have the suffixes of vLLM, exponents and underscores, and are exact") {
    const auto batch = [](const std::string& text) {
        return parse_workload(read({"--batch", text})).base_workload.batch;
    };
    // vllm/engine/arg_utils.py, human_readable_int: 1k is 1,000, 1K is 1,024, 25.6k is 25,600
    CHECK(batch("1k") == 1000);
    CHECK(batch("1K") == 1024);
    CHECK(batch("25.6k") == 25600);
    CHECK(batch("128K") == 131072);
    CHECK(batch("2m") == 2'000'000);
    CHECK(batch("1M") == 1 << 20);
    CHECK(batch("8_192") == 8192);
    CHECK(batch("1e4") == 10000);
    CHECK(batch("1.5e+3") == 1500);
    CHECK(complaint_of({"--batch", "8,192x"}) != "");
    CHECK(complaint([] { return parse_integer("--batch", "8,192", 1); }) ==
          "--batch: expected a whole number from 1 to 2147483647, found '8,192'; without commas: 8192");
}

TEST_CASE("choices and element types may have any case") {
    const workload_request parsed = parse_workload(
        read({"--dtype", "BF16", "--activation-dtype", "Torch.Float16", "--cache-dtype", "FP8", "--logits", "LAST"}));
    CHECK(parsed.base_workload.weights == dtype::bfloat16);
    CHECK(parsed.base_workload.activations == dtype::float16);
    CHECK(parsed.base_workload.cache == dtype::float8_e4m3fn);
    CHECK(parsed.base_workload.head == llmcost::logits::last);
    CHECK(parse_workload(read({"--dtype", "half"})).base_workload.weights == dtype::float16);
}

TEST_CASE("numbers are strict") {
    const std::string range = "--batch: expected a whole number from 1 to 2147483647, found ";
    for (const std::string bad :
         {"0",    "-1", "+1",  " 1",  "1 ",      "1.0", "0x10", "2147483648", "99999999999999999999999",
          "",     "k",  "1kk", "1.5", "1.2345k", "1_",  "_1",   "1__0",       "1e",
          "1e99", "3G", "1e-3"})
        CHECK(complaint_of({"--batch=" + bad}) == range + "'" + bad + "'");
    CHECK(complaint_of({"--batch", "-5"}) == range + "'-5'");
    CHECK(complaint_of({"--batch=2147483647"}) == "");
    CHECK(complaint_of({"--past=0", "--encoder-sequence=0"}) == "");
    CHECK(complaint_of({"--sequence=-1"}) != "");
    CHECK(parse_workload(read({"--batch", "0016"})).base_workload.batch == 16);
}

TEST_CASE("a workload has the values of the options, else the defaults") {
    const workload_request usual = parse_workload(read({}));
    CHECK(usual.kind == workload_kind::forward_pass);
    CHECK(usual.base_workload.batch == 1);
    CHECK(usual.base_workload.sequence == 1024);
    CHECK(usual.base_workload.past == 0);
    CHECK(usual.base_workload.head == llmcost::logits::all);
    CHECK(usual.base_workload.attention == llmcost::attention_scores::full);
    const workload_request parsed =
        parse_workload(read({"--past", "5000", "--logits", "none", "--attention", "causal", "--dtype", "fp16",
                             "--activation-dtype", "torch.bfloat16", "--cache-dtype", "float8_e5m2"}));
    CHECK(parsed.base_workload.past == 5000);
    CHECK(parsed.base_workload.head == llmcost::logits::none);
    CHECK(parsed.base_workload.attention == llmcost::attention_scores::causal);
    CHECK(parsed.base_workload.weights == dtype::float16);
    CHECK(parsed.base_workload.activations == dtype::bfloat16);
    CHECK(parsed.base_workload.cache == dtype::float8_e5m2);
}

TEST_CASE("ragged batches") {
    const auto groups = parse_ragged_batch("512@0x4,1@8000x60,7");
    REQUIRE(groups.size() == 3);
    CHECK(groups[0].sequence == 512);
    CHECK(groups[0].past == 0);
    CHECK(groups[0].num_requests == 4);
    CHECK(groups[1].sequence == 1);
    CHECK(groups[1].past == 8000);
    CHECK(groups[1].num_requests == 60);
    CHECK(groups[2].sequence == 7);
    CHECK(groups[2].past == 0);
    CHECK(groups[2].num_requests == 1);
    for (const std::string_view bad :
         {"", ",", "1,", "x3", "@5", "1@", "1x", "1x0", "0", "1@2x3x4", "1@2@3", "1 @2", "1@-2"})
        CHECK_MESSAGE(
            complaint([&] { return parse_ragged_batch(bad); }).starts_with("--ragged: expected a whole number"), bad);
}

TEST_CASE("a request is a prefill and decode steps") {
    const workload_request j =
        parse_workload(read({"--input", "1000", "--output", "200", "--batch", "3", "--past", "10"}));
    CHECK(j.kind == workload_kind::generation);
    const auto phases = phases_of(j);
    REQUIRE(phases.size() == 2);
    CHECK(phases[0].name == "prefill");
    CHECK(phases[0].parts.at(0).load.sequence == 1000);
    CHECK(phases[0].parts.at(0).load.past == 10);
    CHECK(phases[0].parts.at(0).load.batch == 3);
    CHECK(phases[0].parts.at(0).load.head == llmcost::logits::last);
    CHECK(phases[1].parts.at(0).load.sequence == 1);
    CHECK(phases[1].parts.at(0).load.past == 1010);
    CHECK(phases[1].parts.at(0).steps == 199);
    CHECK(phases_of(parse_workload(read({"--input", "5"})))[1].parts.empty());
    // an encoder reads the input, the decoder begins with one token
    const auto encoded = phases_of(j, true);
    CHECK(encoded[0].parts.at(0).load.encoder_sequence == 1000);
    CHECK(encoded[0].parts.at(0).load.sequence == 1);
    CHECK(encoded[1].parts.at(0).load.past == 11);
}

TEST_CASE("options that cannot be combined") {
    CHECK(complaint_of({"--ragged", "1", "--batch", "2"}) == "--ragged: cannot be combined with --batch");
    CHECK(complaint_of({"--ragged", "1", "--input", "2"}) == "--ragged: cannot be combined with --input");
    CHECK(complaint_of({"--input", "1", "--sequence", "2"}) == "--input: cannot be combined with --sequence");
    CHECK(complaint_of({"--output", "1"}) == "--output: requires --input");
    CHECK(complaint_of({"--training", "--past", "1"}) == "--training: cannot be combined with --past");
    CHECK(complaint_of({"--training", "--past", "0"}) == "");
    CHECK(complaint_of({"--input", "2000000000", "--output", "2000000000"})
              .starts_with("--output: the sum of past, input and output exceeds"));
}
