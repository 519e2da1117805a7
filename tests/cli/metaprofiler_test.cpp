// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

// MetaProfiler (liangyuwang/MetaProfiler) runs each node of a traced nanoGPT by itself and prints `name | op_type |
// target | input shape | time (ms)`: module_role it prints, row by row, against `llmcost ops` of a GPT-2 of the same
// sizes.
namespace llmcost::testing {
namespace {

using nlohmann::json;
using sizes = std::vector<std::int64_t>;

/// A row of its table, and the name of ours that executes it; empty: nothing is executed.
struct their_row {
    std::string name, op_type;
    std::vector<sizes> shapes;  ///< of tensors; numbers that a node reads are a stand-in of one element to it
    std::string ours{};
    std::string target{};  ///< class of the module
};

struct nano_gpt {
    std::int64_t layers = 12, heads = 12, width = 768, batch = 4, tokens = 1024, vocabulary = 50304;

    [[nodiscard]] std::vector<their_row> rows() const {
        const std::int64_t b = batch, t = tokens, c = width, head = c / heads;
        const sizes ids{b, t}, number{1}, hidden_shape{b, t, c}, inner{b, t, 4 * c}, by_head{b, heads, t, head};
        std::vector<their_row> all;
        std::map<std::string, int> name_counts;
        const auto add_row = [&](const std::string& name, const char* type, std::vector<sizes> shapes,
                                 std::string ours = {}, std::string target = {}) {
            const int n = type == std::string("call_module") ? 0 : name_counts[name]++;
            all.push_back({n == 0 ? name : name + '_' + std::to_string(n), type, std::move(shapes), std::move(ours),
                           std::move(target)});
        };
        const auto call = [&](const std::string& name, std::vector<sizes> shapes, std::string ours = {}) {
            add_row(name, "call_function", std::move(shapes), std::move(ours));
        };
        const auto method = [&](const std::string& name, std::vector<sizes> shapes, std::string ours = {}) {
            add_row(name, "call_method", std::move(shapes), std::move(ours));
        };
        method("size", {ids});
        call("getitem", {number});
        call("getitem", {number});
        add_row("transformer_wpe", "call_module", {ids}, "transformer.wpe.gather", "Embedding");
        add_row("transformer_wte", "call_module", {ids}, "transformer.wte.gather", "Embedding");
        call("add", {hidden_shape, hidden_shape}, "transformer.add");
        for (std::int64_t i = 0; i < layers; ++i) {
            const std::string theirs = "transformer_h_" + std::to_string(i),
                              ours = "transformer.h." + std::to_string(i);
            call("getattr", {{c}});
            call("layer_norm", {hidden_shape, number}, ours + ".ln_1.layer_norm_affine");
            method("size", {hidden_shape});
            for (int n = 0; n < 3; ++n) call("getitem", {number});
            add_row(theirs + "_attn_c_attn", "call_module", {hidden_shape}, ours + ".attn.c_attn.matmul_bias",
                    "Conv1D");
            method("split", {{b, t, 3 * c}});
            for (int n = 0; n < 3; ++n) call("getitem", {hidden_shape});
            for (int n = 0; n < 3; ++n) {
                call("floordiv", {number});
                method("view", {hidden_shape, number, number, number});
                method("transpose", {{b, t, heads, head}});
            }
            call("scaled_dot_product_attention", {by_head, by_head, by_head}, ours + ".attn.batched_matmul");
            method("transpose", {by_head});
            method("contiguous", {{b, t, heads, head}}, ours + ".attn.copy_1");
            method("view", {{b, t, heads, head}, number, number, number});
            add_row(theirs + "_attn_c_proj", "call_module", {hidden_shape}, ours + ".attn.c_proj.matmul_bias",
                    "Conv1D");
            add_row(theirs + "_attn_resid_dropout", "call_module", {hidden_shape});
            call("add", {hidden_shape, hidden_shape}, ours + ".add");
            call("getattr", {{c}});
            call("layer_norm", {hidden_shape, number}, ours + ".ln_2.layer_norm_affine");
            add_row(theirs + "_mlp_c_fc", "call_module", {hidden_shape}, ours + ".mlp.c_fc.matmul_bias", "Conv1D");
            add_row(theirs + "_mlp_gelu", "call_module", {inner}, ours + ".mlp.act.gelu", "GELUActivation");
            add_row(theirs + "_mlp_c_proj", "call_module", {inner}, ours + ".mlp.c_proj.matmul_bias", "Conv1D");
            add_row(theirs + "_mlp_dropout", "call_module", {hidden_shape});
            call("add", {hidden_shape, hidden_shape}, ours + ".add_1");
        }
        call("getattr", {{c}});
        call("layer_norm", {hidden_shape, number}, "transformer.ln_f.layer_norm_affine");
        add_row("lm_head", "call_module", {hidden_shape}, "lm_head.matmul", "Linear");
        method("size", {{b, t, vocabulary}});
        method("reshape", {{b, t, vocabulary}, number});
        method("reshape", {ids});
        call("cross_entropy", {{b * t, vocabulary}, {b * t}});
        return all;
    }
    [[nodiscard]] json ours(const std::string& extra_args = {}) const {
        return json::parse(printed("ops --format json --config " + config_of("openai-community__gpt2") + " --batch " +
                                   std::to_string(batch) + " --sequence " + std::to_string(tokens) +
                                   " --set n_layer=" + std::to_string(layers) +
                                   " --set n_head=" + std::to_string(heads) + " --set n_embd=" + std::to_string(width) +
                                   " --set n_positions=2048 --set vocab_size=" + std::to_string(vocabulary) +
                                   " --set tie_word_embeddings=false --set activation_function=gelu " + extra_args));
    }
};

std::int64_t elements_of(const sizes& shape) {
    std::int64_t n = 1;
    for (const std::int64_t size : shape) n *= size;
    return n;
}
/// Activations that a row of ours reads.
std::vector<sizes> read_by(const json& row) {
    std::vector<sizes> all;
    for (const json& in : row["inputs"])
        if (!in["parameter"]) all.push_back(in["shape"].get<sizes>());
    return all;
}
std::map<std::string, json> by_name(const json& answer) {
    std::map<std::string, json> all;
    for (const json& row : answer["rows"]) all[row["name"]] = row;
    return all;
}

}  // namespace

TEST_CASE("MetaProfiler: its table has 13 + 34 rows a layer, the first six as published") {
    for (const std::int64_t layers : {1, 2, 12, 96})
        CHECK(nano_gpt{.layers = layers}.rows().size() == static_cast<std::size_t>(13 + 34 * layers));
    const std::vector<their_row> rows = nano_gpt{}.rows();
    const char* const first[]{"size", "getitem", "getitem_1", "transformer_wpe", "transformer_wte", "add"};
    for (std::size_t i = 0; i < 6; ++i) CHECK(rows[i].name == first[i]);
    CHECK(rows[5].shapes == std::vector<sizes>{{4, 1024, 768}, {4, 1024, 768}});
}

TEST_CASE("MetaProfiler: what its rows execute are rows here, with its names, kinds, targets and shapes") {
    for (const nano_gpt& gpt : {nano_gpt{.layers = 1}, nano_gpt{.layers = 2}, nano_gpt{},
                                nano_gpt{.layers = 2, .heads = 16, .width = 1024, .batch = 3, .tokens = 100}}) {
        const std::map<std::string, json> ours = by_name(gpt.ours("--expand"));
        std::set<std::string> left;
        for (const auto& [name, row] : ours) left.insert(name);
        for (const their_row& theirs : gpt.rows()) {
            if (theirs.ours.empty()) continue;
            CAPTURE(theirs.name);
            CAPTURE(theirs.ours);
            REQUIRE(ours.contains(theirs.ours));
            const json& row = ours.at(theirs.ours);
            left.erase(theirs.ours);
            if (!theirs.target.empty()) {
                CHECK(row["op_type"] == "call_module");
                CHECK(row["target"] == theirs.target);
            }
            const std::vector<sizes> read = read_by(row);
            if (theirs.target == "Embedding") {
                // places are the same in all sequences: one is read
                const bool places = theirs.name == "transformer_wpe";
                CHECK(read == std::vector<sizes>{{places ? 1 : gpt.batch, gpt.tokens}});
                CHECK(row["outputs"][0]["shape"][2] == gpt.width);
            } else if (theirs.ours == "transformer.add") {
                CHECK(read == std::vector<sizes>{{gpt.batch, gpt.tokens, gpt.width}, {1, gpt.tokens, gpt.width}});
            } else {
                // what a product reads is viewed as rows, or as a batch of matrices
                REQUIRE(!read.empty());
                CHECK(elements_of(read[0]) == elements_of(theirs.shapes[0]));
                CHECK(read[0].back() == theirs.shapes[0].back());
            }
        }
        // eager attention is several operations, the mask is one, keys and values join a cache
        std::set<std::string> besides{"transformer.constant"};
        for (std::int64_t i = 0; i < gpt.layers; ++i)
            for (const char* local_name : {"cat", "cat_1", "copy", "mul", "add", "softmax", "batched_matmul_1"})
                besides.insert("transformer.h." + std::to_string(i) + ".attn." + local_name);
        for (const std::string& name : left) CHECK_MESSAGE(besides.contains(name), name);
        for (const std::string& name : besides) CHECK_MESSAGE(ours.contains(name), name);
    }
}

TEST_CASE("MetaProfiler: its bookkeeping is there as tensors that are read in other shapes") {
    const nano_gpt gpt{.layers = 1};
    std::map<std::string, int> kinds;
    const json answer = gpt.ours("--bookkeeping");
    for (const json& row : answer["rows"])
        if (row["op_type"] == "call_method") {
            ++kinds[row["target"]];
            CHECK(row["flops"] == 0);
            CHECK(row["bytes_read"] == 0);
            CHECK(row["inputs"].size() == 1);
        }
    CHECK(kinds["slice"] == 3);  // its split, view and transpose of queries, keys and values
    CHECK(kinds["view"] >= 5);
    CHECK(!kinds.contains("size"));  // a number is no tensor: size, getitem of a size and floordiv have no row
}

TEST_CASE("MetaProfiler: each operation has a time, which a device that is not there takes, and columns it lacks") {
    const json answer = nano_gpt{}.ours("--device h200");
    double total_seconds = 0;
    for (const json& row : answer["rows"]) {
        total_seconds += row["seconds"].get<double>();
        for (const char* column :
             {"add", "mult", "flops", "bytes_read", "bytes_written", "intensity", "params", "outputs"})
            CHECK(row.contains(column));
    }
    CHECK(total_seconds == doctest::Approx(answer["seconds"].get<double>()));
    CHECK(total_seconds > 0);
}

TEST_CASE("MetaProfiler: OPT-175B is a table without a device") {
    const nano_gpt gpt{.layers = 96, .heads = 96, .width = 12288, .tokens = 2048};
    const json answer = gpt.ours();
    constexpr std::uint64_t layers = 96, width = 12288, embedded = 2 * 50304 + 2048;
    CHECK(answer["forward"]["params"] == layers * (12 * width * width + 13 * width) + 2 * width + embedded * width);
    CHECK(answer["rows"].size() < 40);
    std::uint64_t operations = 0;
    for (const json& row : answer["rows"]) operations += row["times"].get<std::uint64_t>();
    CHECK(operations == 6 + 18 * 96);
}

}  // namespace llmcost::testing
