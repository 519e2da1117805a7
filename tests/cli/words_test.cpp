// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

using namespace llmcost::testing;
using nlohmann::json;

// What is said of words that choose nothing, mean nothing, or mean something else than they say.

namespace {

/// The messages of a run on the standard error.
std::string note(const std::string& line, const surroundings& settings = {}, int code = 0) {
    const outcome o = llmcost_line(line, settings);
    CHECK(o.code == code);
    CHECK(o.out != "");
    return o.err;
}

}  // namespace

// folders of configs/calibrations: of gemm on H200 the engines' own; on A100 SGLang's, of norms Sarathi's
TEST_CASE("a warning names the software whose kernels are used instead") {
    const std::string product = "op gemm --device h200 --m 64 --n 4096 --k 4096" + measured + " --kernels ";
    CHECK(
        note(product + "torch") ==
        "llmcost: warning: --kernels: no measurements of 'torch' on h200_sxm for gemm bfloat16; using those of vllm\n");
    CHECK(note(product + "vllm") == "");
    CHECK(note("op norm --device a100 --m 64 --k 4096 --kernels vllm" + measured) ==
          "llmcost: warning: --kernels: no measurements of 'vllm' on a100_sxm_80gb for norm bfloat16; using those "
          "of sarathi\n");
    CHECK(note("op gemm --device l4 --m 64 --n 64 --k 64 --kernels vllm --calibration none") == "");  // no measurements
    const std::string latency = "latency --model meta-llama/Llama-3.2-1B --device a100 --engine ";
    const std::string sglang =
        "llmcost: warning: --engine: no measurements of 'vllm' on a100_sxm_80gb for gemm bfloat16; using "
        "those of sglang\n";
    CHECK(note(latency + "vllm" + measured) == sglang);
    CHECK(note(latency + "vllm --training --sequence 8" + measured) == sglang);
    CHECK(note("serve --model meta-llama/Llama-3.2-1B --device a100 --engine vllm" + measured) == sglang);
    // NCCL is what every engine calls
    CHECK(note("latency --model meta-llama/Llama-3.2-1B --device h200 --engine vllm --tp 2" + measured) == "");
}

TEST_CASE("rows cause one warning about kernels of another software") {
    const std::string rows = "m,n,k,backend\n64,4096,4096,torch\n1,4096,4096,torch\n64,4096,4096,vllm\n64,4096,4096,\n";
    const std::string instead = "no measurements of 'torch' on h200_sxm for gemm bfloat16; using those of vllm\n";
    const std::string line = "op gemm --device h200 --dtype bfloat16" + measured;
    CHECK(note(line, {.in = rows}) == "llmcost: warning: line 2: backend: " + instead);
    CHECK(note(line + " --kernels torch", {.in = "m,n,k\n1,64,64\n1,64,64\n"}) ==
          "llmcost: warning: line 2: --kernels: " + instead);
    CHECK(note("serve --configs " LLMCOST_TEST_DIR "/fit/serving" + measured,
               {.in = "model_path,system,backend,isl,osl,batch_size,tp_size\n"
                      "meta-llama/Llama-3.1-70B,a100_sxm_80gb,vllm,100,10,1,4\n"}) ==
          "llmcost: warning: backend: no measurements of 'vllm' on a100_sxm_80gb for gemm bfloat16; using "
          "those of sglang\n");
}

TEST_CASE("encoder tokens are an error for models that are no encoder-decoder, in all commands") {
    const std::string encoder =
        "llmcost: --encoder-sequence: not supported: this model is not an encoder-decoder; use --sequence\n";
    for (const std::string command : {"", "latency --device h200 "}) {
        const auto refusal = [&](const std::string& model) {
            return refused(command + "--model " + model + " --encoder-sequence 9");
        };
        CHECK(refusal("meta-llama/Llama-3.2-1B") == encoder);
        CHECK(refusal("google-bert/bert-base-uncased") == encoder);
        CHECK(printed(command + "--model google-t5/t5-small --encoder-sequence 9 --past 9") != "");
        CHECK(llmcost_line(command + "--model facebook/bart-base --encoder-sequence 9").code == 0);
    }
    CHECK(refused("--model google/vit-base-patch16-224 --encoder-sequence 9") == encoder);
    const std::string whisper =
        "--config " + config_of("openai__whisper-large-v3-turbo") + " --sequence 9 --format csv mult";
    CHECK(printed(whisper + " --encoder-sequence 9") == printed(whisper));  // always 30 seconds
}

TEST_CASE("image models have no tokens, and models without a KV cache no past") {
    for (const std::string option : {"--sequence", "--past", "--encoder-sequence", "--ragged"})
        CHECK(refused("latency --device h200 --model google/vit-base-patch16-224 " + option + " 3") ==
              "llmcost: " + option + ": not supported: images are the only input of this model; use --batch\n");
    CHECK(refused("latency --device h200 --model google-bert/bert-base-uncased --sequence 9 --past 9") ==
          "llmcost: --past: not supported: this model has no KV cache\n");
}

TEST_CASE("a training step computes the logits of all positions") {
    const std::string step = "latency --model meta-llama/Llama-3.2-1B --device h200 --training --sequence 8";
    for (const std::string positions : {"last", "none"})
        CHECK(refused(step + " --logits " + positions) ==
              "llmcost: --logits: a training step computes the logits of all positions; expected all\n");
    CHECK(printed(step + " --logits all") == printed(step));
    // counts depend on the option
    const auto forward = [](const std::string& positions) {
        return json::parse(printed("--model meta-llama/Llama-3.2-1B --sequence 8 --training --format json --logits " +
                                   positions))["training"]["torch_flops"]["forward"];
    };
    CHECK(forward("last") < forward("all"));
}

TEST_CASE("weight-only types are not supported for the KV cache") {
    const std::string instead = "expected one of bfloat16, float16, float32, fp8, fp8_block, int8, nvfp4; found '";
    const std::string model = "--model meta-llama/Llama-3.2-1B --device h200 --cache-dtype ";
    for (const std::string command : {"latency ", "serve "}) {
        for (const std::string type : {"int4_wo", "w4a16_mxfp4"})
            CHECK(refused(command + model + type) == "llmcost: --cache-dtype: " + instead + type + "'\n");
        CHECK(refused(command + model + "mxfp4").ends_with("found 'w4a16_mxfp4'\n"));
        for (const std::string type : {"float32", "half", "fp8", "int8", "nvfp4"})
            CHECK(printed(command + model + type) != "");
    }
    const std::string attention = "op generation_attention --device h200 --dtype bf16 ";
    CHECK(refused(attention + "--step 9 --num_heads 8 --num_key_value_heads 8 --kv_cache_dtype int4_wo") ==
          "llmcost: --kv_cache_dtype: " + instead + "int4_wo'\n");
    CHECK(refused_row(attention,
                      {.in = "step,num_heads,num_key_value_heads,kv_cache_dtype\n9,8,8,fp8\n9,8,8,int4_wo\n"}) ==
          "llmcost: line 3: kv_cache_dtype: " + instead + "int4_wo'\n");
}

TEST_CASE("a row without a type has that of the option; without one it is an error") {
    const std::string line = "op gemm --device h200" + measured;
    const std::string open = "m,n,k,gemm_dtype\n64,4096,4096,bfloat16\n64,4096,4096,\n";
    CHECK(refused_row(line, {.in = open}) ==
          "llmcost: line 3: gemm_dtype: expected a type, or --dtype for rows without one; found ''\n");
    CHECK(refused(line, {.in = "m,n,k\n1,2,3\n"}) == "llmcost: line 1: expected a column 'gemm_dtype', or --dtype\n");
    const std::string out = printed(line + " --dtype bf16", {.in = open});
    const std::size_t first = out.find("bfloat16,") + 9, second = out.find(",4096,,") + 7;
    CHECK(out.substr(first, out.find('\n', first) - first) == out.substr(second, out.find('\n', second) - second));
    CHECK(refused_row(line, {.in = "m,n,k,gemm_dtype\n1,2,3,bf17\n"})
              .starts_with("llmcost: line 2: gemm_dtype: no type 'bf17'; expected one of "));
    CHECK(refused_row("op norm --device h200", {.in = "m,k,dtype\n1,2,bf17\n"})
              .starts_with("llmcost: line 2: dtype: no type "));
    CHECK(refused(line + " --dtype bf17", {.in = "m,n,k\n1,2,3\n"}).starts_with("llmcost: --dtype: no type 'bf17'"));
}

TEST_CASE("errors of rows have one form in all commands") {
    const std::string expected_error = "expected a whole number from 1 to 2147483647, found '0'\n";
    CHECK(refused_row("op gemm --device h200 --dtype bf16", {.in = "m,n,k\n1,2,3\n1,0,3\n"}) ==
          "llmcost: line 3: n: " + expected_error);
    CHECK(refused_row("serve --configs " LLMCOST_TEST_DIR "/fit/serving",
                      {.in = "model_path,system,isl,osl,batch_size\n\nmeta-llama/Llama-3.1-70B,h200,9,9,0\n"}) ==
          "llmcost: line 3: batch_size: " + expected_error);
}

// kernels of configs/calibrations/h200_sxm/gemm/*/bfloat16.json and .../moe/vllm-0.24.0/fp8_block-balanced.json
TEST_CASE("an unknown kernel_source is ignored with one warning") {
    const std::string line = "op gemm --device h200 --dtype bf16" + measured;
    const std::string columns = "m,n,k,kernel_source,backend\n";
    CHECK(note(line,
               {.in = columns + "64,64,64,foo,trtllm\n1,64,64,foo,trtllm\n1,64,64,torch_flow,trtllm\n1,64,64,,\n"}) ==
          "llmcost: warning: line 2: kernel_source: expected one of torch_flow; found 'foo'; ignored\n");
    CHECK(note(line, {.in = columns + "1,64,64,torch_flow,\n"}) == "");
    // of another software than the row's own
    CHECK(note(line, {.in = columns + "1,64,64,torch_flow,vllm\n"}) ==
          "llmcost: warning: line 2: kernel_source: expected one of torch.nn.functional.linear; found 'torch_flow'; "
          "ignored\n");
    CHECK(note(line, {.in = columns + "1,64,64,foo,\n"}).find(", torch.nn.functional.linear, torch_flow, ") !=
          std::string::npos);
    CHECK(note("op moe --device h200 --kernels vllm --dtype fp8_block" + measured,
               {.in = "num_tokens,hidden_size,inter_size,topk,num_experts,kernel_source\n64,64,64,8,8,foo\n"})
              .find("cutlass_flashinferexperts, vllm_fp8moe_triton_tritonexperts; found 'foo'; ") != std::string::npos);
    // without measurements there are no kernels
    CHECK(note("op gemm --device h200 --dtype bf16 --calibration none", {.in = columns + "1,64,64,foo,\n"}) == "");
}

// T4 and V100 have no bfloat16, A100 no fp8, Apple M1 no int8
TEST_CASE("an unsupported type is an error with the option and the type to use instead") {
    const std::string t4 = "t4: no peak for bfloat16 in its datasheet; supported: float32, float16, int8; use ";
    const std::string sizes = " --m 1 --n 1 --k 1", llama = " --model meta-llama/Llama-3.2-1B";
    CHECK(refused("op gemm --device t4" + sizes) == "llmcost: " + t4 + "--dtype float16\n");
    CHECK(printed("op gemm --device t4 --dtype float16" + sizes) != "");
    CHECK(refused_row("op gemm --device t4", {.in = "m,n,k,gemm_dtype\n1,2,3,half\n1,2,3,bf16\n"}) ==
          "llmcost: line 3: " + t4 + "gemm_dtype float16\n");
    CHECK(refused_row("op gemm --device t4 --dtype bf16", {.in = "m,n,k,gemm_dtype\n1,2,3,\n"}) ==
          "llmcost: line 2: " + t4 + "--dtype float16\n");
    CHECK(refused("serve --device t4" + llama) == "llmcost: " + t4 + "--dtype float16\n");
    CHECK(refused("latency --device apple_m1 --dtype int8" + llama)
              .ends_with("int4_wo, fp8_wo, nvfp4_wo; use --dtype bfloat16\n"));
    CHECK(
        refused("latency --model mistralai/Mixtral-8x7B-v0.1 --device a100 --tp 8 --experts-dtype fp8 --engine trtllm")
            .ends_with("; use --experts-dtype bfloat16\n"));
    CHECK(refused_row("serve --configs " LLMCOST_TEST_DIR "/fit/serving",
                      {.in = "model_path,system,isl,osl,batch_size,tp_size\nmeta-llama/Llama-3.1-70B,v100,9,9,1,8\n"})
              .ends_with("supported: float32, float16, int8; use gemm_quant_mode float16\n"));
}

TEST_CASE("an unknown device is an error with the nearest names, or with the list of devices") {
    const std::string sizes = " --m 1 --n 1 --k 1", list = " (see llmcost devices)\n";
    for (const std::string name : {"foo", "quantum_processor", "x"})
        CHECK(refused("op gemm --device " + name + sizes) ==
              "llmcost: --device: no device or file '" + name + "'" + list);
    CHECK(refused("op gemm --device h20o" + sizes) ==
          "llmcost: --device: no device or file 'h20o'; nearest: h200, h20, h100" + list);
    CHECK(refused("latency --model meta-llama/Llama-3.2-1B --device foo") ==
          "llmcost: --device: no device or file 'foo'" + list);
    CHECK(refused_row("op gemm --dtype bf16", {.in = "m,n,k,system\n1,2,3,foo\n"}) ==
          "llmcost: line 2: system: no device 'foo'" + list);
    CHECK(refused_row("op gemm --dtype bf16", {.in = "m,n,k,system\n1,2,3,h200\n1,2,3,\n"}) ==
          "llmcost: line 3: system: expected a device, or --device for rows without one; found ''\n");
    CHECK(refused_row("serve --configs " LLMCOST_TEST_DIR "/fit/serving",
                      {.in = "model_path,system,isl,osl,batch_size\nmeta-llama/Llama-3.1-70B,foo,9,9,1\n"}) ==
          "llmcost: line 2: system: no device 'foo'" + list);
}

TEST_CASE("unknown arguments of op are errors with the accepted ones") {
    CHECK(refused("op foo").starts_with("llmcost: op: no operator 'foo'; expected one of gemm, batched_gemm, "));
    CHECK(printed("op gemm --device h200 --help") == printed("op --help"));
    CHECK(refused("op gemm --foo x") == "llmcost: op: no option '--foo' (see llmcost op --help)\n");
    CHECK(refused("op gemm --device h200 --dtype q4 --m 1 --n 1 --k 1")
              .starts_with("llmcost: --dtype: no type 'q4'; expected one of float32, bfloat16, "));
}

// calibrations have collectives of up to 8 GPUs, those of one node
TEST_CASE("unknown links between nodes cause one warning") {
    const std::string expected_error =
        "num_gpus: no bandwidth between nodes is known; using the links of one node for all 16 devices, although a "
        "network is slower\n";
    for (const std::string family : {"nccl", "custom_allreduce"}) {
        const std::string line = "op " + family + " --device h200" + measured;
        CHECK(note(line + " --message_size 1024 --num_gpus 16") == "llmcost: warning: --" + expected_error);
        CHECK(note(line + " --message_size 1024 --num_gpus 8") == "");
        CHECK(note(line + " --dtype half", {.in = "message_size,num_gpus\n8,8\n8,16\n16,16\n"}) ==
              "llmcost: warning: line 3: " + expected_error);
    }
}

// the context length of Llama-3.2-1B is 131,072
TEST_CASE("tokens above the context length cause a warning in all commands") {
    const auto context_warning = [](const std::string& tokens) {
        return "llmcost: warning: meta-llama/Llama-3.2-1B: " + tokens +
               " tokens exceed the context length of 131,072\n";
    };
    const std::string model = " --model meta-llama/Llama-3.2-1B", device = model + " --device h200" + measured;
    for (const std::string query : {" flops", " --scopes", " --tree", " --format json", " --format csv"}) {
        INFO(query);
        CHECK(note(model + " --past 131072 --sequence 1" + query) == context_warning("131,073"));
        CHECK(note(model + " --past 131071 --sequence 1" + query) == "");
    }
    CHECK(note(model + " --input 131000 --output 73 flops") == context_warning("131,073"));
    CHECK(note(model + " --input 131000 --output 72 flops") == "");
    CHECK(note(model + " --ragged 5@9,1@139999x2 flops") == context_warning("140,000"));
    CHECK(note("latency --past 139999" + device) == context_warning("140,000"));
    CHECK(note("latency --past 131071" + device) == "");
    CHECK(note("latency --ragged 1@5,1@139999" + device) == context_warning("140,000"));
    CHECK(note("latency --training --sequence 140000" + device, {}, 8) == context_warning("140,000"));
    CHECK(note("serve --input 139000 --output 1000" + device) == context_warning("140,000"));
    CHECK(note("serve --input 131000 --output 72" + device) == "");
    const std::string row = "meta-llama/Llama-3.1-70B,h200,vllm,139000,1000,1,8\n";
    CHECK(note("serve --configs " LLMCOST_TEST_DIR "/fit/serving" + measured,
               {.in = "model_path,system,backend,isl,osl,batch_size,tp_size\n" + row + row}) ==
          "llmcost: warning: line 2: meta-llama/Llama-3.1-70B: 140,000 tokens exceed the context length of 131,072\n");
}
