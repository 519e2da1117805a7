// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// What pages call the input of a model that reads no text.
#include "../hub/hub_fixture.hpp"
#include "program.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>

using namespace llmcost::testing;

// a perceptron reads features: their number does not go by --sequence
TEST_CASE("the page of a description that reads no tokens speaks of samples") {
    const temporary_folder folder;
    const std::string path = (folder.path() / "mlp.json").string();
    std::ofstream(path) << R"({"inputs": {"x": {"shape": ["batch", 784]}},
        "layers": [{"type": "Linear", "name": "fc1", "in_features": 784, "out_features": 10}]})";
    const std::string page = printed("--config " + path + " --batch 4");
    CHECK(has(page, "Forward pass, 4 samples "));
    CHECK(has(page, "FLOPs per sample 15.68 k\n"));
    for (const char* command : {"ops", "levels", "memory", "train", "graph --format dot"}) {
        const std::string text = printed(std::string(command) + " --config " + path + " --batch 4");
        CHECK_MESSAGE(has(text, "4 samples"), command);
        CHECK_MESSAGE(!has(text, "1,024 tokens"), command);
    }
    const std::string fits = printed("fit --memory 24GB --config " + path);
    CHECK(has(fits, "samples\n"));
    CHECK(!has(fits, "context"));
    const std::string times = printed("latency --training --device h100_sxm --batch 4 --config " + path);
    CHECK(has(times, "training step of 4 samples"));
    CHECK(has(times, "samples/s"));
    std::ofstream(path) << R"({"inputs": {"x": {"shape": ["batch", "sequence", 784]}},
        "layers": [{"type": "Linear", "name": "fc1", "in_features": 784, "out_features": 10}]})";
    CHECK(has(printed("--config " + path + " --batch 4"), "FLOPs per token 15.68 k\n"));
}

// ten seconds of sound at 16,000 samples a second are 160,000; no token is in it
TEST_CASE("pages of a model that reads sound alone speak of sound") {
    const std::string model = " --config " LLMCOST_TEST_DIR "/golden/media/default__wav2vec2.json --audio 10";
    const std::string two = model + " --batch 2";
    for (const char* command : {"", "ops", "levels", "memory", "train", "graph --format dot",
                                "latency --device h100_sxm", "latency --training --device h100_sxm"}) {
        const std::string text = printed(command + two);
        CHECK_MESSAGE(has(text, "2 x 10 s of sound"), command);
        CHECK_MESSAGE(!has(text, "1,024 tokens"), command);
    }
    CHECK(has(printed("ops" + two), "2x1x160000"));
    const std::string fits = printed("fit --memory 24GB" + two);
    CHECK(has(fits, "of 10 s of sound each\n"));
    CHECK(!has(fits, "context"));
    CHECK(has(printed("formula" + model), "B recordings of 10 s of sound\n"));
    CHECK(has(refused("latency --device h100_sxm --past 8" + two, {}, 2), "has no KV cache"));
}

// who asks how big it is says nothing of sound
TEST_CASE("a model that reads sound alone has a page, figures and a row without any") {
    const std::string model = "--config " LLMCOST_TEST_DIR "/golden/media/default__wav2vec2.json";
    CHECK(printed("--format csv params " + model) == printed("--format csv params " + model + " --audio 3"));
    const std::string page = printed(model);
    CHECK(has(page, "10 s of sound assumed (--audio)"));
    CHECK(!has(printed(model + " --audio 10"), "assumed (--audio)"));
    CHECK(json_of(model)["totals"] == json_of(model + " --audio 10")["totals"]);
    CHECK(llmcost_line(model + " " + llama).code == 0);
    for (const char* command : {"ops", "levels", "memory", "train", "graph --format dot", "latency --device h100_sxm",
                                "latency --training --device h100_sxm"})
        CHECK_MESSAGE(has(printed(command + (" " + model)), "1 x 10 s of sound"), command);
    CHECK(has(printed("fit --memory 24GB " + model), "of 10 s of sound each\n"));
}

// BERT has 512 positions, GPT-2 1,024
TEST_CASE("commands ask for no more tokens than a model was made for, unless they are told to") {
    const std::string bert = " --model google-bert/bert-base-uncased";
    for (const char* command : {"memory", "train", "latency --training --device h100_sxm", "ops"})
        CHECK_MESSAGE(has(printed(command + bert), "512 tokens"), command);
    CHECK(has(printed("memory --batch 1,2 --format csv" + bert), ",1,512,"));
    CHECK(has(printed("fit --memory 24GB" + bert), "of 512 tokens each"));
    CHECK(has(printed("memory --model openai-community/gpt2"), "1,024 tokens"));
    CHECK(has(refused("memory --sequence 600" + bert), "requires 600 positions and the model has 512"));
}

// a residual network and a perceptron have no attention, and no engine for language models runs them
TEST_CASE("models without tokens are not described in terms of tokens, engines and attention") {
    const temporary_folder folder;
    const std::string path = (folder.path() / "mlp.json").string();
    std::ofstream(path) << R"({"inputs": {"x": {"shape": ["batch", 784]}},
        "layers": [{"type": "Linear", "name": "fc1", "in_features": 784, "out_features": 256}, {"type": "ReLU"},
        {"type": "Linear", "name": "fc2", "in_features": 256, "out_features": 10}]})";
    for (const std::string& model : {std::string(" --model torchvision/resnet50"), " --config " + path}) {
        const std::string html = (folder.path() / "page.html").string();
        for (const std::string& command :
             {std::string(), std::string("memory"), std::string("train"), std::string("fit --memory 24GB"),
              std::string("latency --device h100_sxm"), "report --html " + html, std::string("flops")}) {
            std::string text = printed(command == "flops" ? model + " flops" : command + model);
            if (command.starts_with("report")) {
                std::ifstream in(html);
                text.assign(std::istreambuf_iterator<char>(in), {});
                text.erase(0, text.find("<body"));
                text.erase(text.find("<script"));
            }
            for (const char* term : {"vllm", "eager attention", "all scores", "sequence length", "KV cache bfloat16",
                                     "tensor-parallel", "llmcost serve"})
                CHECK_MESSAGE(!has(text, term), command << model << ": " << term);
        }
    }
    CHECK(printed("--model torchvision/resnet50 flops").find("with input batchsize 1 and image size 224x224:") !=
          std::string::npos);
    CHECK(has(printed("memory --model torchvision/resnet50"), "1 image · pytorch · float32 weights"));
    CHECK(has(printed("memory --model torchvision/resnet50 --engine vllm"), "1 image · vllm · "));
    CHECK(has(printed("memory --model google/vit-base-patch16-224"), "1 image · pytorch · "));
    CHECK(
        has(printed("train --model google/vit-base-patch16-224 --attention-implementation eager"), "eager attention"));
}
