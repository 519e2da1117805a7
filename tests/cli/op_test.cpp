// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

using namespace llmcost::testing;
using nlohmann::json;

// an empty product of 16 bits: 3.3 µs and what 8,192³ takes at 78 % of 989.4 TFLOP/s
TEST_CASE("an operator without a calibration is its datasheet and typical efficiencies, and says so") {
    const std::string text = printed("op gemm --device h200_sxm --m 8192 --n 8192 --k 8192");
    CHECK(text.starts_with("gemm m 8,192 n 8,192 k 8,192 bfloat16 on H200 SXM: 1.429 ms  ("));
    CHECK(text.find("bound by compute; 78 % of the roofline") != std::string::npos);
    CHECK(text.find("Not measured: estimated from the datasheet (see --calibration)") != std::string::npos);
    const json j = json::parse(printed("op gemm --device H200 --m 1 --n 1 --k 1 --format json"));
    CHECK(j["seconds"].get<double>() == doctest::Approx(3.3e-6).epsilon(0.001));
    CHECK(j["bound"] == "launch");
    CHECK(j["calibration"].is_null());
    CHECK(j["flops"] == 2);
    CHECK(j["bytes"] == 6);
}

TEST_CASE("a device of one's own is a file") {
    const std::string file = LLMCOST_TEST_DIR "/../configs/devices/l4.json";
    const std::string shape = " --m 100 --n 200 --k 300 --format json";
    const json custom_device = json::parse(printed("op gemm --device " + file + shape)),
               known = json::parse(printed("op gemm --device l4" + shape));
    CHECK(custom_device["device"] == "L4");
    CHECK(custom_device["seconds"] == known["seconds"]);
    CHECK(
        llmcost_line("op gemm --device " LLMCOST_TEST_DIR "/golden/google-bert__bert-base-uncased.json" + shape).code ==
        3);
}

TEST_CASE("a calibration is chosen by device, software and operand") {
    const std::string shape = "op gemm --device h200_sxm --m 64 --n 4096 --k 4096 --format json" + measured;
    const json default_calibration = json::parse(printed(shape));
    CHECK(default_calibration["calibration"]["held_out_median_error"].get<double>() < 0.1);
    for (const char* software : {"trtllm", "vllm", "sglang"}) {
        const json j = json::parse(printed(shape + " --kernels " + software));
        CHECK(j["calibration"]["software"] == software);
        CHECK(j["lower"].get<double>() < j["seconds"].get<double>());
        CHECK(j["upper"].get<double>() > j["seconds"].get<double>());
    }
    CHECK(json::parse(printed(shape + " --kernels vllm --engine-version 0.22.0"))["calibration"]["version"] ==
          "0.22.0");
    CHECK(json::parse(printed(shape + " --kernels vllm"))["calibration"]["version"] == "0.24.0");
    CHECK(default_calibration["calibration"]["software"] == "vllm");
    CHECK(json::parse(printed(shape + " --dtype fp8"))["dtype"] == "fp8");
    CHECK(json::parse(printed("op gemm --device h20 --m 1 --n 64 --k 64 --format json" + measured))["calibration"]
              .is_null());
}

TEST_CASE("operators of rows find their measurements, at the width of their elements") {
    const auto calibration_of = [](const std::string& line) {
        return json::parse(printed("op " + line + " --m 4096 --k 4096 --format json" + measured))["calibration"];
    };
    CHECK(calibration_of("elementwise --device a100 --operation add --dtype float16")["software"] == "sarathi");
    CHECK(calibration_of("elementwise --device a100 --operation add")["software"] == "sarathi");  // bfloat16 is as wide
    CHECK(calibration_of("elementwise --device a100 --operation add --dtype float32").is_null());
    CHECK(calibration_of("elementwise --device l4 --operation add --dtype float32")["software"] == "torch");
    CHECK(calibration_of("elementwise --device l4 --operation add").is_null());
    CHECK(calibration_of("elementwise --device l4 --dtype float32").is_null());  // a map is none of the operations
    CHECK(calibration_of("norm --device a100")["software"] == "sarathi");
    CHECK(calibration_of("norm --device a100 --kernels eager")["software"] == "eager");
    CHECK(calibration_of("softmax --device a100")["software"] == "eager");
    CHECK(calibration_of("softmax --device t4 --dtype float32")["software"] == "torch");
}

TEST_CASE("families have their own sizes and words") {
    const auto one = [](const std::string& line) {
        return json::parse(printed("op " + line + " --format json" + measured));
    };
    const json attention =
        one("context_attention --device h200 --isl 2048 --num-heads 32 --num_key_value_heads 8 --kernels trtllm");
    CHECK(attention["head_dim"] == 128);
    CHECK(attention["kv_cache_dtype"] == "bfloat16");
    CHECK(attention["flops"] == 4.0 * 32 * 128 * (2048.0 * 2049 / 2));
    CHECK(attention["calibration"]["kernel"] == "torch_flow");
    // a cache of one byte is another kernel
    const std::string step =
        "generation_attention --device h200 --step 8192 --batch_size 64 --num_heads 32 "
        "--num_key_value_heads 8 --kernels vllm";
    CHECK(one(step + " --kv_cache_dtype fp8")["bytes"].get<double>() < one(step)["bytes"].get<double>());
    const std::string experts =
        "moe --device h200 --num_tokens 64 --hidden_size 7168 --inter_size 2048 --topk 8 "
        "--num_experts 256 --dtype fp8_block";
    CHECK(one(experts)["distribution"] == "balanced");
    CHECK(one(experts + " --distribution power_law_1.2")["seconds"] != one(experts)["seconds"]);
    // collectives cost by their bytes: bfloat16 is measured as float16
    const std::string reduce = "nccl --device h100 --message_size 1048576 --num_gpus 8";
    CHECK(one(reduce)["seconds"] == one(reduce + " --dtype half")["seconds"]);
    CHECK(one(reduce)["bytes"] == 2.0 * 2 * 1048576 * 7 / 8);
    CHECK(one("norm --device a100 --m 4096 --k 4096")["bound"] == "memory");
    CHECK(refused("op nccl --device apple_m1 --message_size 8 --num_gpus 2") ==
          "llmcost: apple_m1: no bandwidth of links in its datasheet\n");
}

// vLLM's fp8 in blocks was measured with Python's launches: 56 us and more, whatever the shape
TEST_CASE("nobody's kernel is one that was measured without its host") {
    const std::string product =
        "op gemm --dtype fp8_block --m 1 --n 2112 --k 7168 --format json" + measured + " --device ";
    for (const char* device : {"h100", "h200", "b200"}) {
        const json default_calibration = json::parse(printed(product + device));
        CHECK(default_calibration["seconds"].get<double>() < 20e-6);
        const json custom_device = json::parse(printed(product + device + " --kernels vllm"));
        CHECK(custom_device["calibration"]["software"] == "vllm");
        CHECK(custom_device["seconds"].get<double>() > 50e-6);
    }
}

// nothing was measured beyond eight
TEST_CASE("more devices never take less for a collective, and less is certain of them") {
    for (const char* device : {"h100", "h200", "a100", "b200"}) {
        const auto allreduce_of = [&](int devices) {
            return json::parse(llmcost_line("op nccl --message_size 100000 --format json --device " +
                                            std::string(device) + " --num_gpus " + std::to_string(devices) + measured)
                                   .out);
        };
        const json eight = allreduce_of(8);
        for (const int devices : {16, 64}) {
            const json larger = allreduce_of(devices);
            CHECK(larger["seconds"] >= eight["seconds"]);
            CHECK(larger["upper"].get<double>() / larger["seconds"].get<double>() >
                  eight["upper"].get<double>() / eight["seconds"].get<double>());
        }
    }
}

TEST_CASE("a message is as long as a memory") {
    const std::string reduce = "op nccl --device h200 --num_gpus 8 --format json --message_size ";
    const double half = json::parse(printed(reduce + "2147483647"))["seconds"];
    CHECK(json::parse(printed(reduce + "4294967294"))["seconds"].get<double>() ==
          doctest::Approx(2 * half).epsilon(0.01));
    CHECK(printed("op nccl --device h200 --dtype half", {.in = "message_size,num_gpus\n4294967296,8\n"})
              .find("\n4294967296,8,") != std::string::npos);
    CHECK(refused(reduce + "1099511627777").find("from 1 to 1099511627776") != std::string::npos);
    CHECK(refused("op gemm --device h200 --m 2147483648 --n 1 --k 1").find("to 2147483647") != std::string::npos);
}

TEST_CASE("a terminal has no table: sizes are those that nobody says, or missed") {
    CHECK(printed("op launch --device h200", {.terminal = true}).starts_with("launch bfloat16 stream on H200 SXM: "));
    CHECK(refused("op gemm --device h200", {.terminal = true}) == "llmcost: op: requires --m\n");
    CHECK(printed("op launch --device h200 --dtype bf16", {.in = "among\n10\n"}).starts_with("among,predicted_us,"));
}

TEST_CASE("sizes that do not go together are refused, by option and by column") {
    const auto experts = [](const std::string& sizes) {
        return "op moe --device h200 --num_tokens 64 --hidden_size 4096 --inter_size 1536 --num_experts 8 --topk " +
               sizes;
    };
    CHECK(refused(experts("9")) == "llmcost: --topk: 9 exceeds num_experts, which is 8\n");
    CHECK(refused(experts("2 --moe-ep-size 3")) ==
          "llmcost: --moe_ep_size: 3 does not divide num_experts, which is 8\n");
    CHECK(refused(experts("2 --moe_tp_size 7")) ==
          "llmcost: --moe_tp_size: 7 does not divide inter_size, which is 1536\n");
    CHECK(printed(experts("8 --moe_ep_size 8 --moe_tp_size 3")) != "");
    for (const std::string family : {"context_attention --isl 9", "generation_attention --step 9",
                                     "full_attention --isl 9 --length 9", "linear_attention --isl 9"}) {
        const std::string heads = family.starts_with("linear") ? "num_key_heads" : "num_key_value_heads";
        const std::string line = "op " + family + " --device h200 --num_heads 8 --" + heads;
        CHECK(refused(line + " 16") == "llmcost: --" + heads + ": 16 does not divide num_heads, which is 8\n");
        CHECK(refused(line + " 3") == "llmcost: --" + heads + ": 3 does not divide num_heads, which is 8\n");
        CHECK(printed(line + " 8") != "");
    }
    for (const std::string family : {"nccl", "custom_allreduce"})
        CHECK(refused("op " + family + " --device h200 --message_size 9 --num_gpus 1") ==
              "llmcost: --num_gpus: expected a whole number from 2 to 2147483647, found '1'\n");
    CHECK(refused_row("op moe --device h200 --dtype bf16",
                      {.in = "num_tokens,hidden_size,inter_size,topk,num_experts\n1,64,64,8,8\n1,64,64,9,8\n"}) ==
          "llmcost: line 3: topk: 9 exceeds num_experts, which is 8\n");
}

// the four collectives, three distributions and types of aiconfigurator's tables; versions are folders of
// configs/calibrations
TEST_CASE("a word that does not exist is refused with those that do") {
    const std::string product = "op gemm --device h200 --m 64 --n 4096 --k 4096" + measured;
    CHECK(refused(product + " --kernels foo") ==
          "llmcost: --kernels: expected one of cuda, deepep, eager, nccl, sarathi, sglang, torch, trtllm, vllm; found "
          "'foo'\n");
    CHECK(refused(product + " --kernels vllm --engine-version 9") ==
          "llmcost: --engine-version: expected one of 0.22.0, 0.24.0; found '9'\n");
    CHECK(refused(product + " --engine-version 0.22.0") == "llmcost: --engine-version: requires --kernels\n");
    CHECK(refused("latency --model meta-llama/Llama-3.2-1B --device h200 --engine vllm --engine-version 9" +
                  measured) == "llmcost: --engine-version: expected one of 0.22.0, 0.24.0; found '9'\n");
    CHECK(refused("serve --model meta-llama/Llama-3.2-1B --device h200 --engine-version 9") ==
          "llmcost: --engine-version: requires --engine\n");
    const std::string collectives =
        "expected one of all_gather, all_reduce, alltoall, reduce_scatter; found 'allgather'\n";
    for (const std::string& calibration : {measured, std::string(" --calibration none")})
        CHECK(refused("op nccl --device h100 --message_size 8 --num_gpus 4 --op_name allgather" + calibration) ==
              "llmcost: --op_name: " + collectives);
    CHECK(refused_row("op nccl --device h100 --dtype half",
                      {.in = "op_name,message_size,num_gpus\nall_reduce,8,2\nallgather,8,2\n"}) ==
          "llmcost: line 3: op_name: " + collectives);
    CHECK(
        refused(
            "op generation_attention --device h200 --step 9 --num_heads 8 --num_key_value_heads 8 --kv_cache_dtype fp9")
            .find("kv_cache_dtype: expected one of bfloat16, ") != std::string::npos);
    CHECK(refused("op moe --device h200 --num_tokens 1 --hidden_size 8 --inter_size 8 --topk 1 --num_experts 8 "
                  "--distribution "
                  "balancd") ==
          "llmcost: --distribution: expected one of balanced, power_law_1.01, power_law_1.2; found 'balancd'\n");
    CHECK(refused("op primitive --device h200 --n 8 --operation sin").find("expected one of add, cmp, ") !=
          std::string::npos);
}

TEST_CASE("a word that was not measured is priced by the nearest that was, and says so") {
    const std::string experts =
        "op moe --device h200 --num_tokens 64 --hidden_size 7168 --inter_size 2048 --topk 8 --num_experts 256 "
        "--dtype fp8_block --format json" +
        measured + " --distribution power_law_";
    for (const auto& [requested_alpha, near] : {std::pair{"1.3", "1.2"}, {"1.1", "1.01"}}) {
        const outcome got = llmcost_line(experts + requested_alpha);
        CHECK(got.code == 0);
        CHECK(got.err == "llmcost: warning: distribution: no measurements of 'power_law_" +
                             std::string(requested_alpha) + "'; using those of power_law_" + near + "\n");
        const json j = json::parse(got.out);
        CHECK(j["seconds"] == json::parse(printed(experts + near))["seconds"]);
        CHECK(j["calibration"]["distribution"] == "power_law_" + std::string(near));
    }
    const outcome map = llmcost_line("op elementwise --device h200 --m 8 --k 8 --operation mish" + measured);
    CHECK(map.code == 0);
    CHECK(map.err.find("found 'mish'; using the default\n") != std::string::npos);
}

// aiconfigurator's tables of all-reduces have a column `backend` for the ways of one engine
TEST_CASE("a table's own columns of software and version are noted once where they choose nothing") {
    const std::string table =
        "message_size,num_gpus,allreduce_dtype,backend,version\n8,2,half,vllm_eager,\n8,4,half,vllm_eager,\n"
        "8,2,half,vllm,9\n";
    const outcome got = llmcost_line("op custom_allreduce --device h200 --kernels vllm" + measured, {.in = table});
    CHECK(got.code == 0);
    CHECK(got.err ==
          "llmcost: warning: line 2: backend: expected one of cuda, deepep, eager, nccl, sarathi, sglang, torch, "
          "trtllm, vllm; "
          "found "
          "'vllm_eager'; ignored\nllmcost: warning: line 4: version: expected one of 0.24.0; found '9'; ignored\n");
}

TEST_CASE("what cannot be priced is said") {
    for (const char* line : {"op gem", "op gem --m 64"})
        CHECK(refused(line) == "llmcost: op: no operator 'gem'; nearest: gemm (see llmcost op --help)\n");
    CHECK(refused("op gemm --devise x") == "llmcost: op: no option '--devise'; nearest: --device\n");
    CHECK(refused("op gemm --m 1 --n 1 --k 1") == "llmcost: op: requires --device\n");
    CHECK(refused("op gemm --device h200 --m 1 --n 1") == "llmcost: op: requires --k\n");
    CHECK(
        refused("op gemm --device h200 --m 0 --n 1 --k 1").starts_with("llmcost: --m: expected a whole number from 1"));
    CHECK(refused("op gemm --device h200 --m") == "llmcost: --m: requires a value: --m N\n");
    CHECK(refused("op gemm --m 1 --m 2") == "llmcost: --m: given more than once\n");
    CHECK(refused("op gemm --device h2000 --m 1 --n 1 --k 1") ==
          "llmcost: --device: no device or file 'h2000'; nearest: h200, h100, b200 (see llmcost devices)\n");
    CHECK(refused("op gemm --device a100 --dtype fp8 --m 1 --n 1 --k 1") ==
          "llmcost: a100_sxm_80gb: no peak for fp8 in its datasheet; supported: float32, bfloat16, "
          "float16, int8, w4a16_mxfp4, int8_wo, int4_wo, fp8_wo, nvfp4_wo; use --dtype bfloat16\n");
    CHECK(refused("op gemm --device h200 --dtype bf17 --m 1 --n 1 --k 1")
              .starts_with("llmcost: --dtype: no type 'bf17'"));
    CHECK(refused("op gemm --device h200 --format csv --m 1 --n 1 --k 1") ==
          "llmcost: --format: expected one of text, json; found 'csv'\n");
    // bfloat16 is no operand of this device; the products that a map adds up are of it, its additions are not
    CHECK(
        refused("op elementwise --device t4 --m 1 --k 10 --products 1000") ==
        "llmcost: t4: no peak for bfloat16 in its datasheet; supported: float32, float16, int8; use --dtype float16\n");
    CHECK(refused_row("op elementwise --device t4 --dtype bf16", {.in = "m,k,products\n1,10,0\n1,10,1000\n"})
              .starts_with("llmcost: line 3: t4: no peak for bfloat16"));
    CHECK(has(printed("op elementwise --device t4 --m 1 --k 10 --products 1000 --dtype float16"), "µs"));
    CHECK(refused("op elementwise --device apple_m5_max_40c --m 1 --k 10 --additions 1000") ==
          "llmcost: apple_m5_max_40c: no peak of its vector units (float32) in its datasheet\n");
    CHECK(has(printed("op elementwise --device apple_m5_max_40c --m 1 --k 10"), "µs"));
    const auto table = [](const std::string& text) {
        return refused("op gemm --device h200 --dtype bf16", {.in = text});
    };
    CHECK(table("") == "llmcost: standard input: expected CSV with a header, found nothing\n");
    CHECK(table("m,n\n1,2\n") == "llmcost: line 1: expected a column 'k'\n");
    CHECK(table("m,n,k,m\n1,2,3,4\n") == "llmcost: line 1: duplicate column 'm'\n");
    const auto row = [](const std::string& text) {
        return refused_row("op gemm --device h200 --dtype bf16", {.in = text});
    };
    CHECK(row("m,n,k\n1,2\n") == "llmcost: line 2: expected 3 fields, found 2\n");
    CHECK(row("m,n,k\n1,2,3\n1,2,x\n").starts_with("llmcost: line 3: k: expected a whole number"));
    CHECK(row("m,n,k,system\n1,2,3,h300\n").starts_with("llmcost: line 2: system: no device 'h300'"));
    CHECK(row("m,n,k\n1,2,3\n1,2,3,4\n") == "llmcost: line 3: expected 3 fields, found 4\n");
    CHECK(row("m,n,k\n1.5,2,3\n").starts_with("llmcost: line 2: m: expected a whole number"));
    CHECK(refused_row("op nccl --device apple_m1 --dtype half", {.in = "message_size,num_gpus\n8,2\n"}) ==
          "llmcost: line 2: apple_m1: no bandwidth of links in its datasheet\n");
    CHECK(llmcost_line("op gemm --device h200 --m 1 --n 1 --k 1 --calibration none.json").code == 3);
    CHECK(printed("op --help").find("--calibration") != std::string::npos);
}

// of the fp8_block kernels on H200 only vLLM's is called so; it was measured with its host's launch
TEST_CASE(
    "a row's kernel is that of its name, whoever else is faster, and --kernels holds where a row names no software") {
    const std::string table = "kernel_source,gemm_dtype,m,n,k\nCutlassFp8BlockScaledMMKernel,fp8_block,1,32,32\n";
    const std::string line = "op gemm --device h200_sxm" + measured;
    CHECK(printed(line, {.in = table}) == printed(line + " --kernels vllm", {.in = table}));
    const std::string sums = "op custom_allreduce --device h200 --kernels vllm" + measured;
    const std::string named = printed(sums, {.in = "message_size,num_gpus,allreduce_dtype\n4096,2,half\n"});
    const std::string unnamed =
        llmcost_line(sums, {.in = "message_size,num_gpus,allreduce_dtype,backend\n4096,2,half,vllm_eager\n"}).out;
    CHECK(named.substr(named.find("half,") + 5) == unnamed.substr(unnamed.find("vllm_eager,") + 11));
}

// H200 reads keys and values of large batches at 4.0 to 4.3 of its 4.8 TB/s in all of the table. At 2,048 sequences the
// table ends at 127 tokens, where the overhead per sequence halves that.
TEST_CASE("attention of more and longer sequences than were measured is as efficient as the nearest that were") {
    for (const int batch : {512, 1024, 2048}) {
        const json j =
            json::parse(printed("op generation_attention --device h200_sxm --kernels trtllm --step 1536 --num_heads 32 "
                                "--num_key_value_heads 8 --head_dim 64 --format json --batch_size " +
                                std::to_string(batch) + measured));
        const double bandwidth = j["bytes"].get<double>() / j["seconds"].get<double>();
        CHECK(bandwidth > 3e12);
        CHECK(bandwidth < 4.3e12);
    }
}

TEST_CASE("what a device's and a calibration's file call things cannot steer a terminal or a reader of JSON") {
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / "llmcost_op_test";
    std::filesystem::create_directories(folder);
    const std::string device = (folder / "device.json").string(), calibration = (folder / "calibration.json").string();
    const std::string unseen[]{"\u061c", "\u200b", "\u202e", "\ufeff", "\u0085", "\u2066", "\U000E0041"};
    std::string bad;
    for (const std::string& character : unseen) bad += character;
    std::ofstream(device) << R"({"name": "X)" << bad << R"(", "vendor": "V)" << bad
                          << R"(", "peak_tflops": {"bf16": 100},
        "memory": {"bandwidth_gbps": 1000, "gigabytes": 16}})";
    std::ofstream(calibration)
        << R"({"device": "h200_sxm", "source": "a test", "licence": "own", "kernels": [{"family": "gemm",
        "software": "cuda)"
        << bad << R"(", "version": "1)" << bad << R"(", "kernel": "k)" << bad << R"(", "operand": "bfloat16",
        "roofline": {"launch_us": 1, "compute_efficiency": 0.5, "bandwidth_efficiency": 0.5, "smoothness": 2},
        "held_out": {"rows": 10, "median": 0.05, "low": -0.1, "high": 0.1}}]})";
    for (const std::string command : {"op gemm --m 1 --n 1 --k 1", "latency --model meta-llama/Llama-3.2-1B",
                                      "serve --model meta-llama/Llama-3.2-1B"})
        for (const std::string& device_options : {" --device " + device, " --device h200 --calibration " + calibration})
            for (const std::string format : {"text", "json"}) {
                const outcome got = llmcost_line(command + device_options + " --format " + format);
                INFO(command, device_options, format);
                CHECK(got.code == 0);
                for (const std::string& character : unseen) CHECK_FALSE(has(got.out + got.err, character));
                if (format == "json") CHECK(json::accept(got.out));
                if (format == "json" && has(device_options, "device.json"))
                    CHECK(json::parse(got.out)["device"] == "X" + bad);
            }
    std::filesystem::remove_all(folder);
}

// slopes of rows in tests/fit/h200/h200_sxm__primitive__cuda__13.0__primitive_perf.csv: (t(8192) - t(1024)) / 7168, of
// one thread, and of 2048 threads per multiprocessor
TEST_CASE("rates of primitives are the slopes of the measured times of two chain lengths") {
    struct row {
        const char* operation;
        const char* operand;
        double latency_microseconds[2];     // of 1024 and 8192 operations
        double throughput_microseconds[2];  // in 270,336 threads
    };
    const row rows[] = {
        {"add", "float32", {3.3008, 17.9904}, {10.1696, 70.168}},
        {"mult", "float32", {3.3328, 17.9984}, {10.1888, 70.1536}},
        {"div", "float32", {24.1328, 184.555}, {147.016, 1166.97}},
        {"exp", "float32", {23.9616, 182.73}, {85.168, 666.41}},
        {"pow", "float32", {72.4224, 570.584}, {358.728, 2817.94}},
    };
    const json all = json::parse(printed("op primitive --device h200 --format json" + measured));
    CHECK(all["operations"].size() == 36);  // 12 primitives in three element types
    CHECK(all["units"] == 132);
    for (const row& r : rows) {
        INFO(std::string(r.operation));
        const auto found = std::find_if(all["operations"].begin(), all["operations"].end(), [&](const json& o) {
            return o["operation"] == r.operation && o["dtype"] == r.operand;
        });
        REQUIRE(found != all["operations"].end());
        const json& o = *found;
        const double latency = (r.latency_microseconds[1] - r.latency_microseconds[0]) * 1e-6 / 7168;
        const double step = (r.throughput_microseconds[1] - r.throughput_microseconds[0]) * 1e-6 / 7168;
        CHECK(o["latency_seconds"].get<double>() == doctest::Approx(latency).epsilon(0.01));
        CHECK(o["latency_cycles"].get<double>() == doctest::Approx(latency * 1.98e9).epsilon(0.01));
        CHECK(o["operations_per_second"].get<double>() == doctest::Approx(270336 / step).epsilon(0.01));
        CHECK(o["operations_per_cycle_and_unit"].get<double>() ==
              doctest::Approx(270336 / step / 132 / 1.98e9).epsilon(0.01));
        CHECK(o["latency_calibration"]["kernel"] == "chained");
        CHECK(o["throughput_calibration"]["kernel"] == "interleaved");
    }
}

TEST_CASE("rates of primitives by type and operation, without measurements, and without a device") {
    const std::string text = printed("op primitive --device h200 --dtype float32 --operation div" + measured);
    CHECK(has(text, "Operations of vector units on H200 SXM: 132 multiprocessors, 1.983 GHz"));
    CHECK(has(text, "DIV        float32"));
    CHECK_FALSE(has(text, "ADD"));
    CHECK_FALSE(has(text, "float16"));
    CHECK(has(text, "Calibrated with cuda 13.0"));
    // 19.5 TFLOP/s of 108 multiprocessors with 64 lanes: 1.41 GHz, as NVIDIA's datasheet says
    const std::string estimated = printed("op primitive --device a100 --dtype float32 --operation add");
    CHECK(has(estimated, "108 multiprocessors, 1.411 GHz"));
    CHECK(has(estimated, "2.84 ns      4.00           9750.0           64.00 *"));
    CHECK(has(estimated, "Not measured: estimated from the datasheet"));
    CHECK(has(refused("op primitive"), "requires --device"));
    CHECK(has(printed("op primitive --device h200", {.in = "n,threads,dtype\n1024,1,float32\n"}), "predicted_us"));
}

// rows of tests/fit/h200/h200_sxm__launch__cuda__13.0__launch_perf.csv
TEST_CASE("a launch takes less time in a longer sequence, and the time of one launch is reported") {
    const auto microseconds = [](const std::string& options) {
        return 1e6 * json::parse(printed("op launch --device h200 --format json " + options + measured))["seconds"]
                         .get<double>();
    };
    CHECK(microseconds("--among 1") == doctest::Approx(8.684).epsilon(0.01));
    CHECK(microseconds("--among 100") == doctest::Approx(3.521).epsilon(0.01));
    CHECK(microseconds("--among 1000") == doctest::Approx(3.486).epsilon(0.01));
    CHECK(microseconds("--among 10 --issued graph") == doctest::Approx(0.9152).epsilon(0.01));
    CHECK(microseconds("--among 1000 --issued graph") == doctest::Approx(0.6982).epsilon(0.01));
    CHECK(has(printed("op launch --among 1 --device h200" + measured), "bound by launch"));
}

// PyTorch 2.11 on an H200 in bfloat16: GPT-2 medium's head, forward and the gradient of its input; BERT's head
TEST_CASE("products whose rows are not aligned to 16 bytes take several times as long") {
    const auto microseconds = [](const std::string& sizes) {
        return 1e6 *
               json::parse(printed("op gemm --device h200 --format json " + sizes + measured))["seconds"].get<double>();
    };
    CHECK(microseconds("--m 4096 --n 50257 --k 1024") == doctest::Approx(4380).epsilon(0.1));
    CHECK(microseconds("--m 4096 --n 1024 --k 50257") == doctest::Approx(3015.6).epsilon(0.35));
    CHECK(microseconds("--m 4096 --n 30522 --k 768") == doctest::Approx(804.1).epsilon(0.15));
    CHECK(microseconds("--m 4096 --n 50304 --k 1024") < 4380 / 6.0);
    // vector units read single elements
    CHECK(microseconds("--m 1024 --n 50257 --k 1024 --dtype float32") == doctest::Approx(2094.5).epsilon(0.1));
    // the rule is that of NVIDIA's matrix units
    const auto datasheet = [](const std::string& options) {
        return json::parse(printed("op gemm --m 4096 --k 1024 --format json " + options))["seconds"].get<double>();
    };
    CHECK(datasheet("--device mi300x --n 50257") < 1.01 * datasheet("--device mi300x --n 50304"));
    CHECK(datasheet("--device h100 --n 50257") > 5 * datasheet("--device h100 --n 50304"));
    CHECK(datasheet("--device h100 --n 50260") < 2 * datasheet("--device h100 --n 50304"));
}
