// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <sstream>
#include <string>

using namespace llmcost::testing;
using nlohmann::json;

namespace {

const std::string one_step = "latency --model meta-llama/Llama-3.2-1B --device h200_sxm";
const std::string vllm = " --engine vllm" + measured;

}  // namespace

TEST_CASE("a step's time is that of its kernels") {
    for (const std::string& kernels : {vllm, std::string(" --calibration none")}) {
        const json j = json::parse(printed(one_step + kernels + " --batch 16 --past 1000 --format json"));
        double sum = 0, flops = 0;
        for (const json& op : j["ops"]) {
            sum += op["seconds"].get<double>();
            flops += op["flops"].get<double>();
            CHECK(op["lower"].get<double>() <= op["seconds"].get<double>());
            CHECK(op["upper"].get<double>() >= op["seconds"].get<double>());
            CHECK(op["share_of_bound"].get<double>() <= 1);
            CHECK((op["bound"] == "launch" || op["bound"] == "compute" || op["bound"] == "memory"));
            CHECK(op.contains("measured") == op["calibrated"].get<bool>());
            if (op["kind"] == "gemm" && op["calibrated"] == true) {
                CHECK(op["measured"]["software"] == "vllm");
                CHECK(op["measured"]["device"] == "h200_sxm");
            }
        }
        CHECK(j["seconds"].get<double>() == doctest::Approx(sum));
        CHECK(j["flops_per_device"].get<double>() == doctest::Approx(flops));
        CHECK(j["lower"].get<double>() < j["seconds"].get<double>());
        CHECK(j["upper"].get<double>() > j["seconds"].get<double>());
        CHECK(j["joules_of_all_devices"].get<double>() > 0);
        // 16 tokens: two FLOPs for each weight of the products, and attention to 1001 positions in 16 layers of 32
        // heads
        CHECK(flops == 2.0 * 16 * (1235814400 - 2048 * 33) + 16.0 * 16 * 4 * 32 * 64 * 1001);
    }
}

TEST_CASE("a step is told in words") {
    const std::string text = printed(one_step + vllm + " --batch 16 --past 1000 --price 2 --carbon 100");
    CHECK(
        text.starts_with("meta-llama/Llama-3.2-1B, H200 SXM, vLLM, weights bfloat16, KV cache bfloat16\n"
                         "step of 16 x 1 token after 1,000 cached tokens: "));
    CHECK(text.find("self_attn.q_proj+k_proj+v_proj gemm m 16 n 3,072 k 2,048") != std::string::npos);
    CHECK(text.find("g CO2; price ") != std::string::npos);
    CHECK(text.find("per million steps\n") != std::string::npos);
    CHECK(has(text, "model.embed_tokens             elementwise m 16 k 2,048 "));
    CHECK(has(text, " attention batch 16 cached 1,000 heads 32 kv_heads 8 dim 64 "));
    CHECK(has(text, "\n* Not measured on this device (estimated from another device or the datasheet)\n"));
    CHECK(has(printed("latency --device h200 --model google/gemma-2-2b"), "\n(root module) "));
}

// rows of prompts and of running sequences go through products together; attention is each one's own
TEST_CASE("a ragged batch is one step") {
    const json j = json::parse(printed(one_step + vllm + " --ragged 512@0x4,1@8000x60 --format json"));
    std::int64_t rows = 0, kinds = 0;
    for (const json& op : j["ops"]) {
        if (op["name"] == "model.layers.*.mlp.down_proj") rows = op["sizes"]["m"];
        kinds += op["kind"] == "context_attention" || op["kind"] == "generation_attention" ? 1 : 0;
    }
    CHECK(rows == 4 * 512 + 60);
    CHECK(kinds == 2);
    CHECK(j["requests"] ==
          json::parse(R"([{"sequence":512,"past":0,"count":4},{"sequence":1,"past":8000,"count":60}])"));
    for (const char* member : {"batch", "sequence", "past"}) CHECK_FALSE(j.contains(member));
    CHECK(json::parse(printed(one_step + " --batch 3 --past 7 --format json"))["past"] == 7);
    const auto seconds = [&](const std::string& requests) {
        return json::parse(printed(one_step + vllm + " --ragged " + requests + " --format json"))["seconds"]
            .get<double>();
    };
    CHECK(j["seconds"].get<double>() < seconds("512@0x4") + seconds("1@8000x60"));
}

// an engine puts all tokens of a step into one tensor: norms, rotations and activations are launched once for them
TEST_CASE("a step of several groups launches as much as one of a single group, but for attention") {
    const auto step = [](const std::string& other_requests) {
        return json::parse(printed(one_step + vllm + " --format json --ragged " + other_requests));
    };
    const auto sum = [](const json& j, const char* kind, const char* member) {
        double all = 0;
        for (const json& op : j["ops"])
            if (op["kind"] == kind) all += op[member].get<double>();
        return all;
    };
    const json prompts = step("512@0x4"), running = step("1@8000x60"), mixed = step("512@0x4,1@8000x60");
    for (const char* kind : {"elementwise", "gemm"}) {
        CHECK(sum(mixed, kind, "times") == sum(prompts, kind, "times"));
        CHECK(sum(mixed, kind, "times") == sum(running, kind, "times"));
    }
    CHECK(mixed["launches_per_device"] == prompts["launches_per_device"]);  // vLLM calls FlashAttention once for both
    constexpr double weights_of_norms = (2 * 16 + 1) * 2048 * 2;            // are read once for both
    CHECK(sum(mixed, "elementwise", "bytes") + weights_of_norms ==
          doctest::Approx(sum(prompts, "elementwise", "bytes") + sum(running, "elementwise", "bytes")).epsilon(1e-12));
    CHECK(sum(mixed, "elementwise", "seconds") <
          sum(prompts, "elementwise", "seconds") + sum(running, "elementwise", "seconds"));
    CHECK(step("512@0x4,512@0x8,512@256x2,1@99x3")["launches_per_device"] == prompts["launches_per_device"]);
    const auto launches = [&](const std::string& requests) {  // TensorRT-LLM has another kernel for those that decode
        const std::string line = one_step + " --engine trtllm" + measured;
        return json::parse(printed(line + " --format json --ragged " + requests))["launches_per_device"].get<double>();
    };
    CHECK(launches("512@0x4,1@8000x60") == launches("512@0x4") + 16);
    CHECK(launches("512@0x4,1@8000x60,512@256x2,1@99x3") == launches("512@0x4") + 16);
    CHECK(step("1@8000x30,1@2000x30")["launches_per_device"] == running["launches_per_device"]);
    // as much is done whatever the order, and more requests never take less time
    const json one = step("1@130000"), first = step("1@130000,1@10x15,1@500"), last = step("1@10x15,1@500,1@130000");
    for (const char* member : {"flops_per_device", "bytes_per_device"}) CHECK(first[member] == last[member]);
    CHECK(first["seconds"].get<double>() == doctest::Approx(last["seconds"].get<double>()));
    CHECK(first["seconds"] > one["seconds"]);
    CHECK(step("16@130000,16@1x16")["seconds"] > step("16@130000")["seconds"]);
    // the third request saves the launch of the first, not the remainder of the second
    const auto attention = [&](const std::string& requests) {
        return sum(step(requests), "generation_attention", "seconds");
    };
    const double first_two = attention("1@8000,1@10"), all_three = attention("1@8000,1@10,1@20");
    const double one_more = attention("1@8000,1@20") - attention("1@8000");
    CHECK(all_three - first_two == doctest::Approx(one_more));
    // prompts of one length are one group, however they are written
    CHECK(step("512@0x4,512@0x8")["flops_per_device"] == step("512@0x12")["flops_per_device"]);
}

TEST_CASE("a training step goes back over every product twice") {
    const json j = json::parse(printed(one_step + vllm + " --training --batch 2 --sequence 2048 --format json"));
    CHECK(j["seconds"].get<double>() ==
          doctest::Approx(j["forward"]["seconds"].get<double>() + j["backward"]["seconds"].get<double>() +
                          j["optimizer"]["seconds"].get<double>()));
    const double forward = j["forward"]["flops_per_device"], backward = j["backward"]["flops_per_device"];
    const double attention = 2.0 * 16 * 4 * 32 * 64 * (2048.0 * 2049 / 2);
    CHECK(backward == doctest::Approx(2 * (forward - attention) + 2.5 * attention));
    CHECK(j["optimizer"]["bytes_per_device"].get<double>() == 1235814400.0 * 28);
    const double utilisation = j["model_flops_utilisation"];
    CHECK(utilisation > 0.1);
    CHECK(utilisation < 1);
    CHECK(printed(one_step + " --training").find("  MFU ") != std::string::npos);
}

// Frozen weights have no gradients. In the first layer autograd omits the gradients that no earlier layer needs. These
// are gradients of its input through three layers and two adapters, and of keys, which have no adapter.
TEST_CASE("an adapter's step goes back through frozen layers once") {
    const std::string lora = " --adapter lora:r=16 --model meta-llama/Llama-3.2-1B --sequence 128 --format json";
    const json timed = json::parse(printed("latency --device h100_sxm --training --execution eager" + lora));
    const json train_json = json::parse(printed("train --attention-implementation eager" + lora));
    const double tokens = 128, width = 2048, keys = 512;
    const double first_input = 2 * tokens * width * (width + keys + keys) + 2 * (2 * tokens * width * 16);
    const double first_keys = 2 * tokens * tokens * width;
    CHECK(timed["forward"]["flops_per_device"] == train_json["torch_flops"]["forward"]);
    CHECK(timed["backward"]["flops_per_device"].get<double>() - first_input - first_keys ==
          train_json["torch_flops"]["backward"].get<double>());
    CHECK(timed["optimizer"]["seconds"].get<double>() < timed["forward"]["seconds"].get<double>() / 100);
    CHECK(has(refused("latency --device h100_sxm --training --adapter ia3 --model meta-llama/Llama-3.2-1B"),
              "--adapter: only plain LoRA is supported in a training step"));
}

TEST_CASE("a training step has the interval of its kernels, and what binds it") {
    const auto width = [](const std::string& other_requests) {
        const json j =
            json::parse(printed(one_step + other_requests + " --training --batch 2 --sequence 2048 --format json"));
        const double seconds = j["seconds"];
        CHECK(j["lower"].get<double>() < seconds);
        CHECK(j["upper"].get<double>() > seconds);
        CHECK(j["bound"] == "compute");
        return (j["upper"].get<double>() - j["lower"].get<double>()) / seconds;
    };
    CHECK(width(vllm) < width(" --calibration none"));
    CHECK(width(vllm) < 0.5);  // most of it is AdamW's, which streams memory
    const json eager = json::parse(printed(one_step + " --training --sequence 8 --execution eager --format json"));
    CHECK(eager["bound"] == "launch");  // hosts differ by half
    CHECK(eager["lower"].get<double>() == doctest::Approx(0.5 * eager["seconds"].get<double>()));
    CHECK(eager["upper"].get<double>() >= 1.5 * eager["seconds"].get<double>());
    CHECK(printed(one_step + vllm + " --training --batch 4").find(", compute-bound)\n\n  forward ") !=
          std::string::npos);
}

// weights, gradients and two moments of 4 bytes each, 4 bytes for each tensor's step: 1,235,814,400 parameters in 146
// tensors, 70,553,706,496 in 723
TEST_CASE("a step says what it holds, and where it does not fit") {
    const auto latency_json = [](const std::string& line, int code = 0) {
        return json::parse(printed("latency --device h200 --format json " + line, {}, code));
    };
    const json small = latency_json("--model meta-llama/Llama-3.2-1B --training"),
               large = latency_json("--model meta-llama/Llama-3.1-70B --training", 8);
    CHECK(small["state_bytes_per_device"] == 16 * 1235814400.0 + 4 * 146);
    CHECK(small["fits"] == true);
    CHECK(large["state_bytes_per_device"] == 16 * 70553706496.0 + 4 * 723);
    CHECK(large["fits"] == false);
    CHECK(large["available"] == 150'109'106'995);  // 139.8 GiB
    CHECK(printed("latency --device h200 --model meta-llama/Llama-3.1-70B --training", {}, 8)
              .find("\nDoes not fit: 1.28 TiB of 140 GiB (H200 SXM), 1.15 TiB over the limit\n") != std::string::npos);
    CHECK(latency_json("--model meta-llama/Llama-3.1-70B --tp 16 --network ib_ndr --training")["fits"] == true);
    const std::string eager = "--model meta-llama/Llama-3.2-1B --training --batch 32 --execution eager";
    CHECK(latency_json("--model meta-llama/Llama-3.2-1B --training --batch 32")["fits"] == true);
    CHECK(latency_json(eager, 8)["fits"] == false);  // fused attention keeps less
    CHECK(latency_json(eager + " --recompute full")["fits"] == true);
    const json step = latency_json("--model meta-llama/Llama-3.2-1B --batch 16 --past 1000");
    CHECK(step["weight_bytes_per_device"] == 2 * 1235814400.0);
    CHECK(step["cache_bytes_per_device"] == 16.0 * 1001 * 16 * 2 * 8 * 64 * 2);
    CHECK(step["fits"] == true);
    CHECK(latency_json("--model meta-llama/Llama-3.2-1B --ragged 1@60000x100,1@9x9", 8)["fits"] ==
          false);  // 32 KiB a token
    const json unknown =
        json::parse(printed("latency --device apple_m1 --dtype float32 --model meta-llama/Llama-3.2-1B --format json"));
    CHECK(unknown["fits"] == nullptr);
    CHECK(unknown["needed"].get<double>() > 4 * 1235814400.0);
}

TEST_CASE("a step needs what the commands on memory say") {
    const std::string small = " --model meta-llama/Llama-3.2-1B --format json";
    const auto check_equal_memory = [&](const std::string& step, const std::string& memory_command) {
        const json a = json::parse(printed("latency --device h200" + small + step)),
                   b = json::parse(printed(memory_command + small));
        CHECK(a["needed"] == (b.contains("total") ? b["total"] : b["peak"]["total"]));
    };
    check_equal_memory(" --engine vllm --batch 16 --past 1000",
                       "memory --dtype bfloat16 --batch 16 --past 1000 --sequence 1");
    check_equal_memory(" --sequence 512", "memory --engine none --dtype bfloat16 --sequence 512");
    check_equal_memory(" --training --batch 4 --sequence 512",
                       "train --batch 4 --sequence 512 --precision bf16-mixed --attention-implementation sdpa");
    check_equal_memory(" --training --sequence 512 --execution eager --recompute full",
                       "train --sequence 512 --precision bf16-mixed --attention-implementation eager --recompute full");
}

// three products of layers and one of scores; what is made again is the layers alone
TEST_CASE("a training step makes layers again, and sums gradients of replicas") {
    const std::string step = "latency --device h200 --model meta-llama/Llama-3.2-1B --training --format json";
    const json plain = json::parse(printed(step)), recomputed = json::parse(printed(step + " --recompute full")),
               replicas = json::parse(printed(step + " --dp 4"));
    CHECK(plain["recomputed"]["seconds"] == 0.0);
    CHECK(recomputed["recomputed"]["flops_per_device"].get<double>() >
          0.7 * plain["forward"]["flops_per_device"].get<double>());
    CHECK(recomputed["recomputed"]["flops_per_device"].get<double>() <
          plain["forward"]["flops_per_device"].get<double>());
    CHECK(recomputed["backward"]["flops_per_device"].get<double>() ==
          doctest::Approx(plain["backward"]["flops_per_device"].get<double>() +
                          recomputed["recomputed"]["flops_per_device"].get<double>()));
    CHECK(plain["reduction"]["seconds"] == 0.0);
    CHECK(replicas["reduction"]["seconds"].get<double>() > 0);
    CHECK(replicas["seconds"].get<double>() > plain["seconds"].get<double>());
    CHECK(refused("latency --device h200 --model meta-llama/Llama-3.2-1B --recompute full") ==
          "llmcost: --recompute: requires --training\n");
}

// 32 layers of 8 experts of 3 · 4096 · 14336 among 46,702,792,704 parameters
TEST_CASE("a device updates the experts that it holds") {
    const std::string mixtral =
        "latency --model mistralai/Mixtral-8x7B-v0.1 --device h200 --training --sequence 64 --format json";
    const double experts = 32.0 * 8 * 3 * 4096 * 14336, all = 46702792704.0;
    CHECK(json::parse(printed(mixtral, {}, 8))["optimizer"]["bytes_per_device"] == 28 * all);
    CHECK(json::parse(printed(mixtral + " --dp 4 --ep 4", {}, 8))["optimizer"]["bytes_per_device"] ==
          28 * (all - experts + experts / 4));
}

TEST_CASE("images are counted as images, and what has no cache stands behind nothing") {
    const std::string vit = "latency --model google/vit-base-patch16-224 --device h200 --calibration none";
    CHECK(printed(vit + " --batch 8").find("\nstep of 8 images: ") != std::string::npos);
    CHECK(printed(vit).find("\nstep of 1 image: ") != std::string::npos);
    const json step = json::parse(printed(vit + " --batch 8 --format json"));
    CHECK(step["batch"] == 8);
    const std::string training = printed(vit + " --training --batch 32 --price 2");
    CHECK(training.find("\ntraining step of 32 images: ") != std::string::npos);
    CHECK(training.find(" images/s, ") != std::string::npos);
    CHECK(training.find(" per million images\n") != std::string::npos);
    const json j = json::parse(printed(vit + " --training --batch 32 --format json"));
    CHECK(j["images_per_second"].get<double>() == doctest::Approx(32 / j["seconds"].get<double>()));
    for (const json& answer : {step, j})
        for (const char* member : {"sequence", "past", "tokens_per_second"}) CHECK_FALSE(answer.contains(member));
    const std::string bert = "latency --model google-bert/bert-base-uncased --device h200 --calibration none";
    CHECK(printed(bert + " --sequence 128").find("\nstep of 1 x 128 tokens: ") != std::string::npos);
    CHECK(printed(one_step + " --sequence 128").find("\nstep of 1 x 128 tokens after 0 cached tokens: ") !=
          std::string::npos);
}

// LMSYS, Deploying DeepSeek with PD Disaggregation and Large-Scale Expert Parallelism on 96 H100 GPUs, 2025-05-05.
// A node of eight produces 22,282 output tokens per second, with 256 requests of 2,000 input tokens on each of 72
// devices.
TEST_CASE("experts over several nodes receive their own tokens, not those of all ranks") {
    const std::string wide =
        "latency --model deepseek-ai/DeepSeek-V3 --device h100 --engine sglang --tp 1 --dp 72 --ep 72 --network 50 "
        "--dtype fp8_block --batch 256 --sequence 1 --past 2048 --redundant-experts 32 --format json" +
        measured;
    const double published = 256 * 8 / 22282.0;
    const auto seconds = [&](const std::string& options) {
        const outcome got = llmcost_line(wide + options);  // warns: SGLang's expert kernels were not measured
        REQUIRE_MESSAGE(got.code == 0, got.err);
        return json::parse(got.out)["seconds"].get<double>();
    };
    CHECK(seconds("") > 0.8 * published);  // without the overlap of two batches
    CHECK(seconds("") < 1.3 * published);
    CHECK(seconds(" --all-to-all-backend allgather_reducescatter") > 3 * published);
    CHECK(seconds(" --all2all-backend deepep") == seconds(""));
    CHECK(seconds(" --routing balanced") == seconds(""));
    CHECK(refused(wide + " --all-to-all-backend pplx")
              .find("--all-to-all-backend: expected one of allgather_reducescatter") != std::string::npos);
    CHECK(refused("latency --model deepseek-ai/DeepSeek-V3 --device h100 --tp 8 --redundant-experts 8")
              .ends_with("--redundant-experts: requires --ep\n"));
    CHECK(refused(one_step + " --redundant-experts 8")
              .ends_with("--redundant-experts: not supported: this model has no routed experts\n"));
}

// diffusers, pipelines/flux/pipeline_flux.py: `max_sequence_length: int = 512` tokens of the prompt
TEST_CASE("a denoiser reads the tokens of a prompt next to its image") {
    const std::string flux =
        "latency --device h100 --model black-forest-labs/FLUX.1-dev --image 1024x1024 --dtype bfloat16";
    CHECK(has(printed(flux + " --sequence 512"), "gemm m 512 n 3,072 k 4,096"));
    CHECK(has(printed(flux), "gemm m 1 n 3,072 k 4,096"));
    CHECK(refused(flux + " --past 3")
              .ends_with("--past: not supported: images are the only input of this model; use "
                         "--batch\n"));
}

// openai/whisper-large-v3: 1,500 keys of the encoder, 20 heads of 64
TEST_CASE("cross-attention of one decoded token is a decode over the keys of the encoder") {
    const json step =
        json::parse(printed("latency --device a100 --model openai/whisper-large-v3 --batch 24 --sequence 1 "
                            "--past 60 --dtype float16 --format json"));
    std::int64_t calls = 0;
    for (const json& op : step["ops"]) {
        CHECK_FALSE((op["kind"] == "full_attention" && op["sizes"]["isl"] == 1));
        if (op["kind"] != "generation_attention" || op["sizes"]["step"] != 1499) continue;
        calls += op["times"].get<std::int64_t>();
        CHECK(op["sizes"]["batch_size"] == 24);
        CHECK(op["sizes"]["num_heads"] == 20);
    }
    CHECK(calls == 32);
}

TEST_CASE("tokens before others need a cache") {
    const std::string cacheless = ": not supported: this model has no KV cache\n";
    const std::string bert = "latency --device h200 --model google-bert/bert-base-uncased ";
    CHECK(refused(bert + "--past 50") == "llmcost: --past" + cacheless);
    CHECK(refused(bert + "--cache-dtype fp8") == "llmcost: --cache-dtype: not supported: this model has no KV cache\n");
    CHECK(refused(bert + "--ragged 9,1@50") == "llmcost: --ragged" + cacheless);
    CHECK(printed(bert + "--past 0 --sequence 9").find("step of 1 x 9 tokens: ") != std::string::npos);
    CHECK(printed(bert + "--ragged 9x2,7").find("step of 2 x 9 tokens and 1 x 7 tokens: ") != std::string::npos);
    for (const char* model : {"google-t5/t5-small", "state-spaces/mamba-130m-hf", "meta-llama/Llama-3.2-1B"})
        CHECK(llmcost_line("latency --device h200 --past 50 --model " + std::string(model))
                  .out.find(" after 50 cached tokens: ") != std::string::npos);
}

TEST_CASE("groups of devices each have a batch") {
    CHECK(printed(one_step + " --dp 8 --batch 64 --past 9")
              .find("\nstep of 64 x 1 token after 9 cached tokens on each of 8 data-parallel ranks: ") !=
          std::string::npos);
    CHECK(json::parse(printed(one_step + " --dp 8 --batch 64 --format json"))["groups"] == 8);
    const auto training = [](const std::string& other_requests) {
        return json::parse(printed(one_step + " --training --batch 4 --format json" + other_requests));
    };
    const json one = training(""), eight = training(" --dp 8");
    CHECK(eight["groups"] == 8);
    CHECK(eight["seconds"].get<double>() ==
          doctest::Approx(one["seconds"].get<double>() + eight["reduction"]["seconds"].get<double>()));
    CHECK(eight["tokens_per_second"].get<double>() == doctest::Approx(8 * 4 * 1024 / eight["seconds"].get<double>()));
    CHECK(printed(one_step + " --training --batch 4 --dp 8")
              .find("\ntraining step of 4 x 1,024 tokens on each of 8 data-parallel ranks: ") != std::string::npos);
    CHECK(printed("latency --help").find("Each data-parallel rank has this") != std::string::npos);
}

TEST_CASE("a step's kernels as CSV are those of its JSON") {
    const json j = json::parse(printed(one_step + vllm + " --past 100 --format json"));
    std::istringstream lines(printed(one_step + vllm + " --past 100 --format csv"));
    std::string line;
    std::getline(lines, line);
    CHECK(line == "name,kind,sizes,times,seconds,lower,upper,flops,bytes,bound,calibrated");
    double seconds = 0;
    std::size_t rows = 0;
    for (; std::getline(lines, line); ++rows) {
        std::size_t position = 0;
        for (int field = 0; field < 4; ++field) position = line.find(',', position) + 1;
        seconds += std::stod(line.substr(position));
    }
    CHECK(rows == j["ops"].size());
    CHECK(seconds == doctest::Approx(j["seconds"].get<double>()).epsilon(1e-12));
}

// 16 layers: a framework dispatches far more than the 146 kernels of the fused step, and the device waits for it
TEST_CASE("eager execution is what its host issues") {
    const json graph = json::parse(printed(one_step + vllm + " --past 100 --format json"));
    const json eager = json::parse(printed(one_step + vllm + " --past 100 --execution eager --format json"));
    CHECK(graph["host_seconds"] == 0);
    CHECK(graph["launches_per_device"] == 146);
    CHECK(eager["launches_per_device"].get<double>() > 500);
    CHECK(eager["seconds"].get<double>() == doctest::Approx(16e-6 * eager["launches_per_device"].get<double>()));
    CHECK(eager["bound"] == "launch");
    CHECK(eager["flops_per_device"].get<double>() ==
          doctest::Approx(graph["flops_per_device"].get<double>()).epsilon(1e-3));
    CHECK(printed(one_step + " --execution stream").find("kernels launched one by one; 146 launches") !=
          std::string::npos);
}

TEST_CASE("what cannot be timed is said") {
    CHECK(refused("latency --model meta-llama/Llama-3.2-1B").find("--device: required") != std::string::npos);
    CHECK(refused("latency --model meta-llama/Llama-3.2-1B --device h2000").find("nearest: h200") != std::string::npos);
    CHECK(refused(one_step + " --tp 3").find("does not divide the number of attention heads") != std::string::npos);
    const std::string v3 = "latency --model deepseek-ai/DeepSeek-V3 --device h200";
    CHECK(refused(v3 + " --ep 8") == "llmcost: --ep: 8 does not divide the number of devices, 1 (--tp and --dp)\n");
    CHECK(refused(v3 + " --tp 8 --ep 3") ==
          "llmcost: --ep: 3 does not divide the number of devices, 8 (--tp and --dp)\n");
    CHECK(refused(one_step + " --ep 2") == "llmcost: --ep: not supported: this model has no routed experts\n");
    CHECK(refused(one_step + " --engine vlm").find("nearest: vllm") != std::string::npos);
    CHECK(has(refused(one_step + " --engine tgi"), "no engine 'tgi'; expected one of trtllm, vllm, sglang\n"));
    CHECK(has(refused(one_step + " --dtype q4"), "no type 'q4'; expected one of float32, bfloat16, "));
    CHECK(refused(one_step + " --rate 3") ==
          "llmcost: latency: no option '--rate' (see llmcost latency --help); --rate is an option of llmcost serve, "
          "simulate, plan\n");
    CHECK(refused(one_step + " --dtype fp9").find("nearest: fp8") != std::string::npos);
    CHECK(refused(one_step + " --routing fair").find("expected one of balanced") != std::string::npos);
    CHECK(refused(one_step + " --routing balanced")
              .ends_with("--routing: not supported: this model has no routed experts\n"));
    CHECK(refused(one_step + " --experts-dtype fp8")
              .ends_with("--experts-dtype: not supported: this model has no routed experts\n"));
    CHECK(refused(one_step + " --tree").ends_with("; --tree is an option of llmcost without a command\n"));
    CHECK(refused(one_step + " --price -1").find("expected a number from 0") != std::string::npos);
    CHECK(refused(one_step + " --format xml").find("expected one of text, json, csv") != std::string::npos);
    CHECK(has(printed(one_step + " --training --format csv"), "phase,seconds,flops,bytes\nforward,"));
    CHECK(refused(one_step + " --execution lazy").find("expected one of graph, stream, eager") != std::string::npos);
    CHECK(refused("latency --model deepseek-ai/DeepSeek-V3 --device h200 --tp 8 --ep 8 --execution eager")
              .find("expected --tp 1 --dp 1") != std::string::npos);
    CHECK(refused(one_step + " mult") == "llmcost: latency: expected only options, found 'mult'\n");
    CHECK(refused("latency --config " LLMCOST_TEST_DIR "/none.json --device h200", {}, 3).find("none.json") !=
          std::string::npos);
    CHECK(printed("latency --help").find("--cache-dtype") != std::string::npos);
}

// vLLM and SGLang pad the vocabulary to a multiple of 64 (DEFAULT_VOCAB_PADDING_SIZE)
TEST_CASE("a vocabulary that is no multiple of 8 is padded by engines, and elsewhere the padding is recommended") {
    const std::string gpt2 = "latency --config " + config_of("openai-community__gpt2") +
                             " --device h200 --batch 8 --sequence 1024 --logits all";
    const auto head_outputs = [&](const std::string& options) {
        const json ops = json::parse(printed(gpt2 + " --format json" + options))["ops"];
        for (const json& op : ops)
            if (op["name"] == "lm_head") return op["sizes"]["n"].get<int>();
        return 0;
    };
    CHECK(head_outputs(" --engine vllm") == 50304);
    CHECK(head_outputs(" --engine vllm --tp 2") == 25152);
    CHECK(head_outputs(" --engine sglang") == 50304);
    CHECK(head_outputs("") == 50257);
    const json plain = json::parse(printed(gpt2 + " --format json")),
               padded = json::parse(printed(gpt2 + " --format json --set vocab_size=50304"));
    REQUIRE(plain["faster"].size() == 1);
    CHECK(plain["faster"][0]["change"] == "--set vocab_size=50304 (padded vocabulary)");
    CHECK(plain["faster"][0]["seconds"] == padded["seconds"]);
    CHECK_FALSE(padded.contains("faster"));
    CHECK(has(printed(gpt2), "--set vocab_size=50304 (padded vocabulary)"));
    CHECK_FALSE(json::parse(printed(gpt2 + " --format json --engine vllm")).contains("faster"));
    CHECK(has(printed("why --config " + config_of("openai-community__gpt2")), "Pad it to 50,304"));
    CHECK_FALSE(has(printed("why " + llama), "Pad it"));
}

// torch.backends.cudnn.allow_tf32 is initially True; 8 to 128 images on an H200 reach 11 to 27 % of its peak
// (tests/torch/h200_steps.jsonl.gz)
TEST_CASE("float32 convolutions multiply in TF32 without an engine") {
    const std::string resnet = "latency --model torchvision/resnet50 --batch 128 --dtype float32 --device ";
    const json step = json::parse(printed(resnet + "h200 --format json"));
    double seconds = 0, flops = 0;
    for (const json& k : step["ops"]) {
        if (k["kind"] != "gemm" || !has(k["name"].get<std::string>(), "conv")) continue;
        CHECK(k["calibrated"] == false);
        seconds += k["seconds"].get<double>();
        flops += k["flops"].get<double>();
    }
    // the datasheet: 494.7 TFLOP/s in TF32, 66.9 in float32
    CHECK(flops / seconds > 66.9e12);
    CHECK(flops / seconds < 0.27 * 494.7e12);
    // the recorded forward pass takes 17.4 ms
    CHECK(step["seconds"].get<double>() == doctest::Approx(0.01737).epsilon(0.25));
    const char* const assumption =
        "Assumption: float32 convolutions multiply in TF32, as PyTorch does by default "
        "(torch.backends.cudnn.allow_tf32)";
    CHECK(has(printed(resnet + "h200"), assumption));
    CHECK(has(printed(resnet + "h200 --training"), assumption));
    CHECK(!has(printed("latency --model torchvision/resnet50 --batch 128 --dtype bfloat16 --device h200"), "TF32"));
    CHECK(!has(printed(resnet + "v100_sxm2"), "TF32"));  // without TF32
}
