// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <fstream>
#include <iterator>
#include <string>

#include <llmcost/bundled/all.hpp>

// Configurations of unknown types, and parsing them with the row of another type.
using namespace llmcost::testing;

namespace {

/// A golden's configuration under another type, whose classes are named after it.
std::string renamed(const std::string& golden, const std::string& type, const std::string& prefix) {
    std::ifstream in(config_of(golden));
    auto config = nlohmann::json::parse(in);
    config["model_type"] = type;
    std::string name = config["architectures"][0];
    config["architectures"][0] = prefix + name.substr(name.find("For"));
    return config.dump();
}

const std::string foo = renamed("meta-llama__Llama-3.2-1B", "foo", "Foo");

}  // namespace

TEST_CASE("an unknown type is told whose rows read its keys") {
    CHECK(
        refused("--config -", {.in = foo}, 3) ==
        "llmcost: standard input: /model_type: \"foo\" is not supported; its keys are similar to llama, granite, arcee "
        "(--as "
        "llama); "
        "llmcost models lists all supported types\n");
    const auto relatives = [](const std::string& golden) {
        const std::string error_text = refused("--config -", {.in = renamed(golden, "foo", "Foo")}, 3);
        const std::size_t position = error_text.find("its keys are similar to ");
        return position == std::string::npos ? std::string()
                                             : error_text.substr(position, error_text.find(" (--as") - position);
    };
    CHECK(has(relatives("Qwen__Qwen3-0.6B"), "qwen3"));
    CHECK(has(relatives("google__gemma-3-1b-it"), "gemma3_text"));
    CHECK(has(relatives("mistralai__Mixtral-8x7B-v0.1"), "mixtral"));
    // a decoder's keys are an encoder's, too, but not its class
    CHECK(has(relatives("FacebookAI__roberta-large"), "roberta"));
    CHECK_FALSE(has(relatives("FacebookAI__roberta-large"), "llama"));
}

TEST_CASE("a file without a type is told whose rows read its keys, one without keys is not") {
    auto config = nlohmann::json::parse(foo);
    config.erase("model_type");
    CHECK(has(refused("--config -", {.in = config.dump()}, 3),
              "/model_type: missing; expected a string; its keys are similar to llama"));
    CHECK_FALSE(has(refused("--config -", {.in = R"({"model_type":"foo","vocab_size":7})"}, 3), "its keys"));
}

TEST_CASE("a file is read by the row of another type, and the answer says so") {
    const surroundings in{.in = foo};
    CHECK(printed("--config - --as llama --format csv params", in) == "scope,params\nall,1235814400\n");
    const std::string page = printed("--config - --as llama", in);
    CHECK(has(page, "\nconfiguration from standard input, read as llama (unknown model_type foo)\n"));
    for (const char* workload_args : {"", " --input 10 --output 3"}) {
        const auto model = nlohmann::json::parse(
            printed("--config - --as llama --format json" + std::string(workload_args), in))["model"];
        CHECK(model["model_type"] == "foo");
        CHECK(model["as"] == "llama");
    }
    CHECK_FALSE(has(printed(llama + " --format json"), "\"as\""));
    CHECK_FALSE(has(printed(llama + " --as llama --format json"), "\"as\""));
    CHECK(has(printed(llama + " --as mistral"), ", read as mistral (model_type llama)"));
    auto config = nlohmann::json::parse(foo);
    config.erase("model_type");
    CHECK(has(printed("--config - --as llama", {.in = config.dump()}), ", read as llama (no model_type)\n"));
}

TEST_CASE("what is timed is read by the row of another type, too") {
    const std::string source_options = " --device h200 --calibration none --config - --as llama";
    const surroundings in{.in = foo};
    CHECK(printed("latency" + source_options, in).starts_with("standard input (as llama), H200 SXM"));
    for (const char* command : {"latency", "latency --training", "serve", "serve --sweep"}) {
        const auto answer = nlohmann::json::parse(llmcost_line(command + source_options + " --format json", in).out);
        CHECK(answer["as"] == "llama");
    }
}

TEST_CASE("the class of a file that is read as another's keeps its head") {
    const std::string labels = R"( --set architectures=["FooForSequenceClassification"])";
    CHECK(printed("--config - --as llama --format csv params" + labels, {.in = foo}) ==
          printed(llama + R"( --format csv params --set architectures=["LlamaForSequenceClassification"])"));
    CHECK(has(refused(R"(--config - --as llama --set architectures=["FooForMaskedLM"])", {.in = foo}, 3),
              "/architectures/0: unsupported class"));
}

TEST_CASE("a part of a file is read by the row of another type") {
    const std::string nested_config = R"({"model_type":"sees","text_config":)" + foo + "}";
    CHECK(printed("--config - --part text_config --as llama --format csv params", {.in = nested_config}) ==
          "scope,params\nall,1235814400\n");
    CHECK(has(refused("--config - --part text_config", {.in = nested_config}, 3), "; its keys are similar to llama"));
}

TEST_CASE("a type that --as does not know") {
    CHECK(refused("--config - --as lama", {.in = foo}) ==
          "llmcost: --as: no model type 'lama'; nearest: llama, bamba, jamba; see llmcost models\n");
}

TEST_CASE("multi-token prediction layers are told on the page, and counted on request") {
    const std::string v3 = "--config " + config_of("deepseek-ai__DeepSeek-V3");
    CHECK(has(printed(v3),
              "\nThe checkpoint has 1 multi-token prediction layer, which is not counted:\n"
              "the reference does not execute it. With --mtp: 11,610,067,968 parameters.\n"));
    CHECK(has(printed(v3 + " --set num_nextn_predict_layers=2"),
              "\nThe checkpoint has 2 multi-token prediction layers, which are not counted:\n"
              "the reference does not execute them. With --mtp: 23,220,135,936 parameters.\n"));
    CHECK_FALSE(has(printed(v3 + " --set num_nextn_predict_layers=0"), "multi-token"));
    CHECK(has(printed(llama + " --set mtp_num_hidden_layers=1"),
              "1 multi-token prediction layer, which is not counted:\nthe reference does not execute it.\n"));
    CHECK_FALSE(has(printed(llama), "multi-token"));

    const std::string with_mtp = v3 + " --mtp";
    CHECK(has(printed(with_mtp),
              "\n1 multi-token prediction layer is counted in scope mtp: 11,610,067,968 parameters.\n"));
    CHECK(printed(with_mtp + " --format csv params mtp") == "scope,params\nmtp,11610067968\n");
    CHECK(has(refused(llama + " --mtp", {}, 2), "--mtp: the configuration has no multi-token prediction layers\n"));
    CHECK(has(refused(llama + " --mtp --set num_mtp_layers=1", {}, 2), "--mtp: not supported for model type llama\n"));
    CHECK(has(refused(with_mtp + " --training", {}, 2), "--mtp: cannot be combined with --training\n"));
    CHECK(has(refused(with_mtp + " " + llama, {}, 2), "--mtp: supports only one model\n"));
}
