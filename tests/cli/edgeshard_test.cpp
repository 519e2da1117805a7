// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

// Each column, file and figure of EdgeShard Profiler: module graph, operator graph, two text files, as it documents
// them, against `llmcost graph --format edgeshard`.
namespace llmcost::testing {
namespace {

/// The model that EdgeShard wraps in its example: `model.model` of a causal language model.
const std::string inner =
    "graph " + llama + " --set architectures=[\"LlamaModel\"] --dtype bfloat16 --sequence 9 --format edgeshard";

struct edgeshard_file {
    std::vector<std::string> head;                ///< lines in front of the nodes
    std::vector<std::vector<std::string>> nodes;  ///< fields between tabs
    std::vector<std::pair<int, int>> edges;
};

edgeshard_file parsed(const std::string& text) {
    CHECK(!text.ends_with('\n'));
    edgeshard_file f;
    std::istringstream in(text);
    bool edges = false;
    for (std::string line; std::getline(in, line);) {
        if (line == "-- Edges --") {
            edges = true;
        } else if (edges) {
            const std::size_t arrow = line.find(" -> ");
            REQUIRE(arrow != std::string::npos);
            f.edges.emplace_back(std::stoi(line), std::stoi(line.substr(arrow + 4)));
        } else if (line.empty() || line[0] < '0' || line[0] > '9') {
            f.head.push_back(line);
        } else {
            std::vector<std::string>& fields = f.nodes.emplace_back(1);
            for (const char c : line) c == '\t' ? (void)fields.emplace_back() : fields.back().push_back(c);
        }
    }
    return f;
}

/// Rows of one description.
std::vector<std::vector<std::string>> nodes_described_as(const edgeshard_file& f, const std::string& description) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& row : f.nodes)
        if (row[7] == description) rows.push_back(row);
    return rows;
}

}  // namespace

TEST_CASE("EdgeShard Profiler: the file of modules") {
    const edgeshard_file f = parsed(printed(inner));
    // four lines of statistics, a header of seven fields
    REQUIRE(f.head.size() == 5);
    CHECK(f.head[0] == "==== Stats ====");
    CHECK(f.head[1] == "Total nodes: " + std::to_string(f.nodes.size()) +
                           " (modules=19, ops=" + std::to_string(f.nodes.size() - 19) + ")");  // L + 3
    CHECK(f.head[2] == "Total edges: " + std::to_string(f.edges.size()));
    CHECK(f.head[3] == "================");
    CHECK(f.head[4] == "NodeID\tType\tAvgForward(ms)\tBackward(ms)\tParamSize\tDesc\tGPUMemory(MB)");
    // rows of nine, two of them empty: id, Module|Op, time, , backward, , parameters, description, fp16 weights in MiB
    for (std::size_t i = 0; i < f.nodes.size(); ++i) {
        const auto& row = f.nodes[i];
        REQUIRE(row.size() == 9);
        CHECK(row[0] == std::to_string(i + 1));
        CHECK((row[1] == "Module" || row[1] == "Op"));
        CHECK(row[2] == "0.000");
        CHECK((row[3] == "" && row[5] == ""));
        CHECK(row[4] == "0.0");
        if (row[1] == "Op") CHECK((row[6] == "-1" && row[8] == "0.000"));
    }
    CHECK(f.nodes.front()[7] == "Input");
    CHECK(f.nodes.back()[7] == "Output");
    const auto row = [&](const std::string& description, const std::string& parameters, const std::string& memory,
                         std::size_t times) {
        const auto rows = nodes_described_as(f, description);
        CHECK(rows.size() == times);
        for (const auto& r : rows) CHECK((r[1] == "Module" && r[6] == parameters && r[8] == memory));
    };
    row("Embedding", "262668288", "501.000", 1);
    row("LlamaDecoderLayer", "60821504", "116.008", 16);
    row("LlamaRMSNorm", "2048", "0.004", 1);
    row("LlamaRotaryEmbedding", "0", "0.000", 1);
    // complete: a layer reads what the one before it made, and the angles; once per source
    const std::set<std::pair<int, int>> edges(f.edges.begin(), f.edges.end());
    CHECK(edges.size() == f.edges.size());
    const auto layers = nodes_described_as(f, "LlamaDecoderLayer"),
               angles = nodes_described_as(f, "LlamaRotaryEmbedding");
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const int layer_id = std::stoi(layers[i][0]);
        CHECK(edges.contains({std::stoi(angles[0][0]), layer_id}));
        if (i > 0) CHECK(edges.contains({std::stoi(layers[i - 1][0]), layer_id}));
    }
}

TEST_CASE("EdgeShard Profiler: a layer of Llama-3.1-8B, and modules down to those without children") {
    const edgeshard_file large =
        parsed(printed("graph --model meta-llama/Llama-3.1-8B --sequence 9 --format edgeshard"));
    for (const auto& row : nodes_described_as(large, "LlamaDecoderLayer"))
        CHECK((row[6] == "218112000" && row[8] == "416.016"));
    // 10 L + 3 of them, and Llama's rotation and residuals between
    const edgeshard_file f = parsed(printed(inner + " --level module"));
    CHECK(has(f.head[1], "(modules=163, "));
    CHECK(nodes_described_as(f, "Linear").size() == std::size_t{7 * 16});
    CHECK(nodes_described_as(f, "SiLUActivation").size() == 16);
    CHECK(nodes_described_as(f, "LlamaRMSNorm").size() == 33);
    CHECK(nodes_described_as(f, "Add").size() >= 2 * 16);
}

TEST_CASE("EdgeShard Profiler: the file of operations has no modules, and both operands of an addition") {
    const edgeshard_file f = parsed(printed(inner + " --level operator"));
    CHECK(has(f.head[1], "(modules=0, "));
    std::vector<int> read(f.nodes.size() + 1);
    for (const auto& [source, to] : f.edges) {
        CHECK(source < to);
        ++read[static_cast<std::size_t>(to)];
    }
    int residual = 0;
    for (const auto& row : f.nodes) {
        CHECK((row[1] == "Op" && row[6] == "-1" && row[8] == "0.000"));
        residual += row[7] == "Add" && read[static_cast<std::size_t>(std::stoi(row[0]))] == 2;
    }
    CHECK(residual >= 2 * 16);
    for (const std::string operation : {"linear", "matmul", "softmax", "silu", "Mul", "Neg", "cat", "embedding"})
        CHECK_MESSAGE(!nodes_described_as(f, operation).empty(), operation);
}

TEST_CASE("EdgeShard Profiler: two files, with the time of each node where a device is named") {
    const auto folder = std::filesystem::temp_directory_path() / "llmcost_edgeshard_test";
    std::filesystem::create_directories(folder);
    const std::string base = (folder / "llama_profile").string();
    const std::string output = printed(inner + " --device h200 --calibration none --out " + base);
    CHECK(
        output.starts_with("==== Module Graph Stats ====\n==== Graph Stats ====\nTotal nodes: 22\n  Module nodes: 19\n"
                           "  Op nodes: 3\nTotal edges: "));
    CHECK(has(output,
              "\nTop 5 module forward times (ms total over epochs):\n  id=5    LlamaDecoderLayer         total=0."));
    CHECK(has(output, " epochs=1\n=====================\n==== Detail Graph Stats ====\n"));
    CHECK(has(output, "  Module nodes: 0\n"));
    const auto read = [](const std::string& path) {
        std::ifstream in(path, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(in), {});
    };
    const edgeshard_file modules = parsed(read(base + "_module.txt")), detail = parsed(read(base + "_detail.txt"));
    double layers = 0, operations = 0;
    for (const auto& row : modules.nodes) layers += std::stod(row[2]);
    for (const auto& row : detail.nodes) operations += std::stod(row[2]);
    CHECK(layers > 0);
    CHECK(operations == doctest::Approx(layers).epsilon(0.2));  // three decimals of milliseconds
    CHECK(nodes_described_as(modules, "LlamaDecoderLayer")[0][2] != "0.000");
    std::filesystem::remove_all(folder);
}

TEST_CASE("EdgeShard Profiler: modules of GPT-2 and ViT") {
    const edgeshard_file gpt =
        parsed(printed("graph --model openai-community/gpt2 --sequence 9 --dtype float16 --format edgeshard"));
    CHECK(nodes_described_as(gpt, "GPT2Block").size() == 12);
    for (const auto& row : nodes_described_as(gpt, "GPT2Block")) CHECK((row[6] == "7087872" && row[8] == "13.519"));
    CHECK(nodes_described_as(gpt, "Embedding").size() == 2);
    CHECK(nodes_described_as(gpt, "LayerNorm").size() == 1);
    const edgeshard_file vit =
        parsed(printed("graph --model google/vit-base-patch16-224 --dtype float16 --format edgeshard"));
    for (const auto& row : nodes_described_as(vit, "ViTLayer")) CHECK((row[6] == "7087872" && row[8] == "13.519"));
    CHECK(nodes_described_as(vit, "ViTLayer").size() == 12);
    CHECK(nodes_described_as(vit, "Conv2d").size() == 1);
}

}  // namespace llmcost::testing
