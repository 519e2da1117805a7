// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "../hub/hub_fixture.hpp"
#include "program.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <sstream>
#include <string>

// Several models on one command line.
using namespace llmcost::testing;

namespace {

const std::string both_models = "--model meta-llama/Llama-3.2-1B --model Qwen/Qwen3-0.6B";

/// A folder of configurations: two valid ones, one of an unknown type, and a file that is no configuration.
class config_folder : public temporary_folder {
public:
    config_folder() {
        for (const char* name : {"meta-llama__Llama-3.2-1B", "google-bert__bert-base-uncased"})
            write_file(path() / (std::string(name) + ".json"), read_file(config_of(name)));
        write_file(path() / "foo.json", R"({"model_type":"foo"})");
        write_file(path() / "notes.txt", "");
        write_file(path() / ".hidden.json", "{}");
    }
    [[nodiscard]] std::string option() const { return "--config " + path().string(); }
};

}  // namespace

TEST_CASE("several models are a table, a row each") {
    CHECK(printed(both_models + " --format csv") ==
          "name,model_type,scope,batch,sequence,past,params,active,weight_bytes,flops,cache_bytes_per_token,error\n"
          "meta-llama/Llama-3.2-1B,llama,all,1,1024,0,1235814400,1235814400,2471628800,2670180335616,32768,\n"
          "Qwen/Qwen3-0.6B,qwen3,all,1,1024,0,596049920,596049920,1192099840,1463115317248,114688,\n");
    CHECK(printed(both_models) ==
          "name                     model_type  sequence   params   active  weight_bytes    flops  "
          "cache_bytes_per_token\n"
          "meta-llama/Llama-3.2-1B  llama          1,024  1.236 G  1.236 G      2.30 GiB  2.670 T               32.0 "
          "KiB\n"
          "Qwen/Qwen3-0.6B          qwen3          1,024  596.0 M  596.0 M      1.11 GiB  1.463 T                112 "
          "KiB\n");
    CHECK(has(printed(both_models + " --format markdown"),
              "| meta-llama/Llama-3.2-1B | llama | 1,024 | 1,235,814,400 |"));
    const std::string config = "--config " + config_of("meta-llama__Llama-3.2-1B");
    CHECK(has(printed(config + ' ' + config + " --format csv params"),
              "/meta-llama__Llama-3.2-1B.json,llama,all,1,1024,0,1235814400,\n"));
}

TEST_CASE("words of a table are its columns and its scope") {
    CHECK(printed(both_models + " --sequence 200 --batch 16 --format csv mult attn") ==
          "name,model_type,scope,batch,sequence,past,mult,error\n"
          "meta-llama/Llama-3.2-1B,llama,attn,16,200,0,579403776000,\n"
          "Qwen/Qwen3-0.6B,qwen3,attn,16,200,0,638777753600,\n");
    // each figure is the one of the model by itself
    for (const char* name : {"meta-llama/Llama-3.2-1B", "Qwen/Qwen3-0.6B"}) {
        const std::string single_model =
            printed("--format csv --input 100 --output 20 flops cache_bytes attn --model " + std::string(name));
        const std::string total = single_model.substr(single_model.rfind("total,") + 6);
        CHECK(has(printed(both_models + " --format csv --input 100 --output 20 flops cache_bytes attn"),
                  std::string(name) + ',' + (name[0] == 'm' ? "llama," : "qwen3,") + "attn,1,100,20,0," +
                      total.substr(0, total.size() - 1) + ",\n"));
    }
    CHECK(has(printed(both_models + " --as llama --format csv params"), "\nQwen/Qwen3-0.6B,qwen3,llama,all,1,1024,0,"));
}

TEST_CASE("one JSON object on a line for each model") {
    std::istringstream in(printed(both_models + " --format json"));
    std::string line;
    REQUIRE(std::getline(in, line));
    const auto first = nlohmann::json::parse(line);
    CHECK(first["name"] == "meta-llama/Llama-3.2-1B");
    CHECK(first["params"] == 1235814400);
    CHECK(first["cache_bytes_per_token"] == 32768);
    CHECK(first["error"].is_null());
    REQUIRE(std::getline(in, line));
    CHECK(nlohmann::json::parse(line)["model_type"] == "qwen3");
    CHECK_FALSE(std::getline(in, line));
}

TEST_CASE("a folder of configurations is a table, and a row that cannot be read says why") {
    const config_folder folder;
    const outcome got = llmcost_line(folder.option() + " --format csv params");
    const std::string path = folder.path().string();
    CHECK(got.code == 7);
    CHECK(got.out == "name,model_type,scope,batch,sequence,past,params,error\n" + path +
                         "/foo.json,,,,,,,\"/model_type: \"\"foo\"\" is not supported; "
                         "llmcost models lists all supported types\"\n" +
                         path + "/google-bert__bert-base-uncased.json,bert,all,1,512,0,109482240,\n" + path +
                         "/meta-llama__Llama-3.2-1B.json,llama,all,1,1024,0,1235814400,\n");
    CHECK(got.err == "llmcost: " + path +
                         "/foo.json: /model_type: \"foo\" is not supported; llmcost models lists all supported types "
                         "(1 of 3 rows failed; see the column error)\n");
    const outcome json = llmcost_line(folder.option() + " --format json params");
    const auto first = nlohmann::json::parse(json.out.substr(0, json.out.find('\n')));
    CHECK(json.code == 7);
    CHECK(first["params"].is_null());
    CHECK(has(std::string(first["error"]), "is not supported"));
    CHECK(has(llmcost_line(folder.option()).out, "  error\n"));
    // with a config.json of its own it is one model, as a folder always was
    write_file(folder.path() / "config.json", read_file(config_of("meta-llama__Llama-3.2-1B")));
    CHECK(printed(folder.option() + " --format csv params") == "scope,params\nall,1235814400\n");
}

TEST_CASE("a scope that one model has not is its row's error, a word that none has is the command line's") {
    const outcome experts =
        llmcost_line("--model Qwen/Qwen3-30B-A3B --model Qwen/Qwen3-0.6B --format csv params experts");
    CHECK(experts.code == 7);
    CHECK(has(experts.out, "\nQwen/Qwen3-30B-A3B,qwen3_moe,experts,1,1024,0,28991029248,\n"));
    CHECK(has(experts.out, "\nQwen/Qwen3-0.6B,,,,,,,\"no scope 'experts' in Qwen/Qwen3-0.6B"));
    CHECK(has(refused(both_models + " paramz"),
              "no metric or scope 'paramz' in meta-llama/Llama-3.2-1B; nearest: params"));
    CHECK(has(refused(both_models + " --tree"), "--tree: supports only one model; several models are a table\n"));
    CHECK(has(refused(both_models + " --set x"), "--set: expected KEY=VALUE, found 'x'\n"));
    CHECK(has(refused(both_models + " --as lama"), "--as: no model type 'lama'"));
    CHECK(has(refused("--model a --config b --config c"), "--model: cannot be combined with --config\n"));
    CHECK(has(refused("latency --device h200 " + both_models), "--model: given more than once\n"));
    CHECK(has(refused("serve --device h200 --config a --config b"), "--config: given more than once\n"));
}

TEST_CASE("a workload that a model has no room for is its row's error; one beyond a context is told") {
    const outcome got = llmcost_line(
        "--model google-bert/bert-base-uncased --model meta-llama/Llama-3.2-1B --format csv --sequence 200000 params");
    CHECK(got.code == 7);
    CHECK(has(got.out, "the workload requires 200000 positions and the model has 512\n"));
    CHECK(has(
        got.err,
        "llmcost: warning: meta-llama/Llama-3.2-1B: the context length of the model is exceeded (1 of 2 models)\n"));
}
