// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

// `llmcost graph`: its pages, its members, its files for other programs.
namespace llmcost::testing {
namespace {

const std::string small_graph = "graph " + llama + " --sequence 64";
const std::string timed = small_graph + " --device h200 --calibration none";

nlohmann::json in_json(const std::string& line, int code = 0) {
    return nlohmann::json::parse(printed(line + " --format json", {}, code));
}

}  // namespace

TEST_CASE("a graph has every tensor that goes from one node to another, with its sizes, type and bytes") {
    for (const std::string level : {"--level module", "--level layer", "--level operator", "--depth 1", "--depth 3"}) {
        CAPTURE(level);
        const auto g = in_json(timed + " --link 1GB/s " + level);
        const auto& nodes = g["nodes"];
        CHECK(nodes.front()["kind"] == "input");
        CHECK(nodes.back()["kind"] == "output");
        std::set<std::int64_t> read;
        for (const auto& e : g["edges"]) {
            CHECK(e["from"] < e["to"]);
            std::int64_t elements = 1;
            for (const auto& n : e["shape"]) elements *= n.get<std::int64_t>();
            const std::int64_t element_bytes = e["dtype"] == "float32" ? 4 : e["dtype"] == "int64" ? 8 : 2;
            if (e["from"] != 1) CHECK(e["bytes"] <= elements * element_bytes);
            CHECK(e["seconds"].get<double>() == doctest::Approx(e["bytes"].get<double>() / 1e9));
            read.insert(e["to"].get<std::int64_t>());
        }
        std::int64_t flops = 0;
        double seconds = 0;
        for (const auto& n : nodes) {
            flops += n["flops"].get<std::int64_t>();
            seconds += n["seconds"].get<double>();
            if (n["kind"] == "module" || n["kind"] == "output") CHECK(read.contains(n["id"].get<std::int64_t>()));
        }
        CHECK("scope,flops\nall," + std::to_string(flops) + "\n" ==
              printed(llama + " --sequence 64 --format csv flops"));
        CHECK(g["statistics"]["nodes"] == nodes.size());
        CHECK(g["statistics"]["edges"] == g["edges"].size());
        CHECK(g["statistics"]["seconds"].get<double>() == doctest::Approx(seconds));
        CHECK(g["statistics"]["critical_seconds"] <= g["statistics"]["seconds"]);
    }
    CHECK(in_json(small_graph)["nodes"][1]["seconds"] == nullptr);
}

TEST_CASE("a cut tells what goes across and what lies on its sides") {
    const auto g = in_json(timed + " --cuts");
    REQUIRE(g["cuts"].size() + 3 == g["nodes"].size());
    for (const auto& cut : g["cuts"]) {
        const std::string name = g["nodes"][cut["before"].get<std::size_t>() - 1]["name"];
        if (!name.ends_with("layers.8")) continue;
        // hidden states, cosines and sines, the mask
        CHECK(cut["tensors"].size() == 4);
        CHECK(cut["bytes"] == 64 * 2048 * 2 + 2 * 64 * 64 * 2 + 64 * 64 * 2);
        CHECK(cut["weights_before"] == 2 * (262'668'288 + 8 * 60'821'504));
        CHECK(cut["weights_behind"] == 2 * (262'668'288 + 8 * 60'821'504 + 2048));  // tied: both ends have the table
        CHECK(cut["cache_before"] == cut["cache_behind"]);
    }
    const std::string page = printed(timed + " --cuts --link 10GB/s");
    for (const char* part : {"critical path of", "Cuts in the order of execution:", "transfer", "weights before"})
        CHECK_MESSAGE(has(page, part), part);
}

TEST_CASE("a split gives every device its part, which it holds") {
    const auto g = in_json(
        "graph --model meta-llama/Llama-3.1-8B --sequence 64 --calibration none --stage-devices h200,a10,l4 "
        "--link 10GB/s,1Gbit/s");
    const auto& split = g["split"];
    CHECK(split["fits"] == true);
    REQUIRE(split["stages"].size() == 3);
    std::int64_t next = 1;
    double slowest = 0, total_seconds = 0;
    for (const auto& stage : split["stages"]) {
        CHECK(stage["first"] == next);
        next = stage["last"].get<std::int64_t>() + 1;
        CHECK(stage["bytes"] <= stage["available"]);
        const double all = stage["seconds"].get<double>() + stage["link_seconds"].get<double>();
        slowest = std::max(slowest, all);
        total_seconds += all;
    }
    CHECK(next == static_cast<std::int64_t>(g["nodes"].size()) + 1);
    CHECK(split["slowest_seconds"].get<double>() == doctest::Approx(slowest));
    CHECK(split["seconds"].get<double>() == doctest::Approx(total_seconds));
    CHECK(has(printed(timed + " --split 2 --link 25GB/s"), "Best split over 2 devices: one pass every "));
    CHECK(has(printed("graph --model meta-llama/Llama-3.1-70B --sequence 64 --calibration none --stage-devices l4,l4 "
                      "--link 1GB/s",
                      {}, 8),
              "No split over 2 devices fits into their memory"));
}

TEST_CASE("what a graph cannot be asked is refused") {
    CHECK(refused(small_graph + " --split 2") ==
          "llmcost: --split: requires --stage-devices, or --device for all stages\n");
    CHECK(refused(timed + " --split 2") == "llmcost: --link: required: the bandwidth between stages, e.g. 10GB/s\n");
    CHECK(refused(timed + " --split 2 --link 10") ==
          "llmcost: --link: expected a bandwidth such as 10GB/s or 1Gbit/s, found '10'\n");
    CHECK(refused(timed + " --split 3 --stage-devices l4,t4 --link 1GB/s") ==
          "llmcost: --stage-devices: expected 3 devices, one per stage, found 2\n");
    CHECK(refused(timed + " --stage-devices l4,t4 --link 1GB/s,1GB/s,1GB/s") ==
          "llmcost: --link: expected one bandwidth, or 1, found 3\n");
    CHECK(refused(timed + " --split 99 --link 1GB/s") == "llmcost: --split: 99 devices for 21 nodes\n");
    CHECK(refused(small_graph + " --depth 2 --level layer") == "llmcost: --depth: cannot be combined with --level\n");
    CHECK(refused(small_graph + " --cuts --format dot") == "llmcost: --cuts: requires --format text or json\n");
    CHECK(refused(timed + " --tp 2") ==
          "llmcost: --tp: requires a timeline of kernels (--format chrome, or chakra with --tp)\n");
    CHECK(refused(timed + " --format chrome --cuts") ==
          "llmcost: --cuts: cannot be combined with a timeline of kernels (--format chrome, or chakra with --tp)\n");
    CHECK(refused(small_graph + " --format chakra --out x", {}, 3) ==
          "llmcost: --format: chakra: this program was built without protobuf (Debian: protobuf-compiler "
          "libprotobuf-dev)\n");
    CHECK(refused(small_graph + " --out /nonexistent/file", {}, 1) ==
          "llmcost: /nonexistent/file: cannot be written: No such file or directory\n");
}

TEST_CASE("DOT is what Graphviz draws, where it is there, with a frame for each device of a split") {
    const std::string dot = printed(timed + " --split 2 --link 1GB/s --format dot");
    CHECK(has(dot, "subgraph cluster_1 { label=\"H200 SXM\";"));
    CHECK(has(dot, "model.layers.3\\nLlamaDecoderLayer\\n60.8 Mparameters, 122 MB"));
    if (std::system("dot -V 2>/dev/null >/dev/null") != 0) return;
    const auto folder = std::filesystem::temp_directory_path() / "llmcost_graph_test";
    std::filesystem::create_directories(folder);
    const std::string in = (folder / "graph.dot").string(), out = (folder / "graph.svg").string();
    CHECK(printed(timed + " --split 2 --link 1GB/s --format dot --out " + in) == "");
    CHECK(std::system(("dot -Tsvg " + in + " -o " + out).c_str()) == 0);
    std::ifstream svg(out, std::ios::binary);
    const std::string drawn(std::istreambuf_iterator<char>(svg), {});
    CHECK(has(drawn, ">model.layers.15</text>"));
    std::filesystem::remove_all(folder);
}

TEST_CASE("GraphML names what its nodes and edges have") {
    const std::string xml = printed(timed + " --format graphml");
    const auto times = [&](const std::string& part) {
        std::size_t n = 0;
        for (std::size_t position = xml.find(part); position != std::string::npos;
             position = xml.find(part, position + 1))
            ++n;
        return n;
    };
    const auto g = in_json(timed);
    CHECK(times("<node id=") == g["nodes"].size());
    CHECK(times("<edge source=") == g["edges"].size());
    CHECK(times("<data key=\"n_seconds\">") == g["nodes"].size());
    CHECK(times("<key id=") == 16);
    CHECK(xml.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns="));
    CHECK(xml.ends_with("</graphml>\n"));
}

TEST_CASE("a step's timeline has what Chrome and Perfetto require, streams for kernels, links and the host") {
    for (const std::string execution_options :
         {"", " --tp 2", " --execution eager", " --engine vllm --execution stream"}) {
        CAPTURE(execution_options);
        const auto trace = nlohmann::json::parse(printed(timed + execution_options + " --format chrome"));
        double end[4]{}, last = 0;
        std::set<std::string> streams;
        std::size_t links = 0;
        for (const auto& e : trace["traceEvents"]) {
            CHECK(e["pid"] == 1);
            if (e["ph"] == "M") {
                if (e["name"] == "thread_name") streams.insert(e["args"]["name"].get<std::string>());
                continue;
            }
            CHECK(e["ph"] == "X");
            CHECK(!e["name"].get<std::string>().empty());
            double& previous_end = end[e["tid"].get<std::size_t>()];
            const double begins = e["ts"].get<double>(), event_duration = e["dur"].get<double>();
            CHECK(begins >= previous_end - 1e-6);  // one after the other
            CHECK(event_duration > 0);
            previous_end = begins + event_duration;
            last = std::max(last, previous_end);
            links += e["tid"] == 2;
        }
        CHECK((links > 0) == (execution_options == " --tp 2"));
        CHECK(streams.contains("kernels"));
        CHECK(streams.contains("links"));
        CHECK(streams.contains("host") == has(execution_options, "--execution"));
        const auto step = nlohmann::json::parse(
            printed("latency " + llama + " --sequence 64 --device h200 --calibration none --logits all --format json" +
                    execution_options));
        CHECK(last >= 1e6 * step["seconds"].get<double>() * 0.999999);
        if (!has(execution_options, "--execution")) CHECK(last == doctest::Approx(1e6 * step["seconds"].get<double>()));
    }
}

TEST_CASE("a graph of a training step has backward behind the pass, its FLOPs and gradients") {
    const std::string line = "graph --model openai-community/gpt2 --backward --sequence 8 --format json";
    for (const char* const level : {"module", "layer", "operator"}) {
        const auto j = nlohmann::json::parse(printed(line + " --level " + level));
        std::int64_t macs = 0, num_backward_nodes = 0;
        for (const auto& node : j["nodes"]) {
            macs += node["macs"].get<std::int64_t>();
            num_backward_nodes += has(node["name"].get<std::string>(), ".backward") ? 1 : 0;
        }
        const auto pass =
            nlohmann::json::parse(printed("--model openai-community/gpt2 --training --sequence 8 --format json"));
        CHECK(num_backward_nodes > 0);
        CHECK(macs > 0);
        const std::string text = pass.dump();
        const std::size_t position = text.find("\"torch_flops\":{");
        REQUIRE(position != std::string::npos);
        const auto torch_flops =
            nlohmann::json::parse(text.substr(position + 14, text.find('}', position) - position - 13));
        CHECK(2 * macs == torch_flops["forward"].get<std::int64_t>() + torch_flops["backward"].get<std::int64_t>());
        std::int64_t gradients = 0;
        for (const auto& edge : j["edges"])
            if (edge["to"] == j["nodes"].size() && has(edge["tensor"].get<std::string>(), ".grad")) ++gradients;
        CHECK(gradients == 148);  // GPT-2's parameters, the tied one once
    }
    CHECK(has(refused("graph --model openai-community/gpt2 --backward --past 3"), "--past"));
    CHECK(has(refused("graph --model openai-community/gpt2 --backward --cuts"), "--cuts"));
}

}  // namespace llmcost::testing
