// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// A planner: how many sequences of 8192 tokens does a device of 80 GB hold beside the weights?
//
// expects: weights 16060522496 bytes, cache of one sequence 1073741824 bytes
// expects: 59 sequences fit into 80000000000 bytes
#include <iostream>

#include <llmcost/llmcost.hpp>
#include <llmcost/presets.hpp>

// weights and cache only: activations and what an engine sets aside come on top
llmcost::count bytes_needed(const llmcost::model& m, std::int64_t batch, std::int64_t tokens) {
    // a token that follows all others leaves them and itself in the cache
    const llmcost::model_metrics f = llmcost::count_model(m, {.batch = batch, .sequence = 1, .past = tokens - 1});
    return f.weight_bytes + f.cache_bytes;
}

std::int64_t largest_batch(const llmcost::model& m, std::int64_t tokens, llmcost::count budget) {
    std::int64_t fits = 0, max_to_fit = 1;
    while (bytes_needed(m, max_to_fit, tokens) <= budget) {
        fits = max_to_fit;
        max_to_fit *= 2;
    }
    while (max_to_fit - fits > 1) {
        const std::int64_t middle = fits + (max_to_fit - fits) / 2;
        (bytes_needed(m, middle, tokens) <= budget ? fits : max_to_fit) = middle;
    }
    return fits;
}

int main() {
    // 8,030,261,248 parameters of 2 bytes; keys and values of 32 layers, 8 heads of 128, 8192 tokens, 2 bytes:
    // (80,000,000,000 - 16,060,522,496) / 1,073,741,824 = 59.5
    const llmcost::model& m = llmcost::presets::llama_3_1_8b;
    const llmcost::model_metrics one = llmcost::count_model(m, {.sequence = 1, .past = 8191});
    std::cout << "weights " << one.weight_bytes.to_64() << " bytes, cache of one sequence " << one.cache_bytes.to_64()
              << " bytes\n";
    std::cout << largest_batch(m, 8192, 80'000'000'000) << " sequences fit into 80000000000 bytes\n";
}
