// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "../golden/golden_file.hpp"
#include "program.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

using namespace llmcost::testing;
using nlohmann::json;

namespace {

json answer(const std::string& line, const surroundings& settings = {}) {
    return json::parse(printed(line + " --format json", settings));
}

golden_file golden(const std::string& name) {
    return read_golden(std::filesystem::path(LLMCOST_TEST_DIR "/golden/" + name + ".golden"));
}

std::vector<std::string> lines_of(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts(1);
    for (const char c : text)
        if (c == separator)
            parts.emplace_back();
        else
            parts.back() += c;
    return parts;
}

}  // namespace

TEST_CASE("the JSON contract") {
    const golden_file g = golden("meta-llama__Llama-3.2-1B");
    const golden_run& run = g.runs.front();
    const json d = answer(llama + " --batch 3 --sequence 67 --scopes --tensors --training --dtype float32");
    CHECK(d["model"]["name"] == config_of("meta-llama__Llama-3.2-1B"));
    CHECK(d["model"]["model_type"] == "llama");
    CHECK(d["model"]["architecture"] == g.architecture);
    CHECK(d["model"]["source"] == "configuration file " + config_of("meta-llama__Llama-3.2-1B"));
    CHECK(d["workload"]["batch"] == 3);
    CHECK(d["workload"]["sequence"] == 67);
    CHECK(d["workload"]["past"] == 0);
    CHECK(d["workload"]["logits"] == "all");
    CHECK(d["workload"]["dtype"] == "float32");
    const json& totals = d["totals"];
    const std::vector<std::pair<const char*, figure>> columns{
        {"add", figure::add},   {"mult", figure::mult}, {"div", figure::div},        {"sqrt", figure::sqrt},
        {"exp", figure::exp},   {"log", figure::log},   {"tanh", figure::tanh},      {"erf", figure::erf},
        {"trig", figure::trig}, {"pow", figure::pow},   {"neg", figure::neg},        {"cmp", figure::cmp},
        {"out", figure::out},   {"act", figure::out},   {"written", figure::written}};
    for (const auto& column : columns) CHECK_MESSAGE(totals[column.first] == run.total[column.second], column.first);
    CHECK(totals["torch_flops"] == run.torch_flops);
    CHECK(totals["flops"] == run.total[figure::add] + run.total[figure::mult]);
    CHECK(totals["macs"] == run.torch_flops / 2);
    CHECK(totals["params"] == g.parameters);
    CHECK(totals["cache"] == run.cache->total);
    CHECK(totals["weight_bytes"] == g.parameters * 4);
    CHECK(totals["cache_bytes"] == run.cache->total * 4);
    CHECK(d["scopes"].size() == g.classes.size());
    for (const json& s : d["scopes"]) {
        const std::string path = s["path"];
        CHECK(s["class"] == g.classes.at(path));
        CHECK(s["mult"] == run.modules->at(path)[figure::mult]);
    }
    CHECK(d["tensors"].size() == g.tensors.size());
    for (const json& t : d["tensors"]) CHECK(t["shape"] == g.tensors.at(t["name"]));
    CHECK(d["tied"] == json(g.tied));
    CHECK(d["cache_layers"].size() == run.cache->layers.size());
    CHECK(d["cache_layers"][0] == run.cache->layers[0]);
    CHECK(d["training"]["saved_bytes"] == g.trainings.at(0).saved_bytes);
    CHECK(d["training"]["torch_flops"]["forward"] == g.trainings.at(0).forward_torch_flops);
    CHECK(d["training"]["torch_flops"]["backward"] == g.trainings.at(0).backward_torch_flops);
    const json& backward = d["training"]["backward"];
    for (std::size_t i = 0; i < primitive_columns; ++i)
        CHECK_MESSAGE(backward[columns[i].first] == g.trainings.at(0).backward[i], columns[i].first);
    CHECK(backward["flops"] == g.trainings.at(0).backward[0] + g.trainings.at(0).backward[1]);
    CHECK(!d.contains("query"));
    CHECK(totals["saved_bytes"] == g.trainings.at(0).saved_bytes);
    CHECK(d["scopes"][0]["saved_bytes"].is_null());
    const json plain = answer(llama);
    CHECK(plain["totals"]["saved_bytes"].is_null());
    for (const char* part : {"scopes", "tensors", "tied", "training", "query"}) CHECK(!plain.contains(part));
}

TEST_CASE("roles and what has none add up to the totals") {
    for (const char* workload_args : {" --batch 3 --sequence 67", " --input 10 --output 3"}) {
        const json d = answer("--config " + config_of("google-t5__t5-small") + workload_args);
        for (const char* figure :
             {"mult", "add", "written", "params", "active", "weight_bytes", "cache", "cache_bytes"}) {
            std::uint64_t sum = 0;
            for (const json& line : d["roles"])
                if (line["scope"].get<std::string>().find('/') == std::string::npos)
                    sum += line[figure].get<std::uint64_t>();
            CHECK_MESSAGE(sum == d["totals"][figure], figure);
        }
        CHECK(d["roles"].back()["scope"] == "other");
        CHECK(d["roles"][0]["saved_bytes"].is_null());
    }
}

TEST_CASE("a query is added to the contract") {
    const json d = answer("--model meta-llama/Llama-3.2-1B --batch 16 --sequence 200 mult transformer");
    CHECK(d["model"]["name"] == "meta-llama/Llama-3.2-1B");
    CHECK(d["model"]["source"] == "bundled configuration");
    CHECK(d["totals"]["mult"] == 3998410374400);
    CHECK(d["query"] == json{{"scope", "transformer"}, {"kind", "role"}, {"figures", {{"mult", 3157871852800}}}});
    CHECK(answer(llama + " params model.norm")["query"] ==
          json{{"scope", "model.norm"}, {"kind", "path"}, {"figures", {{"params", 2048}}}});
    CHECK(answer(llama + " params LlamaRMSNorm")["query"]["kind"] == "class");
    CHECK(answer(llama + " params model.norm.weight")["query"]["kind"] == "parameter");
    CHECK(answer(llama + " sqrt")["query"]["scope"] == "all");
}

// three runs of the golden in one batch
TEST_CASE("a ragged batch in JSON") {
    const golden_file g = golden("meta-llama__Llama-3.2-1B");
    std::uint64_t mult = 0, cache = 0;
    for (const std::size_t i : {0U, 3U, 5U}) {
        mult += g.runs[i].total[figure::mult];
        cache += g.runs[i].cache->total;
    }
    const json d = answer(llama + " --ragged 67@0x3,1@5000x2,7@100x3 --scopes --tensors");
    CHECK(d["totals"]["mult"] == mult);
    CHECK(d["totals"]["cache"] == cache);
    CHECK(d["totals"]["params"] == g.parameters);
    CHECK(d["workload"]["batch"] == 8);
    CHECK(d["workload"]["sequence"].is_null());
    CHECK(d["workload"]["requests"][1] == json{{"sequence", 1}, {"past", 5000}, {"batch", 2}});
    CHECK(d["cache_layers"][0].size() == 6);
    CHECK(d["cache_layers"][15][4] == json{3, 8, 107, 64});
    CHECK(d["scopes"].size() == g.classes.size());
    for (const json& s : d["scopes"])
        if (s["path"] == "model.layers.3.mlp") CHECK(s["params"] == 50331648);
    CHECK(d["tensors"].size() == g.tensors.size());
    CHECK(d["tied"] == json(g.tied));
}

TEST_CASE("a whole request in JSON") {
    const json d = answer(llama + " --input 100 --output 20 --batch 2 mult attn");
    CHECK(d["workload"]["input"] == 100);
    CHECK(d["workload"]["output"] == 20);
    CHECK(d["workload"]["batch"] == 2);
    CHECK(d["workload"]["sequence"] == 100);
    CHECK(d["workload"]["logits"] == "last");
    REQUIRE(d["phases"].size() == 2);
    CHECK(d["phases"][0]["name"] == "prefill");
    CHECK(d["phases"][1]["name"] == "decode");
    const std::uint64_t prefill = d["phases"][0]["figures"]["mult"], decode = d["phases"][1]["figures"]["mult"];
    CHECK(d["totals"]["mult"] == prefill + decode);
    CHECK(d["cache_layers"][0] == json{{2, 8, 119, 64}, {2, 8, 119, 64}});
    CHECK(d["totals"]["cache"] == 16 * 2 * 2 * 8 * 119 * 64);
    CHECK(d["query"]["phases"][1]["name"] == "decode");
    CHECK(answer(llama + " --input 100 --output 1")["cache_layers"][0][0] == json{1, 8, 100, 64});
}

// one walk lists all of a pass, another the cache alone of a group
TEST_CASE("a group of requests leaves the cache of its pass") {
    for (const char* name : {"meta-llama__Llama-3.2-1B", "google-t5__t5-small", "google__gemma-2-2b-it"}) {
        const std::string file = "--config " + config_of(name);
        CHECK(answer(file + " --ragged 4@0x2")["cache_layers"] ==
              answer(file + " --sequence 4 --batch 2")["cache_layers"]);
    }
}

TEST_CASE("the front page as a table") {
    const auto rows = lines_of(printed("--model meta-llama/Llama-3.2-1B --batch 16 --sequence 200 --format csv"));
    REQUIRE(rows.size() == 9);
    CHECK(rows[0].starts_with("scope,add,mult,div,"));
    CHECK(rows[1].starts_with("all,3996241920000,3998410374400,"));
    const std::vector<std::string> roles{"all", "embedding", "attn", "mlp", "norm", "rotary", "head", "other"};
    for (std::size_t i = 0; i < roles.size(); ++i) CHECK(rows[i + 1].starts_with(roles[i] + ','));
    CHECK(lines_of(printed(llama + " --format csv --input 10 --output 2"))[3].starts_with("all,total,"));
    CHECK(printed(llama + " --format markdown params attn") ==
          "| scope | params |\n| --- | ---: |\n| attn | 167,772,160 |\n");
}

// the golden's training step
TEST_CASE("a training step is in the table, too") {
    const auto rows = lines_of(printed(llama + " --batch 3 --sequence 67 --training --dtype float32 --format csv"));
    CHECK(rows[0].ends_with(
        ",saved_bytes,backward_add,backward_mult,backward_div,backward_sqrt,backward_exp,backward_log,"
        "backward_tanh,backward_erf,backward_trig,backward_pow,backward_neg,backward_cmp,backward_flops,"
        "backward_torch_flops"));
    CHECK(rows[1].find(",717563300,") != std::string::npos);
    CHECK(rows[1].ends_with(",997070733312"));
    CHECK(rows[2].ends_with(",,,,,,,,,,,,,,,"));
}

TEST_CASE("every module by its path") {
    const golden_file g = golden("meta-llama__Llama-3.2-1B");
    const auto rows = lines_of(printed(llama + " --batch 3 --sequence 67 --format csv --scopes mult"));
    CHECK(rows[0] == "path,class,role,mult");
    CHECK(rows.size() == g.classes.size() + 1);
    CHECK(std::find(rows.begin(), rows.end(), "model.layers.7.self_attn.q_proj,Linear,,843055104") != rows.end());
    CHECK(std::find(rows.begin(), rows.end(), "model.layers.0.self_attn,LlamaAttention,attn,2164258656") != rows.end());
    const auto part = lines_of(printed(llama + " --format csv --scopes params model.layers.*.mlp"));
    CHECK(part.size() == 1 + 16 * 5);
    CHECK(part[1] == "model.layers.0.mlp,LlamaMLP,mlp,50331648");
    CHECK(lines_of(printed(llama + " --format csv --scopes params transformer")).size() == g.classes.size());
    CHECK(llmcost_line(llama + " --scopes saved_bytes").code == 2);
}

TEST_CASE("every parameter with its shape") {
    const golden_file g = golden("meta-llama__Llama-3.2-1B");
    const auto rows = lines_of(printed(llama + " --tensors --format csv"));
    CHECK(rows[0] == "tensor,shape,dtype,params");
    CHECK(rows[1] == "model.embed_tokens.weight,128256x2048,bfloat16,262668288");
    CHECK(rows.back() == "lm_head.weight,tied,bfloat16,0");
    CHECK(rows.size() == 1 + g.tensors.size() + g.tied.size());
    CHECK(llmcost_line(llama + " --tensors --tree").code == 2);
}

// parameters: the golden's tensors
TEST_CASE("the module tree") {
    CHECK(printed(llama + " --tree params") ==
          "module                                                 PARAMS\n"
          "LlamaForCausalLM                                1,235,814,400\n"
          "  model  LlamaModel                             1,235,814,400\n"
          "    embed_tokens  Embedding                       262,668,288\n"
          "    rotary_emb  LlamaRotaryEmbedding                        0\n"
          "    layers  ModuleList                            973,144,064\n"
          "      0-15  16 × LlamaDecoderLayer                 60,821,504\n"
          "        input_layernorm  LlamaRMSNorm                   2,048\n"
          "        self_attn  LlamaAttention                  10,485,760\n"
          "          q_proj  Linear                            4,194,304\n"
          "          k_proj  Linear                            1,048,576\n"
          "          v_proj  Linear                            1,048,576\n"
          "          o_proj  Linear                            4,194,304\n"
          "        post_attention_layernorm  LlamaRMSNorm          2,048\n"
          "        mlp  LlamaMLP                              50,331,648\n"
          "          gate_proj  Linear                        16,777,216\n"
          "          act_fn  SiLUActivation                            0\n"
          "          up_proj  Linear                          16,777,216\n"
          "          down_proj  Linear                        16,777,216\n"
          "    norm  LlamaRMSNorm                                  2,048\n"
          "  lm_head  Linear                                           0\n");
    CHECK(printed(llama + " --tree --depth 1 params") ==
          "module                      PARAMS\n"
          "LlamaForCausalLM     1,235,814,400\n"
          "  model  LlamaModel  1,235,814,400\n"
          "  lm_head  Linear                0\n");
    CHECK(printed(llama + " --tree --depth 0 params LlamaMLP") ==
          "module                                    PARAMS\n"
          "model.layers.0-15.mlp  16 × LlamaMLP  50,331,648\n");
    CHECK(lines_of(printed(llama + " --tree --depth 3 --format csv params"))[6] ==
          "model.layers.0-15,LlamaDecoderLayer,,3,16,60821504");
    // 16 layers of two norms of 2048 each, and one behind them
    std::uint64_t norms = 0;
    for (const std::string& row : lines_of(printed(llama + " --tree --format csv params"))) {
        const std::vector<std::string> cells = split(row, ',');
        REQUIRE(cells.size() >= 6);
        if (cells[1] == "LlamaRMSNorm") norms += std::stoull(cells[4]) * std::stoull(cells[5]);
    }
    CHECK(norms == 33 * 2048);
    // all layers, each by itself
    CHECK(lines_of(printed(llama + " --tree --scopes params")).size() ==
          2 + golden("meta-llama__Llama-3.2-1B").classes.size());
    CHECK(llmcost_line(llama + " --depth 2").code == 2);
    CHECK(llmcost_line(llama + " --tree saved_bytes").code == 2);
}

// layers of two kinds, in turns: each kind is one line where a column tells them apart
TEST_CASE("layers that differ are not folded together") {
    const std::string sliding =
        "--config " + config_of("google__gemma-2-2b-it") + " --sequence 1 --past 5000 --tree --depth 3 --format csv ";
    CHECK(printed(sliding + "cache").find("model.layers.0,2,4,6,8,10,…,Gemma2DecoderLayer,,13,") == std::string::npos);
    const auto rows = lines_of(printed(sliding + "cache"));
    std::vector<std::string> layers;
    for (const std::string& row : rows)
        if (row.find("Gemma2DecoderLayer") != std::string::npos)
            layers.push_back(row.substr(row.find("Gemma2DecoderLayer")));
    // window 4096: 4095 positions of 2 x 4 heads x 256; else 5001
    CHECK(layers == std::vector<std::string>{"Gemma2DecoderLayer,,3,13,8386560", "Gemma2DecoderLayer,,3,13,10242048"});
    CHECK(lines_of(printed(sliding + "params")).size() + 1 == rows.size());
}
