// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>

// `llmcost memory`, `train` and `fit`: their pages, their members, what they refuse, and how they end.
namespace llmcost::testing {
namespace {

const std::string small = " --config " + config_of("meta-llama__Llama-3.2-1B") + " --sequence 64";

nlohmann::json answered_with(const std::string& line, int code = 0) {
    const outcome got = llmcost_line(line + " --format json");
    CHECK(got.code == code);
    CHECK(got.err == "");
    return nlohmann::json::parse(got.out);
}

}  // namespace

TEST_CASE("what fits ends with 0, what does not with 8, and both are answered") {
    for (const std::string command : {"memory --dtype bfloat16", "train --precision bf16", "fit --dtype bfloat16"}) {
        CAPTURE(command);
        const auto fits = answered_with(command + small + " --memory 80GB");
        CHECK(fits["fits"] == true);
        CHECK(fits["available"] == 80'000'000'000);
        CHECK(answered_with(command + small + " --memory 1GiB", 8)["fits"] == false);
        CHECK(answered_with(command + small + " --device h100_sxm")["available"] == 84'943'715'696);  // 79.11 GiB
    }
    CHECK(answered_with("memory" + small)["fits"] == nullptr);
    CHECK(answered_with("train" + small)["available"] == nullptr);
    const std::string page = printed("memory --dtype bfloat16" + small + " --memory 24G");
    CHECK(has(page, "(24G; 24GB is 22.4 GiB), "));
    CHECK(has(page, " of 24.0 GiB (24G; 24GB is 22.4 GiB), "));
}

TEST_CASE("parts of memory add up") {
    const auto m = answered_with("memory --dtype bfloat16" + small);
    CHECK(m["total"] == m["weights"].get<std::int64_t>() + m["cache_allocated"].get<std::int64_t>() +
                            m["activations_peak"].get<std::int64_t>() + m["runtime"].get<std::int64_t>() +
                            m["tables"].get<std::int64_t>() + m["communication"].get<std::int64_t>());
    CHECK(m["weights"] == 2'471'628'800);
    CHECK(m["tables"] == std::int64_t{131072} * 64 * 2);  // cosines and sines of 131,072 positions and 64 elements
    const auto t = answered_with("train" + small);
    std::int64_t sum = 0;
    for (const char* category : {"PARAM", "BUFFER", "GRAD", "ACT", "TEMP", "OPT", "OTH"})
        sum += t["peak"][category].get<std::int64_t>();
    CHECK(t["peak"]["total"] == sum);
    CHECK(t["timeline"].size() > 32);
    std::int64_t maximum = 0;
    for (const auto& moment : t["timeline"]) maximum = std::max(maximum, moment["most"].get<std::int64_t>());
    CHECK(maximum == sum);
}

TEST_CASE("a page of a training step shows its peak and its layers") {
    const std::string page = printed("train" + small);
    for (const char* part : {"Training step of 1 x 64 tokens", "adamw", "Peak ", "PARAM", "OPT", "forward", "backward",
                             "step", "trainable 1.236 G of 1.236 G parameters (100.0 %)"})
        CHECK_MESSAGE(has(page, part), part);
    CHECK(has(printed("train --adapter lora" + small), "lora"));
    CHECK(has(printed("train" + small + " --format csv"), "bytes,peak,own_peak,after_forward"));
}

TEST_CASE("a step is told with its schedule, and executes all of its passes") {
    const auto one = answered_with("train" + small), four = answered_with("train --gradient-accumulation 4" + small);
    for (const char* pass : {"forward", "backward"})
        CHECK(four["torch_flops"][pass] == 4 * one["torch_flops"][pass].get<std::int64_t>());
    CHECK(four["optimizer"] == one["optimizer"]);
    CHECK(one["optimizer"]["name"] == "adamw");
    CHECK(one["optimizer"]["primitives"]["sqrt"] == one["trainable"]);
    CHECK(one["optimizer"]["primitives"]["add"] == 5 * one["trainable"].get<std::int64_t>() + 146);
    CHECK(one["offloaded"] == 0);
    const std::string page = printed(
        "train --precision bf16 --master-weights --shards 8 --zero 2 --recompute full:4 --offload activations" + small);
    for (const char* part : {"master weights", "4 layers recomputed", "activations offloaded",
                             "one of 8 devices, ZeRO 2", "offloaded to the host", "optimizer FLOPs"})
        CHECK_MESSAGE(has(page, part), part);
    CHECK(has(printed("train --shards 2 --fsdp" + small), "one of 2 devices, FSDP"));
}

// transformers/modeling_utils.py of 5.23: `from_pretrained` has dtype="auto" and the attention "sdpa" by default
TEST_CASE("a step without options has the dtype of the configuration and sdpa, and its verdict says so") {
    CHECK(has(printed("train" + small), "adamw · bf16 · sdpa\n"));
    CHECK(answered_with("train" + small)["peak"] ==
          answered_with("train --precision bf16 --attention-implementation sdpa" + small)["peak"]);
    CHECK(has(printed("train --memory 80GB" + small), " free; with bf16, sdpa, adamw\n"));
    CHECK(has(printed("fit --training --memory 80GB" + small), " free; with bf16, sdpa, adamw\n"));
    CHECK(has(printed("train --set torch_dtype=float32" + small), "adamw · fp32 · sdpa\n"));
    CHECK(has(printed("train --set torch_dtype=float16" + small), "adamw · fp16 · sdpa\n"));
    // no dtype in the file; no fused attention: position biases
    CHECK(has(printed("train --sequence 16 --config " + config_of("google-t5__t5-small")),
              "adamw · fp32 · eager attention\n"));
    CHECK(printed("train --master-weights" + small) == printed("train --precision bf16 --master-weights" + small));
    CHECK(has(refused("train --set torch_dtype=float32 --master-weights" + small),
              "--master-weights: requires --precision bf16"));
}

TEST_CASE("where a step does not fit, the change with which it does is named, and fits") {
    const std::string step = "train --model meta-llama/Llama-3.1-8B --memory 24GB";
    const auto f = answered_with(step, 8);
    REQUIRE(f["fits_with"].is_string());
    const std::string change = f["fits_with"];
    CHECK(has(change, "--recompute full"));
    CHECK(answered_with(step + ' ' + change)["fits"] == true);
    CHECK(has(printed(step, {}, 8), "\nFits with " + change + ": "));
    CHECK(answered_with("train --memory 80GB" + small)["fits_with"] == nullptr);
}

// vllm/config/model.py, `_get_and_verify_max_len`: YaRN has original length x factor, linear and dynamic scaling have
// max_position_embeddings x factor, longrope and llama3 have max_position_embeddings; that of Gemma 3 is scaled already
TEST_CASE("the longest context follows RoPE scaling") {
    const auto longest = [](const std::string& scaling) {
        return answered_with("fit --memory 4TB --model Qwen/Qwen3-8B" + scaling)["max_context"].get<std::int64_t>();
    };
    CHECK(longest("") == 40'960);
    const std::string yarn =
        R"( --set rope_scaling={"rope_type":"yarn","factor":4.0,"original_max_position_embeddings":32768})";
    CHECK(longest(yarn) == 131'072);
    CHECK(longest(R"( --set rope_scaling={"type":"linear","factor":2})") == 81'920);
    CHECK(longest(R"( --set rope_scaling={"type":"dynamic","factor":2.0})") == 81'920);
    CHECK(answered_with("fit --memory 4TB --model meta-llama/Llama-3.1-8B")["max_context"] == 131'072);
    CHECK(answered_with("fit --memory 4TB --dtype int4 --model openai/gpt-oss-20b")["max_context"] == 131'072);
    const auto gemma = llmcost_line(
        R"(memory --format json --sequence 200000 --model google/gemma-3-1b-it --set rope_scaling={"rope_type":"linear","factor":8.0})");
    CHECK(has(gemma.err, "200,000 tokens exceed the context length of 32,768"));

    const std::string warning = "warning: Qwen/Qwen3-8B: 50,000 tokens exceed the context length of 40,960\n";
    for (const char* command : {"memory", "train --recompute full", "fit --memory 4TB", "memory --batch 1,2"}) {
        const std::string line = std::string(command) + " --model Qwen/Qwen3-8B --sequence 50000";
        CAPTURE(line);
        CHECK(has(llmcost_line(line).err, warning));
        CHECK(llmcost_line(line + yarn).err == "");
    }
}

TEST_CASE("FLOPs of a training step are told by every convention, and as shares of a peak") {
    const auto step = answered_with(
        "train --batch 2 --sequence 64 --recompute full --precision fp32 "
        "--attention-implementation eager --config " +
        config_of("openai-community__gpt2") + " --device h100_sxm --step-seconds 0.5");
    const auto& all = step["utilisation"]["conventions"];
    // GPT-2: 124,439,808 parameters, 786,432 of them positions; 12 layers of 12 heads of 64
    const std::int64_t tokens = 128, scores = std::int64_t{12} * 12 * 768 * 64;
    CHECK(all["palm"]["model_flops"] == tokens * (6 * std::int64_t{124'439'808} + scores));
    CHECK(all["nanogpt"]["model_flops"] == tokens * (6 * std::int64_t{123'653'376} + scores));
    CHECK(all["palm"]["hardware_flops"] == nullptr);
    const std::int64_t head = 6 * tokens * 768 * 50257, products = tokens * 12 * 768 * 768;
    CHECK(all["megatron"]["model_flops"] == 72 * products + tokens * scores + head);
    CHECK(all["megatron"]["hardware_flops"] == 96 * products + tokens * scores / 3 * 4 + head);
    const auto& exact = all["exact"];
    CHECK(exact["model_flops"].get<std::int64_t>() < exact["hardware_flops"].get<std::int64_t>());
    CHECK(exact["hardware_flops"] ==
          step["torch_flops"]["forward"].get<std::int64_t>() + step["torch_flops"]["backward"].get<std::int64_t>());
    CHECK(exact["mfu"].get<double>() == doctest::Approx(exact["model_flops"].get<double>() / 0.5 / 67e12));
    const auto mamba = answered_with("train --config " + config_of("state-spaces__mamba-130m-hf") + " --sequence 16");
    CHECK(mamba["utilisation"]["conventions"]["palm"]["model_flops"] == nullptr);
    CHECK(mamba["utilisation"]["conventions"]["palm"]["why"] == "the model has no attention heads");
    CHECK(has(printed("train --adapter lora" + small), "palm      not defined: not every parameter is trained"));
}

TEST_CASE("what is not described of a training step is refused") {
    const std::string images = " --config " + config_of("facebook__levit-128");
    CHECK(has(refused("train --dropout keep" + images),
              "keep is not supported: the dropout positions of 'levit' are unknown"));
    CHECK(has(refused("train --dropout keep --set layerdrop=0.1 --config " + config_of("facebook__opt-125m")),
              "makes the cost of a step random"));
    CHECK(has(refused("train --loss fused --precision bf16-mixed" + small),
              "--loss: fused is not supported with autocast"));
    CHECK(has(refused("train --loss fused" + images),
              "fused is not supported for this model, which is not a decoder-only language model"));
    CHECK(has(refused("train --precision fp8-mixed --adapter lora" + small),
              "fp8-mixed cannot be combined with --adapter"));
    CHECK(has(refused("train --step-seconds 1" + small), "--step-seconds: requires --device"));
    CHECK(answered_with("train --precision fp16-mixed" + small)["peak"] ==
          answered_with("train --precision bf16-mixed" + small)["peak"]);
}

TEST_CASE("wrong questions about memory are refused") {
    CHECK(refused("train --optimizer adamm" + small) ==
          "llmcost: --optimizer: no optimizer 'adamm'; nearest: adam, adamw, nadam\n");
    CHECK(has(refused("train --recompute ful" + small),
              "--recompute: expected none, selective, operators, full or full:N; found 'ful'"));
    CHECK(has(refused("train --recompute full:0" + small), "--recompute: expected a whole number from 1"));
    CHECK(has(refused("train --recompute selective --config " + config_of("state-spaces__mamba-130m-hf")),
              "--recompute: selective is not supported"));
    CHECK(has(refused("train --zero 2" + small), "--zero: requires --shards"));
    CHECK(has(refused("train --shards 2 --zero 3 --fsdp" + small), "--fsdp: cannot be combined with --zero"));
    CHECK(has(refused("train --shards 2 --fsdp --optimizer muon" + small),
              "--fsdp: not supported with --optimizer muon, which requires complete matrices"));
    CHECK(has(refused("train --shards 2 --zero 1 --optimizer lomo" + small),
              "--zero: not supported with --optimizer lomo, which updates parameters during backward"));
    CHECK(has(refused("train --optimizer lomo --gradient-accumulation 2" + small),
              ":in-backward cannot be combined with"));
    CHECK(
        has(refused("train --precision fp32 --master-weights" + small), "--master-weights: requires --precision bf16"));
    CHECK(has(refused("train --precision fp32 --gradient-dtype bf16" + small),
              "--gradient-dtype: bf16 requires --precision bf16"));
    CHECK(has(refused("train --optimizer galore:rank=0" + small), "--optimizer: expected a whole number from 1"));
    CHECK(has(refused("train --adapter lra" + small), "--adapter: no adapter type or file 'lra'; nearest: lora"));
    CHECK(has(refused("train --adapter lora:r=0" + small), "--adapter: expected a whole number from 1"));
    CHECK(has(refused("train --adapter lora:rank=8" + small), "found 'rank=8'"));
    CHECK(has(refused("train --adapter lora:targets=nothing" + small), "no module 'nothing' in this model"));
    CHECK(has(refused("train --adapter lora --config " + config_of("state-spaces__mamba-130m-hf")), "use targets="));
    CHECK(has(refused("train --batch 0" + small), "--batch: expected a whole number from 1"));
    CHECK(has(refused("memory --memory 24XB" + small), "expected a size with a unit, such as 24GB (decimal)"));
    CHECK(has(refused("memory --memory 0GB" + small), "expected a size from 1 byte"));
    CHECK(has(refused("memory --device h100 --memory 1GB" + small), "cannot be combined"));
    CHECK(has(refused("memory --engine vlm" + small), "no engine 'vlm'; nearest: vllm"));
    CHECK(has(refused("memory --pp 99" + small), "--pp: "));
    CHECK(has(refused("memory --tp 7" + small), "--tp: 7"));
    CHECK(has(refused("memory --engine llama.cpp --tp 2" + small), "--tp: not supported with --engine llama.cpp"));
    CHECK(has(refused("fit" + small), "requires --device NAME or --memory SIZE"));
    CHECK(has(refused("fit --memory 1GB --optimizer sgd" + small), "--optimizer: requires --training"));
    CHECK(has(refused("fit --memory 1GB --training --engine vllm" + small),
              "--engine: cannot be combined with --training"));
}

// what logs of vLLM say (worker.py, executor_base.py, kv_cache_utils.py): its own memory is that of libraries and the
// peak
TEST_CASE("with an engine's own memory of its log, blocks of the cache are those of its log") {
    const auto memory_of = [](const std::string& line) { return answered_with("memory --dtype bfloat16 " + line); };
    const auto near = [](const nlohmann::json& found, double logged, double share) {
        CHECK(found.get<double>() == doctest::Approx(logged).epsilon(share));
    };
    // pull 416 of generative-computing/mellea: 79.19 GiB x 0.80, weights 1.12, others 0.16, peak 0.23, 36,184 blocks
    const auto small_model =
        memory_of("--model Qwen/Qwen3-0.6B --memory 79.19GiB --gpu-memory-utilization 0.80 --engine-memory 0.39GiB");
    near(small_model["cache_blocks"], 36184, 0.003);
    near(small_model["cache_available"], 61.84 * 1073741824, 0.003);
    CHECK(small_model["cache_tokens"] == 16 * small_model["cache_blocks"].get<std::int64_t>());
    CHECK(small_model["gpu_memory_utilization"] == 0.8);
    // pull 10511 of vllm: Meta-Llama-3-8B, 79.22 GiB x 0.90, weights 14.96, others 1.79, peak 1.26, 53.29 GiB left
    const auto llama_3 = memory_of(
        "--model meta-llama/Llama-3.1-8B --memory 79.22GiB --gpu-memory-utilization 0.90 --engine-memory 3.05GiB");
    near(llama_3["cache_available"], 53.29 * 1073741824, 0.003);
    // LLMServingSim's run on an RTX 4090: 25,250,627,584 bytes x 0.90 and 2,588 blocks leave 1,237,612,953 for the
    // rest, of which 33,554,432 are rotary tables
    const auto card = memory_of(
        "--model meta-llama/Llama-3.1-8B --memory 25250627584B --gpu-memory-utilization 0.9 --engine-memory "
        "1204058521B");
    CHECK(card["weights"] == 16'060'522'496);
    CHECK(card["tables"] == 33'554'432);
    CHECK(card["cache_blocks"] == 2588);
    CHECK(card["cache_tokens"] == 41408);
    CHECK(card["activations_peak"] == 0);
    CHECK(card["runtime"] == 1'237'612'953 - 33'554'432);

    CHECK(memory_of("--model Qwen/Qwen3-0.6B")["cache_blocks"] == nullptr);  // of no device
    // windows next to full attention: two groups of 12 layers with blocks of 12 · 16 · 2,048 bytes
    const auto windows = memory_of("--model openai/gpt-oss-20b --memory 80GB --sequence 1 --past 8191");
    const auto blocks = windows["cache_blocks"].get<std::int64_t>();
    CHECK(blocks == windows["cache_available"].get<std::int64_t>() / (12 * 16 * 2048));
    CHECK(windows["cache_tokens"] == blocks / 2 * 16);
    CHECK(windows["cache_concurrency"].get<double>() == doctest::Approx(static_cast<double>(blocks) / (512 + 513)));
    CHECK(windows["cache_allocated"] == std::int64_t{12} * 16 * 2048 * (512 + 513));
    CHECK(memory_of("--model openai/gpt-oss-20b --memory 80GB --engine sglang")["cache_blocks"] == nullptr);
    CHECK(memory_of("--model Qwen/Qwen3-0.6B --memory 80GB --engine none")["cache_tokens"] == nullptr);
    const std::string page =
        printed("memory --model Qwen/Qwen3-0.6B --memory 24GB --dtype bfloat16 --gpu-memory-utilization 0.9");
    CHECK(has(page, "KV cache capacity: "));
    CHECK(has(page, " (0.9 of 24GB): "));
    CHECK(has(page, " blocks of 16 tokens, "));
    CHECK(has(page, "Maximum concurrency: "));
    CHECK(has(refused("memory --model Qwen/Qwen3-0.6B --engine sglang --gpu-memory-utilization 0.9"),
              "supported only with --engine vllm"));
    CHECK(has(refused("fit --model Qwen/Qwen3-0.6B --memory 24GB --training --engine-memory 1GiB"),
              "cannot be combined with --training"));
}

TEST_CASE("where weights do not fit, the method that takes the least from them is named") {
    const std::string model = "fit --model Qwen/Qwen3-8B --dtype bfloat16 --sequence 2048";
    const auto named = [&](const std::string& memory) {
        std::string methods;
        const auto f = answered_with(model + memory, 8);
        for (const auto& s : f["suggestions"]) {
            const std::string change = s["change"];
            if (!change.starts_with("--quantization")) continue;
            CHECK(methods.empty());
            methods = change;
            const bool fits = s["fits"];
            const auto changed = answered_with(model + memory + ' ' + change, fits ? 0 : 8);
            CHECK(changed["needed"] == s["needed"]);
            CHECK(changed["fits"] == fits);
        }
        return methods;
    };
    CHECK(named(" --memory 14GB") == "--quantization fp8");
    CHECK(named(" --memory 9GB") == "--quantization awq");
    CHECK(named(" --memory 3GB") == "--quantization nf4");
    const auto too_small = answered_with(model + " --memory 3GB --quantization awq", 8);
    for (const auto& s : too_small["suggestions"]) CHECK_FALSE(std::string(s["change"]).starts_with("--quantization"));
}

// 46,702,792,704 parameters in 16 bits; norms (65 x 4,096) and routers (32 x 8 x 4,096) are on every device
TEST_CASE("devices that share layers hold their part of every expert") {
    const std::string model =
        "fit --config " + config_of("mistralai__Mixtral-8x7B-v0.1") + " --dtype bfloat16 --engine none --device h100";
    const auto one = answered_with(model, 8), two = answered_with(model + " --devices 2", 0);
    CHECK(one["min_devices"] == 2);
    CHECK(two["devices"] == 2);
    CHECK(one["suggestions"].back()["change"] == "--devices 2");
    CHECK(one["suggestions"].back()["needed"] == two["needed"]);
    const std::int64_t all = 46'702'792'704, on_each = 65 * 4096 + 32 * 8 * 4096,
                       weights = (all - on_each) / 2 + on_each;
    const std::int64_t cache = 32 * 2 * 4 * 128 * 1024;
    CHECK(two["needed"].get<std::int64_t>() > 2 * (weights + cache));
    CHECK(two["needed"].get<std::int64_t>() < 2 * (weights + cache) + (1 << 30));  // and a step's tensors
    CHECK(has(refused(model + " --devices 3"), "--devices: '3': does not divide the number of attention heads"));
    CHECK(has(refused("fit --memory 6GB --devices 2 --training" + small),
              "--devices: cannot be combined with --training; use --shards"));
    CHECK(answered_with("fit --training --memory 6GB" + small, 8)["min_devices"].get<int>() > 1);
}

TEST_CASE("where a training does not fit, changes are named with what they need") {
    const auto f = answered_with("fit --training --memory 6GB" + small, 8);
    bool one_fits = false;
    for (const auto& s : f["suggestions"]) one_fits = one_fits || s["fits"] == true;
    CHECK(one_fits);
    CHECK(f["max_batch"] == 0);
    std::string changes;
    const auto training_fit = answered_with("fit --training --memory 6GB --batch 4" + small, 8);
    for (const auto& s : training_fit["suggestions"]) changes += s["change"].get<std::string>() + '\n';
    for (const char* part : {"--recompute selective\n", "--batch 1 --gradient-accumulation 4\n", "--fsdp --shards "})
        CHECK_MESSAGE(has(changes, part), part);
}

}  // namespace llmcost::testing
