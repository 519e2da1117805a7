// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <cmath>
#include <string>

using namespace llmcost::testing;
using nlohmann::json;

namespace {

json job_time(const std::string& line, int code = 0) {
    return json::parse(printed("latency --training --format json " + line + measured, {}, code));
}

const std::string llama_8b = "--model meta-llama/Llama-3.1-8B --device h100_sxm --batch 1 --sequence 4096 ";

std::string gpt(int hidden, int heads, int layers, int vocabulary) {
    return "--model openai-community/gpt2 --set n_embd=" + std::to_string(hidden) +
           " --set n_head=" + std::to_string(heads) + " --set n_layer=" + std::to_string(layers) +
           " --set vocab_size=" + std::to_string(vocabulary) + " --set n_positions=2048 --device a100_sxm_80gb ";
}

std::string mpt(int width, int heads, int layers) {
    return "--model mosaicml/mpt-7b --set d_model=" + std::to_string(width) +
           " --set n_heads=" + std::to_string(heads) + " --set n_layers=" + std::to_string(layers) +
           " --set vocab_size=50368 --set max_seq_len=2048 --execution eager --attention-kernel flash1 --fsdp "
           "--fsdp-reduce-dtype fp32 --sequence 2048 ";
}

}  // namespace

// Published steps, in seconds. Tolerance: 20 %, the goal for nine of ten rows of a source.
TEST_CASE("steps of training jobs take the published time") {
    struct published {
        const char* source;
        double seconds;
        std::string line;
    };
    const std::string megatron =
        "--dtype float16 --execution stream --attention-kernel unfused --host-microseconds 41 "
        "--overlap none --recompute full --sequence 2048 ";
    const std::string llama_70b =
        "--model meta-llama/Llama-3.1-70B --set num_hidden_layers=12 --device b200_sxm --batch 1 --sequence 4096 "
        "--zero 1 --dtype bfloat16 --attention-kernel flash3 ";
    for (const published& row : {
             // mosaicml/llm-foundry scripts/train/benchmarking/README.md
             published{"MPT-7B on 128 H100", 1.1731,
                       mpt(4096, 32, 32) + "--device h100_sxm --batch 6 --dp 128 --network 50 --dtype bfloat16"},
             published{"MPT-7B on 8 A100", 5.2951,
                       mpt(4096, 32, 32) + "--device a100_sxm_80gb --batch 6 --microbatches 2 --dp 8 --dtype bfloat16"},
             // VIA-Research/vTrain data/ground_truth_multi.csv
             published{"GPT 3.6B, tp 2, dp 32", 3.9375,
                       gpt(3072, 32, 30, 51200) + megatron + "--batch 16 --tp 2 --dp 32 --network 25"},
             published{"GPT 175B, tp 4, pp 32, dp 4", 53.9096,
                       gpt(12288, 96, 96, 51200) + megatron +
                           "--batch 2 --microbatches 192 --tp 4 --pp 32 --dp 4 --network 25"},
             // MooreThreads/SimuMax v1.2, b200_release_v1.2_summary.md
             published{"12 layers of Llama-3-70B, pp 2, dp 4", 1.4768, llama_70b + "--microbatches 8 --pp 2 --dp 4"},
             published{"12 layers of Llama-3-70B, tp 4, dp 2", 0.4098,
                       llama_70b + "--microbatches 4 --tp 4 --dp 2 --sequence-parallel"},
             // MLCommons training results v5.1
             published{
                 "Llama-3.1-8B in NVFP4, MLPerf v5.1 on 8 GB300", 0.34563,
                 "--model meta-llama/Llama-3.1-8B --device gb300 --batch 2 --sequence 8192 --dp 8 --zero 1 --dtype "
                 "nvfp4 --attention-kernel flash3"},
         }) {
        CAPTURE(row.source);
        CHECK(std::abs(job_time(row.line)["seconds"].get<double>() / row.seconds - 1) < 0.2);
    }
}

TEST_CASE("the parts of a job add up to its step") {
    const json j =
        job_time(llama_8b + "--tp 2 --pp 2 --dp 2 --microbatches 8 --zero 1 --sequence-parallel --dtype bfloat16");
    CHECK(j["devices"] == 8);
    CHECK(j["parallelism"]["microbatches"] == 8);
    const double sum = j["forward"]["seconds"].get<double>() + j["backward"]["seconds"].get<double>() +
                       j["optimizer"]["seconds"].get<double>() + j["exposed_seconds"].get<double>() +
                       j["bubble_seconds"].get<double>() + j["launch_seconds"].get<double>();
    CHECK(j["seconds"].get<double>() == doctest::Approx(sum));
    CHECK(j["tokens_per_second"].get<double>() == doctest::Approx(2 * 8 * 4096 / j["seconds"].get<double>()));
    CHECK(j["tokens_per_second_per_device"].get<double>() == doctest::Approx(j["tokens_per_second"].get<double>() / 8));
    CHECK(j["model_flops_utilisation"].get<double>() == doctest::Approx(j["tflops_per_device"].get<double>() / 989.4));
    CHECK(j["communication"].size() == 3);
    CHECK_FALSE(j.contains("fits"));
    const std::string text =
        printed("latency --training " + llama_8b + "--tp 2 --pp 2 --dp 2 --microbatches 8 --zero 1");
    CHECK(has(text, "meta-llama/Llama-3.1-8B, 8 x H100 SXM (tp 2, pp 2, dp 2), weights bfloat16\n"));
    CHECK(has(text, "training step of 8 microbatches of 1 x 4,096 tokens on each of 2 data-parallel ranks: "));
    CHECK(has(text, "\n  tp, exposed "));
    CHECK(has(text, "\n  bubble "));
    CHECK(has(text, "\nAssumed: pipeline: 1f1b, 8 microbatches, simulated\n"));
}

TEST_CASE("train reports the time of a job as latency --training") {
    const std::string job = llama_8b + "--tp 2 --pp 2 --dp 2 --microbatches 8 --zero 1 --sequence-parallel ";
    const json train = json::parse(printed("train --precision bf16 --format json " + job));
    const json latency = json::parse(printed("latency --training --format json " + job + "--dtype bfloat16"));
    CHECK(train["step_time"]["seconds"] == latency["seconds"]);
    CHECK(train["step_time"]["communication"] == latency["communication"]);
    CHECK(train["step_time"]["bubble_seconds"] == latency["bubble_seconds"]);
    CHECK(train["step_time"]["inputs_per_second"] == latency["tokens_per_second"]);
    CHECK(has(printed("train --precision bf16 " + job), "\nStep time on 8 x H100 SXM: "));
}

TEST_CASE("--global-batch sets the microbatches of a data-parallel rank") {
    const json microbatches = job_time(llama_8b + "--dp 4 --zero 1 --microbatches 8"),
               global = job_time(llama_8b + "--dp 4 --zero 1 --global-batch 32");
    CHECK(global["seconds"] == microbatches["seconds"]);
    CHECK(global["parallelism"]["microbatches"] == 8);
}

// 128 experts, of which 8 compute a token: data-parallel ranks have all experts, and each rank its own tokens
TEST_CASE("data parallelism does not divide the experts of a training step") {
    const std::string model = "--model Qwen/Qwen3-30B-A3B --device b200_sxm --batch 1 --sequence 2048 ";
    const json one = job_time(model + "--microbatches 1", 8), copies = job_time(model + "--dp 8", 8),
               divided = job_time(model + "--dp 8 --ep 8");
    const auto flops = [](const json& j) { return j["forward"]["flops_per_device"].get<double>(); };
    CHECK(flops(copies) == flops(one));
    CHECK(flops(divided) == doctest::Approx(flops(one)));
    const auto sent = [](const json& j, const std::string& group) {
        for (const json& c : j["communication"])
            if (c["group"] == group) return c["bytes_sent"].get<double>();
        return 0.0;
    };
    CHECK(sent(copies, "ep") == 0);
    CHECK(sent(divided, "ep") > 0);
    CHECK(sent(divided, "dp") < sent(copies, "dp") / 5);  // one eighth of the gradients of experts
}

TEST_CASE("options of a training job that contradict each other are refused") {
    const auto refused_job = [](const std::string& line) { return refused("latency " + line, {}, 2); };
    CHECK(has(refused_job(llama_8b + "--pp 2"), "--pp: requires --training\n"));
    CHECK(has(refused_job("--training " + llama_8b + "--dp 2 --global-batch 7"),
              "--global-batch: 7 is not a multiple of 2 (--batch times the data-parallel ranks)\n"));
    CHECK(has(refused_job("--training " + llama_8b + "--global-batch 8 --microbatches 8"),
              "--global-batch: cannot be combined with --microbatches\n"));
    CHECK(has(refused_job("--training " + llama_8b + "--tp 2 --overlap sp"),
              "--overlap: expected dp, tp, ep, pp or none; found 'sp'\n"));
    CHECK(has(refused_job("--training " + llama_8b + "--attention-kernel flash4"),
              "--attention-kernel: no kernel 'flash4'"));
    CHECK(has(refused_job("--training " + llama_8b + "--fsdp --zero 1 --dp 2"),
              "--fsdp: cannot be combined with --zero\n"));
    CHECK(has(refused_job("--training " + llama_8b + "--recompute half"),
              "--recompute: expected none, full, full:N, selective or selective:MODULE+MODULE; found 'half'\n"));
    CHECK(has(refused_job("--training " + llama_8b + "--pp 64 --network 50"),
              "--training: 64 pipeline stages, but the model has 32 layers\n"));
}
