// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// What the time of a step costs: from constants alone, from measured kernels, a sweep of servers, a model's plan,
// requests through a scheduler.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <llmcost/kernels/kernel_library.hpp>
#include <llmcost/presets.hpp>
#include <llmcost/serving/server.hpp>
#include <llmcost/simulation/simulate.hpp>
#include <llmcost/simulation/synthetic_workload.hpp>

namespace {

using namespace llmcost;

const device& h200 = *find_device("h200_sxm");
const char* const measured = LLMCOST_TEST_DIR "/../configs/calibrations";

execution in_fp8(std::int64_t tensor) {
    execution execution_config;
    execution_config.linear_type = execution_config.expert_type = find_operand_type("fp8_block");
    execution_config.kv_cache_type = find_operand_type("fp8");
    execution_config.parallel = {
        .tensor_parallel_size = tensor, .data_parallel_size = 1, .expert_tensor_parallel_size = tensor};
    return execution_config;
}

/// Steps of 1 to 256 sequences after 1 to 8192 tokens, in no order.
void step(benchmark::State& state, const model& m, const char* calibrations) {
    kernel_library library("h200_sxm", "vllm", "", calibrations);
    step_time_model plan(m, in_fp8(8), h200, library);
    std::vector<std::pair<std::int64_t, std::int64_t>> points;
    std::mt19937_64 random(1);
    for (int i = 0; i < 1 << 20; ++i)
        points.emplace_back(1 + static_cast<std::int64_t>(random() % 256),
                            1 + static_cast<std::int64_t>(random() % 8192));
    std::size_t i = 0;
    for (auto _ : state) {
        const auto& [batch, past] = points[i++ % points.size()];
        benchmark::DoNotOptimize(plan.seconds(batch, 1, past));
    }
}
BENCHMARK_CAPTURE(step, llama_3_1_70b_constants, presets::llama_3_1_70b, "none");
BENCHMARK_CAPTURE(step, llama_3_1_70b_measured, presets::llama_3_1_70b, measured);
BENCHMARK_CAPTURE(step, deepseek_v3_constants, presets::deepseek_v3, "none");
BENCHMARK_CAPTURE(step, deepseek_v3_measured, presets::deepseek_v3, measured);

/// Time to first token and per token of a million loads.
void loads(benchmark::State& state, const char* calibrations, serving_load (*load)(std::int64_t, std::mt19937_64&)) {
    kernel_library library("h200_sxm", "vllm", "", calibrations);
    server model_server(presets::llama_3_1_70b, in_fp8(8), *find_engine("vllm"), h200, library);
    constexpr std::int64_t points = 1'000'000;
    std::mt19937_64 random(1);
    for (auto _ : state)
        for (std::int64_t i = 0; i < points; ++i) benchmark::DoNotOptimize(model_server(load(i, random)));
    state.SetItemsProcessed(state.iterations() * points);
}
serving_load sweep(std::int64_t i, std::mt19937_64&) {
    return {.input_tokens = 128 + i % 1000 * 8,
            .output_tokens = 64 + i / 1000 % 100 * 16,
            .concurrency = static_cast<double>(1 + i / 100000 * 13)};
}
/// Loads that have no length in common with each other.
serving_load scattered(std::int64_t, std::mt19937_64& random) {
    return {.input_tokens = 128 + static_cast<std::int64_t>(random() % 60000),
            .output_tokens = 64 + static_cast<std::int64_t>(random() % 20000),
            .concurrency = static_cast<double>(1 + random() % 256)};
}
/// Loads with chunked prefill after a cached prefix, and three draft tokens per step.
serving_load chunked(std::int64_t i, std::mt19937_64&) {
    return {.input_tokens = 4096 + i % 1000 * 8,
            .output_tokens = 512,
            .concurrency = static_cast<double>(1 + i % 37),
            .prefix_hit_rate = 0.3,
            .chunk_tokens = 1024,
            .num_draft_tokens = 3,
            .acceptance_rate = 0.7};
}
BENCHMARK_CAPTURE(loads, chunked_measured, measured, chunked)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK_CAPTURE(loads, scattered_measured, measured, scattered)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK_CAPTURE(loads, sweep_constants, "none", sweep)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK_CAPTURE(loads, sweep_measured, measured, sweep)->Unit(benchmark::kMillisecond)->Iterations(1);

void plan(benchmark::State& state) {
    kernel_library library("h200_sxm", "vllm", "", "none");
    for (auto _ : state)
        benchmark::DoNotOptimize(
            step_time_model(presets::llama_3_1_70b, in_fp8(8), h200, library).has_closed_form(2, 1, 1));
}
BENCHMARK(plan)->Unit(benchmark::kMicrosecond);

/// 100,000 requests of about 1,000 tokens in and out, 256 clients, through each engine on eight devices.
void simulation(benchmark::State& state, literal name) {
    const engine& serving_engine = *find_engine(name);
    kernel_library library("h200_sxm", std::string(serving_engine.kernel_software), "", measured);
    server model_server(presets::llama_3_1_70b, in_fp8(8), serving_engine, h200, library);
    const simulated_engine simulation_engine{
        &model_server, default_policy(serving_engine.name, h200), host_times_of(serving_engine.name), false, {}};
    const auto requests = generate_requests({.input = {800, 1200}, .output = {800, 1200}, .num_requests = 100'000});
    for (auto _ : state) benchmark::DoNotOptimize(simulate(simulation_engine, requests, {.num_clients = 256}).seconds);
}
BENCHMARK_CAPTURE(simulation, vllm, "vllm")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulation, sglang, "sglang")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulation, trtllm, "trtllm")->Unit(benchmark::kMillisecond);

}  // namespace
