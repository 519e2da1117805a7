// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <llmcost/cli/pages/training_launch.hpp>

// `llmcost plan --training`: its configurations against `llmcost train`, which computes each of them alone.
using namespace llmcost::testing;
using nlohmann::json;

namespace {

const std::string small_job = "plan --training --model meta-llama/Llama-3.2-1B --device h100 --sequence 2048 ";

json plan_of(const std::string& line) { return json::parse(printed(line + " --format json")); }

/// The output of the `llmcost train` command of a configuration. It fits into its device.
json trained(const json& configuration) {
    const std::string command = configuration["command"];
    REQUIRE(command.starts_with("llmcost train "));
    return json::parse(printed(command.substr(std::string("llmcost ").size()) + " --format json"));
}

void check_configuration(const json& configuration, const json& plan, std::int64_t devices) {
    const std::string command = configuration["command"];
    CAPTURE(command);
    const auto size = [&](const char* name) { return configuration[name].get<std::int64_t>(); };
    CHECK(size("tp") * size("pp") * size("cp") * size("dp") * size("dp_replicate") == devices);
    CHECK(size("dp") * size("dp_replicate") * size("batch") * size("microbatches") ==
          plan["global_batch"].get<std::int64_t>());
    CHECK(configuration["peak_bytes"] <= plan["available"]);
    CHECK(configuration["free_bytes"].get<double>() ==
          plan["available"].get<double>() - configuration["peak_bytes"].get<double>());
    const json alone = trained(configuration);
    CHECK(alone["peak"]["total"] == configuration["peak_bytes"]);
    CHECK(alone["step_time"]["seconds"] == configuration["step_seconds"]);
    CHECK(alone["step_time"]["model_flops_utilization"] == configuration["model_flops_utilization"]);
    CHECK(alone["step_time"]["tokens_per_second_per_device"] == configuration["tokens_per_second_per_device"]);
    CHECK(alone["fits"] == true);
}

void check_plan(const std::string& line, std::int64_t devices) {
    const json plan = plan_of(line + " --devices " + std::to_string(devices));
    const json& found = plan["plans"][0];
    REQUIRE(found["fits"] == true);
    double seconds = 0;
    for (const json& configuration : found["best"]) {
        CHECK(configuration["step_seconds"] >= seconds);
        seconds = configuration["step_seconds"];
        check_configuration(configuration, plan, devices);
    }
    double bytes = std::numeric_limits<double>::infinity();
    seconds = 0;
    for (const json& configuration : found["pareto"]) {
        CHECK(configuration["step_seconds"] > seconds);
        CHECK(configuration["peak_bytes"] < bytes);
        seconds = configuration["step_seconds"];
        bytes = configuration["peak_bytes"];
        check_configuration(configuration, plan, devices);
    }
    CHECK(found["pareto"][0]["step_seconds"] == found["best"][0]["step_seconds"]);
}

}  // namespace

TEST_CASE("plan --training prints the step time and the memory of llmcost train") {
    check_plan(small_job + "--global-batch 32", 8);
}

TEST_CASE("plan --training prints the values of llmcost train for pipelines with different stages") {
    // 80 layers on 32 stages
    check_plan(
        "plan --training --model meta-llama/Llama-3.1-70B --device h100 --network ib_ndr --global-batch 64 --pp 32 "
        "--top 3",
        64);
}

TEST_CASE("plan --training prints the values of llmcost train for long sequences") {
    check_plan(
        "plan --training --model meta-llama/Llama-3.1-8B --device h100 --network ib_ndr --sequence 65536 "
        "--global-batch 8 --top 3",
        16);
}

TEST_CASE("plan --training prints the values of llmcost train for experts") {
    check_plan(
        "plan --training --model mistralai/Mixtral-8x7B-v0.1 --device h100 --network ib_ndr --sequence 4096 "
        "--global-batch 64 --top 3",
        32);
}

TEST_CASE("plan --training prints the values of llmcost train for replicas, experts and zero-bubble schedules") {
    check_plan(
        "plan --training --model Qwen/Qwen3-30B-A3B --device h100 --network ib_ndr --sequence 4096 --global-batch 64 "
        "--tp 2 --pp 1 --batch 1 --top 12",
        16);
    const json plan = plan_of(
        "plan --training --model meta-llama/Llama-3.1-8B --device h100 --network ib_ndr --sequence 4096 "
        "--global-batch 64 --tp 2 --pp 4 --batch 1 --top 40 --devices 16");
    std::set<std::string> schedules, shardings;
    for (const json& configuration : plan["plans"][0]["best"]) {
        schedules.insert(configuration["schedule"]);
        shardings.insert(configuration["sharding"]);
        if (configuration["schedule"] != "interleaved" && configuration["schedule"] != "1f1b")
            check_configuration(configuration, plan, 16);
    }
    CHECK(schedules == std::set<std::string>{"1f1b", "interleaved", "interleaved-zero-bubble", "zbv"});
    CHECK(shardings.contains("HSDP, gathered") == false);  // two shards of two data-parallel ranks
    CHECK(shardings.contains("FSDP, gathered"));
}

// The speed of a search is that of its bounds: each exact configuration takes as long as `llmcost train`.
TEST_CASE("plan --training computes one of two hundred configurations exactly") {
    const json found = plan_of(
        "plan --training --model meta-llama/Llama-3.1-70B --device h100 --network ib_ndr --devices 128 --global-batch "
        "512")["plans"][0];
    const std::int64_t candidates = found["candidates"], timed = found["timed"], slower = found["slower"],
                       out_of_memory = found["out_of_memory"];
    CHECK(candidates > 8000);
    CHECK(timed < candidates / 200);
    CHECK(out_of_memory + slower + timed <= candidates);
}

// The oracle runs `llmcost train` for every configuration of 4 devices with microbatches of one sequence.
TEST_CASE("plan --training finds the fastest of all configurations") {
    const std::string model = "train --model meta-llama/Llama-3.2-1B --device h100 --sequence 2048 --batch 1 ";
    for (const char* memory : {"80GB", "20GB"}) {
        const json plan = plan_of(small_job + "--devices 4 --global-batch 16 --batch 1 --memory " + memory);
        const double available = plan["available"];
        double fastest = std::numeric_limits<double>::infinity();
        int num_fitting = 0;
        const std::string recompute[][2] = {{"", ""},
                                            {"--recompute-modules core_attn ", "--recompute selective "},
                                            {"--recompute full ", "--recompute full "}};
        const auto evaluate = [&](const std::string& line) {
            const outcome run = llmcost_line(line + " --format json");
            CAPTURE(line);
            CAPTURE(run.err);
            REQUIRE((run.code == 0 || run.code == 8));
            const json out = json::parse(run.out);
            if (out["peak"]["total"].get<double>() > available) return;
            ++num_fitting;
            const double seconds = out["step_time"]["seconds"];
            fastest = std::min(fastest, seconds);
        };
        for (const int tp : {1, 2, 4})
            for (const int pp : {1, 2, 4})
                for (const int stages : {1, 2, 4, 8, 16})
                    for (const auto& mode : recompute)
                        for (const std::string sharding : {"zero", "ddp", "fsdp", "gathered"}) {
                            const int dp = 4 / tp / pp;
                            if (dp < 1 || (stages > 1 && (pp == 1 || pp * stages > 16))) continue;
                            if ((sharding != "ddp" && dp == 1) || (sharding == "fsdp" && pp > 1)) continue;
                            const bool is_torch = sharding == "fsdp" || sharding == "gathered";
                            std::string line = model;
                            if (is_torch) {
                                line +=
                                    "--fsdp --precision fp32 --fsdp-parameter-dtype bf16 --fsdp-reduce-dtype fp32 "
                                    "--optimizer adamw:fused --on cuda " +
                                    mode[1];
                                if (tp > 1) line += "--tp-plan sequence+loss --sequence-parallel ";
                                if (sharding == "gathered") line += "--fsdp-reshard false --gradient-sync last ";
                            } else {
                                line += "--split megatron --precision bf16 " + mode[0];
                                if (sharding == "zero") line += "--zero 1 ";
                                if (tp > 1) line += "--sequence-parallel ";
                            }
                            line += "--tp " + std::to_string(tp) + " --pp " + std::to_string(pp) + " --microbatches " +
                                    std::to_string(16 / dp);
                            if (is_torch && dp == 4) evaluate(line + " --dp 2 --dp-replicate 2");
                            line += " --dp " + std::to_string(dp);
                            if (stages == 1) {
                                evaluate(line);
                                continue;
                            }
                            line += " --stages-per-rank " + std::to_string(stages) + " --schedule ";
                            evaluate(line + "interleaved");
                            if (is_torch) evaluate(line + "interleaved-zero-bubble");
                            if (is_torch && stages == 2) evaluate(line + "zbv");
                        }
        CAPTURE(memory);
        CHECK(num_fitting > 3);
        CHECK(plan["plans"][0]["best"][0]["step_seconds"] == fastest);
    }
}

TEST_CASE("plan --training: more devices are not slower at an equal global batch") {
    const json plan = plan_of(small_job + "--network ib_ndr --global-batch 64 --devices 8,16,32");
    double seconds = std::numeric_limits<double>::infinity();
    REQUIRE(plan["plans"].size() == 3);
    for (const json& found : plan["plans"]) {
        CHECK(found["best"][0]["step_seconds"] <= seconds);
        CHECK(found["is_pareto"] == true);
        seconds = found["best"][0]["step_seconds"];
    }
}

TEST_CASE("plan --training reports days and the price of the tokens") {
    const json configuration =
        plan_of(small_job + "--devices 8 --global-batch 32 --tokens 15T --price 2 --top 1")["plans"][0]["best"][0];
    const double tokens_per_step = 32 * 2048.0;
    const double days = 15e12 / tokens_per_step * configuration["step_seconds"].get<double>() / 86400;
    CHECK(configuration["days"].get<double>() == doctest::Approx(days));
    CHECK(configuration["price"].get<double>() == doctest::Approx(days * 24 * 8 * 2));
    CHECK(plan_of(small_job + "--devices 8 --global-batch 32 --tokens 15000B --top 1")["plans"][0]["best"][0]["days"]
              .get<double>() == doctest::Approx(days));
}

TEST_CASE("plan --training reads the global batch in sequences and in tokens") {
    CHECK(plan_of(small_job + "--devices 8 --top 1")["global_batch"] == 4 * 1024 * 1024 / 2048);
    CHECK(plan_of(small_job + "--devices 8 --top 1 --global-batch 65536tokens")["global_batch"] == 32);
    CHECK(has(refused(small_job + "--devices 8 --global-batch 100tokens"),
              "--global-batch: expected at least one sequence of 2048 tokens"));
}

TEST_CASE("plan --training reports what is missing if nothing fits") {
    const std::string line = small_job + "--devices 2 --global-batch 8 --memory 2GB";
    const std::string text = printed(line, {}, 8);
    CHECK(has(text, "Nothing fits on 2 x H100 SXM, 1.86 GiB each"));
    CHECK(has(text, "more than a device has"));
    const json plan = json::parse(printed(line + " --format json", {}, 8));
    CHECK(plan["plans"][0]["fits"] == false);
    const json& nearest = plan["plans"][0]["nearest"];
    CHECK(nearest["free_bytes"].get<double>() == 2e9 - nearest["peak_bytes"].get<double>());
    CHECK(nearest["free_bytes"] < 0);
    // 17 devices: more stages than the 16 layers, and no divisor of 8 sequences
    CHECK(has(printed(small_job + "--network 50 --devices 17 --global-batch 8", {}, 8),
              "No configuration has these sizes"));
}

TEST_CASE("plan refuses options of the other kind of plan") {
    CHECK(has(refused(small_job + "--slo ttft=1s"), "--slo: cannot be combined with --training"));
    CHECK(has(refused(small_job + "--engine vllm"), "--engine: cannot be combined with --training"));
    CHECK(has(refused(small_job + "--rate 3"), "--rate: cannot be combined with --training"));
    const std::string serving = "plan --model Qwen/Qwen3-8B --device h200 --slo ttft=1s ";
    CHECK(has(refused(serving + "--sequence 4096"), "--sequence: requires --training"));
    CHECK(has(refused(serving + "--global-batch 512"), "--global-batch: requires --training"));
    CHECK(has(refused(serving + "--tokens 15T"), "--tokens: requires --training"));
    CHECK(has(refused("plan --training --model Qwen/Qwen3-8B"), "--device: required"));
    CHECK(has(refused(small_job + "--devices 16"), "--network: required: 16 devices span 2 nodes"));
    CHECK(has(refused(small_job + "--tokens many"), "--tokens: expected a whole number"));
}

TEST_CASE("plan --training prints the launch of each framework") {
    const json launches = plan_of(
        "plan --training --model meta-llama/Llama-3.1-70B --device h100 --network ib_ndr --devices 64 "
        "--global-batch 64 --tp 4 --pp 4 --batch 1 --top 1")["launch"];
    std::vector<std::string> names;
    for (const json& launch : launches) names.push_back(launch["framework"]);
    CHECK(names == std::vector<std::string>{"torchtitan", "Megatron-LM", "NeMo (Megatron Bridge)", "DeepSpeed"});
    CHECK(has(launches[0]["command"].get<std::string>(), "--parallelism.tensor_parallel_degree 4 "));
    CHECK(has(launches[0]["command"].get<std::string>(), "--parallelism.pipeline_parallel_degree 4 "));
    CHECK(has(launches[0]["command"].get<std::string>(), "--parallelism.pipeline_parallel_first_stage_less_layers 0 "));
    CHECK(has(launches[1]["command"].get<std::string>(), "--tensor-model-parallel-size 4 "));
    CHECK(has(launches[1]["command"].get<std::string>(), "--global-batch-size 64 "));
    CHECK(has(launches[2]["command"].get<std::string>(), "model.pipeline_model_parallel_size=4 "));
    CHECK(has(launches[2]["command"].get<std::string>(), "dataset.seq_length=8192 "));
    CHECK(has(launches[3]["command"].get<std::string>(), "\"train_batch_size\": 64"));
    CHECK(has(launches[3]["command"].get<std::string>(), "\"autotp_size\": 4"));
}

// Megatron-Core gives the remaining layers to the earliest stages only with a layout.
TEST_CASE("a pipeline layout lists the layers of each stage") {
    CHECK(llmcost::cli::pipeline_layout(8, 3) == "Et*3|t*3|t*2L");
    CHECK(llmcost::cli::pipeline_layout(4, 1) == "Et*4L");
}

TEST_CASE("launches of replicas of shards and of zero-bubble schedules") {
    llmcost::cli::launched_job job;
    job.sharding = llmcost::sharding_strategy::fsdp;
    job.parallel.data = 4;
    job.parallel.data_replicate = 2;
    job.num_layers = 16;
    const auto commands = [&](std::size_t i) { return llmcost::cli::framework_launches(job)[i]; };
    CHECK(has(commands(0).command, "--parallelism.data_parallel_replicate_degree 2"));
    CHECK(has(commands(0).command, "--parallelism.data_parallel_shard_degree 4"));
    CHECK(has(commands(1).command, "--data-parallel-sharding-strategy optim_grads_params"));
    CHECK(has(commands(1).command, "--no-gradient-accumulation-fusion --ckpt-format fsdp_dtensor"));
    CHECK(has(commands(1).command, "--num-distributed-optimizer-instances 2 --outer-dp-sharding-strategy no_shard"));
    CHECK(has(commands(2).command, "ddp.num_distributed_optimizer_instances=2"));
    CHECK(has(commands(3).command, "\"mics_shard_size\": 4"));
    job.reshards_after_forward = false;
    job.parallel.data_replicate = 1;
    job.parallel.pipeline = job.parallel.stages_per_rank = 2;
    job.parallel.schedule = "zbv";
    CHECK(has(commands(0).command, "--parallelism.pipeline_parallel_schedule ZBVZeroBubble"));
    CHECK(has(commands(0).command, "--parallelism.pipeline_parallel_layers_per_stage 4"));
    CHECK(has(commands(1).remark, "interleaved 1F1B instead of ZBVZeroBubble"));
    CHECK(has(commands(1).command, "--data-parallel-sharding-strategy optim_grads "));
    CHECK(has(commands(3).remark, "no ZeRO 2 with a pipeline"));
}
