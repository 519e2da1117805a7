// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "unmeasured.hpp"

#include <llmcost/kernels/kernel_library.hpp>
#include <llmcost/llmcost.hpp>
#include <llmcost/presets.hpp>
#include <llmcost/serving/all_to_all.hpp>
#include <llmcost/serving/default_execution.hpp>
#include <llmcost/serving/kernels.hpp>
#include <llmcost/serving/power.hpp>
#include <llmcost/serving/server.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

using namespace llmcost;
using namespace llmcost::testing;

namespace {

unmeasured no_measurements;

execution in(literal type, std::int64_t tensor) {
    execution execution_config;
    execution_config.linear_type = execution_config.expert_type = find_operand_type(type);
    execution_config.parallel.tensor_parallel_size = tensor;
    return execution_config;
}
server llama_70b(const engine& serving_engine = {}, std::int64_t tensor = 4) {
    return {presets::llama_3_1_70b, in("fp8", tensor), serving_engine, h200, no_measurements};
}

}  // namespace

// 70,553,706,496 parameters, of which 2 · 128256 · 8192 are the embedding and the head in 16 bits; 8 keys of 128 and as
// many values in 80 layers of 16 bits
TEST_CASE("memory holds weights and caches, to the byte") {
    server one = llama_70b({}, 1);
    const double embedding_elements = 128256.0 * 8192.0;
    CHECK(one.weight_bytes_per_device() == 70553706496.0 - 2 * embedding_elements + 2 * 2 * embedding_elements);
    CHECK(one.kv_cache_bytes(1000) == 1000.0 * 80 * 2 * 8 * 128 * 2);
    // without an engine, all memory except weights and activations: fewer than 16 vectors of 8,192 for each token
    const double left = h200.memory_bytes() - one.weight_bytes_per_device();
    CHECK(one.max_sequences_per_rank(1000) < left / one.kv_cache_bytes(1000));
    CHECK(one.max_sequences_per_rank(1000) > (left - 1000.0 * 8192 * 2 * 16) / one.kv_cache_bytes(1000));
    server four = llama_70b({}, 4);
    CHECK(four.weight_bytes_per_device() * 4 ==
          doctest::Approx(one.weight_bytes_per_device()).epsilon(1e-4));  // norms are on every device
    CHECK(four.kv_cache_bytes(1000) * 4 == one.kv_cache_bytes(1000));
    CHECK(four.max_sequences_per_rank(1000, 2) >
          2 * four.max_sequences_per_rank(1000));  // two stages hold half of the layers each
}

// 72.7 GB of weights
TEST_CASE("weights and activations leave the rest of the memory to sequences, and it holds no half of one") {
    device small = h200;
    const auto make_server = [&] { return server(presets::llama_3_1_70b, in("fp8", 1), {}, small, no_measurements); };
    small.visible_gibibytes = 0;
    small.memory_gigabytes = 78;
    server tight = make_server();
    const auto activations = static_cast<double>(tight.kv_cache(1000)->activation_bytes.to_64());
    CHECK(activations > 1000.0 * 8192 * 2);
    CHECK(tight.max_sequences_per_rank(1000) ==
          doctest::Approx((78e9 - tight.weight_bytes_per_device() - activations) / tight.kv_cache_bytes(1000))
              .epsilon(1e-4));  // whole blocks
    small.memory_gigabytes = (tight.weight_bytes_per_device() + activations + 0.99 * tight.kv_cache_bytes(1000)) / 1e9;
    server none = make_server();
    CHECK(none.max_sequences_per_rank(1000) == 0);
    CHECK(std::isinf(none({.input_tokens = 900, .output_tokens = 200}).ttft_seconds));
    CHECK(none({.input_tokens = 900, .output_tokens = 200}).tokens_per_second == 0);
}

// Time per token: s·(t_decode(b, input + output / 2) + b / output · t_prefill) + a + c·b. Time to the first token: half
// of a tenth of the 15 other requests were sent before. Each of them is in its prefill for the prefill's share of its
// latency.
TEST_CASE("an engine's own time is added to its kernels'") {
    const engine busy{"busy", "", false, false, false, 0.5, 1e-3, 1e-5, 0.01, 0, 2};
    step_time_model plan(presets::llama_3_1_70b, in("fp8", 4), h200, no_measurements);
    const serving_load load{.input_tokens = 1000, .output_tokens = 500, .concurrency = 16};
    const double step = plan.seconds(16, 1, 1250), prompt = plan.seconds(1, 1000, 0);
    server llm_server = llama_70b(busy);
    const serving_metrics f = llm_server(load);
    const double host = 1e-3 + 16e-5;
    CHECK(f.tpot_seconds == doctest::Approx(0.5 * (step + 15.0 / 500 * prompt) + host));
    CHECK(f.unloaded_ttft_seconds == doctest::Approx(0.01 + 0.5 * prompt + 1e-3));
    const double decoding = 0.5 * step + host, share = 0.5 * prompt / (0.5 * prompt + 500 * decoding);
    CHECK(f.ttft_seconds == doctest::Approx(0.01 + 1e-3 + 0.5 * prompt * (1 + 15 * (0.1 / 2 + share)) + 2 * decoding));
    CHECK(f.tokens_per_second == doctest::Approx(16 * 500 / (f.ttft_seconds + 499 * f.tpot_seconds)));
    CHECK(f.num_running == 16);
    CHECK(f.num_devices == 4);
}

TEST_CASE("a request alone waits for no prompt between its tokens") {
    server llm_server = llama_70b();
    step_time_model plan(presets::llama_3_1_70b, in("fp8", 4), h200, no_measurements);
    for (const std::int64_t output : {2, 16, 4096})
        CHECK(llm_server({.input_tokens = 32000, .output_tokens = output}).tpot_seconds ==
              doctest::Approx(plan.seconds(1, 1, 32000 + output / 2)));
}

// each of n stages computes a prompt for 1/n of its time while the others compute other prompts
TEST_CASE("stages compute prompts side by side") {
    server llm_server = llama_70b();
    const serving_load prompts{.input_tokens = 8000, .output_tokens = 2, .concurrency = 64};
    double previous = llm_server(prompts).tokens_per_second;
    for (const std::int64_t stages : {2, 4, 8}) {
        serving_load split = prompts;
        split.pipeline_parallel_size = stages;
        const serving_metrics f = llm_server(split);
        CHECK(f.tpot_seconds < llm_server(prompts).tpot_seconds);
        CHECK(f.tokens_per_second > previous);
        CHECK(f.tokens_per_second < 1.01 * static_cast<double>(stages) * llm_server(prompts).tokens_per_second);
        previous = f.tokens_per_second;
    }
}

// Little's law: as many requests as there are at a rate answer that rate
TEST_CASE("a rate that some number of requests sustains is answered") {
    server llm_server = llama_70b(*find_engine("trtllm"));
    for (const double n : {2.0, 50.0, 400.0}) {
        const serving_load load{.concurrency = n, .initial_burst_fraction = 0};
        const double rate = 0.98 * llm_server(load).tokens_per_second / static_cast<double>(load.output_tokens);
        const auto f = llm_server.evaluate_at_rate(load, rate);
        REQUIRE(f.has_value());
        CHECK(f->tokens_per_second == doctest::Approx(rate * static_cast<double>(load.output_tokens)).epsilon(0.01));
    }
}

TEST_CASE("memory never holds more of longer requests") {
    device small = h200;
    small.visible_gibibytes = 0;
    small.memory_gigabytes = 82;  // 90 % of it leave 1.1 GB in addition to weights
    server llm_server(presets::llama_3_1_70b, in("fp8", 1), {}, small, no_measurements);
    double previous = llm_server.max_sequences_per_rank(100);
    CHECK(previous > 1);
    for (std::int64_t tokens = 200; tokens < 60000; tokens += 100) {
        const double now = llm_server.max_sequences_per_rank(tokens);
        CHECK(now <= previous);
        previous = now;
    }
    CHECK(previous == 0);
}

// 4 others: 0.3 · 4 / 2 of a burst; at their prompts 1 s of 1 + 3 s each
TEST_CASE("a request waits for prompts of others, and alone for none") {
    CHECK(server::num_prefills_in_queue({.initial_burst_fraction = 0.3}, 5, 1, 3) == doctest::Approx(0.6 + 4 * 0.25));
    CHECK(server::num_prefills_in_queue({.initial_burst_fraction = 0}, 5, 1, 0) ==
          4);  // who only reads prompts waits for every other one
    CHECK(server::num_prefills_in_queue({}, 1, 1, 3) == 0);
    CHECK(server::num_prefills_in_queue({}, 0.5, 1, 3) == 0);
    CHECK(server::num_prefills_in_queue({.initial_burst_fraction = 0}, 5, 0, 0) == 0);
}

// TensorRT-LLM asks whether any request writes before it holds a prompt back (pyexecutor/py_executor.py, `_schedule`)
TEST_CASE("a prompt waits for steps of others only while one of them writes") {
    const engine planning{.queueing_steps = 1.5};
    const serving_load patient{.batch_wait_steps = 20};
    CHECK(server::num_steps_before_prefill(planning, patient, 1) == 0);
    CHECK(server::num_steps_before_prefill(planning, patient, 1.5) == 10.75);
    CHECK(server::num_steps_before_prefill(planning, patient, 64) == 21.5);
    CHECK(server::num_steps_before_prefill({}, {}, 64) == 0);
    server llm_server = llama_70b();
    const serving_load at_once{.input_tokens = 1000, .output_tokens = 500, .concurrency = 16};
    serving_load later = at_once;
    later.batch_wait_steps = 20;
    step_time_model plan(presets::llama_3_1_70b, in("fp8", 4), h200, no_measurements);
    CHECK(llm_server(later).ttft_seconds ==
          doctest::Approx(llm_server(at_once).ttft_seconds + 20 * plan.seconds(16, 1, 1250)));
    CHECK(llm_server(later).tpot_seconds == llm_server(at_once).tpot_seconds);
}

TEST_CASE("more requests are served faster together and slower each") {
    server llm_server = llama_70b(*find_engine("trtllm"));
    serving_metrics previous = llm_server({.concurrency = 1});
    for (double n = 2; n <= 1024; n *= 2) {
        const serving_metrics f = llm_server({.concurrency = n});
        CHECK(f.tpot_seconds >= previous.tpot_seconds);
        CHECK(f.ttft_seconds >= previous.ttft_seconds);
        CHECK(f.tokens_per_second >= previous.tokens_per_second);
        CHECK(f.watts_per_device <= h200.thermal_design_watts);
        previous = f;
    }
}

TEST_CASE("a longer prompt or more requests never bring the first token forward") {
    for (const engine& serving_engine : engines) {
        server llm_server = llama_70b(serving_engine);
        for (const std::int64_t output : {1, 64, 1024}) {
            double minimum = 0;
            for (std::int64_t input = 128; input <= 65536; input *= 2) {
                double previous = 0;
                for (double n = 1; n <= 512; n *= 2) {
                    const double ttft =
                        llm_server({.input_tokens = input, .output_tokens = output, .concurrency = n}).ttft_seconds;
                    CHECK(ttft >= previous);
                    previous = ttft;
                    if (n != 16) continue;
                    CHECK(ttft > minimum);
                    minimum = ttft;
                }
            }
        }
    }
}

TEST_CASE("what memory does not hold waits") {
    server llm_server = llama_70b();
    const double max_running = llm_server.max_sequences_per_rank(1024 + 512);
    const serving_metrics full = llm_server({.concurrency = max_running}),
                          overloaded = llm_server({.concurrency = 3 * max_running});
    CHECK(overloaded.num_running == doctest::Approx(max_running));
    CHECK(overloaded.tpot_seconds == doctest::Approx(full.tpot_seconds));
    CHECK(
        overloaded.ttft_seconds ==
        doctest::Approx(full.ttft_seconds + 2 * 1024 * full.tpot_seconds));  // two thirds wait for a whole answer each
}

TEST_CASE("cached prefixes, chunks and proposed tokens cost what their tokens cost") {
    server llm_server = llama_70b();
    const serving_load plain{.input_tokens = 4096, .output_tokens = 256, .concurrency = 8};
    serving_load cached = plain, chunked = plain, drafted = plain, hopeless = plain;
    cached.prefix_hit_rate = 0.75;
    chunked.chunk_tokens = 512;
    drafted.num_draft_tokens = 3;
    drafted.acceptance_rate = 1;
    hopeless.num_draft_tokens = 3;
    hopeless.acceptance_rate = 0;
    const double plain_ttft = llm_server(plain).unloaded_ttft_seconds;
    CHECK(llm_server(cached).unloaded_ttft_seconds < 0.5 * plain_ttft);
    CHECK(llm_server(cached).unloaded_ttft_seconds > 0.2 * plain_ttft);
    CHECK(llm_server(chunked).unloaded_ttft_seconds > plain_ttft);  // weights are read for each chunk
    CHECK(llm_server(drafted).tpot_seconds < llm_server(plain).tpot_seconds);
    CHECK(llm_server(hopeless).tpot_seconds > llm_server(plain).tpot_seconds);
    drafted.acceptance_rate = 0.5;  // 1 + 1/2 + 1/4 + 1/8 tokens per step
    hopeless.acceptance_rate = 0.5;
    hopeless.num_draft_tokens = 1;
    const serving_metrics all = llm_server(drafted);
    const auto output = static_cast<double>(drafted.output_tokens);
    CHECK(all.tokens_per_second == doctest::Approx(8 * output / (all.ttft_seconds + (output - 1) * all.tpot_seconds)));
    cached.prefix_hit_rate = 1;  // the last token is always computed
    CHECK(llm_server(cached).unloaded_ttft_seconds > 0);
}

TEST_CASE("proposed tokens that are all kept never cost more than writing each by itself") {
    for (const model& m : {presets::llama_3_1_70b, presets::deepseek_v3})
        for (const double concurrency : {1.0, 64.0}) {
            server llm_server(m, in("fp8", 8), {}, h200, no_measurements);
            double last =
                llm_server({.input_tokens = 4000, .output_tokens = 500, .concurrency = concurrency}).tpot_seconds;
            for (const std::int64_t draft : {1, 2, 3, 7, 15}) {
                const double draft_tpot = llm_server({.input_tokens = 4000,
                                                      .output_tokens = 500,
                                                      .concurrency = concurrency,
                                                      .num_draft_tokens = draft,
                                                      .acceptance_rate = 1})
                                              .tpot_seconds;
                CHECK(draft_tpot < last);
                last = draft_tpot;
            }
            // a second token is one step's, however many are proposed
            CHECK(llm_server({.input_tokens = 4000,
                              .output_tokens = 2,
                              .concurrency = concurrency,
                              .num_draft_tokens = 7,
                              .acceptance_rate = 1})
                      .tpot_seconds >=
                  llm_server({.input_tokens = 4000, .output_tokens = 2, .concurrency = concurrency}).tpot_seconds);
        }
}

TEST_CASE("requests that arrive at a rate are as many as Little's law says, or too many") {
    server llm_server = llama_70b(*find_engine("vllm"));
    const serving_load load{.input_tokens = 512, .output_tokens = 128};
    const std::optional<serving_metrics> calm = llm_server.evaluate_at_rate(load, 3);
    REQUIRE(calm.has_value());
    CHECK(calm->num_running == doctest::Approx(3 * (calm->ttft_seconds + 128 * calm->tpot_seconds)).epsilon(0.01));
    CHECK_FALSE(llm_server.evaluate_at_rate(load, 1e6).has_value());
}

TEST_CASE("an engine's chain is not answered by eager float32, nor its products by another's very operand") {
    const std::string measured = LLMCOST_TEST_DIR "/../configs/calibrations";
    const operator_shape chain{.type = find_operator_type("elementwise"),
                               .sizes = {16, 4096},
                               .operand = find_operand_type("bfloat16"),
                               .variant = "map"};
    for (const char* device : {"a100_pcie_80gb", "h100_sxm", "l4", "rtx_4090"})
        for (const char* engine : {"vllm", "torch"})
            CHECK(kernel_library(device, engine, "", measured).find(chain) == nullptr);
    const operator_shape product{.type = find_operator_type("gemm"),
                                 .sizes = {16, 4096, 4096},
                                 .operand = find_operand_type("float16"),
                                 .variant = ""};
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / "llmcost_own_first";
    const auto write = [&](const char* software, const char* operand) {
        const std::filesystem::path kernel_directory = folder / "h100_sxm" / "gemm" / (std::string(software) + "-1");
        std::filesystem::create_directories(kernel_directory);
        std::ofstream(kernel_directory / (std::string(operand) + ".json"))
            << R"({"device": "h100_sxm", "source": "us", "kernels": [{"family": "gemm", "software": ")" << software
            << R"(", "operand": ")" << operand
            << R"(", "roofline": {"launch_us": 2, "compute_efficiency": 0.8, "bandwidth_efficiency": 0.9, "smoothness": 2},
                "held_out": {"rows": 10, "median": 0.05, "low": -0.2, "high": 0.2}}]})";
    };
    write("aaa", "bfloat16");
    write("zzz", "float16");
    CHECK(kernel_library("h100_sxm", "aaa", "", folder.string()).find(product)->software == "aaa");
    CHECK(kernel_library("h100_sxm", "other", "", folder.string()).find(product)->software == "zzz");
    std::filesystem::remove_all(folder);
}

TEST_CASE("an engine without kernels of its own on a device takes those of the same chip, then of another generation") {
    const std::string measured = LLMCOST_TEST_DIR "/../configs/calibrations";
    const operator_shape experts{.type = find_operator_type("moe"),
                                 .sizes = {16, 4096, 1536, 8, 128, 1, 4},
                                 .operand = find_operand_type("fp8_block"),
                                 .variant = "balanced"};
    kernel_library h100("h100_sxm", "trtllm", "", measured), b200("b200_sxm", "trtllm", "", measured),
        h200_library("h200_sxm", "trtllm", "", measured), none("b200_sxm", "trtllm", "", "none");
    const kernel_calibration* calibration = h200_library.find(experts);
    REQUIRE(calibration != nullptr);
    REQUIRE(h100.find(experts) != nullptr);
    CHECK(h100.find(experts)->software == "trtllm");
    CHECK(h100.find(experts)->error.high == calibration->error.high);
    REQUIRE(b200.find(experts) != nullptr);
    CHECK(b200.find(experts)->error.high > calibration->error.high);  // across generations less is certain
    CHECK(none.find(experts) == nullptr);
}

// (m, 12288) x (12288, 6144) in fp8_block on B200, ai-dynamo/aiconfigurator @095f58a5: vllm 0.22.0 takes 164 us at m =
// 64 and 1,198 us at m = 16384, trtllm 1.3.0rc20 takes 22.5 us and 970 us.
TEST_CASE("a kernel that was measured with the host's launch is replaced by that of other software") {
    const std::string measured = LLMCOST_TEST_DIR "/../configs/calibrations";
    operator_shape product{
        .type = find_operator_type("gemm"), .sizes = {64, 6144, 12288}, .operand = find_operand_type("fp8_block")};
    const auto microseconds = [&](kernel_library& library, const char* device) {
        return 1e6 * estimate(*find_device(device), product, library.find(product)).seconds;
    };
    kernel_library b200("b200_sxm", "vllm", "", measured), h200("h200_sxm", "vllm", "", measured),
        gb200("gb200", "vllm", "", measured);
    REQUIRE(b200.find(product) != nullptr);
    CHECK(b200.find(product)->software == "trtllm");
    CHECK(b200.warnings().size() == 1);
    CHECK(microseconds(b200, "b200_sxm") == doctest::Approx(22.5).epsilon(0.15));
    CHECK(microseconds(gb200, "gb200") < 40);
    // the constants of the engine were fitted to runs on H200 with its own kernel
    REQUIRE(h200.find(product) != nullptr);
    CHECK(h200.find(product)->software == "vllm");
    product.sizes[0] = 16384;
    CHECK(microseconds(b200, "b200_sxm") == doctest::Approx(970).epsilon(0.15));

    product.operand = find_operand_type("bfloat16");  // measured in a CUDA graph
    CHECK(b200.find(product)->software == "vllm");
    // a kernel for heads of 512 takes 40 us on the device
    const operator_shape wide_heads{.type = find_operator_type("generation_attention"),
                                    .sizes = {1, 128, 4, 1, 512},
                                    .operand = find_operand_type("bfloat16"),
                                    .variant = "bfloat16"};
    REQUIRE(gb200.find(wide_heads) != nullptr);
    CHECK(gb200.find(wide_heads)->software == "vllm");
    CHECK(gb200.find(wide_heads)->kernel == "vllm_flash_attn_fa4");
}

// deepseek-ai/DeepEP @0297fc80, docs/legacy.md: low-latency kernels on H800 with ConnectX-7 (50 GB/s), 128 tokens of
// 7168 elements, 8 experts for each token, fp8 dispatch and bfloat16 combine
TEST_CASE("dispatch and combine between nodes take what DeepEP publishes") {
    struct published {
        std::int64_t devices;
        double dispatch, combine;  ///< microseconds
    };
    device h800 = *find_device("h800_sxm");
    h800.network_bandwidth = 50;
    for (const published& p :
         {published{16, 118, 195}, {32, 155, 273}, {64, 173, 314}, {128, 192, 369}, {256, 194, 360}}) {
        operator_shape shape{.type = find_operator_type("network_all_to_all"),
                             .sizes = {128, 7168, 8, p.devices / 8},
                             .operand = find_operand_type("fp8_block"),
                             .variant = "low_latency"};
        CHECK(1e6 * estimate(h800, shape, nullptr).seconds == doctest::Approx(p.dispatch).epsilon(0.25));
        shape.operand = find_operand_type("bfloat16");
        CHECK(1e6 * estimate(h800, shape, nullptr).seconds == doctest::Approx(p.combine).epsilon(0.25));
    }
}

TEST_CASE("tokens of data-parallel ranks are sent to their experts, or gathered by all") {
    const model m = presets::deepseek_v3;
    execution config;
    config.parallel = make_parallel_config(m, 1, 16, 16);
    const workload decode{.batch = 32, .sequence = 1, .past = 512, .head = logits::last};
    const auto sizes_of = [&](const char* type, string_ref variant = {}) {
        for (const model_kernel& k : kernels_of(m, decode, config))
            if (k.shape.type == find_operator_type(type) && (variant.empty() || k.shape.variant == variant))
                return std::vector<std::int64_t>(k.shape.sizes, k.shape.sizes + max_operator_sizes);
        return std::vector<std::int64_t>{};
    };
    // 16 devices in two nodes: DeepEP. 32 * 16 tokens with 8 experts each give 256 rows to each device with 16 experts
    CHECK(sizes_of("network_all_to_all") == std::vector<std::int64_t>{32, 7168, 8, 2, 0, 0, 0});
    CHECK(sizes_of("moe") == std::vector<std::int64_t>{32, 7168, 2048, 8, 16, 1, 1});
    CHECK(sizes_of("nccl").empty());
    config.parallel.num_redundant_experts = 32;  // 288 slots
    CHECK(sizes_of("moe") == std::vector<std::int64_t>{32, 7168, 2048, 8, 18, 1, 1});
    config.parallel.num_redundant_experts = 0;
    config.expert_all_to_all = find_all_to_all_backend("allgather_reducescatter");
    CHECK(sizes_of("network_all_to_all").empty());
    CHECK(sizes_of("moe") == std::vector<std::int64_t>{512, 7168, 2048, 8, 256, 1, 16});
    config.parallel = make_parallel_config(m, 2, 4, 8);  // within a node, two devices share the hidden size
    CHECK(sizes_of("nccl", "all_gather") == std::vector<std::int64_t>{32 * 4 * 7168, 4, 0, 0, 0, 0, 0});
    config.expert_all_to_all = find_all_to_all_backend("flashinfer_all2allv");
    CHECK(sizes_of("deepep") == std::vector<std::int64_t>{32, 3584, 8, 8, 0, 0, 0});
    CHECK(sizes_of("nccl", "all_gather") == std::vector<std::int64_t>{32 * 7168, 2, 0, 0, 0, 0, 0});
    for (const model_kernel& k : kernels_of(m, decode, config))
        if (k.shape.type == find_operator_type("deepep")) CHECK(k.shape.variant == "high_throughput");
}

// ml-energy/leaderboard @0cd52da, lm-arena-chat: Llama-3.1-70B in bfloat16 with vLLM, watts per device
TEST_CASE("watts are those of measured servers within their interval") {
    const std::string measured = LLMCOST_TEST_DIR "/../configs/calibrations";
    const engine& vllm = *find_engine("vllm");
    struct published {
        const char* device;
        std::int64_t tensor;
        double concurrency, watts;
    };
    for (const published& p :
         {published{"h100_sxm", 4, 8, 441.36}, {"h100_sxm", 4, 96, 525.39}, {"b200_sxm", 2, 8, 849.01}}) {
        kernel_library kernels(p.device, "vllm", "", measured);
        const device& d = kernels.target_device();
        server llm_server(presets::llama_3_1_70b,
                          execution_of(vllm, d, {}, make_parallel_config(presets::llama_3_1_70b, p.tensor)), vllm, d,
                          kernels);
        const double watts =
            llm_server({.input_tokens = 130, .output_tokens = 350, .concurrency = p.concurrency}).watts_per_device;
        const relative_interval error = power_model_of(d).error;
        CHECK(watts * std::exp2(error.low) <= p.watts);
        CHECK(watts * std::exp2(error.high) >= p.watts);
        CHECK(watts <= d.thermal_design_watts);
    }
}

// Marlin's products keep activations in 16 bits: no launch of a quantization (IST-DASLab/marlin, README)
TEST_CASE("a weight-only product launches nothing that quantizes activations") {
    const device& a100 = *find_device("a100_sxm_80gb");
    const auto seconds = [&](const char* type) {
        const operator_shape shape{
            .type = find_operator_type("gemm"), .sizes = {1, 4096, 4096}, .operand = find_operand_type(type)};
        return estimate(a100, shape, nullptr).seconds;
    };
    for (const char* type : {"int4_wo", "w4a16_mxfp4", "fp8_wo", "nvfp4_wo"})
        CHECK(seconds(type) < seconds("bfloat16"));
    CHECK(seconds("int8") > seconds("bfloat16"));
}

TEST_CASE("an all-reduce is the faster of an engine's own and NCCL's") {
    kernel_library library("h200_sxm", "vllm", "", LLMCOST_TEST_DIR "/../configs/calibrations");
    execution execution_config;
    model_kernel k;
    k.shape = {.type = find_operator_type("nccl"),
               .sizes = {8192, 8},
               .operand = find_operand_type("float16"),
               .variant = "all_reduce"};
    const known_kernel small = match_kernels({k}, execution_config, library).front();
    CHECK(predicted_seconds(h200, small) <
          predicted_seconds(h200, small.kernel.shape, small.calibration, small.layer_shape_position));
    k.shape.sizes[1] = 16;  // beyond a node there is NCCL alone
    CHECK(match_kernels({k}, execution_config, library).front().companion_type == nullptr);
}

// configs/calibrations/h200_sxm/batched_gemm/cuda-13.0 was measured by llmcost-calibrate
TEST_CASE("measurements that are not for engines serve requests without one") {
    const std::string measured = LLMCOST_TEST_DIR "/../configs/calibrations";
    kernel_library any("h200_sxm", "", "", measured), vllm("h200_sxm", "vllm", "", measured);
    const operator_shape shape{.type = find_operator_type("batched_gemm"),
                               .sizes = {64, 128, 1024, 128},
                               .operand = find_operand_type("bfloat16")};
    REQUIRE(any.find(shape) != nullptr);
    CHECK(any.find(shape)->software == "cuda");
    CHECK(vllm.find(shape) == nullptr);
    CHECK(vllm.warnings().empty());
}

TEST_CASE("a product with known scales saves computing them, and nothing else does") {
    kernel_library library("h200_sxm", "trtllm", "", LLMCOST_TEST_DIR "/../configs/calibrations");
    model_kernel k;
    k.shape = {.type = find_operator_type("gemm"), .sizes = {16, 8192, 8192}, .operand = find_operand_type("fp8")};
    execution known = in("fp8", 1), unknown = known;
    known.has_static_scales = true;
    unknown.has_static_scales = false;
    const double static_seconds = predicted_seconds(h200, match_kernels({k}, known, library).front());
    const double dynamic_seconds = predicted_seconds(h200, match_kernels({k}, unknown, library).front());
    CHECK(static_seconds < dynamic_seconds);
    CHECK(static_seconds >= roofline_seconds(h200, k.shape.work()));
    for (const std::int64_t n : {1536, 8192, 10000}) {
        k.shape.sizes[1] = n;
        double previous = 0;
        for (k.shape.sizes[0] = 1; k.shape.sizes[0] < 100000; k.shape.sizes[0] += 1 + k.shape.sizes[0] / 9) {
            const double seconds = predicted_seconds(h200, match_kernels({k}, known, library).front());
            CHECK(seconds >= previous * (1 - 1e-9));
            previous = seconds;
        }
    }
    kernel_library of_l4("l4", "trtllm", "", LLMCOST_TEST_DIR "/../configs/calibrations");
    const device& l4 = *find_device("l4");
    for (std::int64_t m = 1; m < 100000; m += 1 + m / 30) {  // where its cache ends the least time has a bend
        k.shape.sizes[0] = m;
        k.shape.sizes[1] = 512;
        k.shape.sizes[2] = 4096;
        CHECK(predicted_seconds(l4, match_kernels({k}, known, of_l4).front()) >= roofline_seconds(l4, k.shape.work()));
    }
    k.shape.operand = find_operand_type("bfloat16");
    CHECK(match_kernels({k}, known, library).front().companion_type == nullptr);
}
