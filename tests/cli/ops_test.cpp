// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>

#include <llmcost/cli/args/text.hpp>

// `llmcost ops` and `llmcost levels`: their tables, their members, what they refuse.
namespace llmcost::testing {
namespace {

const std::string gpt2 = " --config " + config_of("openai-community__gpt2") + " --sequence 16";

/// Lines of a text that have a part.
int lines_with(const std::string& text, const std::string& part) {
    int n = 0;
    for (std::size_t position = text.find(part); position != std::string::npos;
         position = text.find(part, position + 1))
        ++n;
    return n;
}

}  // namespace

TEST_CASE("one pass has one time in ops, report and eager latency: casts take none") {
    const std::string pass = " --model meta-llama/Llama-3.2-1B --device h100 --sequence 64";
    const auto ops = nlohmann::json::parse(printed("ops" + pass + " --format json"));
    const auto last = nlohmann::json::parse(printed("ops" + pass + " --logits last --format json"));
    const auto step = nlohmann::json::parse(printed("latency --execution eager" + pass + " --format json"));
    double seconds = 0;
    for (const auto& kernel : step["ops"]) seconds += kernel["seconds"].get<double>();
    CHECK(seconds == doctest::Approx(last["seconds"].get<double>()));
    CHECK(step["host_seconds"].get<double>() == doctest::Approx(last["host_seconds"].get<double>()));
    CHECK(has(printed("report" + pass), llmcost::cli::detail::duration(ops["seconds"].get<double>()) + "</td>"));
}

TEST_CASE("operations are told one by one, those of like layers together") {
    const std::string text = printed("ops" + gpt2);
    CHECK(has(text, "1 x 16 tokens after 0 cached tokens, float32\n\nname "));
    CHECK(
        has(text,
            "\ntransformer.h.*.attn.c_attn.matmul_bias  Conv1D                12  16x768 [768x2304] [2304]  16x2304"));
    CHECK(has(text, "\nlm_head.matmul  "));
    CHECK(lines_with(text, "c_attn") == 1);
    CHECK(lines_with(printed("ops --expand" + gpt2), "attn.c_attn.matmul_bias") == 12);
    const std::string csv = printed("ops --format csv" + gpt2);
    CHECK(csv.starts_with(
        "name,op,op_type,target,times,inputs,outputs,add,mult,div,sqrt,exp,log,tanh,erf,trig,pow,neg,cmp,flops,torch_"
        "flops,"
        "bytes_read,bytes_written,intensity,params\n"
        "transformer.wte.gather,gather,call_module,Embedding,1,[50257x768:float32] 1x16:int64,1x16x768:float32,0,"));
    CHECK(printed("ops --format markdown" + gpt2).starts_with("| name | target | times | inputs | outputs | FLOPs |"));
}

TEST_CASE("rows are sorted, filtered, cut, and taken together") {
    const auto sorted = json_of("ops --sort flops --top 3" + gpt2)["rows"];
    REQUIRE(sorted.size() == 3);
    CHECK(sorted[0]["flops"].get<std::uint64_t>() >= sorted[1]["flops"].get<std::uint64_t>());
    CHECK(sorted[0]["name"] == "lm_head.matmul");
    const auto in_blocks = json_of("ops --filter mlp" + gpt2), norms = json_of("ops --filter LayerNorm" + gpt2);
    CHECK(in_blocks["rows"].size() == 10);
    for (const auto& row : in_blocks["rows"]) CHECK(has(row["name"].get<std::string>(), "mlp"));
    CHECK(norms["rows"].size() == 3);
    for (const auto& row : norms["rows"]) CHECK(row["target"] == "LayerNorm");
    const auto all = json_of("ops" + gpt2)["forward"];
    for (const std::string group_by : {"kind", "module", "layer"}) {
        std::uint64_t flops = 0;
        const auto answer = json_of("ops --group " + group_by + gpt2);
        for (const auto& group : answer["groups"]) flops += group["flops"].get<std::uint64_t>();
        CHECK(flops == all["flops"].get<std::uint64_t>());
    }
    const auto layers = json_of("ops --group layer" + gpt2)["groups"];
    CHECK(layers.size() == 6);
    CHECK(layers[3]["name"] == "transformer.h.*");
    CHECK(layers[3]["times"] == 12);
    CHECK(has(printed("ops --group kind --sort bytes --top 1" + gpt2), "op      "));
}

TEST_CASE("what goes back stands behind the pass, and adds up to a training step") {
    const auto with_backward = json_of("ops --backward" + gpt2);
    const auto training_totals = nlohmann::json::parse(
        printed("--format json --training --config " + config_of("openai-community__gpt2") + " --sequence 16"));
    for (const char* primitive : {"add", "mult", "div", "exp", "tanh"}) {
        CHECK(with_backward["backward"][primitive] == training_totals["training"]["backward"][primitive]);
        std::uint64_t sum = 0;
        for (const auto& row : with_backward["rows"])
            if (row["op_type"] == "backward") sum += row[primitive].get<std::uint64_t>();
        CHECK(sum == with_backward["backward"][primitive].get<std::uint64_t>());
    }
    CHECK(with_backward["forward"]["kept_bytes"] == training_totals["training"]["saved_bytes"]);
    CHECK(with_backward["backward"]["torch_flops"] == training_totals["training"]["torch_flops"]["backward"]);
    CHECK(with_backward["rows"].back()["name"] == "gradient sums");
    CHECK(with_backward["rows"].back()["bytes_read"] == nullptr);
    CHECK(json_of("ops" + gpt2)["backward"] == nullptr);
}

TEST_CASE("operations on a device take as long as a step that runs eagerly") {
    const std::string device_options = " --device h200 --batch 2" + gpt2;
    const auto ops = json_of("ops" + device_options);
    const auto step = json_of("latency --execution eager --logits all" + device_options);
    double kernels = 0;
    for (const auto& kernel : step["ops"]) kernels += kernel["seconds"].get<double>();
    CHECK(ops["seconds"].get<double>() == doctest::Approx(kernels));
    CHECK(ops["kernels"] == step["launches_per_device"]);
    CHECK(ops["host_seconds"].get<double>() == doctest::Approx(step["host_seconds"].get<double>()));
    CHECK(ops["activation_dtype"] == "bfloat16");  // what the device runs float32 in
    CHECK(has(printed("ops" + device_options), "Operations executed one by one on H200 SXM: "));
    CHECK(has(printed("ops --sort time --top 1" + device_options), "share\n"));
    CHECK(json_of("ops --dtype float32" + device_options)["seconds"].get<double>() > kernels);
}

TEST_CASE("three levels: the model, its layers, its operations, largest first") {
    const std::string text = printed("levels" + gpt2);
    for (const char* part : {"\nModel\n  parameters          124,439,808\n", "\nLayers\nlayer ",
                             "\nOperations\noperation ", "peak activations", "MACs"})
        CHECK_MESSAGE(has(text, part), part);
    CHECK(!has(text, "latency"));
    CHECK(has(printed("levels --device h200" + gpt2), "throughput"));
    const auto m = json_of("levels --device h200 --top 2" + gpt2);
    CHECK(m["params"] == 124'439'808);
    CHECK(m["size"] == 2 * 124'439'808);  // in bfloat16
    CHECK(m["layers"].size() == 2);
    CHECK(m["layers"][0]["seconds"].get<double>() >= m["layers"][1]["seconds"].get<double>());
    CHECK(m["tokens_per_second"].get<double>() == doctest::Approx(16 / m["latency"].get<double>()));
    // the head reads 16 x 768 and gives 16 x 50,257
    CHECK(json_of("levels" + gpt2)["peak_activations"] == 16 * (768 + 50257));
    CHECK(printed("levels --format csv" + gpt2)
              .starts_with("level,name,class,times,params,size,activations,macs,flops,bytes\nmodel,"));
}

TEST_CASE("rows that cannot be are refused") {
    CHECK(has(refused("ops --sort time" + gpt2), "--sort: time requires --device"));
    CHECK(has(refused("ops --sort kept" + gpt2), "--sort: kept requires --backward"));
    CHECK(has(refused("ops --filter nothing" + gpt2), "no name, operation or class contains 'nothing'"));
    CHECK(has(refused("ops --group kind --bookkeeping" + gpt2), "--bookkeeping"));
    CHECK(has(refused("ops --backward --past 4" + gpt2), "--past: not supported in training"));
    CHECK(has(refused("levels --device nowhere" + gpt2), "no device or file 'nowhere'"));
}

}  // namespace llmcost::testing
