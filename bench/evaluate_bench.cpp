// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// The cost of one evaluation: a trace, an evaluator, a closed form in its region, a sweep of a million points, a
// configuration read.
#include <benchmark/benchmark.h>

#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <llmcost/analysis/evaluator.hpp>
#include <llmcost/bundled/all.hpp>
#include <llmcost/custom/custom_model.hpp>
#include <llmcost/json.hpp>
#include <llmcost/llmcost.hpp>

#include "registry.hpp"

namespace {

using namespace llmcost;

model model_named(const char* name) {
    const bundled_config* bundled = find_bundled(name);
    return parts::registry.read(parse_config(bundled->json, name).root());
}

void trace_forward(benchmark::State& state, const char* name) {
    const model m = model_named(name);
    workload w;
    for (auto _ : state) {
        w.sequence = w.sequence % 512 + 1;
        benchmark::DoNotOptimize(count_model(m, w));
    }
}
BENCHMARK_CAPTURE(trace_forward, llama_3_2_1b, "meta-llama/Llama-3.2-1B");
BENCHMARK_CAPTURE(trace_forward, gemma_2_2b, "google/gemma-2-2b-it");
BENCHMARK_CAPTURE(trace_forward, deepseek_v3, "deepseek-ai/DeepSeek-V3");
BENCHMARK_CAPTURE(trace_forward, gpt2, "openai-community/gpt2");
BENCHMARK_CAPTURE(trace_forward, jamba, "ai21labs/AI21-Jamba-1.5-Mini");
BENCHMARK_CAPTURE(trace_forward, bert, "google-bert/bert-base-uncased");

// prompts, decoding steps and extensions in no order, on both sides of every window
void evaluate(benchmark::State& state, const char* name) {
    cost_evaluator figures_at(model_named(name));
    std::vector<workload> loads;
    std::mt19937_64 random(1);
    const auto up_to = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
    for (int i = 0; i < 4096; ++i) {
        const std::int64_t kind = up_to(3);
        loads.push_back({.batch = 1 + up_to(64),
                         .sequence = kind == 0   ? 1 + up_to(30000)
                                     : kind == 1 ? 1
                                                 : 1 + up_to(100),
                         .past = kind == 0 ? 0 : up_to(20000)});
    }
    std::size_t i = 0;
    for (auto _ : state) benchmark::DoNotOptimize(figures_at(loads[i++ % loads.size()]));
}
BENCHMARK_CAPTURE(evaluate, llama_3_2_1b, "meta-llama/Llama-3.2-1B");
BENCHMARK_CAPTURE(evaluate, gemma_2_2b, "google/gemma-2-2b-it");
BENCHMARK_CAPTURE(evaluate, deepseek_v3, "deepseek-ai/DeepSeek-V3");
BENCHMARK_CAPTURE(evaluate, jamba, "ai21labs/AI21-Jamba-1.5-Mini");
BENCHMARK_CAPTURE(evaluate, qwen3_next, "Qwen/Qwen3-Next-80B-A3B-Instruct");

void closed_form_of_one_figure(benchmark::State& state) {
    const closed_form f(model_named("meta-llama/Llama-3.2-1B"), {.batch = 2, .sequence = 100});
    workload w = f.reference_workload();
    for (auto _ : state) {
        w.sequence = w.sequence % 4096 + 2;
        benchmark::DoNotOptimize(f.flops(w));
    }
}
BENCHMARK(closed_form_of_one_figure);

void closed_form_of_all_figures(benchmark::State& state) {
    const closed_form f(model_named("meta-llama/Llama-3.2-1B"), {.batch = 2, .sequence = 100});
    workload w = f.reference_workload();
    for (auto _ : state) {
        w.sequence = w.sequence % 4096 + 2;
        benchmark::DoNotOptimize(f(w));
    }
}
BENCHMARK(closed_form_of_all_figures);

void closed_form_made(benchmark::State& state) {
    const model m = model_named("meta-llama/Llama-3.2-1B");
    for (auto _ : state) benchmark::DoNotOptimize(closed_form(m, {.batch = 2, .sequence = 100}));
}
BENCHMARK(closed_form_made);

void sweep(benchmark::State& state) {
    const closed_form f(model_named("meta-llama/Llama-3.2-1B"), {.batch = 2, .sequence = 100});
    for (auto _ : state) {
        workload w = f.reference_workload();
        count sum;
        for (w.batch = 2; w.batch < 102; ++w.batch)
            for (w.sequence = 2; w.sequence < 102; ++w.sequence) sum += f(w).flops();
        benchmark::DoNotOptimize(sum);
    }
    state.SetItemsProcessed(state.iterations() * 100 * 100);
}
BENCHMARK(sweep);

// a Llama that a file describes, which is to take no more than 2 µs
void evaluate_custom_model(benchmark::State& state) {
    const config_document file = read_config_file(LLMCOST_TEST_DIR "/../configs/models/llama.json");
    const custom_model custom_llama(file.root());
    cost_evaluator figures_at(custom_llama.as_model());
    workload w{.batch = 2, .sequence = 100};
    for (auto _ : state) {
        w.sequence = w.sequence % 4096 + 2;
        benchmark::DoNotOptimize(figures_at(w));
    }
}
BENCHMARK(evaluate_custom_model);

void read_configuration(benchmark::State& state) {
    std::ifstream file(LLMCOST_TEST_DIR "/golden/openai__gpt-oss-20b.json");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (auto _ : state) benchmark::DoNotOptimize(parts::registry.read(parse_config(text, "config.json").root()));
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(read_configuration);

}  // namespace
