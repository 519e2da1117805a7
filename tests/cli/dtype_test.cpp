// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// In which types a model is run, by an option, a checkpoint or a device.
#include "program.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <string>
#include <utility>

using namespace llmcost::testing;
using nlohmann::json;

// SGLang's attention of prompts was measured in 8 bits by FA3, and by Triton alone with queries of 16
TEST_CASE("prompts are multiplied in the type of an 8-bit cache where the engine does so and the device can") {
    const auto attention = [](const std::string& extra_args) {
        const json j =
            json::parse(llmcost_line("latency --model meta-llama/Llama-3.1-70B --tp 4 --sequence 4096 --format json"
                                     " --calibration " LLMCOST_TEST_DIR "/../configs/calibrations " +
                                     extra_args)
                            .out);
        for (const json& op : j["ops"])
            if (op["kind"] == "context_attention") return op["seconds"].get<double>();
        return 0.0;
    };
    const double bfloat16_seconds = attention("--device h200 --engine sglang --cache-dtype bfloat16");
    CHECK(bfloat16_seconds > 0);
    CHECK(attention("--device h200 --engine sglang --cache-dtype fp8") < bfloat16_seconds);
    CHECK(attention("--device a100 --engine sglang --cache-dtype fp8") > bfloat16_seconds);  // no peak in 8 bits
}

TEST_CASE("a checkpoint's own types are what its products read") {
    const std::string gpt =
        "latency --device h200 --config " LLMCOST_TEST_DIR "/fit/serving/openai__gpt-oss-120b.json --past 9";
    CHECK(printed(gpt).find("bfloat16, experts w4a16_mxfp4, KV cache bfloat16") != std::string::npos);
    CHECK(printed(gpt + " --engine sglang").find("w4a16_mxfp4, KV cache bfloat16") != std::string::npos);
    CHECK(printed(gpt + " --engine trtllm").find("w4a16_mxfp4, KV cache fp8") != std::string::npos);
    CHECK(printed(gpt + " --dtype fp8").find("fp8, KV cache fp8") != std::string::npos);  // one scale per tensor
    CHECK(printed(gpt + " --dtype fp8 --cache-dtype bfloat16").find("fp8, KV cache bfloat16") != std::string::npos);
    // its fp8 has a scale for each block, whichever way it is asked for
    for (const char* dtype_option : {"", " --dtype fp8", " --dtype fp8_block"})
        CHECK(
            printed("latency --model deepseek-ai/DeepSeek-V3 --device b200 --tp 8 --past 9" + std::string(dtype_option))
                .find(", 8 x B200 SXM (tp 8), weights fp8_block, KV cache bfloat16") != std::string::npos);
    CHECK(refused("latency --model deepseek-ai/DeepSeek-V3 --device a100 --tp 8 --engine trtllm") ==
          "llmcost: a100_sxm_80gb: no peak for fp8_block in its datasheet; "
          "supported: float32, bfloat16, float16, int8, w4a16_mxfp4, int8_wo, int4_wo, fp8_wo, nvfp4_wo; use --dtype "
          "bfloat16\n");
}

// OCP Microscaling Formats 1.0, section 5.2: a scale of 8 bits for 32 elements. TensorRT-LLM, `QuantAlgo.W8A16`: one
// scale per output channel. Only linear layers are quantized, so differences of weight bytes count their parameters.
TEST_CASE("quantization types have the names of engines and benchmark tables") {
    const auto serve = [](const std::string& type) {
        return json::parse(printed("serve --model Qwen/Qwen3-8B --device b200 --format json --dtype " + type));
    };
    const auto bytes = [&](const std::string& type) { return serve(type)["weight_bytes_per_device"].get<double>(); };
    const double num_linear = bytes("bfloat16") - bytes("int8_wo");
    CHECK(bytes("mxfp8") - bytes("int8_wo") == num_linear / 32);
    CHECK(bytes("int8_wo") - bytes("w4a8_mxfp4_mxfp8") == num_linear * (1 - 0.5 - 1.0 / 32));
    CHECK(bytes("int8_wo") - bytes("w4afp8") == num_linear * (1 - 0.5 - 2.0 / 128));
    const std::pair<const char*, const char*> names[]{{"fp8_static", "fp8"},
                                                      {"fp8_ootb", "fp8"},
                                                      {"fp8_block_scales", "fp8_block"},
                                                      {"sq", "int8"},
                                                      {"w8a8", "int8"},
                                                      {"awq", "int4_wo"},
                                                      {"gptq", "int4_wo"},
                                                      {"w4a16", "int4_wo"},
                                                      {"w8a16", "int8_wo"},
                                                      {"mxfp8", "mxfp8"},
                                                      {"w4a8_mxfp4", "w4a8_mxfp4_mxfp8"},
                                                      {"w4afp8", "w4afp8"},
                                                      {"modelopt_fp4", "nvfp4"},
                                                      {"mxfp4", "w4a16_mxfp4"}};
    for (const auto& [alias, name] : names) CHECK(serve(alias)["dtype"] == name);
    // types without a product on the device are unpacked, in tables as with --dtype
    CHECK(has(llmcost_line("serve --model Qwen/Qwen3-8B --device a100 --dtype w4afp8").err, "(int4_wo)"));
    const std::string row =
        "model_path,system,backend,isl,osl,batch_size,gemm_quant_mode\n"
        "meta-llama/Llama-3.1-70B,a100,vllm,100,100,1,";
    const std::string line = "serve --calibration none --configs " LLMCOST_TEST_DIR "/fit/serving";
    const auto predicted = [&](const std::string& type) {
        const outcome got = llmcost_line(line, {.in = row + type + '\n'});
        CHECK(got.code == 0);
        return got.out.substr(got.out.rfind(type) + type.size());
    };
    CHECK(predicted("nvfp4") == predicted("nvfp4_wo"));
    CHECK(predicted("w4afp8") == predicted("int4_wo"));
}

// T4: 320 GB/s, no bfloat16; Apple M2: 100 GB/s. 1,235,814,400 parameters are read
TEST_CASE("where a device has no bfloat16, nothing is multiplied in it") {
    const std::string one = "latency --model meta-llama/Llama-3.2-1B --past 1 --format json --device ";
    const auto seconds = [&](const std::string& arguments) {
        return json::parse(printed(one + arguments)).at("seconds");
    };
    CHECK(seconds("t4 --dtype float16") > 2 * 1235814400.0 / 320e9);
    CHECK(seconds("t4 --dtype float32") > 4 * 1235814400.0 / 320e9);  // the head too
    CHECK(seconds("apple_m2 --dtype float32") > 4 * 1235814400.0 / 100e9);
    CHECK(
        refused("latency --model meta-llama/Llama-3.2-1B --device t4") ==
        "llmcost: t4: no peak for bfloat16 in its datasheet; supported: float32, float16, int8; use --dtype float16\n");
    const std::string server = printed(
        "serve --model meta-llama/Llama-3.2-1B --device t4 --dtype float16 --engine vllm "
        "--input 100 --output 100 --concurrency 2");
    CHECK(server.find(", T4, vLLM, weights float16, KV cache float16") != std::string::npos);
}

TEST_CASE("an engine runs on its vendor's devices, a model of 32 bits in what the device has") {
    CHECK(refused("serve --model meta-llama/Llama-3.2-1B --input 1000 --output 100 --device mi300x --engine trtllm") ==
          "llmcost: --engine: trtllm supports devices of NVIDIA, not MI300X\n");
    CHECK(refused_row("serve --configs " LLMCOST_TEST_DIR "/fit/serving",
                      {.in = "model_path,system,backend,isl,osl,batch_size,tp_size\n"
                             "meta-llama/Llama-3.1-70B,mi300x,trtllm,100,100,1,8\n"}) ==
          "llmcost: line 2: backend: trtllm supports devices of NVIDIA, not MI300X\n");
    const std::string float32_config = R"({"model_type":"llama","torch_dtype":"float32","num_hidden_layers":2})";
    const std::string open = R"({"model_type":"llama","num_hidden_layers":2})",
                      run = "llmcost: warning: standard input: ";
    CHECK(llmcost_line("latency --config - --device t4", {.in = float32_config}).err ==
          run + "the checkpoint is float32; using float16, because T4 does not support bfloat16 (see --dtype)\n");
    CHECK(llmcost_line("serve --input 9 --output 9 --config - --device t4", {.in = open}).err ==
          run +
              "the checkpoint has no dtype (float32); using float16, because T4 does not support bfloat16 (see "
              "--dtype)\n");
    CHECK(llmcost_line("latency --config - --device h100", {.in = float32_config}).err ==
          run + "the checkpoint is float32; using bfloat16, the engines' default (see --dtype)\n");
    for (const char* types : {"float32", "float16"})
        CHECK(llmcost_line("latency --config - --device t4 --dtype " + std::string(types), {.in = float32_config})
                  .err.empty());
    CHECK(llmcost_line("latency --config - --device h100", {.in = open}).err.empty());
    CHECK(llmcost_line("latency --config - --device t4", {.in = float32_config})
              .out.starts_with("standard input, T4, weights float16, "));
    CHECK(llmcost_line("latency --config - --device h100", {.in = float32_config})
              .out.starts_with("standard input, H100 SXM, weights bfloat16, "));
    CHECK(refused("latency --model meta-llama/Llama-3.2-1B --device t4")
              .starts_with("llmcost: t4: no peak for bfloat16"));
}
