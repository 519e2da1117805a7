// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "../unit/thrown_by.hpp"
#include "schema.hpp"

#include <doctest/doctest.h>

#include <llmcost/analysis/evaluator.hpp>
#include <llmcost/custom/custom_model.hpp>
#include <llmcost/json.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/presets.hpp>
#include <llmcost/report/listing.hpp>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry.hpp"

namespace {

using namespace llmcost;

const std::filesystem::path models = LLMCOST_TEST_DIR "/../configs/models";

custom_model load_custom_model(const config_document& file) {
    return file.read_with([&](config_view root) { return custom_model(root, file.name()); });
}
custom_model parse_custom_model(const std::string& text) { return load_custom_model(parse_config(text, "model.json")); }

/// A description of one input, (batch, 16), and these layers.
std::string over_features(std::string_view layers) {
    return R"({"inputs": {"x": {"shape": ["batch", 16]}}, "layers": [)" + std::string(layers) + "]}";
}
std::string over_images(std::string_view layers) {
    return R"({"image_size": 32, "inputs": {"x": {"shape": ["batch", 8, "image_height", "image_width"]}}, "layers": [)" +
           std::string(layers) + "]}";
}
TEST_CASE("a Llama in a file is the Llama of the library in every figure") {
    const custom_model custom = load_custom_model(read_config_file((models / "llama.json").string()));
    const model& built_in = presets::llama_3_2_1b;
    std::vector<workload> works;
    for (const std::int64_t sequence : {1, 7, 200})
        for (const std::int64_t past : {0, 1, 64})
            for (const logits head : {logits::all, logits::last, logits::none})
                works.push_back({.batch = 3, .sequence = sequence, .past = past, .head = head});
    works.push_back({.batch = 2, .sequence = 33, .attention = attention_scores::causal});
    works.push_back({.batch = 2, .sequence = 33, .training = true});
    works.push_back({.batch = 1, .sequence = 128, .training = true, .implementation = attention_implementation::sdpa});
    for (const workload& w : works) {
        CAPTURE(w.sequence);
        CAPTURE(w.past);
        CHECK(count_model(custom.as_model(), w) == count_model(built_in, w));
    }
    for (const role part : {role::attn, role::mlp, role::norm, role::head, role::embedding, role::rotary})
        CHECK(count_model(custom.as_model(), works[1], scope_query{part}) ==
              count_model(built_in, works[1], scope_query{part}));
    const model_listing ours = list_model(custom.as_model(), works[2]), theirs = list_model(built_in, works[2]);
    REQUIRE(ours.scopes.size() == theirs.scopes.size());
    for (std::size_t i = 0; i < ours.scopes.size(); ++i) CHECK(ours.scopes[i].path == theirs.scopes[i].path);
    REQUIRE(ours.tensors.size() == theirs.tensors.size());
    for (std::size_t i = 0; i < ours.tensors.size(); ++i) CHECK(ours.tensors[i].name == theirs.tensors[i].name);
    const workload step{.batch = 1, .sequence = 64};
    CHECK(train(custom.as_model(), step, {}).memory.peak.bytes.total ==
          train(built_in, step, {}).memory.peak.bytes.total);
}

TEST_CASE("parts of the library's models are called by their classes") {
    const std::string config =
        R"(, "config": {"hidden_size": "hidden_size", "num_attention_heads": 32, "num_key_value_heads": 8,
        "intermediate_size": 8192, "num_hidden_layers": 16, "vocab_size": 128256, "head_dim": 64}})";
    const auto llama = [&](const std::string& inner_layers) {
        return parse_config(
            R"({"dtype": "bfloat16", "sizes": {"hidden_size": 2048}, "inputs": {"ids": {"shape": ["batch", "sequence"], "dtype": "int64"}},
            "layers": [)" +
                inner_layers +
                R"(, {"function": "logits_to_keep"}, {"type": "Linear", "name": "lm_head", "role": "head",
            "in_features": "hidden_size", "out_features": 128256, "bias": false, "tied": true}]})",
            "parts.json");
    };
    const config_document by_layers =
        llama(R"({"type": "Embedding", "name": "embed", "num_embeddings": 128256, "embedding_dim": "hidden_size"},
        {"type": "LlamaDecoderLayer", "name": "layers", "repeat": 16)" +
              config + R"(, {"type": "LlamaRMSNorm", "name": "norm", "hidden_size": "hidden_size"})");
    const config_document as_base = llama(R"({"type": "LlamaModel", "name": "model")" + config);
    for (const config_document* file : {&by_layers, &as_base}) {
        const custom_model m =
            file->read_with([&](config_view root) { return custom_model(root, file->name(), &parts::registry); });
        for (const workload& w :
             {workload{.batch = 3, .sequence = 7, .past = 5}, workload{.batch = 2, .sequence = 40, .training = true}})
            CHECK(count_model(m.as_model(), w) == count_model(presets::llama_3_2_1b, w));
    }
}

TEST_CASE("expressions are those of Python") {
    const auto out = [&](const std::string& expression) {
        const custom_model m =
            parse_custom_model(R"({"sizes": {"h": 6, "n": [1, 2, 3]}, "inputs": {"x": {"shape": ["batch", 16]}},
            "layers": [{"type": "Linear", "name": "fc", "in_features": 16, "bias": false, "out_features": ")" +
                               expression + R"("}]})");
        return count_model(m.as_model(), {}).params.to_64() / 16;
    };
    const std::pair<const char*, std::uint64_t> rows[]{{"7", 7},
                                                       {"2 + 3 * 4", 14},
                                                       {"(2 + 3) * 4", 20},
                                                       {"10 - 3 - 2", 5},
                                                       {"2 * h", 12},
                                                       {"h / 2", 3},
                                                       {"h // 4", 1},
                                                       {"-7 // 2 + 10", 6},
                                                       {"-7 % 3", 2},
                                                       {"ceil_div(7, 2)", 4},
                                                       {"min(h, 4, 5)", 4},
                                                       {"max(h, 4)", 6},
                                                       {"n[0] + n[2]", 4},
                                                       {"n[-1]", 3},
                                                       {"5 if h > 6 else 9", 9},
                                                       {"5 if h >= 6 else 9", 5},
                                                       {"1 if h == 5 or h == 6 else 2", 1},
                                                       {"1 if h != 6 and h < 9 else 2", 2},
                                                       {"1 if not h < 6 else 2", 1},
                                                       {"1 if h < 1 else 2 if h < 3 else 3", 3},
                                                       {"2 + (1 if h > 2 else 0)", 3},
                                                       {"- -4", 4}};
    for (const auto& row : rows) {
        const auto& text = row.first;  // clang 14: CAPTURE takes no structured binding
        CAPTURE(text);
        CHECK(out(text) == row.second);
    }
}

TEST_CASE("what is wrong with a description is said with its place") {
    const auto fc = [](std::string_view arguments) {
        return over_features(R"({"type": "Linear", "name": "fc", "in_features": 16, )" + std::string(arguments) + "}");
    };
    const std::pair<std::string, const char*> rows[]{
        {fc(R"("out_features": "2 * (3")"),
         R"(model.json: /layers/0/out_features: in "2 * (3", at character 7: expected ))"},
        {fc(R"("out_features": "2 ** 3")"), R"(at character 4: expected a number, a name or ()"},
        {fc(R"("out_features": "bach")"), "unknown name bach; nearest: batch"},
        {fc(R"("out_features": "1 / 0")"), "a division by zero"},
        {fc(R"("out_features": "3 / 2")"), "has a remainder"},
        {fc(R"("out_features": "9223372036854775807 + 1")"), "is beyond 64 bits"},
        {fc(R"("out_features": -3)"), "/layers/0/out_features: expected a positive integer, found -3"},
        {fc(R"("out_features": 2.5)"), "expected an integer or an expression"},
        {fc(R"("out_feature": 2)"), "/layers/0: Linear needs out_features"},
        {fc(R"("out_features": 2, "biased": true)"), "/layers/0/biased: unknown key; nearest: bias"},
        {fc(R"("out_features": 2, "role": "atn")"), "/layers/0/role: unknown role; nearest: attn"},
        {fc(R"("out_features": 2, "input": "y")"), R"(/layers/0/input: unknown tensor "y")"},
        {over_features(R"({"type": "torch.nn.Linaer"})"), R"(unknown layer or block "Linaer"; nearest: Linear)"},
        {over_features(R"({"function": "torch.reluu"})"), R"(unknown function or block "reluu"; nearest: relu)"},
        {over_features(R"({"function": "relu", "type": "ReLU"})"), "/layers/0: is of two kinds"},
        {over_features(R"({"name": "x"})"), "/layers/0: expected one of type, function"},
        {over_features(R"({"residual": []})"), "/layers/0/residual: expected a step"},
        {over_features(
             R"({"function": "relu"}, {"type": "Linear", "name": "fc", "in_features": 8, "out_features": 4})"),
         "model.json: /layers/1: linear: sizes do not match: (1, 16) and (4, 8); inputs: (1, 16) of /layers/0"},
        {over_features(R"({"residual": [{"type": "Linear", "name": "a", "in_features": 16, "out_features": 4}]})"),
         "/layers/0: residual: shapes do not match; inputs: (1, 4) of /layers/0/residual/0 and (1, 16) from the "
         "caller"},
        {over_images(R"({"type": "Conv2d", "name": "c", "in_channels": 8, "out_channels": 8, "kernel_size": 33})"),
         "/layers/0: convolution: the kernel is larger than the input"},
        {over_images(
             R"({"type": "Conv2d", "name": "c", "in_channels": 8, "out_channels": 8, "kernel_size": [1, 2, 3]})"),
         "expected one number per dimension, or one for all"},
        {over_features(R"({"function": "chunk", "dim": 1, "output": ["a", "b", "c"]})"),
         "chunk: the number of results does not divide"},
        {R"({"inputs": {"x": {"shape": ["batch", 16]}}, "blocks": {"A": {"layers": [{"type": "A"}]}}, "layers": [{"type": "A"}]})",
         "/blocks/A/layers/0/type: a block must be defined before the blocks that call it"},
        {R"({"layers": [{"function": "relu"}]})", "/inputs: missing; expected an object"},
        {R"({"sizes": {"batch": 3}, "inputs": {}, "layers": [{"function": "relu"}]})",
         "/sizes/batch: expected a name of letters"},
        {R"({"sizes": {"depth": 3}, "variants": {"deep": {"dept": 9}}, "inputs": {}, "layers": []})",
         "/variants/deep/dept: unknown size; nearest: depth"},
        {R"({"sizes": {"depth": 3}, "variants": {"deep": {"depth": [9]}}, "inputs": {}, "layers": []})",
         "/variants/deep/depth: expected a number, because the size is a number"},
        {over_features(R"({"type": "ReLU", "name": "a:{1}"})"), "expected a name of letters, digits, _ and -"},
        {over_features(R"({"type": "ReLU", "name": "a{1"})"), "an expression between { and }"},
        {R"({"sizes": {"a": "2 * sequence"}, "inputs": {}, "layers": []})",
         "/sizes/a: sizes cannot depend on the workload"},
        {over_features(
             R"({"type": "Linear", "name": "l{i}", "repeat": 1000000000, "index": "i", "in_features": 16, "out_features": 16})"),
         "storages"},
    };
    for (const auto& row : rows) {
        const auto& text = row.first;
        CAPTURE(text);
        std::string problem;
        try {
            (void)parse_custom_model(text);
        } catch (const std::exception& e) {
            problem = e.what();
        }
        CHECK_MESSAGE(problem.find(row.second) != std::string::npos, problem);
    }
}

TEST_CASE("like layers cost no time, and differing ones are walked one by one") {
    const auto chain = [&](const char* repeat, const char* width) {
        return parse_custom_model(
            over_features(std::string(R"({"type": "Linear", "name": "l", "index": "i", "in_features": 16,
            "out_features": ")") +
                          width + R"(", "repeat": )" + repeat + "}"));
    };
    CHECK(count_model(chain("1000000000", "16").as_model(), {}).params == count(272) * count(1000000000));
    CHECK(count_model(chain("5", "16 + 0 * i").as_model(), {}) == count_model(chain("5", "16").as_model(), {}));
}

TEST_CASE("a number that bends with the workload is exact everywhere") {
    const custom_model m = parse_custom_model(R"~({"inputs": {"x": {"shape": ["batch", "min(sequence, 50)", 16]}},
        "layers": [{"type": "Linear", "name": "fc", "in_features": 16, "out_features": 4}]})~");
    cost_evaluator evaluate(m.as_model());
    for (std::int64_t sequence = 1; sequence < 120; ++sequence) {
        const workload w{.batch = 2, .sequence = sequence};
        CHECK(evaluate(w).mult == count(static_cast<std::uint64_t>(2 * std::min<std::int64_t>(sequence, 50) * 64)));
    }
}

TEST_CASE("a number that bends inside of a block is exact, too, and a length that one refuses others may have") {
    const std::string block = R"~("blocks": {"Half": {"arguments": {"n": null}, "layers": [
        {"function": "slice", "dim": 1, "end": "n // 2 + 1"}, {"type": "Linear", "name": "fc", "in_features": 16, "out_features": 4}]}})~";
    const custom_model m = parse_custom_model(R"~({"inputs": {"x": {"shape": ["batch", "sequence", 16]}}, )~" + block +
                                              R"~(, "layers": [{"type": "Half", "name": "half", "n": "sequence"}]})~");
    cost_evaluator evaluate(m.as_model());
    for (std::int64_t sequence = 1; sequence < 40; ++sequence)
        CHECK(evaluate({.batch = 2, .sequence = sequence}).mult ==
              count(static_cast<std::uint64_t>(2 * (sequence / 2 + 1) * 64)));
    const custom_model thirds = parse_custom_model(R"~({"inputs": {"x": {"shape": ["batch", "sequence / 3", 16]}},
        "layers": [{"type": "Linear", "name": "fc", "in_features": 16, "out_features": 4}]})~");
    CHECK(count_model(thirds.as_model(), {.sequence = 9}).mult == count(3 * 64));
    CHECK(testing::thrown_by([&] { (void)count_model(thirds.as_model(), {.sequence = 8}); }).find("has a remainder") !=
          std::string::npos);
}

TEST_CASE("images have the size that the workload says, or the description's own") {
    const custom_model m = parse_custom_model(
        over_images(R"({"type": "Conv2d", "name": "c", "in_channels": 8, "out_channels": 4, "kernel_size": 1})"));
    CHECK(count_model(m.as_model(), {}).mult == count(8 * 4 * 32 * 32));
    CHECK(count_model(m.as_model(), {.image_height = 10, .image_width = 7}).mult == count(8 * 4 * 10 * 7));
}

TEST_CASE("what a block is not given may be computed of what it is") {
    const custom_model m = parse_custom_model(R"({"inputs": {"x": {"shape": ["batch", 16]}},
        "blocks": {"A": {"arguments": {"wide": "2 * narrow", "narrow": null},
                         "layers": [{"type": "Linear", "in_features": 16, "out_features": "wide", "bias": false}]}},
        "layers": [{"type": "A", "name": "block{1 + 1}-{narrow_of}", "narrow": 3}], "sizes": {"narrow_of": 7}})");
    const model_listing all = list_model(m.as_model(), {});
    CHECK(all.total.params == count(16 * 6));
    CHECK(all.find("block2-7.0") != nullptr);
}

TEST_CASE("a module without modules inside hands out what it makes, and a block reads a list") {
    const custom_model m = parse_custom_model(R"({"inputs": {"x": {"shape": ["batch", 16]}},
        "blocks": {"Twice": {"input": "all[]", "layers": [{"function": "relu", "output": "all[]"},
                                                          {"function": "cat", "input": "all[]", "dim": 1}]}},
        "layers": [{"type": "Twice", "name": "twice"},
                   {"type": "Holder", "name": "held", "layers": [{"parameter": "weight", "shape": [5], "output": "w"}]},
                   {"buffer": "places", "shape": [3], "dtype": "int64", "output": "places"}]})");
    const model_listing all = list_model(m.as_model(), {});
    CHECK(all.total.module_output_elements == count(32));
    CHECK(all.find("twice")->sums.module_output_elements == count(32));
    CHECK(all.find("held")->sums.module_output_elements == count());
}

TEST_CASE("the schema that ships is made from the tables") {
    const std::filesystem::path path = models / "description.schema.json";
    const std::string text = custom_schema::schema().dump(1) + '\n';
    if (std::getenv("LLMCOST_UPDATE") != nullptr) std::ofstream(path) << text;
    std::ifstream in(path);
    const std::string shipped{std::istreambuf_iterator<char>(in), {}};
    CHECK_MESSAGE(shipped == text, path << ": run LLMCOST_UPDATE=1 build/tests/described");
}

TEST_CASE("every description that ships is read, and follows the schema's kinds of steps") {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(models)) {
        if (entry.path().extension() != ".json" || entry.path().filename() == "description.schema.json") continue;
        CAPTURE(entry.path());
        const custom_model m = load_custom_model(read_config_file(entry.path().string()));
        CHECK(count_model(m.as_model(), {}).params > count{});
    }
}

}  // namespace

// counted by hand from ATen's RNN.cpp: products of all positions, then per position; FLOPs of FlopCounterMode
TEST_CASE("recurrent layers are counted as ATen computes them") {
    const auto counts_of = [](const std::string& layer) {
        const custom_model custom =
            parse_custom_model(R"({"inputs": {"x": {"shape": ["batch", 3, 8]}}, "layers": [{)" + layer +
                               R"(, "input_size": 8, "hidden_size": 16, "batch_first": true}]})");
        return count_model(custom.as_model(), {.batch = 2});
    };
    const model_metrics lstm = counts_of(R"("type": "LSTM")");
    CHECK(lstm.params == 4 * 16 * (8 + 16) + 2 * 64);
    CHECK(lstm.torch_flops == 18432);
    CHECK(lstm.mult == 6 * 8 * 64 + 3 * 2 * 16 * 64 + 3 * 3 * 32);
    CHECK(lstm.add == 6 * 64 * 7 + 6 * 64 + 3 * (2 * 64 * 15 + 2 * 64) + 3 * 128 + 288 + 96);
    CHECK(lstm.exp == 3 * 3 * 32);
    CHECK(lstm.tanh == 3 * 2 * 32);
    const model_metrics gru = counts_of(R"("type": "GRU", "num_layers": 2, "bidirectional": true)");
    CHECK(gru.torch_flops == 82944);
    CHECK(gru.params == 2 * 3 * 16 * (8 + 16 + 2) + 2 * 3 * 16 * (32 + 16 + 2));
    CHECK(counts_of(R"("type": "RNN", "bias": false)").params == 16 * (8 + 16));
    const custom_model states = parse_custom_model(
        R"({"inputs": {"x": {"shape": ["batch", 3, 8]}}, "layers": [{"type": "LSTM", "name": "rnn", "input_size": 8,
            "hidden_size": 16, "batch_first": true, "output": ["y", "h", "c"]},
            {"function": "add", "input": ["h", "c"]}]})");
    CHECK(count_model(states.as_model(), {.batch = 2}).add == lstm.add + 32);
    CHECK(count_model(states.as_model(), {.batch = 2, .training = true}).backward_torch_flops > 18432);
}

// parameters and FLOPs of torch 2.15.0: nn.Transformer… with batch_first, counted by FlopCounterMode
TEST_CASE("Transformer layers of PyTorch have its parameters and FLOPs") {
    const auto counts_of = [](const std::string& layer) {
        const custom_model custom = parse_custom_model(
            R"({"inputs": {"src": {"shape": ["batch", 10, 64]}, "tgt": {"shape": ["batch", 7, 64]}}, "layers": [{)" +
            layer + R"(, "d_model": 64, "nhead": 4, "dim_feedforward": 128}]})");
        const model_metrics f = count_model(custom.as_model(), {.batch = 2});
        return std::pair{f.params.to_64(), f.torch_flops.to_64()};
    };
    CHECK(counts_of(R"("type": "TransformerEncoder", "num_layers": 2, "input": "src")") ==
          std::pair{66944UL, 2723840UL});
    CHECK(counts_of(R"("type": "TransformerDecoderLayer", "input": ["src", "tgt"])") == std::pair{50240UL, 1954816UL});
    CHECK(counts_of(
              R"("type": "Transformer", "num_encoder_layers": 2, "num_decoder_layers": 2, "input": ["src", "tgt"])") ==
          std::pair{167680UL, 5794816UL});
}
