// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// A sweep on all cores: models and workloads are values and evaluations share nothing, so threads need no locks.
//
// expects: batch 16, sequence 200: 7992665702400 torch FLOPs, 104857600 bytes of cache
// expects: 1024 points
#include <atomic>
#include <cstddef>
#include <iostream>
#include <thread>
#include <vector>

#include <llmcost/analysis/evaluator.hpp>
#include <llmcost/llmcost.hpp>
#include <llmcost/presets.hpp>

int main() {
    std::vector<llmcost::workload> points;
    for (std::int64_t batch = 1; batch <= 32; ++batch)
        for (std::int64_t sequence = 100; sequence <= 3200; sequence += 100)
            points.push_back({.batch = batch, .sequence = sequence});

    std::vector<llmcost::model_metrics> figures(points.size());
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        // answers as count_model does, from closed forms of the regions that it meets; one per thread
        llmcost::cost_evaluator evaluate(llmcost::presets::llama_3_2_1b);
        for (std::size_t i = next++; i < points.size(); i = next++) figures[i] = evaluate(points[i]);
    };
    std::vector<std::thread> threads;
    for (unsigned n = std::thread::hardware_concurrency() + 1; n > 0; --n) threads.emplace_back(work);
    for (std::thread& thread : threads) thread.join();

    for (std::size_t i = 0; i < points.size(); ++i)
        if (points[i].batch == 16 && points[i].sequence == 200)
            std::cout << "batch 16, sequence 200: " << figures[i].torch_flops.to_64() << " torch FLOPs, "
                      << figures[i].cache_bytes.to_64() << " bytes of cache\n";
    std::cout << points.size() << " points\n";
}
