// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// First command lines of a new user, and the errors that lead to the right ones.
#include "program.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace llmcost::testing;

TEST_CASE("a command after the model is named with its place") {
    const std::string place = "; the command comes first: llmcost memory Qwen3-8B\n";
    CHECK(refused("Qwen3-8B memory --device 4090").ends_with(place));
    CHECK(refused("Qwen3-8B memory --gpu 4090").ends_with(place));
    CHECK(refused("Qwen3-8B memory") == "llmcost: 'memory' is a command and must come first: llmcost memory\n");
    CHECK_FALSE(has(refused("Qwen3-8B --gpu 4090"), "comes first"));
}

TEST_CASE("a model after a metric is named with its option") {
    CHECK(refused("flops bert-base-uncased") == "llmcost: use --model bert-base-uncased\n");
}

TEST_CASE("an incomplete name of a model has similar bundled names") {
    const auto similar = [](const std::string& name) {
        const std::string text = refused("memory " + name), begin = "; similar bundled names: ";
        CHECK(has(text, "expected only options, found '" + name + "'"));
        const std::size_t place = text.find(begin);
        return place == std::string::npos ? std::string() : text.substr(place + begin.size());
    };
    CHECK(has(similar("Mixtral-8x7B"), "mistralai/Mixtral-8x7B-v0.1"));
    CHECK(has(similar("llama3-8b"), "meta-llama/Meta-Llama-3-8B"));
    CHECK(has(similar("phi4"), "microsoft/phi-4"));
    CHECK(similar("qwen") != "");
    CHECK(similar("xyz") == "");
    CHECK(has(refused("--model mistral-7b", {}, 4), "mistralai/Mistral-7B-Instruct-v0."));
    // a command without a model option has none
    CHECK_FALSE(has(refused("devices phi4"), "similar"));
}

TEST_CASE("several devices in one name are named with the option of their number") {
    const std::string config = config_of("meta-llama__Llama-3.2-1B");
    for (const char* const device : {"8xH100", "8*h100", "h100x8", "H100X8"})
        CHECK(refused("serve --config " + config + " --device " + device) ==
              "llmcost: --device: expected one device, found '" + std::string(device) +
                  "'; use --device h100_sxm --tp 8\n");
    CHECK(has(refused("memory --config " + config + " --device rtx4090x2"), "; use --device rtx_4090 --tp 2\n"));
    CHECK(has(refused("memory --config " + config + " --device h100x"), "no device"));
}

TEST_CASE("counters are known by their classes") {
    for (const auto& [class_name, title] :
         {std::pair{"FlopCounterMode", "torch FlopCounterMode"}, {"FlopCountAnalysis", "fvcore FlopCountAnalysis"}})
        CHECK(has(printed("why " + llama + " --against " + class_name), std::string(": ") + title + " compared with"));
    CHECK(has(refused("why " + llama + " --against profiler"), "no counter 'profiler'"));
}

TEST_CASE("a name of Ollama has similar bundled names") {
    CHECK(has(refused("--model llama3.1:8b", {}, 3), "; similar bundled names: meta-llama/Llama-3.1-8B"));
    CHECK(has(refused("memory --model qwen3:8b", {}, 3), "; similar bundled names: Qwen/Qwen3-8B"));
}

TEST_CASE("engines, optimizers and precisions have their names in other programs") {
    const std::string small = " --config " + config_of("meta-llama__Llama-3.2-1B");
    const auto same = [&](const std::string& line, const std::string& name, const std::string& other) {
        CHECK(printed(line + small + ' ' + name) == printed(line + small + ' ' + other));
    };
    same("memory", "--engine sglang", "--engine SGLang");
    same("memory", "--engine trtllm", "--engine TensorRT-LLM");
    same("memory", "--engine llama.cpp", "--engine llama_cpp");
    same("memory", "--engine transformers", "--engine hf");
    same("memory", "--engine pytorch", "--engine torch");
    same("latency --device h100", "--engine torch", "--engine PyTorch");
    same("latency --device h100", "--engine vllm", "--engine vLLM");
    same("train", "--optimizer adamw", "--optimizer AdamW");
    same("train", "--optimizer adamw:fused", "--optimizer adamw_torch_fused");
    same("train", "--optimizer adamw8bit", "--optimizer adamw_bnb_8bit");
    same("train", "--precision bf16", "--precision bfloat16");
    same("train --shards 8", "--zero 3", "--zero zero3");
}

TEST_CASE("options of training commands are named") {
    const std::string train = "train --config " + config_of("meta-llama__Llama-3.2-1B");
    CHECK(printed(train + " --dp 8") == printed(train + " --shards 8"));
    CHECK(has(refused(train + " --dtype fp16"), "no option '--dtype'; use --precision fp16"));
    CHECK(has(refused(train + " --attention eager"), "use --attention-implementation eager"));
    CHECK(has(refused("simulate --dataset sharegpt"), "no option '--dataset'; use --trace FILE"));
}

TEST_CASE("a quantization as a type is named with its option") {
    const std::string config = " --config " + config_of("meta-llama__Llama-3.2-1B");
    CHECK(refused(config + " --dtype q4_k_m").ends_with("found 'q4_k_m'; quantized weights: --quantization q4_k_m\n"));
}

TEST_CASE("a device or a file without its option is named with it") {
    CHECK(refused("memory Qwen3-8B h100") ==
          "llmcost: memory: expected only options, found 'h100'; use --device h100\n");
    CHECK(has(refused("check model.safetensors"), "found 'model.safetensors'; use --safetensors model.safetensors\n"));
    CHECK(has(refused("memory --config x.json --device h100:8"), "; use --device h100_sxm --tp 8\n"));
    CHECK(has(refused("memory Qwen3-8B --device cpu"), "(see llmcost devices; or give its size with --memory)\n"));
}

TEST_CASE("an operator of another program is named with its type") {
    CHECK(refused("op matmul --device h100") == "llmcost: op: no operator 'matmul'; use gemm\n");
    CHECK(has(refused("op Flash_Attention --device h100"), "use context_attention (prefill) or generation_attention"));
}
